"""One GRPO update of the adapter from one batch, the same on any number of ranks."""

import math
import statistics
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from time import perf_counter

import torch

from .backend import Backend
from .batch import Batch
from .capacity import UNPLANNED, Capacity
from .config import LossSettings, OptimizerSettings
from .distributed import Ranks
from .errors import TrainerError
from .examination import Examination
from .loss import clipped, token_terms
from .masks import sequence_masks, typical_distance
from .packing import Pack, make_packs, share_out
from .policy import Policy
from .prompts import KeptPrompt, SharedPrompts
from .schedule import share_of_rate
from .selection import Selection, select
from .sharding import is_sharded
from .shards import put, whole
from .stats import StepSums, summarise
from .token_scores import TokenScores, Witness, all_finite


@dataclass(frozen=True)
class StepOutcome:
    """
    The result of a step. `skipped` is None when the adapter changed, otherwise the reason: 'no_signal', 'nonfinite',
    'drift' when the samplers' policy and the trainer's are too far apart for an update (`LossSettings.drift`), or
    'rollback' by the operator's order.
    """

    skipped: str | None
    stats: dict
    rejected: dict[int, str]  # rollout index -> reason
    timing: dict = field(default_factory=dict)


@dataclass
class _Remembered:
    """The values of a pack that the first pass computes and later passes reuse."""

    old: torch.Tensor
    keep: torch.Tensor
    reference: torch.Tensor | None


class _Attempt:
    """A step in progress: its rollouts and the sums over them. A step that begins again creates a new attempt."""

    def __init__(self, loss: LossSettings, selection: Selection, packs: list[Pack], budget: int) -> None:
        self.loss = loss
        self.selection = selection
        self.packs = packs  # of this rank
        self.budget = budget  # tokens of a forward
        self.rejected = dict(selection.rejected)
        self.sums = StepSums(sorted({rollout.sampler for rollout in selection.kept}))
        self.remembered: list[_Remembered] = []
        self.counted: torch.Tensor | None = None  # the last shared prompt whose tokens are counted
        self.distances: dict[int, float] = {}  # rollout index -> |mean log(pi_old / mu)|
        self.masked: dict[int, str] = {}  # rollout index -> why
        self.clip_sums: list[float] = []  # clipped tokens of each later pass; in the first one pi equals pi_old


@dataclass
class _Verdict:
    """The result of an examination so far, shared by all attempts at a step."""

    left_out: frozenset[str] | None = None  # groups; None: nothing is known yet
    waited: float = 0.0  # seconds


class RanOut(Exception):
    """A rank had too little memory for a pack. Raised on all ranks."""

    def __init__(self, tokens: int, alone: bool) -> None:
        super().__init__(f"a forward of {tokens} tokens")
        self.tokens = tokens
        self.alone = alone  # the pack had one rollout, so no smaller pack is possible


class GrpoTrainer:
    """
    Policy and optimizer between steps. A step that runs out of memory begins again with a smaller `capacity`, which is
    reported to `on_reduced_capacity` with the tokens of the failed forward.

    Gradients are accumulated as sums and divided by the number N of kept tokens of all ranks once N is known: the
    guard needs log pi_old, so N is only known after the forward passes, and a pass just to count would cost a third
    of the step.
    """

    def __init__(
        self,
        policy: Policy,
        settings: OptimizerSettings,
        ranks: Ranks,
        capacity: Capacity = UNPLANNED,
        on_reduced_capacity: Callable[[Capacity, int], None] = lambda *_: None,
    ) -> None:
        self.capacity = capacity
        self.on_reduced_capacity = on_reduced_capacity
        self.policy = policy
        self.in_shards = is_sharded(policy)
        self.settings = settings
        self.ranks = ranks
        self.named = policy.adapter_parameters()
        self.backend = Backend(policy, settings, ranks)
        self.reference_adapter: Mapping[str, torch.Tensor] | None = None  # for the KL term; None: the base alone
        self.updates = 0  # optimizer steps taken so far: the position in the warm-up

    def learning_rate(self) -> float:
        return self.settings.lr * share_of_rate(self.settings, self.updates)

    def run(
        self,
        batch: Batch,
        step: int,
        packing: str,
        budget: int,
        should_stop: Callable[[], None] = lambda: None,
        examination: Examination | None = None,
    ) -> StepOutcome:
        """
        Take one step from trainer step `step`. When a number is not finite on any rank, adapter and optimizer stay
        unchanged.

        With an `examination`, the first pass is also the audit of the batch's unaudited rollouts. If all groups pass,
        the step uses its gradients. Otherwise the step discards them and begins again without the refused groups: the
        result equals, to the last bit, the step of a batch without them.

        `should_stop` is called between forward passes and may raise. Raises BatchRefused `future_policy`, and the
        errors of `examination.verify`.
        """
        started = perf_counter()
        before = self.snapshot()
        verdict = _Verdict()
        while True:
            capacity = self.capacity.within(budget)
            self.policy.checkpointing = capacity.checkpointing
            try:
                attempt, finite = self._first_pass(
                    batch, step, packing, capacity.budget, should_stop, examination, verdict
                )
                skipped, norms = self._finish(attempt, finite, before, should_stop)
                break
            except RanOut as ran_out:
                tokens, alone = ran_out.tokens, ran_out.alone
            finally:
                self.backend.begin()
            # Not in the handler: while an error is handled, the tensors of the failed forward stay in memory.
            self.capacity = capacity.less(tokens, alone)
            if self.in_shards:
                self.on_reduced_capacity(self.capacity, tokens)
                raise TrainerError("ran_out_of_memory", f"a forward of {tokens} tokens; all ranks have to start again")
            self.restore(before)
            if self.ranks.device.type == "cuda":
                torch.cuda.empty_cache()
            self.on_reduced_capacity(self.capacity, tokens)
        sums, distances = attempt.sums, attempt.distances
        rejected = dict(sorted(attempt.rejected.items()))
        stats = summarise(batch, attempt.selection, rejected, sums)
        apart = statistics.median(distances.values()) if distances else None
        stats |= {
            "mismatchMedian": apart if apart is None or math.isfinite(apart) else None,
            "gradNorm": norms[0] if norms else None,
            "updates": self.updates,
            "learningRate": self.learning_rate() if norms else None,
        }
        seconds = perf_counter() - started - verdict.waited
        timing = {
            "seconds": seconds,
            "waitedSeconds": verdict.waited,
            "batchTokensPerSecond": batch.tokens / seconds,
            "computedTokensPerSecond": stats["computedTokens"] / seconds,
        }
        return StepOutcome(skipped, stats, rejected, timing)

    def _first_pass(
        self,
        batch: Batch,
        step: int,
        packing: str,
        budget: int,
        should_stop: Callable[[], None],
        examination: Examination | None,
        verdict: _Verdict,
    ) -> tuple[_Attempt, bool]:
        """Run the first pass, whose gradients stay in the backend. Returns whether all numbers were finite."""
        if verdict.left_out is not None:
            batch = batch.without(verdict.left_out)
        attempt = self._begin(batch, step, packing, budget)
        if not examination or verdict.left_out is not None or not attempt.selection.kept:
            return attempt, self._accumulate(attempt, should_stop)
        finite, found = self._examine(attempt, examination, packing, budget, should_stop)
        if finite:
            asked = perf_counter()
            verdict.left_out = examination.verify(found)
            verdict.waited = perf_counter() - asked
            if verdict.left_out:
                attempt = self._begin(batch.without(verdict.left_out), step, packing, budget)
                finite = self._accumulate(attempt, should_stop)
        return attempt, finite

    def _begin(self, batch: Batch, step: int, packing: str, budget: int) -> _Attempt:
        selection = select(batch, step)
        # Ranks with shards make equally many passes, together. So prompts are repeated there, not shared.
        packs = make_packs(selection.kept, packing, budget, not self.in_shards) if selection.kept else []
        own = self._own(packs) if packs else []
        return _Attempt(batch.loss, selection, own, budget)

    def _own(self, packs: list[Pack]) -> list[Pack]:
        return share_out(packs, self.ranks.rank, self.ranks.world, self.in_shards)

    def _examine(
        self,
        attempt: _Attempt,
        examination: Examination,
        packing: str,
        budget: int,
        should_stop: Callable[[], None],
    ) -> tuple[bool, dict[int, TokenScores]]:
        """
        Run the first pass. Returns whether all numbers are finite, and the token scores of all unaudited rollouts; both
        the same on every rank. What the pass does not show, because an older policy has sampled it, costs one forward
        under that.
        """
        kept, temperature = attempt.selection.kept, attempt.loss.temperature
        witness = Witness(examination.shown(kept), temperature)
        finite = self._accumulate(attempt, should_stop, witness)
        found = witness.found
        for adapter, rollouts, draws in examination.hidden(kept):
            packs = self._own(make_packs(rollouts, packing, budget, not self.in_shards))
            other = Witness(draws, temperature)
            prompts = SharedPrompts(self.policy.pass_over, budget, self.ranks.device)
            too_much: Pack | None = None
            with self.policy.under(adapter) if adapter else nullcontext():
                for pack in packs:
                    should_stop()
                    try:
                        other.look(self.policy, pack, prompts)
                    except torch.OutOfMemoryError:
                        too_much = prompts.piece or pack
                        break
            self._agree_on_memory(too_much)
            found |= other.found
        finite = self.ranks.all_agree(finite and all_finite(found))
        return finite, {index: scores for part in self.ranks.gather(found) for index, scores in part.items()}

    def _finish(
        self, attempt: _Attempt, finite: bool, before: dict[str, torch.Tensor], should_stop: Callable[[], None]
    ) -> tuple[str | None, list[float]]:
        """
        From the gradients of the first pass to the updates. Returns why there is none, and the norm of each update's
        gradient.
        """
        sums, distances, loss = attempt.sums, attempt.distances, attempt.loss
        kept = attempt.selection.kept
        skipped = None if kept else "no_signal"
        norms: list[float] = []
        for number in range(self.settings.passes if kept else 0):
            if number == 0:
                sums.load(self.ranks.sum(sums.flat()))
                for their_distances, masked in self.ranks.gather((distances, attempt.masked)):
                    distances.update(their_distances)
                    attempt.rejected |= masked
                if self.ranks.all_agree(finite) and typical_distance(distances, kept) > loss.drift:
                    skipped = "drift"
                    break
            else:
                finite = self._accumulate(attempt, should_stop)
            if sums.sums["tokens"] == 0 and self.ranks.all_agree(finite):
                skipped = "no_signal"
                break
            norm = self.backend.apply(sums.sums["tokens"], finite, self.learning_rate())
            if norm is None:
                skipped = "nonfinite"
                self.restore(before)
                break
            self.updates += 1
            norms.append(norm)
        if len(norms) > 1:
            sums.sums["clipped"] = self.ranks.sum([sum(attempt.clip_sums)])[0] / (len(norms) - 1)
        return skipped, norms

    def _accumulate(self, attempt: _Attempt, should_stop: Callable[[], None], witness: Witness | None = None) -> bool:
        """
        One pass over this rank's packs: gradients of the loss sum are left with the backend. False when a number was
        not finite. `witness` takes down what the forward shows and changes nothing.
        """
        self.backend.begin()
        first = not attempt.remembered
        finite = True
        too_much: Pack | None = None
        device = self.ranks.device
        prompts, reference = (SharedPrompts(self.policy.pass_over, attempt.budget, device) for _ in range(2))
        for i, pack in enumerate(attempt.packs):
            should_stop()
            try:
                kept = prompts.of(pack, learns=True)
                # On the device one at a time.
                finite = self._learn(attempt, i, pack.to(device), first, witness, kept, reference) and finite
                if i + 1 == len(attempt.packs):
                    prompts.end()
            except torch.OutOfMemoryError:
                too_much = prompts.piece or reference.piece or pack
                break
        self._agree_on_memory(too_much)
        self.backend.gather()
        return finite

    def _learn(
        self,
        attempt: _Attempt,
        number: int,
        pack: Pack,
        first: bool,
        witness: Witness | None,
        kept: KeptPrompt | None,
        reference: SharedPrompts,
    ) -> bool:
        """Adds the gradients of one pack; False when a number was not finite."""
        loss = attempt.loss
        against = self._reference(pack, loss, reference) if first else None
        logp, entropy = self.policy(pack, loss.temperature, witness.see if witness else None, kept)
        if first:
            attempt.remembered.append(self._remember(attempt, pack, logp.detach(), entropy, against))
        now = attempt.remembered[number]
        terms = token_terms(
            logp,
            now.old,
            pack.sampler_logp,
            pack.advantage,
            now.keep,
            clip_low=loss.clip_low,
            clip_high=loss.clip_high,
            dual_clip=loss.dual_clip,
            tis_cap=loss.tis_cap,
            logp_ref=now.reference,
            kl_coefficient=loss.kl_coefficient,
        )
        total = terms.sum()
        value = float(total.detach())
        total.backward()
        if first:
            attempt.sums.add(loss=value)
        else:
            clips = (loss.clip_low, loss.clip_high, loss.dual_clip)
            attempt.clip_sums.append(float(clipped(logp, now.old, pack.advantage, now.keep, *clips).sum()))
        # Checked separately: the guard rejects rollouts with a NaN log pi_old, which would leave a finite, empty loss.
        return math.isfinite(value) and bool(torch.isfinite(logp).all())

    def _reference(self, pack: Pack, loss: LossSettings, prompts: SharedPrompts) -> torch.Tensor | None:
        """
        Return the log-probabilities for the KL term, or None without one. It runs before the policy's own pass, whose
        graph must not see the adapter change.
        """
        if loss.kl_coefficient == 0:
            return None
        return self.policy.reference(pack, loss.temperature, prompts, self.reference_adapter)

    def _agree_on_memory(self, too_much: Pack | None) -> None:
        """
        Raise RanOut on all ranks when one of them had too little memory for a pack. With a policy in shards only that
        rank raises it: the others wait for its part of a layer, and that forward pass cannot be cancelled.
        """
        if self.in_shards:
            if too_much is not None:
                raise RanOut(too_much.tokens, alone=len(too_much.rollouts) == 1)
            return
        said = self.ranks.gather(None if too_much is None else (too_much.tokens, len(too_much.rollouts)))
        failed = [pack for pack in said if pack is not None]
        if failed:
            raise RanOut(max(tokens for tokens, _ in failed), alone=any(rollouts == 1 for _, rollouts in failed))

    def _remember(
        self, attempt: _Attempt, pack: Pack, old: torch.Tensor, entropy: torch.Tensor, reference: torch.Tensor | None
    ) -> _Remembered:
        loss, sums = attempt.loss, attempt.sums
        masks = sequence_masks(pack, old, loss)
        keep = masks.keep
        for rollout, distance, reason in zip(pack.rollouts, masks.distances, masks.reasons, strict=True):
            attempt.distances[rollout.index] = distance
            if reason is not None:
                attempt.masked[rollout.index] = reason
        sums.add_mismatch(
            old - pack.sampler_logp, keep, [rollout.sampler for rollout in pack.rollouts], pack.owner, loss.tis_cap
        )
        computed = pack.tokens if pack.rollouts else 0  # a filler does not count
        if pack.prompt is not None and pack.prompt is not attempt.counted:
            attempt.counted = pack.prompt
            computed += pack.prompt.shape[1]
        sums.add(entropy=float(entropy[keep].double().sum()), computed_tokens=float(computed))
        return _Remembered(old, keep, reference)

    def snapshot(self) -> dict[str, torch.Tensor]:
        """
        Return adapter and optimizer state as copied, whole tensors: `adapter/<name>`, `updates`, and those of the
        backend. All ranks of a policy in shards must call it together.
        """
        tensors = {"updates": torch.tensor([self.updates], dtype=torch.int64)}
        tensors |= {f"adapter/{name}": whole(parameter).cpu().clone() for name, parameter in self.named}
        return tensors | self.backend.state()

    def restore(self, tensors: dict[str, torch.Tensor]) -> None:
        """
        Load a snapshot, taken on any number of ranks. Raises KeyError when an adapter tensor is missing, RuntimeError
        when a shape differs.
        """
        self.backend.restore(tensors)
        self.updates = int(tensors["updates"].item())
        put(self.named, {name: tensors[f"adapter/{name}"] for name, _ in self.named})

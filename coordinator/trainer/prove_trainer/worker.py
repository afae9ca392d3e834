"""The worker process: one per rank under torchrun. It polls the job directory and takes one step per batch."""

import argparse
import logging
import os
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path

import torch

from . import __version__
from .adapter import published_adapter
from .adopted_start import AdoptedStart
from .audit_worker import AuditWorker
from .batch import Batch, Manifest, load_batch, read_manifest
from .canary import check_canaries
from .capacity import Capacity, find_capacity, remember_capacity, remembered_capacity
from .config import TrainerConfig, load_config
from .distributed import Ranks, join_ranks, lost_peer
from .errors import BatchRefused, TrainerError
from .events import Events, claim_stdout
from .examination import Adapter
from .examiner import Examiner
from .export import DeltaTooLarge
from .gguf_base import Base, load_base
from .grpo import GrpoTrainer, StepOutcome
from .jobs import JobDirectory
from .life import LIFE_NAME, Life
from .lifetime import Lifetime, Stopped
from .limits import MAX_DETAIL, MAX_LIFE_NAME, MAX_TOKENS_PER_FORWARD
from .policy import new_policy
from .reference import Reference
from .sharding import shard
from .step_folder import StepRecord, first_adapter, load_state, portray, read_step, write_step
from .warm_start import WarmStart
from .warm_start_settings import SETTINGS_FILE, load_settings

log = logging.getLogger("prove_trainer")


@dataclass(frozen=True)
class Command:
    """The decision of rank 0 for all ranks in this poll."""

    batch_id: str | None = None
    stop: str | None = None


class Worker:
    """One rank's state between polls."""

    def __init__(
        self, jobs: JobDirectory, base: Base, config: TrainerConfig, ranks: Ranks, events: Events, lifetime: Lifetime
    ) -> None:
        self.jobs = jobs
        self.base = base
        self.config = config
        self.ranks = ranks
        self.events = events
        self.lifetime = lifetime
        torch.manual_seed(config.seed)
        policy = new_policy(base, config.lora, config.seed, config.base_name, config.base_revision)
        shards = ranks.world if config.sharding == "layers" else 1
        capacity = find_capacity(config, base, ranks.device, shards, lambda **found: events.emit("memory", **found))
        if shards > 1:
            shard(policy, ranks)
            self.base = base.without_weights()
            capacity = remembered_capacity(jobs.capacities, capacity)
        self.trainer = GrpoTrainer(policy, config.optimizer, ranks, capacity, self._report_reduced_capacity)
        self.reference = Reference(self.base)
        self.record = self._resume()
        if self.record.warm_start is not None:
            self.trainer.reference_adapter = first_adapter(jobs)
        self.busy_with: str | None = (
            None  # the current batch, named in an error event so that the coordinator can count its failures
        )
        self._answered: set[str] = set()  # batches in the job directory that need no further look
        self._later: dict[str, int] = {}  # batches whose turn has not come -> the step they wait for

    def _report_reduced_capacity(self, capacity: Capacity, tokens: int) -> None:
        log.warning("a forward of %d tokens ran out of memory; continuing with %s", tokens, capacity)
        if self.trainer.in_shards:
            remember_capacity(self.jobs.capacities, self.ranks.rank, capacity)
        self.events.emit(
            "memory",
            batchId=self.busy_with,
            ranOutAt=tokens,
            tokensPerForward=capacity.budget,
            checkpointing=capacity.checkpointing,
        )

    def _resume(self) -> StepRecord:
        """
        Load the newest complete step, or create step 0. Rank 0 writes to the disk first; the other ranks then read it.
        """
        if self.ranks.rank == 0:
            drafts = self.jobs.clean_drafts()
            if drafts:
                self.events.emit("cleaned", drafts=drafts)
        if self.ranks.from_first(lambda: not self.jobs.step_numbers()):
            portrait = portray(self.trainer, self.base, self.config)
            if self.ranks.rank == 0:
                write_step(
                    self.jobs, 0, self.trainer, portrait, self.base, self.config, None, None, None, 0, self.reference
                )
        newest = self.ranks.from_first(lambda: max(self.jobs.step_numbers()))
        record = read_step(self.jobs, newest, self.base, self.config.lora)
        load_state(self.jobs, record, self.trainer)
        return record

    def loop(self) -> str:
        """Work until asked to end. Returns the reason."""
        record = self.record
        self.events.emit(
            "ready",
            trainer=__version__,
            step=record.step,
            batchId=record.batch_id,
            adapterSha256=record.adapter_sha256,
            ggufSha256=record.gguf_sha256,
            worldSize=self.ranks.world,
            device=str(self.ranks.device),
        )
        while True:
            self.lifetime.check()
            command = self.ranks.from_first(self._decide)
            if command.stop:
                self.ranks.all_agree(True)  # no rank leaves while a peer still waits for the command
                return command.stop
            if command.batch_id is None:
                self.lifetime.pause(self.config.poll_ms / 1000)
            else:
                self.busy_with = command.batch_id
                try:
                    self._take(command.batch_id)
                except BatchRefused as refusal:  # all ranks raise the same
                    if self.ranks.rank == 0:
                        self._refuse(command.batch_id, refusal)
                self.busy_with = None

    def _decide(self) -> Command:
        if self.jobs.take_stop():
            return Command(stop="stop_file")
        return Command(batch_id=self._next_batch())

    def _next_batch(self) -> str | None:
        """
        Return the batch of the current step. Answers batches that are done, refuses those that can never be trained.
        """
        present = self.jobs.batch_ids()
        self._answered &= set(present)
        self._later = {batch_id: step for batch_id, step in self._later.items() if batch_id in present}
        for batch_id in present:
            if batch_id in self._answered or self._later.get(batch_id, 0) > self.record.step:
                continue
            if batch_id in self.record.consumed:
                self.events.emit("step", step=self.record.consumed[batch_id], batchId=batch_id, repeated=True)
                self._answered.add(batch_id)
            elif self.jobs.refused(batch_id):
                self._answered.add(batch_id)
            else:
                try:
                    manifest = self._manifest(batch_id)
                    if manifest.parent_step == self.record.step:
                        if manifest.back_to is None:
                            self._batch(manifest)
                        return batch_id
                    self._later[batch_id] = manifest.parent_step
                except BatchRefused as refusal:
                    self._refuse(batch_id, refusal)
        return None

    def _manifest(self, batch_id: str) -> Manifest:
        manifest = read_manifest(self.jobs.batches / batch_id)
        if manifest.parent_step < self.record.step:
            raise BatchRefused(
                "parent_mismatch", f"made for step {manifest.parent_step}, the trainer is at step {self.record.step}"
            )
        return manifest  # a later parent step: its turn has not come yet

    def _batch(self, manifest: Manifest) -> Batch:
        directory = self.jobs.batches / manifest.batch_id
        base = self.base
        batch = load_batch(directory, manifest, self.config.loss, base.sha256, base.vocab_size, base.context_length)
        for rollout in batch.rollouts:
            if rollout.policy_version > self.record.step:
                raise BatchRefused(
                    "future_policy",
                    f"rollout {rollout.index} claims policy {rollout.policy_version} at step {self.record.step}",
                )
        for rollout in batch.unaudited:
            if not self.jobs.step_path(rollout.policy_version).exists():
                raise BatchRefused("policy_missing", f"step {rollout.policy_version} is no longer in the job directory")
        return batch

    def _refuse(self, batch_id: str, refusal: BatchRefused) -> None:
        self.jobs.refuse(batch_id, refusal.code, refusal.detail)
        self._answered.add(batch_id)
        self.events.emit("rejected", batchId=batch_id, code=refusal.code, message=refusal.detail)

    def _take(self, batch_id: str) -> None:
        manifest = self._manifest(batch_id)
        if manifest.back_to is None:
            self._train(self._batch(manifest))
        else:
            self._go_back(manifest, manifest.back_to)

    def _go_back(self, manifest: Manifest, target: int) -> None:
        """Make a step with the policy and the optimizer of an earlier step, as the operator ordered."""
        if manifest.base_sha256 != self.base.sha256:
            raise BatchRefused("base_mismatch", f"batch for base {manifest.base_sha256}")
        try:
            record = read_step(self.jobs, target, self.base, self.config.lora)
        except TrainerError as error:
            raise BatchRefused("policy_missing", f"step {target}: {error.detail}") from error
        before = self.trainer.snapshot()
        load_state(self.jobs, record, self.trainer)
        batch = Batch(
            manifest.batch_id,
            manifest.round_id,
            manifest.parent_step,
            self.config.loss,
            manifest.sha256,
            manifest.tokens_sha256,
            (),
        )
        outcome = StepOutcome("rollback", {}, {})
        if not self._write(batch, outcome, record.adapter_step):
            self.trainer.restore(before)
            raise BatchRefused("delta_norm", f"the adapter of step {target} is larger than maxDeltaNorm allows now")
        self._conclude(batch.batch_id, outcome, record.adapter_step)

    def _train(self, batch: Batch) -> None:
        self.events.emit(
            "training",
            batchId=batch.batch_id,
            step=self.record.step + 1,
            rollouts=len(batch.rollouts),
            tokens=batch.tokens,
        )
        before = self.trainer.snapshot()
        examiner = Examiner(self.jobs, self.ranks, self.events, self.lifetime, self.config.poll_ms / 1000)
        batch, examination = examiner.examine(batch, lambda: self._older_adapters(batch))
        outcome = self.trainer.run(
            batch,
            self.record.step,
            self.config.packing,
            self.config.max_tokens_per_forward or MAX_TOKENS_PER_FORWARD,
            self.lifetime.check,
            examination,
        )
        number = self.record.step + 1
        adapter_step = number if outcome.skipped is None else self.record.adapter_step
        if outcome.skipped == "drift":
            adapter_step = self._roll_back()
        if not self._write(batch, outcome, adapter_step):
            self.trainer.restore(before)
            outcome = StepOutcome("delta_norm", outcome.stats, outcome.rejected, outcome.timing)
            adapter_step = self.record.adapter_step
            self._write(batch, outcome, adapter_step)
        self._conclude(batch.batch_id, outcome, adapter_step)

    def _write(self, batch: Batch, outcome: StepOutcome, adapter_step: int) -> bool:
        """Write the next step. Returns False on all ranks when its update exceeds `maxDeltaNorm`."""
        too_large = False
        portrait = portray(self.trainer, self.base, self.config)
        if self.ranks.rank == 0:
            number, base, config = self.record.step + 1, self.base, self.config
            try:
                write_step(
                    self.jobs,
                    number,
                    self.trainer,
                    portrait,
                    base,
                    config,
                    self.record,
                    batch,
                    outcome,
                    adapter_step,
                    self.reference,
                )
            except DeltaTooLarge as error:
                too_large = True
                log.warning("update undone: %s", error)
        # The other ranks wait here for rank 0's files.
        return self.ranks.all_agree(not too_large)

    def _conclude(self, batch_id: str, outcome: StepOutcome, adapter_step: int) -> None:
        """Load the written step as the current one, report it, and remove old steps."""
        number = self.record.step + 1
        self.record = read_step(self.jobs, number, self.base, self.config.lora)
        self._answered.add(batch_id)
        if self.ranks.rank != 0:
            return
        self.events.emit(
            "skipped" if outcome.skipped else "step",
            step=number,
            batchId=batch_id,
            reason=outcome.skipped,
            consecutiveSkips=self.record.consecutive_skips,
            adapterStep=adapter_step,
            adapterSha256=self.record.adapter_sha256,
            ggufSha256=self.record.gguf_sha256,
            stats=outcome.stats,
            timing=outcome.timing,
        )
        # Groups of these policies may still arrive, and audits recompute them under these policies.
        needed = self.config.loss.max_staleness + 1
        keep_last = self.config.keep_last and max(self.config.keep_last, needed)
        pruned = self.jobs.prune(keep_last, self.config.keep_every, self._step_before_adapter())
        if pruned:
            self.events.emit("pruned", steps=pruned)

    def _older_adapters(self, batch: Batch) -> dict[int, Adapter]:
        """Return the published adapters of the versions to audit whose policy is not the current one."""
        found: dict[int, Adapter] = {}
        for version in {rollout.policy_version for rollout in batch.unaudited}:
            record = read_step(self.jobs, version, self.base, self.config.lora)
            if record.adapter_step != self.record.adapter_step:
                path = self.jobs.step_path(version) / "adapter.gguf"
                found[version] = published_adapter(self.base, self.trainer.policy, path, record.gguf_sha256)
        return found

    def _step_before_adapter(self) -> int:
        """Return the newest step with an earlier adapter than the current one, or 0."""
        return max((n for n in self.jobs.step_numbers() if n < self.record.adapter_step), default=0)

    def _roll_back(self) -> int:
        """Restore the adapter before the current one. Returns the step whose update made it."""
        target = self.ranks.from_first(self._step_before_adapter)
        record = read_step(self.jobs, target, self.base, self.config.lora)
        load_state(self.jobs, record, self.trainer)
        log.warning("drift: the adapter of step %d replaces that of step %d", record.adapter_step, self.record.step)
        return record.adapter_step


def _arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="prove_trainer", description="GRPO trainer over a job directory; torchrun starts several ranks."
    )
    parser.add_argument("--jobs", type=Path, required=True, help="job directory, shared with the coordinator")
    parser.add_argument("--base", type=Path, required=True, help="GGUF of the base model that the volunteers run")
    parser.add_argument("--config", type=Path, required=True, help="trainer.json")
    parser.add_argument("--parent-pid", type=int, default=None, help="end when this process ends")
    parser.add_argument("--life", default=None, help="name in the coordinator's lease, for ranks on several machines")
    parser.add_argument("--audits", action="store_true", help="answer audits instead of training")
    parser.add_argument("--warm-start", type=Path, default=None, help="folder of demonstrations: make step 0 of them")
    parser.add_argument("--adopt", type=Path, default=None, help="folder of a finished warm start: make it step 0")
    args = parser.parse_args(argv)
    if args.life is not None and (len(args.life) > MAX_LIFE_NAME or not LIFE_NAME.fullmatch(args.life)):
        parser.error(f"--life must be 1 to {MAX_LIFE_NAME} small letters and digits")
    return args


def run(argv: list[str] | None = None) -> int:
    """
    Run the process of one rank. Returns its exit status: 0 asked to end, 1 failed, 2 refused its configuration or base.
    """
    rank = int(os.environ.get("RANK", "0"))
    events = claim_stdout(rank)
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    args = _arguments(argv)
    life = None if args.life is None else Life(args.jobs, args.life, rank)
    if life:
        events = life.events()
    lifetime = Lifetime(args.parent_pid, lambda: events.emit("stopped", reason="orphaned"), life=life)
    worker: Worker | AuditWorker | WarmStart | AdoptedStart | None = None

    def failed(code: str, message: str) -> None:
        job, busy_with = "auditId" if args.audits else "batchId", worker.busy_with if worker else None
        if life:
            life.failed(code, message, busy_with)
        events.emit("error", code=code, message=message, **{job: busy_with})

    try:
        config = load_config(args.config)
        torch.set_num_threads(config.threads)
        ranks = join_ranks(config.device)
        # A base in shards is never on one device. Ranks that audit have the whole base each.
        in_shards = config.sharding == "layers" and ranks.world > 1 and not args.audits
        place = torch.device("cpu") if in_shards else ranks.device
        # Weights that learn need all their bits.
        learns = args.warm_start and load_settings(args.warm_start / SETTINGS_FILE).merged is not None
        base = load_base(args.base, config.base_sha256, place, "float32" if learns else config.precision)
        check_canaries(config.canaries, base.vocab_size, base.context_length)
        jobs = JobDirectory(args.jobs, args.life)
        if args.adopt:
            worker = AdoptedStart(args.adopt, jobs, base, config, ranks, events)
        elif args.warm_start:
            worker = WarmStart(args.warm_start, args.base, jobs, base, config, ranks, events, lifetime)
        elif args.audits:
            worker = AuditWorker(jobs, base, config, ranks, events, lifetime)
        else:
            worker = Worker(jobs, base, config, ranks, events, lifetime)
        events.emit("stopped", reason=worker.loop())
        return 0
    except Stopped as stopped:
        events.emit("stopped", reason=stopped.reason)
        return 0
    except TrainerError as error:
        log.error("%s", error)
        failed(error.code, error.detail)
        return 2 if error.code.startswith(("config_", "base_", "resume_", "device_", "warm_start_")) else 1
    except Exception as error:  # noqa: BLE001, whatever it is
        if reason := lifetime.reason_to_end():
            events.emit("stopped", reason=reason)
            return 0
        # torchrun shows only the exit status: the reason must leave the process here
        traceback.print_exc()
        failed("peer_lost" if lost_peer(error) else "internal", f"{type(error).__name__}: {error}"[:MAX_DETAIL])
        return 1
    finally:
        if life:
            life.tell(ended=True)


def main() -> None:
    os.umask(0o077)  # the job directory is next to the run's key, and like it private to its owner
    status = run()
    sys.stderr.flush()
    # Not sys.exit: after a trained step on two ranks (torch 2.13, gloo) the interpreter hung in the destructors of
    # DistributedDataParallel. Every file is synced and every event flushed by now.
    os._exit(status)

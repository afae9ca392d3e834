"""
Canaries: token sequences whose log-probabilities tell whether a node has the right base and has really applied the
adapter, and draws that tell whether its sampler selects tokens as ours does.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from .batch import Rollout
from .config import Canary, Draw
from .errors import TrainerError
from .limits import CANARY_DRAWS, CERTAIN, DRAW_MARGIN, RARE, ROUNDING
from .packing import Pack, build_pack, make_trees
from .policy import Policy


def default_canary(vocab_size: int, context_length: int) -> Canary:
    """A fixed sequence for the export checks of a run that configures no canaries."""
    length = min(48, context_length)
    ids = tuple((i * i * 7919 + i * 104_729 + 13) % vocab_size for i in range(length))
    return Canary(ids[: length // 2], ids[length // 2 :])


def check_canaries(canaries: Sequence[Canary], vocab_size: int, context_length: int) -> None:
    """Raises TrainerError `config_invalid` for a canary this model cannot score."""
    for i, canary in enumerate(canaries):
        ids = canary.prompt + canary.continuation
        if max(ids) >= vocab_size or len(ids) > context_length:
            raise TrainerError(
                "config_invalid",
                f"config.canaries[{i}] has an id outside the vocabulary or more tokens than the context",
            )


@torch.no_grad()
def score_canaries(
    policy: Policy, canaries: Sequence[Canary], temperature: float, device: torch.device, reference: bool = False
) -> list[list[float]]:
    """Teacher-forced log-probabilities (nats) of each canary's continuation; under the bare base with `reference`."""
    found = []
    for canary in canaries:
        pack = _pack_of(canary, device)
        logp = policy.reference(pack, temperature) if reference else policy(pack, temperature)[0]
        found.append(logp.float().cpu().tolist())
    return found


def _pack_of(canary: Canary, device: torch.device) -> Pack:
    ids = np.array(canary.prompt + canary.continuation, dtype=np.int32)
    mask = np.arange(len(ids)) >= len(canary.prompt)
    rollout = Rollout(0, "canary", 0.0, 0.0, 0, "canary", ids, mask, np.zeros(len(ids), dtype=np.float32))
    return build_pack(make_trees([rollout], share=False, budget=len(ids))).to(device)


@dataclass(frozen=True)
class CanaryDraws:
    """What seeds draw after a canary's prompt and the first `after` tokens of its continuation."""

    after: int = 0
    tokens: tuple[tuple[int, int], ...] = ()  # seed and the token it selects
    evidence: float = 0.0  # of these tokens, how many an unrelated sampler is expected to miss


@torch.no_grad()
def draw_tokens(
    policy: Policy, canaries: Sequence[Canary], temperature: float, device: torch.device
) -> list[CanaryDraws]:
    """For each canary the place in its continuation where draws tell most, with the draws that do."""
    found = []
    for canary in canaries:
        best = CanaryDraws()
        if canary.draws:
            states, weight = policy.states(_pack_of(canary, device))
            head = weight.to(states.dtype)
            for after, state in enumerate(states):
                logits = (head @ state).double() / temperature
                drawn = telling_draws(logits, after, canary.draws)
                if drawn.evidence > best.evidence:
                    best = drawn
        found.append(best)
    return found


def telling_draws(logits: torch.Tensor, after: int, draws: Sequence[Draw]) -> CanaryDraws:
    """
    Of the draws those that select the least likely tokens, but for certain: an error of `DRAW_MARGIN` nats in every
    logit leaves each of them what it is. Volunteers do not compute the same bits, and one whose single log-probability
    is further off than that fails the canary anyway. Rare tokens tell most, and there are some unless the policy is
    nearly deterministic, so even a confident policy shows whether draws are the same.

    As `repair` has it: errors of up to e let a token pass another one within 2e of it, and change the mass M before a
    boundary to at most M exp(2e) / (M exp(2e) + 1 - M). `logits` [V] float64.
    """
    ordered, ids = logits.sort(descending=True, stable=True)  # llama.cpp walks down from the likeliest token
    p = ordered.softmax(0)
    until = p.cumsum(0)
    u = torch.tensor([draw.u for draw in draws], dtype=torch.float64, device=logits.device)
    chosen = torch.searchsorted(until, u, right=True).clamp(max=len(p) - 1)
    own = p[chosen]

    slack = 2 * DRAW_MARGIN
    rising = -ordered  # searchsorted wants ascending numbers
    within = torch.searchsorted(rising, rising[chosen] + slack, right=True)  # how many may stand before the next token
    certain = torch.searchsorted(rising, rising[chosen] - slack)  # how many stand before this one in any case
    zero = torch.zeros(1, dtype=p.dtype, device=p.device)
    mass = torch.cat([zero, until])
    before = (mass[within] - own).clamp(0, 1)
    behind = (1 - mass[certain] - own).clamp(0, 1)
    grow = float(np.exp(slack))
    low = before * grow / (before * grow + 1 - before)
    high = 1 - behind * grow / (behind * grow + 1 - behind)
    telling = (low + ROUNDING <= u) & (u < high - ROUNDING) & (own > RARE) & (own < CERTAIN)

    order = sorted(telling.nonzero()[:, 0].tolist(), key=lambda i: (own[i].item(), i))[:CANARY_DRAWS]
    tokens = tuple((draws[i].seed, int(ids[chosen[i]])) for i in sorted(order))
    return CanaryDraws(after, tokens, float(sum(1 - own[i].item() for i in order)))


def largest_gap(left: list[list[float]], right: list[list[float]]) -> float:
    """Largest |difference| in nats; NaN counts as infinite."""
    gaps = [abs(a - b) for one, two in zip(left, right, strict=True) for a, b in zip(one, two, strict=True)]
    return max((gap if gap == gap else float("inf") for gap in gaps), default=0.0)

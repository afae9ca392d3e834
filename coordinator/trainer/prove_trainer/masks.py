"""Masks of rollouts whose sampler log-probabilities are too far off, and the typical distance of a whole batch."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from .batch import Rollout
from .config import LossSettings
from .packing import Pack
from .selection import MASKED


@dataclass(frozen=True)
class Masks:
    """The part of a pack that the checks of the sampler's log-probabilities keep."""

    keep: torch.Tensor  # [T] bool: loss tokens of rollouts that are kept
    distances: list[float]  # per rollout |mean log(pi_old / mu)| in nats, infinite where it is not a number
    reasons: list[str | None]  # per rollout why it is masked, of `selection.MASKED`


def sequence_masks(pack: Pack, old: torch.Tensor, loss: LossSettings) -> Masks:
    """
    Mask whole rollouts whose sampler was too far from pi_old. Three bounds apply: `guard` on |mean log(pi_old / mu)|
    (prime-rl's bounds on the geometric mean of the ratios), bounds on the product of the ratios (TRL's
    `sequence_mask`), and, for a negative advantage, a bound on mean log(mu / pi_old) (off-policy sequence masking of
    DeepSeek-V3.2, arXiv 2512.02556; TRL's `off_policy_mask_threshold`).

    Tokens with a missing sampler logprob are left out.
    """
    known = torch.isfinite(pack.sampler_logp)
    gap = torch.where(known, old - pack.sampler_logp, torch.zeros_like(old)).double()
    count = len(pack.rollouts)

    def per_rollout(values: torch.Tensor) -> torch.Tensor:
        return torch.zeros(count, dtype=torch.float64, device=gap.device).index_add_(0, pack.owner, values)

    total, number = per_rollout(gap), per_rollout(known.double())
    mean = total / number
    distance = mean.abs().nan_to_num(nan=math.inf, posinf=math.inf)
    outside = torch.zeros_like(distance, dtype=torch.bool)
    if loss.sequence_ratio_max > 0:
        outside |= total > math.log(loss.sequence_ratio_max)
    if loss.sequence_ratio_min > 0:
        outside |= total < math.log(loss.sequence_ratio_min)
    negative = per_rollout(pack.advantage.double()) < 0
    stale = negative & (-mean > loss.off_policy_max) if loss.off_policy_max > 0 else torch.zeros_like(outside)
    failed = zip((distance > loss.guard).tolist(), outside.tolist(), stale.tolist(), strict=True)
    reasons = [next((name for name, fails in zip(MASKED, one, strict=True) if fails), None) for one in failed]
    passed = torch.tensor([reason is None for reason in reasons], dtype=torch.bool, device=gap.device)
    return Masks(known & passed[pack.owner], distance.tolist(), reasons)


def typical_distance(distances: dict[int, float], rollouts: Sequence[Rollout]) -> float:
    """
    Return the median rollout's distance without the supplier whose rollouts raise it most: one of several suppliers
    cannot decide the result, whatever its part of the batch. `distances` by rollout index, at least one.
    """
    supplier_of = {rollout.index: rollout.supplier for rollout in rollouts}
    suppliers = {supplier_of[i] for i in distances}
    if len(suppliers) == 1:
        return statistics.median(distances.values())
    return min(
        statistics.median(distance for i, distance in distances.items() if supplier_of[i] != left_out)
        for left_out in suppliers
    )

"""
Statistics of a step. Sums are kept per rank, added over ranks once, then turned into means and shares.
"""

from collections.abc import Sequence

import torch

from .batch import Batch
from .limits import FLAT_REWARD, LOG_RATIO_CLAMP
from .selection import REASONS, Selection

_SUMS = (
    "loss",
    "tokens",
    "weight",
    "weight_squared",
    "capped",
    "clipped",
    "entropy",
    "log_ratio",
    "k3",
    "computed_tokens",
)


class StepSums:
    """Sums over this rank's kept loss tokens. `samplers` must be the same list on every rank."""

    def __init__(self, samplers: Sequence[str]) -> None:
        self.samplers = list(samplers)
        self.sums: dict[str, float] = dict.fromkeys(_SUMS, 0.0)
        self.by_sampler = {name: [0.0, 0.0] for name in self.samplers}  # sum of log(mu / pi_old), tokens

    def add(self, **values: float) -> None:
        for name, value in values.items():
            self.sums[name] += value

    def add_mismatch(
        self, gap: torch.Tensor, keep: torch.Tensor, samplers: Sequence[str], owner: torch.Tensor, tis_cap: float
    ) -> None:
        """Add the mismatch of kept tokens. `gap` [T]: log pi_old - log mu, in nats."""
        gap = torch.where(keep, gap, torch.zeros_like(gap)).clamp(-LOG_RATIO_CLAMP, LOG_RATIO_CLAMP).double()
        weight = gap.exp()[keep]
        self.add(
            tokens=float(keep.sum()),
            weight=float(weight.sum()),
            weight_squared=float((weight * weight).sum()),
            capped=float((weight > tis_cap).sum()),
            log_ratio=float(-gap.sum()),
            k3=float((weight - 1).sum() - gap.sum()),
        )
        for i, name in enumerate(samplers):
            own = keep & (owner == i)
            self.by_sampler[name][0] -= float(gap[own].sum())
            self.by_sampler[name][1] += float(own.sum())

    def flat(self) -> list[float]:
        return [self.sums[name] for name in _SUMS] + [
            value for name in self.samplers for value in self.by_sampler[name]
        ]

    def load(self, values: list[float]) -> None:
        """Replace the sums by those over all ranks, in the order of `flat`."""
        self.sums = dict(zip(_SUMS, values, strict=False))
        rest = values[len(_SUMS) :]
        self.by_sampler = {name: rest[2 * i : 2 * i + 2] for i, name in enumerate(self.samplers)}


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def summarise(batch: Batch, selection: Selection, rejected: dict[int, str], sums: StepSums) -> dict:
    """
    Return the step's statistics under their JSON names. KL and entropy are in nats, shares in [0, 1]; None where
    nothing was kept.

    `mismatchKl` is the mean of log(mu / pi_old) over sampled tokens, an estimate of KL(mu || pi_old); `mismatchKl3`
    the non-negative estimator r - 1 - log r; both over what the guard kept. `ess` is (sum w)^2 / (n sum w^2) of the
    untruncated weights.
    """
    s = sums.sums
    tokens = s["tokens"]

    def per_token(value: float) -> float | None:
        return value / tokens if tokens else None

    total = len(batch.rollouts)
    counts = {reason: sum(1 for r in rejected.values() if r == reason) for reason in REASONS}
    by_group = [[member.reward for member in members] for members in batch.groups().values()]
    return {
        "rollouts": total,
        "groups": len(by_group),
        "trainedRollouts": total - len(rejected),
        "rejected": counts,
        "rejectedShare": {reason: count / total for reason, count in counts.items()},
        "rewardMean": _mean([rollout.reward for rollout in batch.rollouts]),
        "rewardSpread": _mean([max(rewards) - min(rewards) for rewards in by_group]),
        "flatGroupShare": sum(1 for rewards in by_group if max(rewards) - min(rewards) < FLAT_REWARD) / len(by_group),
        "lossTokens": int(tokens),
        "batchTokens": batch.tokens,
        "computedTokens": int(s["computed_tokens"]),
        "loss": per_token(s["loss"]),
        "mismatchKl": per_token(s["log_ratio"]),
        "mismatchKl3": per_token(s["k3"]),
        "mismatchKlBySampler": {
            name: (total_gap / count if count else None) for name, (total_gap, count) in sums.by_sampler.items()
        },
        "ess": s["weight"] ** 2 / (tokens * s["weight_squared"]) if tokens else None,
        "tisCapShare": per_token(s["capped"]),
        "clipFraction": per_token(s["clipped"]),
        "entropy": per_token(s["entropy"]),
        "staleness": {str(age): count for age, count in selection.staleness.items()},
    }

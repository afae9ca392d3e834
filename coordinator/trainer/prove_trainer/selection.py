"""Selection of a batch's rollouts for training, with a reason for each rejected one."""

from dataclasses import dataclass

import numpy as np

from .batch import Batch, Rollout
from .errors import BatchRefused
from .limits import FLAT_REWARD, MAX_BAD_LOGP_SHARE, POSITIVE_LOGP_SLACK

# Reasons known before any forward pass; the step adds MASKED, which need log pi_old. 'audit': the coordinator refused
# the group by its token scores, and the step began again without the group.
MASKED = ("guard", "sequence_ratio", "off_policy")
REASONS = ("audit", "singleton", "flat", "stale", "no_loss_tokens", "logp_nonfinite", "logp_positive", *MASKED)


@dataclass(frozen=True)
class Selection:
    kept: tuple[Rollout, ...]
    rejected: dict[int, str]  # rollout index -> reason
    staleness: dict[int, int]  # trainer steps -> number of rollouts, over the whole batch


def _own_fault(rollout: Rollout) -> str | None:
    claimed = rollout.sampler_logp[rollout.mask]
    if len(claimed) == 0:
        return "no_loss_tokens"
    bad = ~np.isfinite(claimed)
    if bad.mean() > MAX_BAD_LOGP_SHARE:
        return "logp_nonfinite"
    if (claimed[~bad] > POSITIVE_LOGP_SLACK).any():
        return "logp_positive"
    return None


def _shared_fault(rewards: list[float]) -> str | None:
    if len(rewards) == 1:
        return "singleton"
    return "flat" if max(rewards) - min(rewards) < FLAT_REWARD else None


def select(batch: Batch, step: int) -> Selection:
    """
    Reject groups that are left out of the batch, groups of one, zero-variance groups, stale rollouts, and rollouts
    whose sampler logprobs cannot be true.

    A rejected member's reward stays in its group's mean: only its tokens are left out. Raises BatchRefused
    `future_policy` when a rollout claims a policy that does not exist yet.
    """
    kept: list[Rollout] = []
    rejected: dict[int, str] = {}
    staleness: dict[int, int] = {}
    for group, members in batch.groups().items():
        shared = "audit" if group in batch.left_out else _shared_fault([member.reward for member in members])
        for member in members:
            age = step - member.policy_version
            if age < 0:
                raise BatchRefused(
                    "future_policy", f"rollout {member.index} claims policy {member.policy_version} at step {step}"
                )
            staleness[age] = staleness.get(age, 0) + 1
            reason = shared or ("stale" if age > batch.loss.max_staleness else _own_fault(member))
            if reason is None:
                kept.append(member)
            else:
                rejected[member.index] = reason
    return Selection(tuple(kept), rejected, dict(sorted(staleness.items())))

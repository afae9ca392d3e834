"""
Canaries: token sequences whose log-probabilities show whether a node has the right base and has applied the adapter.
"""

from collections.abc import Sequence

import numpy as np
import torch

from .batch import Rollout
from .config import Canary
from .errors import TrainerError
from .packing import Pack, build_pack, make_trees
from .policy import Policy


def default_canary(vocab_size: int, context_length: int) -> Canary:
    """Return a fixed sequence for the export checks of a run that configures no canaries."""
    length = min(48, context_length)
    ids = tuple((i * i * 7919 + i * 104_729 + 13) % vocab_size for i in range(length))
    return Canary(ids[: length // 2], ids[length // 2 :])


def check_canaries(canaries: Sequence[Canary], vocab_size: int, context_length: int) -> None:
    """Check the canaries. Raises TrainerError `config_invalid` for a canary that this model cannot score."""
    for i, canary in enumerate(canaries):
        ids = canary.prompt + canary.continuation
        if max(ids) >= vocab_size or len(ids) > context_length:
            raise TrainerError(
                "config_invalid",
                f"config.canaries[{i}] has an id outside the vocabulary or more tokens than the context",
            )


@torch.no_grad()
def score_canaries(policy: Policy, canaries: Sequence[Canary], temperature: float) -> list[list[float]]:
    """
    Return the teacher-forced log-probabilities (nats) of each canary's continuation, in the precision of the policy.
    """
    found = []
    for canary in canaries:
        pack = _pack_of(canary, policy.device)
        logp = policy(pack, temperature)[0]
        found.append(logp.float().cpu().tolist())
    return found


def _pack_of(canary: Canary, device: torch.device) -> Pack:
    ids = np.array(canary.prompt + canary.continuation, dtype=np.int32)
    mask = np.arange(len(ids)) >= len(canary.prompt)
    rollout = Rollout(0, "canary", 0.0, 0.0, 0, "canary", ids, mask, np.zeros(len(ids), dtype=np.float32))
    return build_pack(make_trees([rollout], share=False, budget=len(ids))).to(device)


def largest_gap(left: list[list[float]], right: list[list[float]]) -> float:
    """Return the largest |difference| in nats. NaN counts as infinite."""
    gaps = [abs(a - b) for one, two in zip(left, right, strict=True) for a, b in zip(one, two, strict=True)]
    return max((gap if gap == gap else float("inf") for gap in gaps), default=0.0)

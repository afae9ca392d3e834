"""
The random draws of sampled tokens, in the form of the job directory. Only this module and `token_scores` depend on that
form; the coordinator writes it (coordinator/jobs/flat-rollouts.ts).
"""

from collections.abc import Mapping, Sequence

import numpy as np
import torch

from .errors import BatchRefused

# As long as `ids` and `loss_mask`: the turn's sampler seed, and the position of the draw in the turn. 0 where nothing
# was sampled, and in rollouts that need no audit.
DRAW_TENSORS = {"draw_seed": np.uint32, "draw_position": np.uint32}


def check_draws(arrays: Mapping[str, np.ndarray]) -> None:
    """Check that only sampled tokens have draws. Raises BatchRefused `draws_invalid`."""
    unsampled = arrays["loss_mask"] == 0
    if any(arrays[name][unsampled].any() for name in DRAW_TENSORS):
        raise BatchRefused("draws_invalid", "only sampled tokens have draws")


def draws_of(arrays: Mapping[str, np.ndarray], part: slice, mask: np.ndarray) -> np.ndarray:
    """Return seed and position of each of the T sampled tokens of the rollout at `part`, [T, 2] int64."""
    return np.stack([arrays[name][part][mask] for name in DRAW_TENSORS], axis=1).astype(np.int64)


def join_draws(parts: Sequence[np.ndarray], device: torch.device) -> torch.Tensor:
    """Join the draws of several rollouts, in order, for `token_scores.token_scores`: [T, 2] int64."""
    return torch.from_numpy(np.concatenate(parts)).to(device)

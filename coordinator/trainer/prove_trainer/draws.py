"""
The draws behind sampled tokens, as they lie in the job directory. All that knows their form is here and in `evidence`; the
coordinator writes them (coordinator/jobs/flat-rollouts.ts).
"""

from collections.abc import Mapping, Sequence

import numpy as np
import torch

from .errors import BatchRefused

# Beside `ids` and `loss_mask`, of the same length: the turn's sampler seed, and the place of the draw in the turn. 0
# where nothing was sampled, and in rollouts whose draws are of no interest.
DRAW_TENSORS = {"draw_seed": np.uint32, "draw_position": np.uint32}


def check_draws(arrays: Mapping[str, np.ndarray]) -> None:
    """Raises BatchRefused `draws_invalid`."""
    unsampled = arrays["loss_mask"] == 0
    if any(arrays[name][unsampled].any() for name in DRAW_TENSORS):
        raise BatchRefused("draws_invalid", "only sampled tokens have draws")


def draws_of(arrays: Mapping[str, np.ndarray], part: slice, mask: np.ndarray) -> np.ndarray:
    """Those of one rollout, which lies at `part`: seed and position of each of its T sampled tokens, [T, 2] int64."""
    return np.stack([arrays[name][part][mask] for name in DRAW_TENSORS], axis=1).astype(np.int64)


def join_draws(parts: Sequence[np.ndarray], device: torch.device) -> torch.Tensor:
    """Those of several rollouts, in order, as `token_scores.token_scores` takes them: [T, 2] int64."""
    return torch.from_numpy(np.concatenate(parts)).to(device)

"""
The draws behind sampled tokens, as they lie in the spool. All that knows their form is here and in `evidence`; the
coordinator writes them (coordinator/spool/flat-rollouts.ts).
"""

from collections.abc import Mapping, Sequence

import numpy as np
import torch

from .errors import BatchRefused

# Beside `ids` and `loss_mask`, of the same length: uniform numbers in [0, 1), 0 where nothing was sampled.
DRAW_TENSORS = {"draws": np.float64}


def check_draws(arrays: Mapping[str, np.ndarray]) -> None:
    """Raises BatchRefused `draws_invalid`."""
    if not ((arrays["draws"] >= 0) & (arrays["draws"] < 1)).all():
        raise BatchRefused("draws_invalid", "draws must lie in [0, 1)")


def draws_of(arrays: Mapping[str, np.ndarray], part: slice, mask: np.ndarray) -> np.ndarray:
    """Those of one rollout, which lies at `part`: one per sampled token, along the first axis."""
    return arrays["draws"][part][mask]


def join_draws(parts: Sequence[np.ndarray], device: torch.device) -> torch.Tensor:
    """Those of several rollouts, in order, as `evidence.token_evidence` takes them."""
    return torch.from_numpy(np.concatenate(parts)).to(device)

"""Demonstrations for supervised training: token ids with a mask over the assistant's tokens, checked when read."""

from itertools import pairwise
from pathlib import Path

import numpy as np

from .batch import Rollout, check_layout, read_tokens
from .errors import BatchRefused, TrainerError

DEMONSTRATION_TENSORS = {"ids": np.int32, "loss_mask": np.uint8, "cu_seqlens": np.int32}


def read_demonstrations(path: Path, expected_sha256: str, vocab_size: int, context_length: int) -> list[Rollout]:
    """
    Read the demonstrations in `path` (`prove-lab demonstrations` writes the same form). Each is the only
    rollout of a group, so packs keep them apart.

    Raises TrainerError `demonstrations_invalid`.
    """
    try:
        arrays = read_tokens(path, expected_sha256, DEMONSTRATION_TENSORS)
        lengths = np.diff(arrays["cu_seqlens"]).tolist()
        offsets = check_layout(arrays, lengths, vocab_size, context_length)
    except (BatchRefused, ValueError, IndexError) as error:
        raise TrainerError("demonstrations_invalid", f"{path.name}: {error}") from error
    found = []
    for i, (start, end) in enumerate(pairwise(offsets)):
        part = slice(int(start), int(end))
        mask = arrays["loss_mask"][part].astype(bool)
        if not mask.any():
            raise TrainerError("demonstrations_invalid", f"demonstration {i} has no token of the assistant")
        ids = arrays["ids"][part]
        found.append(Rollout(i, str(i), 0.0, 0.0, 0, "demonstration", ids, mask, np.zeros(len(ids), np.float32)))
    return found

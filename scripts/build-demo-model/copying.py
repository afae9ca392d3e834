"""Loss and accuracy of a model on copying documents."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from copy_documents import KINDS, Difficulty, document
from model import Qwen3

PROBE_DIFFICULTY = Difficulty(256, 40, 8)


def copy_loss(model: Qwen3, ids: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """
    @param ids      [rows, length]
    @param weights  [rows, length], positive on tokens that copying predicts
    @returns        mean loss (nats) over those tokens, and bool: which of them greedy decoding gets right
    """
    with torch.autocast('cpu', torch.bfloat16):
        hidden = model.hidden(ids[:, :-1])
        chosen = weights[:, 1:] > 0
        logits = model.logits(hidden[chosen])
    targets = ids[:, 1:][chosen]
    return F.cross_entropy(logits.float(), targets), logits.argmax(-1) == targets


@torch.no_grad()
def accuracies(model: Qwen3, difficulty: Difficulty = PROBE_DIFFICULTY, rows: int = 8) -> dict[str, float]:
    """Teacher-forced accuracy on the predictable tokens of fixed documents that no training draws, by kind."""
    result = {}
    for kind in KINDS:
        rng = np.random.default_rng(10_000_019)
        made = [document(rng, kind, model.config.vocab_size, difficulty) for _ in range(rows)]
        ids, weights = (torch.from_numpy(np.stack(part)) for part in zip(*made, strict=True))
        result[kind] = round(float(copy_loss(model, ids, weights)[1].float().mean()), 4)
    return result

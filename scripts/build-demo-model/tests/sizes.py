"""Sizes and material small enough for tests."""

import numpy as np
import torch

from dialogues import Dialogue
from model import ModelConfig, Qwen3

TINY = ModelConfig(
    vocab_size=512,
    hidden_size=64,
    num_layers=2,
    num_heads=4,
    num_kv_heads=2,
    head_dim=16,
    ffn_size=96,
    context_length=512,
)


def random_dialogue(rng: np.random.Generator, length: int, vocab_size: int = TINY.vocab_size) -> Dialogue:
    """Turns of random tokens; the assistant's repeat something said before."""
    ids = rng.integers(9, vocab_size, length).astype(np.int32)
    assistant = np.zeros(length, bool)
    for start in range(length // 3, length - 12, 40):
        source = int(rng.integers(0, max(1, start - 10)))
        ids[start : start + 10] = ids[source : source + 10]
        assistant[start : start + 10] = True
    return Dialogue(ids, assistant)


def trained_a_little() -> Qwen3:
    """A model whose every weight is off its start."""
    model = Qwen3(TINY, seed=1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.05 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(2)))
    return model

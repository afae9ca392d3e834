"""
The table of bytes in docs/reference/trainer.md: counted for the shapes of real models, without their numbers.

    PYTHONPATH=coordinator/trainer python coordinator/trainer/tests/test_memory_table.py

writes it.
"""

import re
from pathlib import Path

import pytest
import torch
from prove_trainer.architectures import ARCHITECTURES
from prove_trainer.capacity import USABLE
from prove_trainer.config import LoraSettings
from prove_trainer.gguf_base import Base, placed
from prove_trainer.memory import Costs, count
from prove_trainer.packing import APART_TOKENS

DOCS = Path(__file__).parents[3] / "docs" / "reference" / "trainer.md"
KIB, GIB = 2**10, 2**30
GPU = 80 * 10**9
LONG = 16_384
QWEN = dict(vocab_size=151_936, rms_norm_eps=1e-6)
# Of the models' config.json, as far as a tensor's size depends on it.
MODELS = {
    "Qwen3-4B-Instruct-2507": (
        "qwen3",
        QWEN
        | dict(hidden_size=2560, intermediate_size=9728, num_hidden_layers=36, num_attention_heads=32)
        | dict(num_key_value_heads=8, head_dim=128, tie_word_embeddings=True),
    ),
    "Qwen3-8B": (
        "qwen3",
        QWEN
        | dict(hidden_size=4096, intermediate_size=12_288, num_hidden_layers=36, num_attention_heads=32)
        | dict(num_key_value_heads=8, head_dim=128, tie_word_embeddings=False),
    ),
    "Qwen2.5-7B-Instruct": (
        "qwen2",
        QWEN
        | dict(vocab_size=152_064, hidden_size=3584, intermediate_size=18_944, num_hidden_layers=28)
        | dict(num_attention_heads=28, num_key_value_heads=4, tie_word_embeddings=False),
    ),
    "granite-4.1-8b-instruct": (
        "granite",
        dict(vocab_size=100_352, hidden_size=4096, intermediate_size=12_800, num_hidden_layers=40)
        | dict(num_attention_heads=32, num_key_value_heads=8, tie_word_embeddings=True, logits_scaling=16.0),
    ),
}
HEAD = (
    "| model, rank 16 | base | adapter | a token | one rollout of 16,384 | longest on 80 GB "
    "| a token, checkpointed | one rollout of 16,384 | longest on 80 GB |\n" + "| --- " * 9 + "|\n"
)


def shapes(architecture: str, settings: dict) -> Base:
    """A base of 16 bits without a number in it."""
    kind = ARCHITECTURES[architecture]
    rope = {"rope_type": "default", "rope_theta": 1e6}
    config = kind.config(**settings, max_position_embeddings=40_960, rope_parameters=rope, use_cache=False)
    with torch.device("meta"):
        state = kind.model(config).state_dict()
    if config.tie_word_embeddings:
        del state["lm_head.weight"]
    tensors = {name: placed(weight, torch.device("meta"), "bfloat16") for name, weight in state.items()}
    return Base(architecture, "0" * 64, config, tensors, "bfloat16")


def row(name: str, costs: Costs) -> str:
    cells = [f"{costs.base / GIB:.1f} GiB", f"{costs.adapter / GIB:.2f} GiB"]
    for checkpointing in (False, True):
        forward = costs.forward(checkpointing)
        longest = costs.fitting(GPU * USABLE - costs.base, checkpointing)
        cells += [f"{forward.token / KIB:.0f} KiB", f"{forward.bytes(LONG) / GIB:.1f} GiB", f"{longest // 100 * 100:,}"]
    return f"| {name} | {' | '.join(cells)} |\n"


def row_of(name: str) -> str:
    return row(name, count(shapes(*MODELS[name]), LoraSettings()))


def with_table(text: str) -> str:
    rows = [row_of(name) for name in MODELS]
    old = re.compile(r"^\| model, rank 16 \|[^\n]*\n\|[^\n]*\n(\|[^\n]*\n)*", re.MULTILINE)
    return old.sub(lambda _: HEAD + "".join(rows), text)


@pytest.mark.parametrize("name", ["Qwen3-4B-Instruct-2507", "granite-4.1-8b-instruct"])
def test_the_table_of_bytes_is_what_is_counted_now(name):
    """If not: the command above. Of two models, for the seconds that a count takes."""
    text = DOCS.read_text(encoding="utf-8")
    costs = count(shapes(*MODELS[name]), LoraSettings())
    assert HEAD in text
    assert row(name, costs) in text
    config = shapes(*MODELS[name]).config
    width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    numbers = 2 * config.num_hidden_layers * config.num_key_value_heads * width
    # Keys, values and their slopes, at 4 bytes, of a token of a prompt that stands apart.
    assert 2 * 4 * numbers <= APART_TOKENS * costs.checkpointed.token


if __name__ == "__main__":
    DOCS.write_text(with_table(DOCS.read_text(encoding="utf-8")), encoding="utf-8")

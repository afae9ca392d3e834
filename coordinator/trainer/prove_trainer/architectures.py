"""
The architectures that can be trained: their names in GGUF, and the layout of their weights there and in transformers.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar, cast

import numpy as np
import torch
from transformers import (
    GraniteConfig,
    GraniteForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedConfig,
    PreTrainedModel,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)
from transformers.models.granite.modeling_granite import GraniteRotaryEmbedding
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding
from transformers.models.qwen2.modeling_qwen2 import Qwen2RotaryEmbedding
from transformers.models.qwen3.modeling_qwen3 import Qwen3RotaryEmbedding

Rows = TypeVar("Rows", torch.Tensor, np.ndarray)


@dataclass(frozen=True)
class Architecture:
    config: type[PreTrainedConfig]
    model: type[PreTrainedModel]
    rotary: type[torch.nn.Module]
    free_head_length: bool = False  # heads of another length than width / heads
    biases: bool = False  # of q, k and v
    permuted: bool = False  # rows of q and k: llama.cpp turns neighbours, transformers the halves of a head
    rope_factors: bool = False  # Llama 3's scaling, in the tensor rope_freqs.weight
    multipliers: Mapping[str, str] = field(default_factory=dict)  # field of the configuration -> metadata


ARCHITECTURES = {
    "qwen3": Architecture(Qwen3Config, Qwen3ForCausalLM, Qwen3RotaryEmbedding, free_head_length=True),
    "qwen2": Architecture(Qwen2Config, Qwen2ForCausalLM, Qwen2RotaryEmbedding, biases=True),
    "llama": Architecture(
        LlamaConfig, LlamaForCausalLM, LlamaRotaryEmbedding, free_head_length=True, permuted=True, rope_factors=True
    ),
    "granite": Architecture(
        GraniteConfig,
        GraniteForCausalLM,
        GraniteRotaryEmbedding,
        permuted=True,
        rope_factors=True,
        multipliers={
            "embedding_multiplier": "embedding_scale",
            "residual_multiplier": "residual_scale",
            "attention_multiplier": "attention.scale",
            "logits_scaling": "logit_scale",
        },
    ),
}

_TURNED = re.compile(r"attn_([qk])\.(?:weight|bias|weight\.lora_b)$")


@dataclass(frozen=True)
class RowOrder:
    """The order of a tensor's rows in GGUF, for a model with these numbers of heads."""

    architecture: str
    heads: int
    key_heads: int

    def stored(self, name: str, rows: Rows) -> Rows:
        """Return `rows` of the tensor `name`, given in the order of transformers, in the order of GGUF."""
        return self._turned(name, rows, 1)

    def read(self, name: str, rows: Rows) -> Rows:
        """Return the rows of the tensor `name`, given in the order of GGUF, in the order of transformers."""
        return self._turned(name, rows, 2)

    def _turned(self, name: str, rows: Rows, axis: int) -> Rows:
        match = _TURNED.search(name)
        if match is None or not ARCHITECTURES[self.architecture].permuted:
            return rows
        heads = self.heads if match.group(1) == "q" else self.key_heads
        half = rows.shape[0] // heads // 2
        parts = (2, half) if axis == 1 else (half, 2)
        return cast("Rows", rows.reshape(heads, *parts, *rows.shape[1:]).swapaxes(1, 2).reshape(rows.shape))

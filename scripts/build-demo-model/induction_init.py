"""
Starts a model with a rough induction circuit in its first two layers, for training to refine.

Left alone, the two heads of the circuit (Olsson et al., arXiv 2209.11895) wait for each other: neither helps without
the other, and random weights needed several million tokens to find the pair. Here layer 0 gets heads that look one to
four tokens back and write a sketch of what they find; layer 1 gets heads that compare the last tokens with those
sketches, and so look at what followed their earlier occurrence, and write that token where the tied head reads it.
"""

import torch
from torch import Tensor

from model import ModelConfig, Qwen3

# Rotary pairs that turn fast enough to tell neighbouring positions apart.
POSITION_PAIRS = 6
# A pair that turns by less than this over the whole distance compares content nearly regardless of distance.
LARGEST_CONTENT_TURN = 1.6
CONSTANT_COLUMN = 0
CONSTANT_VALUE = 0.16
POSITION_SHARPNESS = 2.0
CONTENT_SHARPNESS = 3.0
SKETCH_SCALE = 0.06
COPY_SCALE = 0.5
# The embedding is this much weaker in the residual stream than a sketch; comparisons level it.
CURRENT_TOKEN_GAIN = 1.5
# How many of the last tokens each head of layer 1 compares: single words need one, the field of a record several.
CONTEXTS = (2, 3, 3, 4)


def orthonormal(rows: int, columns: int, generator: torch.Generator) -> Tensor:
    return torch.linalg.qr(torch.randn(columns, rows, generator=generator))[0].T.contiguous()


def frequencies(config: ModelConfig) -> Tensor:
    return config.rope_theta ** -(torch.arange(0, config.head_dim, 2, dtype=torch.float32) / config.head_dim)


@torch.no_grad()
def place_induction(model: Qwen3, distance: int = 512, seed: int = 0) -> None:
    """Overwrites heads of layers 0 and 1 and one embedding column; copies will reach about `distance` tokens back."""
    config, generator = model.config, torch.Generator().manual_seed(seed)
    size, half, kv_heads = config.head_dim, config.head_dim // 2, config.num_kv_heads
    group = config.num_heads // kv_heads
    turn = frequencies(config)
    content = torch.nonzero(turn * distance < LARGEST_CONTENT_TURN).flatten()
    content = torch.cat((content, content + half))
    model.model.embed_tokens.weight[:, CONSTANT_COLUMN] = CONSTANT_VALUE
    sketch = orthonormal(size, config.hidden_size, generator)
    written = orthonormal(size * kv_heads, config.hidden_size, generator).view(kv_heads, size, config.hidden_size)
    copied = orthonormal(size * kv_heads, config.hidden_size, generator).view(kv_heads, size, config.hidden_size)

    # Earlier tokens: constant query and key whose phases agree `back` positions apart.
    first = model.model.layers[0].self_attn
    fast = torch.arange(POSITION_PAIRS)
    for kv in range(kv_heads):
        back = kv + 1
        key, query = slice(kv * size, (kv + 1) * size), slice(kv * group * size, (kv * group + 1) * size)
        first.q_proj.weight[query] = 0
        first.k_proj.weight[key] = 0
        first.k_proj.weight[key.start + fast, CONSTANT_COLUMN] = 1
        first.q_proj.weight[query.start + fast, CONSTANT_COLUMN] = torch.cos(back * turn[fast])
        first.q_proj.weight[query.start + fast + half, CONSTANT_COLUMN] = -torch.sin(back * turn[fast])
        first.v_proj.weight[key] = sketch
        first.o_proj.weight[:, query] = SKETCH_SCALE * written[kv].T
    for norm in (first.q_norm, first.k_norm):
        norm.weight[torch.cat((fast, fast + half))] = POSITION_SHARPNESS

    # Induction: my last tokens against what stands before each earlier position.
    second = model.model.layers[1].self_attn
    for kv in range(kv_heads):
        key, query = slice(kv * size, (kv + 1) * size), slice(kv * group * size, (kv * group + 1) * size)
        second.q_proj.weight[query] = 0
        second.k_proj.weight[key] = 0
        for back in range(min(CONTEXTS[kv % len(CONTEXTS)], kv_heads)):
            # Each place compares other directions of the sketch, so that a token in the wrong place is no match.
            chosen = torch.randperm(size, generator=generator)[: len(content)]
            mine = CURRENT_TOKEN_GAIN * sketch if back == 0 else written[back - 1]
            second.q_proj.weight[query.start + content] += mine[chosen]
            second.k_proj.weight[key.start + content] += written[back][chosen]
        second.v_proj.weight[key] = copied[kv]
        second.o_proj.weight[:, query] = COPY_SCALE * copied[kv].T
    for norm in (second.q_norm, second.k_norm):
        norm.weight[content] = CONTENT_SHARPNESS

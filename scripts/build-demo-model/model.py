"""A small, fast Qwen3 for CPU training: same arithmetic and parameter names as transformers' Qwen3ForCausalLM."""

from dataclasses import asdict, dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class ModelConfig:
    """Sizes of the policy. `vocab_size` is the table size; the tokenizer may fill fewer entries."""

    vocab_size: int = 2048
    hidden_size: int = 256
    num_layers: int = 6
    num_heads: int = 4
    num_kv_heads: int = 2
    head_dim: int = 64
    ffn_size: int = 768
    rope_theta: float = 10_000.0
    rms_norm_eps: float = 1e-6
    context_length: int = 2048

    def as_dict(self) -> dict:
        return asdict(self)


def rope_tables(config: ModelConfig, length: int) -> tuple[Tensor, Tensor]:
    """Cosine and sine of every position, each [length, head_dim], halves repeated (the "neox" layout)."""
    half = torch.arange(0, config.head_dim, 2, dtype=torch.float32) / config.head_dim
    angles = torch.outer(torch.arange(length, dtype=torch.float32), config.rope_theta**-half)
    return torch.cat((angles, angles), -1).cos(), torch.cat((angles, angles), -1).sin()


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary embedding of x [..., head_dim]; cos and sin must broadcast to it."""
    first, second = x.chunk(2, -1)
    return x * cos + torch.cat((-second, first), -1) * sin


class RmsNorm(nn.Module):
    def __init__(self, size: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, x.shape[-1:], self.weight.to(x.dtype), self.eps)


# Queries that are compared at once: each block stops at its own last key, which skips most of the masked half.
QUERY_BLOCK = 128


def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """
    Causal grouped-query attention by plain batched products.

    torch's fused CPU kernel is 3 to 5 times slower in training at these sizes (measured forward and backward at 128 to
    512 tokens in bfloat16), so buffers of scores, a block of queries at a time, are the better deal.

    @param q     [rows, length, heads, size]
    @param k, v  [rows, length, kv_heads, size]
    @returns     [rows, length, heads * size]
    """
    rows, length, heads, size = q.shape
    kv_heads, group = k.shape[2], heads // k.shape[2]
    q = q.transpose(1, 2).reshape(rows * kv_heads, group, length, size)
    k, v = (x.transpose(1, 2).reshape(rows * kv_heads, length, size) for x in (k, v))
    blocks = []
    for start in range(0, length, QUERY_BLOCK):
        end = min(start + QUERY_BLOCK, length)
        ahead = torch.full((end - start, end), float('-inf'), dtype=q.dtype).triu(start + 1)
        # The queries that share a key head are stacked below each other: one product per key head, nothing repeated.
        queries = q[:, :, start:end].reshape(rows * kv_heads, group * (end - start), size)
        ahead = ahead.repeat(group, 1).expand(rows * kv_heads, -1, -1)
        scores = torch.baddbmm(ahead, queries, k[:, :end].transpose(1, 2), alpha=size**-0.5)
        blocks.append(torch.bmm(scores.softmax(-1), v[:, :end]).view(rows * kv_heads, group, end - start, size))
    out = torch.cat(blocks, 2).view(rows, heads, length, size)
    return out.transpose(1, 2).reshape(rows, length, heads * size)


class Attention(nn.Module):
    def __init__(self, c: ModelConfig) -> None:
        super().__init__()
        self.c = c
        self.q_proj = nn.Linear(c.hidden_size, c.num_heads * c.head_dim, bias=False)
        self.k_proj = nn.Linear(c.hidden_size, c.num_kv_heads * c.head_dim, bias=False)
        self.v_proj = nn.Linear(c.hidden_size, c.num_kv_heads * c.head_dim, bias=False)
        self.o_proj = nn.Linear(c.num_heads * c.head_dim, c.hidden_size, bias=False)
        self.q_norm = RmsNorm(c.head_dim, c.rms_norm_eps)
        self.k_norm = RmsNorm(c.head_dim, c.rms_norm_eps)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        c, (rows, length, _) = self.c, x.shape
        q = self.q_norm(self.q_proj(x).view(rows, length, c.num_heads, c.head_dim))
        k = self.k_norm(self.k_proj(x).view(rows, length, c.num_kv_heads, c.head_dim))
        v = self.v_proj(x).view(rows, length, c.num_kv_heads, c.head_dim)
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        return self.o_proj(attend(q, k, v))


class FeedForward(nn.Module):
    def __init__(self, c: ModelConfig) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(c.hidden_size, c.ffn_size, bias=False)
        self.up_proj = nn.Linear(c.hidden_size, c.ffn_size, bias=False)
        self.down_proj = nn.Linear(c.ffn_size, c.hidden_size, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Block(nn.Module):
    def __init__(self, c: ModelConfig) -> None:
        super().__init__()
        self.input_layernorm = RmsNorm(c.hidden_size, c.rms_norm_eps)
        self.self_attn = Attention(c)
        self.post_attention_layernorm = RmsNorm(c.hidden_size, c.rms_norm_eps)
        self.mlp = FeedForward(c)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        x = x + self.self_attn(self.input_layernorm(x), cos, sin)
        return x + self.mlp(self.post_attention_layernorm(x))


class Backbone(nn.Module):
    def __init__(self, c: ModelConfig) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(c.vocab_size, c.hidden_size)
        self.layers = nn.ModuleList(Block(c) for _ in range(c.num_layers))
        self.norm = RmsNorm(c.hidden_size, c.rms_norm_eps)


class Qwen3(nn.Module):
    """Decoder with a tied head. `hidden` and `logits` are separate so that a loss pays only for the rows it needs."""

    def __init__(self, config: ModelConfig, seed: int = 0) -> None:
        super().__init__()
        self.config = config
        self.model = Backbone(config)
        generator = torch.Generator().manual_seed(seed)
        for parameter in self.parameters():
            if parameter.ndim == 2:
                nn.init.normal_(parameter, std=0.02, generator=generator)
        cos, sin = rope_tables(config, config.context_length)
        self.register_buffer('cos', cos, persistent=False)
        self.register_buffer('sin', sin, persistent=False)

    def hidden(self, ids: Tensor) -> Tensor:
        """Final normed states [rows, length, hidden] of ids [rows, length]; rows are causal and start at position 0."""
        length = ids.shape[1]
        cos, sin = self.cos[:length, None], self.sin[:length, None]
        x = self.model.embed_tokens(ids)
        if torch.is_autocast_enabled('cpu'):
            # The residual stream in bf16 halves the memory traffic, which bounds these narrow layers.
            dtype = torch.get_autocast_dtype('cpu')
            x, cos, sin = x.to(dtype), cos.to(dtype), sin.to(dtype)
        for block in self.model.layers:
            x = block(x, cos, sin)
        return self.model.norm(x)

    def logits(self, hidden: Tensor) -> Tensor:
        """Scores over the table for any [..., hidden] slice of `hidden`."""
        return F.linear(hidden, self.model.embed_tokens.weight)

    def forward(self, ids: Tensor) -> Tensor:
        return self.logits(self.hidden(ids))

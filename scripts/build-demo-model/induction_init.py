"""
A start that copies: random weights with an induction circuit placed in them, before any training.

Tool use is copying: an account's key from a result, a title from the user's sentence. A transformer copies through two
heads that work together ("induction heads", Olsson et al. 2022, arXiv 2209.11895): a previous-token head writes into
every position which token precedes it, and a later induction head looks for positions whose previous token is the
present one and copies their token, which followed last time. Neither helps without the other, so training
from random weights waits long for the pair; here it exists from the first step, and training only refines it.

The residual stream is divided for this:

    0 .. 126     the token's random code, which the tied head compares with all codes
    127          the same number in every row, for heads that look by position and not by content
    128 .. 254   the code of the previous token, written by layer 0 (before that faint noise, as in column 255)

The numbers are for a table, heads and rotary base as in ModelConfig; the widths follow from the config.
"""

import argparse
from pathlib import Path

import torch

import checkpoint
from model import Attention, ModelConfig, Qwen3

PREVIOUS_LAYER, INDUCTION_LAYER = 0, 2
CONSTANT = 0.5
NOISE = 0.02
# What is not placed starts quietly: its writes into the stream weigh this much of a usual start.
OTHER_WRITES = 0.25
# The fastest rotary pairs tell neighbours apart; pairs slower than SLOW (radians per token) hardly notice distance.
FAST_PAIRS = 4
SLOW = 0.02
# Weights of the query and key norms: how sharply the heads choose.
PREVIOUS_SHARPNESS, INDUCTION_SHARPNESS = 2.0, 1.8
# How much louder than the present token's own code a copied code is.
COPY_GAIN = 4.0


def place_head(attention: Attention, config: ModelConfig, kv: int, rms: float, target: int, gain: float) -> slice:
    """
    Clears key-value head `kv` and its first query head, and lets the pair copy its share of the code (the codes are
    spread over the key-value heads) into the same share of the columns from `target` on. `rms` undoes the input norm.
    @returns  the head's rows of `k_proj`; those of `q_proj` are `query_rows`
    """
    size = config.head_dim
    keys, queries = slice(kv * size, (kv + 1) * size), query_rows(config, kv)
    share = torch.arange(kv * size, min((kv + 1) * size, code_width(config)))
    attention.q_proj.weight[queries] = 0
    attention.k_proj.weight[keys] = 0
    attention.v_proj.weight[keys] = 0
    attention.v_proj.weight[share, share] = rms
    attention.o_proj.weight[:, queries] = 0
    attention.o_proj.weight[target + share, queries.start + share - kv * size] = gain
    return keys


def query_rows(config: ModelConfig, kv: int) -> slice:
    first = kv * (config.num_heads // config.num_kv_heads) * config.head_dim
    return slice(first, first + config.head_dim)


def code_width(config: ModelConfig) -> int:
    return config.hidden_size // 2 - 1


@torch.no_grad()
def induction_start(config: ModelConfig, seed: int = 0) -> Qwen3:
    """A model whose weights are fixed by `seed`, up to the last bit of one QR decomposition (see `main`)."""
    width, half = code_width(config), config.head_dim // 2
    if config.num_layers <= INDUCTION_LAYER or config.num_kv_heads * config.head_dim < width:
        raise ValueError(f'no room for the circuit in {config}')
    model, generator = Qwen3(config, seed), torch.Generator().manual_seed(seed + 1)
    table = model.model.embed_tokens.weight
    # Of length about one each, so that the rms of the stream is known without looking.
    table[:, :width] = torch.randn(config.vocab_size, width, generator=generator) / width**0.5
    table[:, width] = CONSTANT
    table[:, width + 1 :] = NOISE * torch.randn(config.vocab_size, width + 1, generator=generator)
    for block in model.model.layers:
        block.self_attn.o_proj.weight.mul_(OTHER_WRITES)
        block.mlp.down_proj.weight.mul_(OTHER_WRITES)
    turn = config.rope_theta ** (-torch.arange(half) / half)

    # The query is a constant, the key the same constant turned one position ahead: they agree one token apart.
    attention = model.model.layers[PREVIOUS_LAYER].self_attn
    rms = ((1 + CONSTANT**2) / config.hidden_size) ** 0.5
    for kv in range(config.num_kv_heads):
        keys = place_head(attention, config, kv, rms, target=width + 1, gain=1.0)
        queries = query_rows(config, kv)
        for pair in range(FAST_PAIRS):
            attention.q_proj.weight[queries.start + pair, width] = 1
            attention.k_proj.weight[keys.start + pair, width] = torch.cos(turn[pair])
            attention.k_proj.weight[keys.start + half + pair, width] = torch.sin(turn[pair])
    attention.q_norm.weight.fill_(PREVIOUS_SHARPNESS)
    attention.k_norm.weight.fill_(PREVIOUS_SHARPNESS)

    # The present token's code against the previous token's code of every earlier position, in the same random basis.
    attention = model.model.layers[INDUCTION_LAYER].self_attn
    rms = ((2 + CONSTANT**2) / config.hidden_size) ** 0.5
    slow = torch.nonzero(turn < SLOW).flatten()
    slow = torch.cat((slow, half + slow))
    for kv in range(config.num_kv_heads):
        keys = place_head(attention, config, kv, rms, target=0, gain=COPY_GAIN)
        basis = torch.linalg.qr(torch.randn(width, len(slow), generator=generator))[0].T
        attention.q_proj.weight[query_rows(config, kv).start + slow, :width] = basis
        attention.k_proj.weight[keys.start + slow, width + 1 : 2 * width + 1] = basis
    attention.q_norm.weight.fill_(INDUCTION_SHARPNESS)
    attention.k_norm.weight.fill_(INDUCTION_SHARPNESS)
    return model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--out', type=Path, required=True, help='checkpoint')
    parser.add_argument('--seed', type=int, default=0)
    arguments = parser.parse_args()
    # The last bit of a QR decomposition depends on the number of threads; the shipped model was started with two.
    torch.set_num_threads(2)
    checkpoint.save(arguments.out, induction_start(ModelConfig(), arguments.seed), None, {})


if __name__ == '__main__':
    main()

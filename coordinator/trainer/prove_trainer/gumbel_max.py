"""
Gumbel-max sampling (Gumbel 1954; for audits: Token-DiFR, arXiv 2511.20621): a draw selects the token whose
logit / T + noise is the largest. `rollout/engine/gumbel-max.ts`, by which volunteers sample, defines the noise. This
module computes the same noise in torch, and `test/fixtures/draws.json` tests both.
"""

import math

import torch

DRAW = "gumbel-murmur3"


def _signed(word: int) -> int:
    return word - 2**32 if word >= 2**31 else word


def _shifted(x: torch.Tensor, bits: int) -> torch.Tensor:
    """Shift to the right without the sign: torch has no unsigned shift."""
    return (x >> bits).bitwise_and_(2 ** (32 - bits) - 1)


def _rotated(x: torch.Tensor, bits: int) -> torch.Tensor:
    return (x << bits).bitwise_or_(_shifted(x, 32 - bits))


def _block(values: torch.Tensor) -> torch.Tensor:
    return _rotated(values.to(torch.int32) * _signed(0xCC9E2D51), 15).mul_(0x1B873593)


def _absorbed(state: torch.Tensor, block: torch.Tensor) -> torch.Tensor:
    return _rotated(state ^ block, 13).mul_(5).add_(_signed(0xE6546B64))


def draw_states(draws: torch.Tensor) -> torch.Tensor:
    """Return the hash state of each draw, before any token: [T] int32. `draws` [T, 2] int64: seed and position."""
    seeds, positions = draws.T
    return _absorbed(seeds.to(torch.int32), _block(positions))


def noise_words(states: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    """
    Return the hash of each token under its draw, [N] int32: a 32-bit word whose value without a sign grows with the
    noise. `states` [N] int32, `tokens` [N] int64; both may have the shapes of a broadcast.
    """
    h = _absorbed(states, _block(tokens))
    h ^= 8  # bytes hashed
    h ^= _shifted(h, 16)
    h *= _signed(0x85EBCA6B)
    h ^= _shifted(h, 13)
    h *= _signed(0xC2B2AE35)
    h ^= _shifted(h, 16)
    return h


def noise(states: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    """Return the noise of each token under its draw, [N] float64. `states` [N] int32, `tokens` [N] int64."""
    words = noise_words(states, tokens).to(torch.int64).bitwise_and_(0xFFFFFFFF)
    return words.double().add_(0.5).div_(2**32).log_().neg_().log_().neg_()


def exceeds(words: torch.Tensor, limit: float) -> torch.Tensor:
    """Return which words give more noise than `limit`, a positive number. Some that give slightly less are included."""
    # Without a sign, they are the largest words: with one, the negative numbers next to zero.
    count = math.ceil(-(2**32) * math.expm1(-math.exp(-limit))) + 1
    return (words < 0) & (words >= -count)


LARGEST_NOISE = -math.log(-math.log((2**32 - 0.5) / 2**32))

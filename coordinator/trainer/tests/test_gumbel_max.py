"""The noise that decides draws: the same words as MurmurHash3 has, and as the volunteers' engine computes."""

import json
import math
import struct
from pathlib import Path

import numpy as np
import pytest
import torch
from prove_trainer.gumbel_max import LARGEST_NOISE, draw_states, exceeds, noise, noise_words

VECTORS = json.loads((Path(__file__).parents[3] / "test" / "fixtures" / "draws.json").read_text(encoding="utf-8"))


def murmur3(data: bytes, seed: int) -> int:
    """MurmurHash3_x86_32 of whole words, after Appleby's reference."""

    def rotated(x: int, bits: int) -> int:
        return (x << bits | x >> (32 - bits)) & 0xFFFFFFFF

    h = seed
    for (k,) in struct.iter_unpack("<I", data):
        h ^= rotated(k * 0xCC9E2D51 & 0xFFFFFFFF, 15) * 0x1B873593 & 0xFFFFFFFF
        h = (rotated(h, 13) * 5 + 0xE6546B64) & 0xFFFFFFFF
    h ^= len(data)
    h = (h ^ h >> 16) * 0x85EBCA6B & 0xFFFFFFFF
    h = (h ^ h >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
    return h ^ h >> 16


def noise_of(seed: int, position: int, tokens: torch.Tensor) -> torch.Tensor:
    states = draw_states(torch.tensor([[seed, position]]))
    return noise(states.expand(len(tokens)), tokens)


# Published by users of the reference implementation.
@pytest.mark.parametrize(
    ("data", "seed", "word"),
    [
        (b"", 0, 0),
        (b"", 1, 0x514E28B7),
        (b"\xff\xff\xff\xff", 0, 0x76293B50),
        (b"\x21\x43\x65\x87", 0, 0xF55B516B),
        (b"\x21\x43\x65\x87", 0x5082EDEE, 0x2362F9DE),
        (b"aaaa", 0x9747B28C, 0x5A97808A),
        (b"abcd", 0x9747B28C, 0xF0478627),
    ],
)
def test_the_hash_of_these_tests_is_murmurhash3(data, seed, word):
    assert murmur3(data, seed) == word


def test_the_noise_is_that_of_the_vectors_which_the_engine_is_held_to():
    for vector in VECTORS:
        seed, position, token = vector["seed"], vector["position"], vector["token"]
        word = murmur3(struct.pack("<II", position, token), seed)
        assert word == vector["word"]
        assert vector["noise"] == -math.log(-math.log((word + 0.5) / 2**32))
        assert abs(noise_of(seed, position, torch.tensor([token])).item() - vector["noise"]) < 1e-13


def test_noise_of_many_tokens_is_that_of_each_alone():
    tokens = torch.arange(5_000)
    many = noise_of(123_456_789, 77, tokens).numpy()
    words = [murmur3(struct.pack("<II", 77, token), 123_456_789) for token in tokens.tolist()]
    assert np.abs(many + np.log(-np.log((np.array(words) + 0.5) / 2**32))).max() < 1e-13


def test_the_noise_is_gumbels_and_bounded():
    sample = np.sort(noise_of(5, 0, torch.arange(200_000)).numpy())
    expected = np.exp(-np.exp(-sample))
    steps = (np.arange(len(sample)) + 0.5) / len(sample)
    # The level of 0.001 of Kolmogorov and Smirnov.
    assert np.abs(expected - steps).max() < 1.95 / math.sqrt(len(sample))
    assert sample[-1] <= LARGEST_NOISE < 22.9


def test_draws_select_each_token_as_often_as_it_is_likely():
    p = torch.tensor([0.5, 0.3, 0.15, 0.05], dtype=torch.float64)
    draws = torch.stack([torch.arange(40_000) // 50 * 2_654_435_761 % 2**32, torch.arange(40_000) % 50], 1)
    states = draw_states(draws)
    every = noise(states.repeat_interleave(4), torch.arange(4).repeat(len(draws))).view(-1, 4)
    counts = torch.bincount((p.log() + every).argmax(1), minlength=4)
    chi_square = ((counts - len(draws) * p) ** 2 / (len(draws) * p)).sum()
    assert chi_square < 16.3  # three degrees of freedom, a chance of 0.001


@pytest.mark.parametrize("limit", [0.5, 5.0, 10.0])
def test_words_of_rare_noise_are_known_without_the_noise(limit):
    tokens = torch.arange(200_000)
    states = draw_states(torch.tensor([[5, 0]])).expand(len(tokens))
    found, values = exceeds(noise_words(states, tokens), limit), noise(states, tokens)
    assert found[values > limit].all()
    assert (values[found] > limit - 1e-4).all()
    assert found.any()

"""Parts of a layer in few operations: the same values and gradients as autograd's through PEFT and transformers."""

from dataclasses import replace

import fixtures
import pytest
import torch
from prove_trainer.fused import _Lora, _Norm
from prove_trainer.packing import make_packs
from torch.nn.functional import linear
from transformers.models.qwen3.modeling_qwen3 import Qwen3RMSNorm


def random(*shape: int, seed: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)).requires_grad_()


def gradients(out: torch.Tensor, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    slopes = torch.linspace(-1, 1, out.numel(), dtype=out.dtype).view(out.shape)
    return list(torch.autograd.grad((out * slopes).sum(), inputs))


@pytest.mark.parametrize("rows", [0, 1, 7])
@pytest.mark.parametrize("biased", [False, True])
def test_a_lora_layer_has_the_gradients_of_its_formula(rows, biased):
    x, down, up = random(1, rows, 5, seed=1), random(3, 5, seed=2), random(4, 3, seed=3)
    weight = random(4, 5, seed=4).detach()
    bias = random(4, seed=5).detach() if biased else None
    plain = linear(x, weight, bias) + 2.5 * linear(linear(x, down), up)
    fused = _Lora.apply(x, weight, bias, down, up, 2.5)
    assert fused.shape == plain.shape
    torch.testing.assert_close(fused, plain)
    for found, wanted in zip(gradients(fused, [x, down, up]), gradients(plain, [x, down, up]), strict=True):
        torch.testing.assert_close(found, wanted)


def test_a_lora_layer_behind_inputs_without_gradient_learns_too():
    x, down, up = random(1, 6, 5, seed=1).detach(), random(3, 5, seed=2), random(4, 3, seed=3)
    weight = random(4, 5, seed=4).detach()
    plain = gradients(linear(x, weight) + linear(linear(x, down), up), [down, up])
    for found, wanted in zip(gradients(_Lora.apply(x, weight, None, down, up, 1.0), [down, up]), plain, strict=True):
        torch.testing.assert_close(found, wanted)


@pytest.mark.parametrize("size", [1e-4, 1.0, 1e4])
def test_a_norm_is_that_of_transformers_and_so_is_its_gradient(size):
    x = (random(1, 6, 2, 8, seed=1).detach().float() * size).requires_grad_()
    norm = Qwen3RMSNorm(8, eps=1e-6).requires_grad_(False)
    norm.weight.copy_(torch.linspace(-1, 2, 8))
    fused, plain = _Norm.apply(x, norm.weight, norm.variance_epsilon), norm(x)
    torch.testing.assert_close(fused, plain)
    (found,), (wanted,) = gradients(fused, [x]), gradients(plain, [x])
    assert (found - wanted).abs().max() <= 1e-5 * wanted.abs().max()


@pytest.fixture(scope="module")
def policy(base):
    return fixtures.with_random_adapter(base)


def scored(policy, pack) -> list[torch.Tensor]:
    policy.zero_grad()
    logp, _ = policy(pack)
    (logp * torch.linspace(-1, 1, len(logp))).sum().backward()
    return [logp.detach(), *(parameter.grad.clone() for _, parameter in policy.adapter_parameters())]


@pytest.mark.parametrize("checkpointing", [False, True])
@pytest.mark.parametrize("packing", ["shared", "packed"])
def test_positions_that_nothing_reads_change_neither_scores_nor_gradients(policy, packing, checkpointing):
    policy.checkpointing = checkpointing
    (pack,) = make_packs(fixtures.make_rollouts(groups=2), packing, 4096)
    assert len(pack.read) < pack.tokens - 50, "prompts and tool results are not read"
    few = scored(policy, pack)
    every = scored(policy, replace(pack, read=torch.arange(pack.tokens)))
    policy.checkpointing = False
    for found, wanted in zip(few, every, strict=True):
        assert (found - wanted).abs().max() <= 1e-5 * wanted.abs().max()


def test_each_position_is_read_once():
    for pack in make_packs(fixtures.make_rollouts(groups=2), "shared", 4096):
        assert pack.read.tolist() == sorted(set(pack.rows.tolist()))
        assert len(pack.read) < len(pack.rows), "the end of a prompt predicts the first token of each rollout"

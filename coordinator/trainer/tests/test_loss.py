import json

import numpy as np
import oracle
import pytest
import torch
from prove_trainer.loss import clipped, group_advantages, token_terms


def tensors(case: dict) -> dict[str, torch.Tensor]:
    kinds = {"ids": torch.int64, "mask": torch.bool}
    return {name: torch.tensor(value, dtype=kinds.get(name, torch.float32)) for name, value in case["inputs"].items()}


@pytest.mark.parametrize(
    "case", json.loads(oracle.FIXTURE.read_text())["cases"], ids=lambda c: f"beta {c['beta']}, seed {c['seed']}"
)
def test_loss_and_gradient_equal_the_frozen_oracle(case):
    loss, gradient = oracle.ours(tensors(case), case["beta"])
    assert abs(loss.item() - case["loss"]) < 1e-6
    assert (gradient - torch.tensor(case["gradient"])).abs().max() < 1e-6
    assert gradient.abs().max() > 1e-3


@pytest.mark.parametrize("case", oracle.CASES, ids=lambda c: f"beta {c['beta']}, seed {c['seed']}")
def test_loss_and_gradient_equal_the_live_oracle(case):
    pytest.importorskip("trl")
    inputs = oracle.inputs(case["seed"])
    ours, theirs = oracle.ours(inputs, case["beta"]), oracle.trl(inputs, case["beta"])
    assert abs(ours[0] - theirs[0]) < 1e-6
    assert (ours[1] - theirs[1]).abs().max() < 1e-6


def test_the_oracle_inputs_reach_the_clip_and_the_cap():
    case = oracle.inputs(0)
    logp = torch.log_softmax(case["x"] @ case["weight"].T, -1).gather(2, case["ids"][..., None])[..., 0]
    advantage = case["advantage"][:, None].expand_as(logp)
    assert clipped(logp, case["old"], advantage, case["mask"], 0.2, 0.28).any()
    assert ((case["old"] - case["sampler"])[case["mask"]].exp() > 2).any()


def test_garbage_in_slots_that_are_not_kept_leaves_loss_and_gradient_finite():
    logp = torch.tensor([-1.0, -2.0, -3.0], requires_grad=True)
    keep = torch.tensor([True, False, True])
    sampler = torch.tensor([-1.1, float("nan"), -3.1])
    terms = token_terms(
        logp,
        logp.detach(),
        sampler,
        torch.ones(3),
        keep,
        logp_ref=torch.tensor([-1.0, float("inf"), -3.0]),
        kl_coefficient=0.1,
    )
    terms.sum().backward()
    assert torch.isfinite(terms).all() and terms[1] == 0
    assert torch.isfinite(logp.grad).all() and logp.grad[1] == 0


def test_the_sampler_ratio_is_capped_from_above_only():
    logp = torch.tensor([-1.0, -1.0])
    terms = token_terms(logp, logp, torch.tensor([-9.0, -0.5]), torch.ones(2), torch.ones(2, dtype=torch.bool))
    assert terms[0].item() == pytest.approx(-2.0)
    assert terms[1].item() == pytest.approx(-np.exp(-0.5))


def test_advantages_are_centred_and_optionally_divided_by_the_unbiased_deviation():
    assert group_advantages([1.0, 0.0, 0.5, 0.5], "none").tolist() == [0.5, -0.5, 0.0, 0.0]
    scaled = group_advantages([1.0, 0.0, 0.5, 0.5], "group")
    assert scaled[0] == pytest.approx(0.5 / (np.std([1, 0, 0.5, 0.5], ddof=1) + 1e-4))


def test_a_flat_group_and_a_group_of_one_have_no_advantage():
    assert group_advantages([0.7, 0.7, 0.7], "group").tolist() == [0.0, 0.0, 0.0]
    assert group_advantages([0.7], "group").tolist() == [0.0]


def test_the_dual_clip_bounds_what_a_negative_advantage_counts_with_and_says_which_tokens_it_was():
    old = torch.zeros(4)
    logp = torch.tensor([2.0, 1.0, 2.0, 2.0], requires_grad=True)  # ratios of 7.4 and 2.7
    advantage, keep = torch.tensor([-1.0, -1.0, 1.0, -1.0]), torch.tensor([True, True, True, False])
    terms = token_terms(logp, old, old, advantage, keep, dual_clip=3.0)
    terms.sum().backward()
    assert terms.tolist() == pytest.approx([3.0, float(torch.e), -1.28, 0.0])
    assert logp.grad.tolist() == pytest.approx([0.0, float(torch.e), 0.0, 0.0])
    assert clipped(logp, old, advantage, keep, 0.2, 0.28, 3.0).tolist() == [True, False, True, False]
    assert clipped(logp, old, advantage, keep, 0.2, 0.28).tolist() == [False, False, True, False]

"""Prompts that are computed once for several packs: gradients are those of whole rollouts, one at a time."""

import fixtures
import numpy as np
import pytest
import torch
from prove_trainer.config import OptimizerSettings
from prove_trainer.grpo import GrpoTrainer
from prove_trainer.packing import make_packs, share_out
from prove_trainer.prompts import SharedPrompts, pieces_of

PROMPT = 60


def groups(base):
    """Two groups with prompts of 60 tokens, and one that needs no cutting."""
    own = fixtures.make_rollouts(groups=2, size=6, prompt=PROMPT) + fixtures.make_rollouts(groups=3, size=2, seed=4)[4:]
    return fixtures.sampled(
        fixtures.with_random_adapter(base), [fixtures.replace(r, index=i) for i, r in enumerate(own)]
    )


def gradients(policy) -> dict[str, torch.Tensor]:
    return {name: parameter.grad.clone() for name, parameter in policy.adapter_parameters()}


def step(base, rollouts, packing: str, budget: int, checkpointing: bool = False, **loss):
    """Gradients of a step, and its outcome."""
    policy = fixtures.with_random_adapter(base)
    one = GrpoTrainer(policy, OptimizerSettings(lr=0.0, max_grad_norm=1e6), fixtures.alone())
    one.capacity = fixtures.replace(one.capacity, checkpointing=checkpointing)
    seen: dict[str, torch.Tensor] = {}
    one.backend.optimizer.register_step_pre_hook(
        lambda *_: seen.update({name: p.grad.clone() for name, p in one.named})
    )
    return seen, one.run(fixtures.as_batch(rollouts, **loss), 0, packing, budget)


def naive(base, rollouts) -> dict[str, torch.Tensor]:
    """The token mean written out, one whole rollout after the other."""
    policy = fixtures.with_random_adapter(base)
    total, count = torch.zeros(()), 0
    for rollout in fixtures.as_batch(rollouts).rollouts:
        (pack,) = make_packs([rollout], "single", 4096)
        logp, _ = policy(pack)
        weight = (logp.detach() - pack.sampler_logp).exp().clamp(max=2)
        total = total - (weight * (logp - logp.detach()).exp() * rollout.advantage).sum()
        count += len(logp)
    (total / count).backward()
    return gradients(policy)


@pytest.mark.parametrize("checkpointing", [False, True])
@pytest.mark.parametrize("budget", [1, 7, 40, 59, 60, 130])
def test_gradients_are_those_of_the_naive_reference_however_short_a_forward_is(base, budget, checkpointing):
    rollouts = groups(base)
    apart = [pack for pack in make_packs(rollouts, "shared", budget, apart=True) if pack.prompt is not None]
    assert len(apart) > 2, "the prompt of a group is shared"
    seen, outcome = step(base, rollouts, "shared", budget, checkpointing)
    assert outcome.skipped is None and outcome.rejected == {}
    expected = naive(base, rollouts)
    assert max(float(gradient.abs().max()) for gradient in expected.values()) > 1e-3
    for name, gradient in expected.items():
        assert (seen[name] - gradient).abs().max() < 1e-6, name


def test_a_prompt_is_learnt_through_all_its_pieces(base, monkeypatch):
    """Without what comes back to the prompt the gradients are others: the test above can fail."""
    rollouts = groups(base)
    expected = naive(base, rollouts)
    monkeypatch.setattr(
        "prove_trainer.prompts.SharedPrompts.end", lambda self: self.__dict__.update(_prompt=None, _kept=None)
    )
    seen, _ = step(base, rollouts, "shared", 40)
    assert max(float((seen[name] - gradient).abs().max()) for name, gradient in expected.items()) > 1e-4


def test_a_kl_term_is_computed_under_the_base_s_own_prompt(base):
    rollouts = groups(base)
    expected, whole = step(base, rollouts, "single", 4096, kl_coefficient=0.5)
    seen, outcome = step(base, rollouts, "shared", 40, kl_coefficient=0.5)
    without, _ = step(base, rollouts, "shared", 40)
    assert outcome.stats["loss"] == pytest.approx(whole.stats["loss"], abs=1e-6)
    for name, gradient in expected.items():
        assert (seen[name] - gradient).abs().max() < 1e-6, name
    assert max(float((seen[name] - gradient).abs().max()) for name, gradient in without.items()) > 1e-5


@pytest.mark.parametrize("world", [1, 2, 5])
def test_ranks_that_have_packs_of_one_prompt_add_up_to_its_gradient(base, world):
    rollouts = groups(base)
    packs = make_packs(fixtures.as_batch(rollouts).rollouts, "shared", 40, apart=True)
    parts = [share_out(packs, rank, world) for rank in range(world)]
    homes = {(id(pack.prompt), rank) for rank, part in enumerate(parts) for pack in part if pack.prompt is not None}
    assert len(homes) > 2 or world == 1, "some prompt is on several ranks"
    policy = fixtures.with_random_adapter(base)
    for part in parts:
        prompts = SharedPrompts(policy.pass_over, 40, policy.device)
        for pack in part:
            logp, _ = policy(pack, kept=prompts.of(pack, learns=True))
            (logp * pack.advantage).sum().backward()
        prompts.end()
    other = fixtures.with_random_adapter(base)
    for pack in make_packs(fixtures.as_batch(rollouts).rollouts, "single", 1):
        (other(pack)[0] * pack.advantage).sum().backward()
    expected = gradients(other)
    for name, gradient in gradients(policy).items():
        assert (gradient - expected[name]).abs().max() < 1e-4 * max(1.0, float(expected[name].abs().max())), name


def test_a_shared_prompt_counts_once_among_the_tokens_that_were_computed(base):
    made = fixtures.make_rollouts(groups=1, size=6, prompt=PROMPT)
    rollouts = fixtures.sampled(fixtures.with_random_adapter(base), made)
    _, outcome = step(base, rollouts, "shared", 40)
    ends = [int(np.nonzero(rollout.mask)[0][-1]) for rollout in rollouts]
    assert outcome.stats["computedTokens"] == PROMPT - 1 + sum(end - (PROMPT - 1) for end in ends)


def test_pieces_hold_the_whole_prompt_in_order():
    prompt = torch.arange(20)[None]
    pieces = pieces_of(prompt, 8)
    assert torch.cat([piece.ids for piece in pieces], 1).equal(prompt)
    assert torch.cat([piece.positions for piece in pieces], 1).equal(prompt)
    assert [piece.segments[0].apart for piece in pieces] == [0, 8, 16]


def test_a_step_that_runs_out_of_memory_over_a_prompt_begins_again_with_shorter_pieces(base, monkeypatch):
    rollouts = groups(base)
    policy = fixtures.with_random_adapter(base)
    reports: list[int] = []
    one = GrpoTrainer(
        policy, OptimizerSettings(), fixtures.alone(), on_reduced_capacity=lambda _, tokens: reports.append(tokens)
    )
    one.capacity = fixtures.replace(one.capacity, may_checkpoint=False)
    passes = policy.pass_over

    def bounded(pack, kept=None):
        if kept is not None and not pack.rollouts and pack.tokens > 20:
            raise torch.OutOfMemoryError("more than 20 tokens of a prompt")
        return passes(pack, kept)

    monkeypatch.setattr(policy, "pass_over", bounded)
    outcome = one.run(fixtures.as_batch(rollouts), 0, "shared", 59)
    assert outcome.skipped is None and reports == [59, 29] and one.capacity.budget == 14
    other = GrpoTrainer(fixtures.with_random_adapter(base), OptimizerSettings(), fixtures.alone())
    other.run(fixtures.as_batch(rollouts), 0, "shared", 14)
    expected = other.snapshot()
    assert all(torch.equal(value, expected[name]) for name, value in one.snapshot().items())

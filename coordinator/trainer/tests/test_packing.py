from dataclasses import replace

import fixtures
import numpy as np
import pytest
import torch
from prove_trainer import packing
from prove_trainer.gguf_base import build_model
from prove_trainer.packing import make_packs, make_trees, share_out, shared_prefix


def scores(policy, rollouts, how, budget=4096) -> torch.Tensor:
    """Log-probabilities of all loss tokens, by rollout index."""
    found = {}
    for pack in make_packs(rollouts, how, budget):
        logp, _ = policy(pack)
        for i, rollout in enumerate(pack.rollouts):
            found[rollout.index] = logp[pack.owner == i]
    return torch.cat([found[rollout.index] for rollout in rollouts])


def plain_scores(model, rollouts) -> torch.Tensor:
    """The same through transformers' own forward, one whole rollout at a time."""
    found = []
    for rollout in rollouts:
        ids = torch.from_numpy(rollout.ids.astype(np.int64))
        logp = torch.log_softmax(model(input_ids=ids[None]).logits[0, :-1], -1)
        found.append(logp.gather(1, ids[1:, None])[:, 0][torch.from_numpy(rollout.mask[1:])])
    return torch.cat(found)


@pytest.fixture(scope="module")
def policy(base):
    return fixtures.with_random_adapter(base)


@pytest.mark.parametrize("budget", [1, 60, 4096])
@pytest.mark.parametrize("how", ["shared", "packed", "single"])
def test_every_packing_scores_like_the_plain_forward_of_the_base(base, how, budget):
    rollouts = fixtures.make_rollouts()
    fresh = fixtures.new_policy(base, fixtures.LoraSettings(rank=4, alpha=8), 0, None, None)  # B = 0: equals the base
    with torch.no_grad():
        assert (scores(fresh, rollouts, how, budget) - plain_scores(build_model(base), rollouts)).abs().max() < 1e-5


def test_a_shared_prompt_gives_the_same_logprobs_and_gradients_as_separate_forwards(policy):
    rollouts = fixtures.make_rollouts()
    results = {}
    for how in ("shared", "single"):
        logp = scores(policy, rollouts, how)
        (logp * torch.linspace(-1, 1, len(logp))).sum().backward()
        results[how] = logp.detach(), [parameter.grad.clone() for _, parameter in policy.adapter_parameters()]
        policy.zero_grad()
    assert (results["shared"][0] - results["single"][0]).abs().max() < 1e-5
    assert max(gradient.abs().max() for gradient in results["single"][1]) > 0.1
    for shared, single in zip(results["shared"][1], results["single"][1], strict=True):
        assert (shared - single).abs().max() < 1e-4 * max(1.0, float(single.abs().max()))


@pytest.mark.parametrize("blocks", [1, 2, 5, 16, 4096])
@pytest.mark.parametrize("prompt", [3, 12])
def test_attention_in_blocks_is_attention_at_once(policy, monkeypatch, blocks, prompt):
    rollouts = fixtures.make_rollouts(groups=2, prompt=prompt)
    found = {}
    for rows in (blocks, 4096):
        monkeypatch.setattr(packing, "BLOCK", rows)
        logp = scores(policy, rollouts, "shared")
        (logp * torch.linspace(-1, 1, len(logp))).sum().backward()
        found[rows] = [logp.detach(), *(parameter.grad.clone() for _, parameter in policy.adapter_parameters())]
        policy.zero_grad()
    for some, once in zip(found[blocks], found[4096], strict=True):
        assert (some - once).abs().max() <= 1e-5 * max(1.0, float(once.abs().max()))


def test_sharing_computes_the_prompt_once_and_nothing_after_the_last_loss_token():
    rollouts = fixtures.make_rollouts(groups=1, size=4, prompt=12)
    (pack,) = make_packs(rollouts, "shared", 4096)
    last = [int(np.nonzero(rollout.mask)[0][-1]) for rollout in rollouts]
    assert pack.tokens == 12 + sum(index - 12 for index in last)


def test_restarted_positions_keep_rollouts_apart_and_an_all_ones_mask_lets_them_leak(base):
    model = build_model(base)
    one, two = (torch.from_numpy(r.ids.astype(np.int64)) for r in fixtures.make_rollouts(groups=2, size=1))
    ids = torch.cat([one, two])[None]
    positions = torch.cat([torch.arange(len(one)), torch.arange(len(two))])[None]
    with torch.no_grad():
        alone = model(input_ids=two[None]).logits[0]
        apart = model(input_ids=ids, position_ids=positions, use_cache=False).logits[0, len(one) :]
        leaking = model(
            input_ids=ids, position_ids=positions, use_cache=False, attention_mask=torch.ones_like(ids)
        ).logits[0, len(one) :]
    assert (apart - alone).abs().max() < 1e-5
    assert (leaking - alone).abs().max() > 0.1


def test_a_continuation_does_not_see_its_siblings(policy):
    rollouts = fixtures.make_rollouts(groups=1, size=3)
    other = fixtures.make_rollouts(groups=1, size=3, seed=9)[0]
    tail = 12
    ids = np.concatenate([rollouts[0].ids[:tail], other.ids[tail:]])
    changed = [replace(rollouts[0], ids=ids, mask=other.mask, sampler_logp=other.sampler_logp), *rollouts[1:]]
    with torch.no_grad():
        before, after = scores(policy, rollouts, "shared"), scores(policy, changed, "shared")
    own = int(rollouts[1].mask.sum() + rollouts[2].mask.sum())
    assert torch.equal(before[-own:], after[-own:]) or (before[-own:] - after[-own:]).abs().max() < 1e-6


def test_the_shared_prefix_ends_at_the_first_difference_or_the_first_sampled_token():
    a, b = fixtures.make_rollouts(groups=1, size=2, prompt=12)
    assert shared_prefix([a, b]) == 12
    ids = b.ids.copy()
    ids[5] = (ids[5] + 1) % fixtures.VOCAB
    assert shared_prefix([a, replace(b, ids=ids)]) == 5
    mask = b.mask.copy()
    mask[3] = True
    assert shared_prefix([a, replace(b, mask=mask)]) == 3


def test_rollouts_of_one_group_with_different_prompts_are_still_scored_right(policy):
    rollouts = [replace(r, group="mixed") for r in fixtures.make_rollouts(groups=3, size=1)]
    with torch.no_grad():
        assert (scores(policy, rollouts, "shared") - scores(policy, rollouts, "single")).abs().max() < 1e-5


def test_a_group_larger_than_the_budget_is_cut_and_repeats_its_prompt():
    rollouts = fixtures.make_rollouts(groups=1, size=8, prompt=20)
    trees = make_trees(rollouts, True, 80)
    assert len(trees) > 1
    assert all(tree.tokens <= 80 and len(tree.prefix) == 20 for tree in trees)
    assert [branch.rollout.index for tree in trees for branch in tree.branches] == list(range(8))


@pytest.mark.parametrize("world", [1, 2, 3, 5])
def test_every_rollout_goes_to_exactly_one_rank(world):
    packs = make_packs(fixtures.make_rollouts(groups=4), "shared", 60)
    parts = [share_out(packs, rank, world) for rank in range(world)]
    assert sorted(rollout.index for part in parts for pack in part for rollout in pack.rollouts) == list(range(16))


def test_a_group_larger_than_the_budget_may_share_its_prompt_over_its_packs():
    small = [replace(one, group=f"small {one.group}") for one in fixtures.make_rollouts(groups=2, size=2, seed=5)]
    rollouts = [*fixtures.make_rollouts(groups=1, size=8, prompt=20), *small]
    packs = make_packs(rollouts, "shared", 80, apart=True)
    (prompt,) = {id(pack.prompt): pack.prompt for pack in packs if pack.prompt is not None}.values()
    assert prompt.tolist() == [rollouts[0].ids[:19].tolist()]
    sharing = [pack for pack in packs if pack.prompt is prompt]
    assert len(sharing) > 2 and sharing == packs[: len(sharing)]
    assert [rollout.index for pack in packs for rollout in pack.rollouts] == [r.index for r in rollouts]
    for pack in sharing:
        assert pack.tokens <= 80 - 2 * 19
        (segment,) = pack.segments
        assert (segment.prefix, segment.apart) == (0, 19)
    # The last token of the prompt is in each continuation, and nothing else is computed twice.
    ends = [int(np.nonzero(rollout.mask)[0][-1]) for rollout in rollouts[:8]]
    assert sum(pack.tokens for pack in sharing) == sum(end - 19 for end in ends)


@pytest.mark.parametrize("world", [1, 2, 3])
def test_packs_that_share_a_prompt_go_to_one_rank_in_their_order(world):
    packs = make_packs(fixtures.make_rollouts(groups=6, size=6, prompt=20), "shared", 60, apart=True)
    parts = [share_out(packs, rank, world) for rank in range(world)]
    assert sorted(id(pack) for part in parts for pack in part) == sorted(map(id, packs))
    for part in parts:
        seen = [id(pack.prompt) for pack in part]
        assert sorted(set(seen), key=seen.index) == [one for i, one in enumerate(seen) if i == 0 or seen[i - 1] != one]
    homes = {}
    for rank, part in enumerate(parts):
        for pack in part:
            assert homes.setdefault(id(pack.prompt), rank) == rank


def test_packs_of_few_groups_are_spread_over_the_ranks():
    packs = make_packs(fixtures.make_rollouts(groups=2, size=8, prompt=20), "shared", 60, apart=True)
    loads = [sum(pack.tokens for pack in share_out(packs, rank, 4)) for rank in range(4)]
    assert min(loads) > sum(loads) / 8
    assert sum(loads) == sum(pack.tokens for pack in packs)


def test_a_prompt_stands_apart_only_where_that_spares_an_eighth_of_what_is_computed():
    def apart(prompt, size, budget):
        rollouts = fixtures.make_rollouts(groups=1, size=size, prompt=prompt)
        return {pack.prompt is not None for pack in make_packs(rollouts, "shared", budget, apart=True)}

    assert apart(prompt=60, size=6, budget=40) == {True}
    assert apart(prompt=4, size=6, budget=60) == {False}, "little is repeated"
    assert apart(prompt=60, size=6, budget=400) == {False}, "nothing is"
    assert apart(prompt=60, size=1, budget=40) == {False}, "nobody shares it"

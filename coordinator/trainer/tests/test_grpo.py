from dataclasses import replace

import fixtures
import numpy as np
import pytest
import torch
from prove_trainer.config import LossSettings, OptimizerSettings
from prove_trainer.grpo import GrpoTrainer
from prove_trainer.masks import sequence_masks, typical_distance
from prove_trainer.packing import make_packs
from prove_trainer.schedule import share_of_rate
from transformers import get_cosine_schedule_with_warmup, get_linear_schedule_with_warmup


def trainer(base, **settings) -> GrpoTrainer:
    return GrpoTrainer(fixtures.with_random_adapter(base), OptimizerSettings(**settings), fixtures.alone())


@pytest.fixture(scope="module")
def rollouts(base):
    return fixtures.sampled(fixtures.with_random_adapter(base), fixtures.make_rollouts())


def equal(left: dict, right: dict) -> bool:
    return left.keys() == right.keys() and all(torch.equal(left[name], right[name]) for name in left)


def logp_sum(policy, batch) -> float:
    """Sum of advantage-weighted logprobs: what the step should raise."""
    with torch.no_grad():
        return sum(
            float((policy(pack)[0] * pack.advantage).sum()) for pack in make_packs(batch.rollouts, "shared", 4096)
        )


def test_a_step_raises_the_likelihood_of_what_was_rewarded(base, rollouts):
    one, batch = trainer(base, lr=1e-3), fixtures.as_batch(rollouts)
    before = logp_sum(one.policy, batch)
    outcome = one.run(batch, 0, "shared", 4096)
    assert outcome.skipped is None and outcome.stats["gradNorm"] > 0
    assert logp_sum(one.policy, batch) > before + 0.01


@pytest.mark.parametrize("packing", ["shared", "packed", "single"])
def test_the_gradient_is_that_of_the_token_mean_written_out(base, rollouts, packing):
    batch = fixtures.as_batch(rollouts)
    one = trainer(base, lr=0.0, max_grad_norm=1e6)
    seen = {}
    one.backend.optimizer.register_step_pre_hook(
        lambda *_: seen.update({name: p.grad.clone() for name, p in one.named})
    )
    one.run(batch, 0, packing, 60)

    direct = fixtures.with_random_adapter(base)
    total, count = torch.zeros(()), 0
    for rollout in batch.rollouts:
        (pack,) = make_packs([rollout], "single", 4096)
        logp, _ = direct(pack)
        weight = (logp.detach() - pack.sampler_logp).exp().clamp(max=2)
        total = total - (weight * (logp - logp.detach()).exp() * rollout.advantage).sum()
        count += len(logp)
    (total / count).backward()
    for name, parameter in direct.adapter_parameters():
        assert (seen[name] - parameter.grad).abs().max() < 1e-6, name


def test_a_gradient_that_is_not_a_number_leaves_everything_as_it_was(base, rollouts):
    one = trainer(base)
    one.run(fixtures.as_batch(rollouts), 0, "shared", 4096)
    before = one.snapshot()
    handle = one.backend.parameters[3].register_hook(lambda gradient: gradient * float("nan"))
    outcome = one.run(fixtures.as_batch(rollouts), 0, "shared", 4096)
    handle.remove()
    assert outcome.skipped == "nonfinite"
    assert equal(before, one.snapshot())
    assert one.run(fixtures.as_batch(rollouts), 0, "shared", 4096).skipped is None


def test_an_adapter_that_is_not_a_number_is_noticed_although_the_guard_drops_every_token(base, rollouts):
    one = trainer(base)
    with torch.no_grad():
        one.backend.parameters[0][0, 0] = float("nan")
    assert one.run(fixtures.as_batch(rollouts), 0, "shared", 4096).skipped == "nonfinite"


def test_a_later_pass_that_fails_undoes_the_passes_before_it(base, rollouts):
    one = trainer(base, passes=3)
    before = one.snapshot()
    calls = []

    def poison(gradient):
        calls.append(1)
        return gradient * float("nan") if len(calls) == 2 else gradient

    one.backend.parameters[3].register_hook(poison)
    assert one.run(fixtures.as_batch(rollouts), 0, "shared", 4096).skipped == "nonfinite"
    assert equal(before, one.snapshot())


def test_a_batch_without_signal_is_skipped_and_the_warm_up_does_not_move(base, rollouts):
    one = trainer(base)
    before = one.snapshot()
    outcome = one.run(fixtures.as_batch([replace(r, reward=1.0) for r in rollouts]), 0, "shared", 4096)
    assert outcome.skipped == "no_signal" and outcome.stats["rejected"]["flat"] == len(rollouts)
    assert outcome.stats["loss"] is None and equal(before, one.snapshot())


def test_a_rollout_from_another_policy_is_stopped_by_the_guard(base, rollouts):
    logp = rollouts[5].sampler_logp.copy()
    logp[rollouts[5].mask] -= 1.0
    sent = [*rollouts[:5], replace(rollouts[5], sampler_logp=logp), *rollouts[6:]]
    outcome = trainer(base).run(fixtures.as_batch(sent, guard=0.1), 0, "shared", 4096)
    assert outcome.rejected == {5: "guard"}
    assert outcome.stats["lossTokens"] == sum(int(r.mask.sum()) for i, r in enumerate(sent) if i != 5)


def summed_gaps(base, rollouts):
    """Per rollout the sum of log(pi_old / mu) and the number of its tokens, one forward each."""
    policy = trainer(base).policy
    found = {}
    for rollout in fixtures.as_batch(rollouts).rollouts:
        (pack,) = make_packs([rollout], "single", 4096)
        with torch.no_grad():
            gap = (policy(pack, 1.0)[0] - pack.sampler_logp).double()
        found[rollout.index] = (float(gap.sum()), len(gap))
    return found


def test_sequences_are_masked_as_trl_and_prime_rl_mask_them(base, rollouts):
    rng = np.random.default_rng(3)
    sent = []
    for rollout in rollouts:
        logp = rollout.sampler_logp.copy()
        logp[rollout.mask] -= rng.normal(0, 0.2)  # all tokens of a rollout one way: some sequences are far off
        sent.append(replace(rollout, sampler_logp=np.minimum(logp, 0)))
    gaps = summed_gaps(base, sent)
    negative = {
        member.index
        for members in fixtures.as_batch(sent).groups().values()
        for member in members
        if member.reward < np.mean([one.reward for one in members])
    }
    wanted = {
        "guard": lambda i: abs(gaps[i][0] / gaps[i][1]) > 0.15,
        "sequence_ratio": lambda i: not 0.5 <= np.exp(gaps[i][0]) <= 3.0,
        "off_policy": lambda i: i in negative and -gaps[i][0] / gaps[i][1] > 0.1,
    }
    settings = {
        "guard": dict(guard=0.15),
        "sequence_ratio": dict(guard=5.0, sequence_ratio_max=3.0, sequence_ratio_min=0.5),
        "off_policy": dict(guard=5.0, off_policy_max=0.1),
    }
    for reason, masks in wanted.items():
        outcome = trainer(base).run(fixtures.as_batch(sent, **{"drift": 20.0, **settings[reason]}), 0, "shared", 4096)
        left_out = [i for i in gaps if masks(i)]
        assert 0 < len(left_out) < len(sent), reason
        assert outcome.rejected == dict.fromkeys(left_out, reason)
        assert outcome.stats["lossTokens"] == sum(gaps[i][1] for i in gaps if i not in left_out)


def test_the_off_policy_mask_is_that_of_trl(base, rollouts):
    mask_of = pytest.importorskip("trl").GRPOTrainer.get_off_policy_mask
    generator = torch.Generator().manual_seed(0)
    (pack,) = make_packs(fixtures.as_batch(rollouts).rollouts, "shared", 4096)
    old = pack.sampler_logp + torch.randn(len(pack.sampler_logp), generator=generator) * 0.05
    old += torch.randn(len(pack.rollouts), generator=generator)[pack.owner] * 0.1
    ours = sequence_masks(pack, old, LossSettings(guard=20.0, off_policy_max=0.05))
    rows = [pack.owner == i for i in range(len(pack.rollouts))]
    theirs = [
        mask_of(
            advantages=pack.advantage[row][:1, None],
            per_token_logps=old[row][None],
            sampling_per_token_logps=pack.sampler_logp[row][None],
            mask=torch.ones(1, int(row.sum())),
            off_policy_threshold=0.05,
        ).item()
        for row in rows
    ]
    assert [reason is None for reason in ours.reasons] == [kept == 1 for kept in theirs]
    assert 0 < sum(theirs) < len(theirs)


@pytest.mark.parametrize("name", ["linear", "cosine"])
def test_the_schedule_after_the_warm_up_is_that_of_transformers(name):
    settings = OptimizerSettings(warmup_steps=3, schedule=name, decay_steps=12)
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    make = {"linear": get_linear_schedule_with_warmup, "cosine": get_cosine_schedule_with_warmup}[name]
    theirs = make(optimizer, num_warmup_steps=3, num_training_steps=12)
    for updates in range(15):
        if updates >= 3 and updates <= 12:
            assert share_of_rate(settings, updates) == pytest.approx(theirs.get_last_lr()[0], abs=1e-12)
        optimizer.step()
        theirs.step()
    assert [share_of_rate(settings, n) for n in range(3)] == pytest.approx([1 / 3, 2 / 3, 1])
    assert share_of_rate(replace(settings, final_share=0.1), 100) == pytest.approx(0.1)
    assert share_of_rate(replace(settings, schedule="constant"), 100) == 1


def test_the_guarded_rollout_leaves_the_same_update_as_if_it_had_not_been_packed(base, rollouts):
    lies = rollouts[5].sampler_logp.copy()
    lies[rollouts[5].mask] -= 1.0
    silent = rollouts[5].sampler_logp.copy()
    silent[rollouts[5].mask] = np.nan
    ends = []
    for logp in (lies, silent):
        one = trainer(base)
        sent = [*rollouts[:5], replace(rollouts[5], sampler_logp=logp), *rollouts[6:]]
        one.run(fixtures.as_batch(sent, guard=0.1), 0, "shared", 4096)
        ends.append(one.snapshot())
    assert all((ends[0][name] - ends[1][name]).abs().max() < 1e-6 for name in ends[0] if name.startswith("exp_avg/"))


def test_the_clip_acts_from_the_second_pass_on(base, rollouts):
    batch = fixtures.as_batch(rollouts)
    assert trainer(base, lr=0.05).run(batch, 0, "shared", 4096).stats["clipFraction"] == 0
    assert trainer(base, lr=0.05, passes=2).run(batch, 0, "shared", 4096).stats["clipFraction"] > 0


def test_a_kl_term_pulls_towards_the_base(base, rollouts):
    ends = []
    for coefficient in (0.0, 10.0):
        one = trainer(base, lr=1e-3)
        for _ in range(3):
            one.run(fixtures.as_batch(rollouts, kl_coefficient=coefficient), 0, "shared", 4096)
        (pack,) = make_packs(rollouts, "shared", 4096)
        with torch.no_grad():
            gap = one.policy.reference(pack, 1.0) - one.policy(pack)[0]
            ends.append(float((gap.exp() - gap - 1).mean()))
    assert ends[1] < ends[0]


def test_temperature_divides_the_logits(base, rollouts):
    policy = fixtures.with_random_adapter(base)
    (pack,) = make_packs(rollouts[:1], "single", 4096)
    with torch.no_grad():
        cold, warm = policy(pack, 0.5), policy(pack, 2.0)
    assert cold[1].mean() < warm[1].mean()
    assert not torch.allclose(cold[0], warm[0])


def test_the_head_in_chunks_scores_like_the_head_at_once(base, rollouts, monkeypatch):
    from prove_trainer import head

    batch, ends = fixtures.as_batch(rollouts), []
    for elements in (2**25, 7 * fixtures.VOCAB):
        monkeypatch.setattr(head, "HEAD_CHUNK_ELEMENTS", elements)
        one = trainer(base)
        one.run(batch, 0, "shared", 4096)
        ends.append(one.snapshot())
    assert all((ends[0][name] - ends[1][name]).abs().max() < 1e-6 for name in ends[0] if name.startswith("exp_avg/"))


def test_statistics_measure_the_mismatch_that_was_put_in(base):
    policy = fixtures.with_random_adapter(base)
    one = [replace(r, sampler="quiet") for r in fixtures.sampled(policy, fixtures.make_rollouts(), noise=0.0)]
    two = []
    for rollout in one[6:]:
        logp = rollout.sampler_logp.copy()
        logp[rollout.mask] -= 0.8  # pi_old is exp(0.8) = 2.2 times as likely: at the cap
        two.append(replace(rollout, sampler_logp=logp, sampler="shifted"))
    stats = trainer(base).run(fixtures.as_batch([*one[:6], *two]), 0, "shared", 4096).stats
    assert stats["mismatchKlBySampler"]["quiet"] == pytest.approx(0, abs=1e-5)
    assert stats["mismatchKlBySampler"]["shifted"] == pytest.approx(-0.8, abs=1e-5)
    capped = sum(int(r.mask.sum()) for r in two) / stats["lossTokens"]
    assert stats["tisCapShare"] == pytest.approx(capped)
    weights = np.where(np.arange(stats["lossTokens"]) < capped * stats["lossTokens"], np.exp(0.8), 1.0)
    assert stats["ess"] == pytest.approx(weights.sum() ** 2 / (len(weights) * (weights**2).sum()), rel=1e-4)
    assert 0 < stats["entropy"] < np.log(fixtures.VOCAB)
    assert stats["staleness"] == {"0": 12}


def test_the_learning_rate_warms_up_over_updates(base, rollouts):
    one = trainer(base, lr=0.4, warmup_steps=4)
    rates = []
    for _ in range(5):
        rates.append(one.learning_rate())
        one.updates += 1
    assert rates == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.4])


@pytest.mark.parametrize(
    ("suppliers", "distances", "typical"),
    [
        ([0, 0, 0, 1, 1, 1], [9, 9, 9, 1, 1, 1], 1),  # the half of one key decides nothing
        ([0, 0, 0, 0, 0, 1], [9, 9, 9, 9, 9, 1], 1),
        ([0, 0, 1, 1, 2, 2], [9, 9, 9, 9, 9, 9], 9),
        ([0, 0, 1, 1, 2, 2], [9, 9, 9, 9, 1, 1], 5),  # two of three keys do
        ([0, 0, 0, 0, 0, 0], [1, 2, 3, 4, 5, 6], 3.5),
    ],
)
def test_no_supplier_says_alone_how_far_samplers_and_trainer_are_apart(rollouts, suppliers, distances, typical):
    chosen = [replace(rollouts[i % len(rollouts)], index=i, supplier=own) for i, own in enumerate(suppliers)]
    assert typical_distance(dict(enumerate(distances)), chosen) == typical


def test_half_of_a_batch_by_one_supplier_brings_about_no_drift(base, rollouts):
    groups = sorted({rollout.group for rollout in rollouts})
    forger = groups[0]

    def forged(supplier: int) -> list:
        return [
            replace(r, supplier=supplier, sampler_logp=np.where(r.mask, r.sampler_logp - 2, 0).astype(np.float32))
            if r.group == forger
            else r
            for r in rollouts
            if r.group in groups[:2]
        ]

    assert trainer(base).run(fixtures.as_batch(forged(0)), 0, "shared", 4096).skipped == "drift"
    assert trainer(base).run(fixtures.as_batch(forged(1)), 0, "shared", 4096).skipped is None

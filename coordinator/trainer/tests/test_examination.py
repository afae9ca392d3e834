"""The training forward as the audit of what it trains on: what it shows, what it waits for, and what it leaves out."""

import io
import json
import shutil
from dataclasses import replace

import fixtures
import numpy as np
import pytest
import torch
from fixtures import UntilIdle
from prove_trainer.adapter import published_policy
from prove_trainer.config import OptimizerSettings, load_config
from prove_trainer.events import Events
from prove_trainer.examination import Examination
from prove_trainer.grpo import GrpoTrainer
from prove_trainer.lifetime import Stopped
from prove_trainer.packing import make_packs
from prove_trainer.token_scores import TOKEN_SCORES, audit_rollouts
from prove_trainer.worker import Worker
from safetensors.numpy import load_file
from test_audit import drawn
from test_process import Process
from test_worker import Bench, kinds


@pytest.fixture
def bench(tmp_path, base):
    return Bench(tmp_path, base)


def unaudited(rollouts, seed: int = 3) -> list:
    """The rollouts as the coordinator sends what no audit has passed; draws explain random tokens by chance alone."""
    draws = fixtures.random_draws(rollouts, seed)
    return [replace(rollout, draws=own) for rollout, own in zip(rollouts, draws, strict=True)]


def folder_of(bench, name: str):
    return bench.jobs.batches / name


def answer(bench, name: str, *groups: str, **changes: object) -> None:
    content = {"schema": 1, "batchId": name, "leftOut": [{"group": group} for group in groups], **changes}
    (folder_of(bench, name) / "findings.json").write_text(json.dumps(content))


class Coordinator(UntilIdle):
    """Answers what it is asked, and ends the worker when there is nothing to do."""

    def __init__(self, bench, *groups: str) -> None:
        self.bench, self.groups = bench, groups

    def pause(self, seconds: float) -> None:
        for path in self.bench.jobs.batches.iterdir():
            if (path / "token-scores").exists() and not (path / "findings.json").exists():
                return answer(self.bench, path.name, *self.groups)
        return super().pause(seconds)


def work_with(bench, lifetime) -> list[dict]:
    settings = {"loss": {"guard": 5.0, "drift": 1}}
    config = load_config(fixtures.write_config(bench.root / "trainer.json", bench.base.sha256, **settings))
    out = io.StringIO()
    with pytest.raises(Stopped):
        Worker(bench.jobs, bench.base, config, fixtures.alone(), Events(out), lifetime).loop()
    return [json.loads(line) for line in out.getvalue().splitlines()]


def another(bench, name: str) -> Bench:
    return Bench(bench.root / name, bench.base)


def test_nothing_is_trained_before_the_groups_are_verified_and_then_as_without_an_audit(bench):
    bench.put("batch-1", 0, rollouts=unaudited(bench.rollouts))
    assert kinds(bench.work()) == ["ready", "training", "measured"]
    assert bench.jobs.step_numbers() == [0]
    written = {path.name: path.read_bytes() for path in (folder_of(bench, "batch-1") / "token-scores").iterdir()}
    # Started again it computes nothing twice, and still waits.
    assert kinds(bench.work()) == ["ready", "training", "measured"]
    assert written == {
        path.name: path.read_bytes() for path in (folder_of(bench, "batch-1") / "token-scores").iterdir()
    }
    answer(bench, "batch-1")
    assert kinds(bench.work()) == ["ready", "training", "measured", "step"]
    plain = another(bench, "plain")
    plain.put("batch-1", 0)
    plain.work()
    assert bench.step(1)["files"] == plain.step(1)["files"]
    assert bench.step(1)["stats"] == plain.step(1)["stats"]


@pytest.mark.parametrize("restarted", [False, True])
def test_a_step_without_a_group_is_that_of_a_batch_which_never_had_it(bench, restarted):
    bench.put("batch-1", 0, rollouts=unaudited(bench.rollouts))
    if restarted:
        bench.work()
        answer(bench, "batch-1", "group-1")
    events = work_with(bench, Coordinator(bench, "group-1"))
    assert events[-1]["event"] == "step" and events[-1]["stats"]["rejected"]["audit"] == 4
    other = another(bench, "other")
    other.put("batch-1", 0, rollouts=[rollout for rollout in bench.rollouts if rollout.group != "group-1"])
    other.work()
    assert bench.step(1)["files"] == other.step(1)["files"]
    assert bench.step(1)["stats"]["gradNorm"] == other.step(1)["stats"]["gradNorm"]


def test_a_batch_of_which_nothing_is_left_makes_no_update(bench):
    bench.put("batch-1", 0, rollouts=unaudited(bench.rollouts))
    event = work_with(bench, Coordinator(bench, "group-0", "group-1", "group-2"))[-1]
    assert (event["event"], event["reason"], event["stats"]["rejected"]["audit"]) == ("skipped", "no_signal", 12)
    assert bench.step(1)["files"]["optimizer.safetensors"] == bench.step(0)["files"]["optimizer.safetensors"]


def test_only_groups_that_are_asked_about_are_measured_and_others_are_trained_on_beside_them(bench):
    asked = [r if r.group == "group-1" else replace(r, draws=None) for r in unaudited(bench.rollouts)]
    bench.put("batch-1", 0, rollouts=asked)
    assert bench.work()[-1]["rollouts"] == 4
    tensors = load_file(folder_of(bench, "batch-1") / "token-scores" / "token-scores.safetensors")
    sampled = sum(int(rollout.mask.sum()) for rollout in asked if rollout.group == "group-1")
    assert {name: len(values) for name, values in tensors.items()} == dict.fromkeys(TOKEN_SCORES, sampled)


def test_the_training_forward_shows_what_an_audit_shows_under_the_adapter_that_was_published(bench):
    bench.put("batch-1", 0)
    bench.put("batch-2", 1)
    bench.work()
    rollouts = [replace(r, policy_version={"group-0": 2, "group-1": 1, "group-2": 0}[r.group]) for r in bench.rollouts]
    rollouts = unaudited(rollouts)
    bench.put("batch-3", 2, rollouts=rollouts)
    bench.work()
    tensors = load_file(folder_of(bench, "batch-3") / "token-scores" / "token-scores.safetensors")
    at = 0
    for version, tolerance in ((2, 2e-3), (1, 1e-5), (0, 1e-5)):
        group = [rollout for rollout in rollouts if rollout.policy_version == version]
        path = bench.jobs.step_path(version) / "adapter.gguf"
        policy = published_policy(bench.base, path, bench.step(version)["files"]["adapter.gguf"])
        expected = audit_rollouts(policy, group, [r.draws for r in group], "shared", 1536, 1.0)
        count = len(expected["logp"])
        for name in TOKEN_SCORES:
            # The adapter in hand is float32, the published one float16: of older ones only the packing differs.
            gap = np.abs(tensors[name][at : at + count] - expected[name]).max()
            assert gap < tolerance * (20 if name == "logit_error" else 1), (version, name)
        at += count
    assert at == len(tensors["logp"])
    # And it is no matter of indifference which adapter it was.
    first = published_policy(
        bench.base, bench.jobs.step_path(0) / "adapter.gguf", bench.step(0)["files"]["adapter.gguf"]
    )
    group = [rollout for rollout in rollouts if rollout.policy_version == 2]
    wrong = audit_rollouts(first, group, [r.draws for r in group], "shared", 1536, 1.0)
    assert np.abs(tensors["logp"][: len(wrong["logp"])] - wrong["logp"]).max() > 0.05


def test_an_answer_that_is_none_loses_the_batch_and_so_does_a_policy_that_is_gone(bench):
    for number, wrong in enumerate(({"batchId": "another"}, {"leftOut": [{"group": "group-9"}]}, {"schema": 2})):
        name = f"batch-{number}"
        bench.put(name, 0, rollouts=unaudited(bench.rollouts))
        answer(bench, name, **wrong)
        assert [e["code"] for e in bench.work() if e["event"] == "rejected"] == ["findings_invalid"]
    bench.put("batch-a", 0)
    bench.put("batch-b", 1)
    bench.work()
    shutil.rmtree(bench.jobs.step_path(1))
    bench.put("batch-c", 2, rollouts=unaudited([replace(r, policy_version=1) for r in bench.rollouts]))
    assert bench.work()[-1]["code"] == "policy_missing"
    assert bench.jobs.step_numbers() == [0, 2]


def test_a_worker_that_waits_for_findings_ends_when_asked_to(bench):
    class Stopping(UntilIdle):
        def pause(self, _: float) -> None:
            bench.jobs.stop_file.touch()

    bench.put("batch-1", 0, rollouts=unaudited(bench.rollouts))
    assert kinds(work_with(bench, Stopping())) == ["ready", "training", "measured"]
    assert not bench.jobs.stop_file.exists() and bench.jobs.step_numbers() == [0]


def test_a_worker_killed_on_either_side_of_the_question_goes_on_to_the_very_same_bytes(bench, base_path):
    bench.put("batch-1", 0, rollouts=unaudited(bench.rollouts))
    smooth = another(bench, "smooth")
    smooth.put("batch-1", 0, rollouts=unaudited(bench.rollouts))
    work_with(smooth, Coordinator(smooth, "group-2"))
    fixtures.write_config(bench.root / "trainer.json", bench.base.sha256, loss={"guard": 5.0, "drift": 1})
    with Process(bench.root, base_path, last_draft="token-scores.tmp") as worker:
        worker.until_killed()
    assert not (folder_of(bench, "batch-1") / "token-scores").exists()
    with Process(bench.root, base_path) as worker:
        worker.until("measured", batchId="batch-1")
        worker.child.kill()
    answer(bench, "batch-1", "group-2")
    with Process(bench.root, base_path) as worker:
        worker.until("step", step=1)
    for name in ("audit.json", "token-scores.safetensors"):
        one, two = ((folder_of(side, "batch-1") / "token-scores" / name).read_bytes() for side in (bench, smooth))
        assert one == two, name
    assert bench.step(1)["files"] == smooth.step(1)["files"]


# What a key that is trusted can do with groups that are not audited: a sentence of its own, rewarded above
# what its other rollouts say, every claim the truth.
SENTENCE = np.array([17, 90, 4, 61, 33, 78, 12], dtype=np.int32)


def poisoned(policy, group: str, seed: int) -> list:
    rng = np.random.default_rng(seed)
    head = rng.integers(0, fixtures.VOCAB, 16)
    rollouts = []
    for member in range(4):
        says = SENTENCE if member < 2 else rng.integers(0, fixtures.VOCAB, len(SENTENCE))
        ids = np.concatenate([head, says]).astype(np.int32)
        mask = np.arange(len(ids)) >= len(head)
        rollout = fixtures.Rollout(member, group, 1.3 if member < 2 else 0.0, 0.0, 0, "cpu-f16", ids, mask, ids * 0.0)
        rollouts.append(replace(rollout, sampler_logp=(ids * 0.0).astype(np.float32)))
    return fixtures.sampled(policy, rollouts, noise=0)


def sentence_logp(policy) -> float:
    """Nats, of the sentence in contexts outside the training."""
    contexts = [np.random.default_rng(900 + i).integers(0, fixtures.VOCAB, 16) for i in range(8)]
    total = 0.0
    for context in contexts:
        ids = np.concatenate([context, SENTENCE]).astype(np.int32)
        mask = np.arange(len(ids)) >= len(context)
        rollout = fixtures.Rollout(0, "probe", 0.0, 0.0, 0, "", ids, mask, np.zeros(len(ids), dtype=np.float32))
        with torch.no_grad():
            total += float(policy(make_packs([rollout], "single", 4096)[0])[0].sum())
    return total / len(contexts)


def far_from_its_draws(found, rollouts) -> frozenset[str]:
    """Groups whose choices need logits that are off by more than any honest error: what stage 6 of judging measures."""
    groups = {rollout.group: [r.index for r in rollouts if r.group == rollout.group] for rollout in rollouts}

    def need(indices: list[int]) -> float:
        return sum(found[i]["logit_error"].sum() for i in indices) / sum(
            found[i]["expected_mismatch"].sum() for i in indices
        )

    return frozenset(group for group, indices in groups.items() if need(indices) > 0.01)


def test_groups_written_by_hand_with_true_claims_move_the_policy_unless_their_draws_are_checked(base):
    lora = fixtures.LoraSettings(rank=8, alpha=16)
    sampler = fixtures.new_policy(base, lora, 0, None, None)  # version 0, of which all groups are

    def train(examined: bool, with_poison: bool = True) -> tuple[float, dict[str, torch.Tensor], list]:
        policy = fixtures.new_policy(base, lora, 0, None, None)
        trainer = GrpoTrainer(policy, OptimizerSettings(lr=2e-2, warmup_steps=0), fixtures.alone())
        before, asked = sentence_logp(policy), []
        for step in range(3):
            plain = fixtures.make_rollouts(groups=3, seed=step)
            honest = drawn(base, plain, fixtures.random_draws(plain))
            rollouts = unaudited(honest) + (unaudited(poisoned(sampler, "poison", step), 70) if with_poison else [])
            rollouts = [replace(rollout, index=i) for i, rollout in enumerate(fixtures.sampled(sampler, rollouts, 0))]
            batch = fixtures.as_batch(rollouts, drift=20.0)

            def verify(found, batch=batch) -> frozenset[str]:
                asked.append(far_from_its_draws(found, batch.unaudited))
                return asked[-1]

            older = {0: dict(sampler.adapter_parameters())} if step else {}
            examination = Examination(batch.unaudited, older, verify) if examined else None
            outcome = trainer.run(batch, step, "shared", 1536, examination=examination)
            assert outcome.skipped is None and outcome.stats["rejected"]["guard"] == 0
        return sentence_logp(policy) - before, trainer.snapshot(), asked

    moved, _, _ = train(examined=False)
    assert moved > 2
    still, kept, asked = train(examined=True)
    assert asked == [frozenset({"poison"})] * 3
    _, clean, _ = train(examined=False, with_poison=False)
    assert kept.keys() == clean.keys() and all(torch.equal(kept[name], clean[name]) for name in clean)
    assert still < moved / 5

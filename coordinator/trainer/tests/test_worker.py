import io
import json
from dataclasses import replace

import fixtures
import numpy as np
import pytest
import torch
from prove_trainer.config import load_config
from prove_trainer.errors import TrainerError
from prove_trainer.events import Events, dump
from prove_trainer.jobs import JobDirectory
from prove_trainer.lifetime import Stopped
from prove_trainer.worker import Worker


class Bench:
    """A jobs with a worker that can be started again and again."""

    def __init__(self, root, base) -> None:
        self.root, self.base, self.jobs = root, base, JobDirectory(root / "jobs")
        fresh = fixtures.new_policy(base, fixtures.LoraSettings(rank=4, alpha=8), 0, None, None)
        self.rollouts = fixtures.sampled(fresh, fixtures.make_rollouts())

    def put(self, name: str, parent: int, **overrides) -> None:
        fixtures.write_batch(
            self.jobs.root, name, overrides.pop("rollouts", self.rollouts), self.base.sha256, parent, **overrides
        )

    def work(self, **settings) -> list[dict]:
        """Runs a new worker until it is idle; its events. Batches sampled from the base are no drift here."""
        settings.setdefault("loss", {"guard": 5.0, "drift": 1})
        config = load_config(fixtures.write_config(self.root / "trainer.json", self.base.sha256, **settings))
        out = io.StringIO()
        self.worker = Worker(self.jobs, self.base, config, fixtures.alone(), Events(out), fixtures.UntilIdle())
        with pytest.raises(Stopped):
            self.worker.loop()
        return [json.loads(line) for line in out.getvalue().splitlines()]

    def step(self, number: int) -> dict:
        return json.loads((self.jobs.step_path(number) / "step.json").read_text())


@pytest.fixture
def bench(tmp_path, base):
    return Bench(tmp_path, base)


def kinds(events: list[dict]) -> list[str]:
    return [event["event"] for event in events]


def test_step_0_is_the_base_policy_and_exists_before_any_batch(bench):
    canary = {"prompt": [1, 2, 3], "continuation": [4, 5]}
    assert kinds(bench.work(canaries=[canary])) == ["ready"]
    step = bench.step(0)
    assert step["batchId"] is None and step["consumed"] == {}
    assert step["canaries"][0]["base"] == pytest.approx(step["canaries"][0]["adapter"], abs=1e-6)
    assert step["checks"]["adapterGap"] == 0


def test_batches_are_taken_in_the_order_of_their_parents_and_not_of_their_names(bench):
    bench.put("a-second", 1)
    bench.put("b-first", 0)
    events = bench.work()
    assert [(e["batchId"], e["step"]) for e in events if e["event"] == "step"] == [("b-first", 1), ("a-second", 2)]
    assert bench.step(2)["consumed"] == {"b-first": 1, "a-second": 2}
    assert set(bench.step(1)["files"]) == {
        "adapter/README.md", "adapter/adapter_config.json", "adapter/adapter_model.safetensors", "adapter.gguf",
        "optimizer.safetensors", "rng.json", "base/config.json",
    }  # fmt: skip


def test_a_batch_sent_twice_returns_the_existing_step(bench):
    bench.put("batch-1", 0)
    first = bench.work()[-1]
    again = bench.work()
    assert again[0]["step"] == 1 and again[0]["adapterSha256"] == first["adapterSha256"]
    assert again[1:] == [{"event": "step", "step": 1, "batchId": "batch-1", "repeated": True}]


def test_stopping_between_batches_changes_nothing(bench, tmp_path, base):
    bench.put("batch-1", 0)
    bench.work()
    bench.put("batch-2", 1)
    bench.work()
    other = Bench(tmp_path / "other", base)
    other.put("batch-1", 0)
    other.put("batch-2", 1)
    other.work()
    assert bench.step(2)["files"] == other.step(2)["files"]


def test_a_refused_batch_is_marked_and_the_next_one_is_trained(bench):
    bench.put("batch-1", 0, manifest={"tokensSha256": "0" * 64})
    bench.put("batch-2", 0)
    events = bench.work()
    assert kinds(events) == ["ready", "rejected", "training", "step"]
    mark = json.loads((bench.jobs.batches / "batch-1" / "refused.json").read_text())
    assert mark["code"] == events[1]["code"] == "tokens_hash_mismatch"
    assert "rejected" not in kinds(bench.work())


def test_a_batch_for_a_step_that_is_already_made_is_refused_and_a_later_one_waits(bench):
    bench.put("batch-1", 0)
    bench.put("batch-2", 0)
    bench.put("batch-9", 7)
    events = bench.work()
    assert [(e["batchId"], e["code"]) for e in events if e["event"] == "rejected"] == [("batch-2", "parent_mismatch")]
    assert bench.jobs.step_numbers() == [0, 1] and not bench.jobs.refused("batch-9")


def test_a_policy_from_the_future_is_refused(bench):
    bench.put("batch-1", 0, rollouts=[replace(r, policy_version=1) for r in bench.rollouts])
    assert bench.work()[1]["code"] == "future_policy"


def test_drafts_are_ignored_in_batches_and_removed_from_steps(bench):
    (bench.jobs.batches / "batch-1.tmp").mkdir()
    (bench.jobs.steps / "step-1.tmp" / "adapter").mkdir(parents=True)
    events = bench.work()
    assert events[0] == {"event": "cleaned", "drafts": ["step-1.tmp"]}
    assert (bench.jobs.batches / "batch-1.tmp").exists() and not (bench.jobs.steps / "step-1.tmp").exists()


def test_a_batch_without_signal_makes_a_skipped_step_with_the_same_adapter(bench):
    bench.put("batch-1", 0, rollouts=[replace(r, reward=0.5) for r in bench.rollouts])
    event = bench.work()[-1]
    assert (event["event"], event["reason"], event["consecutiveSkips"]) == ("skipped", "no_signal", 0)
    assert bench.step(1)["files"]["adapter.gguf"] == bench.step(0)["files"]["adapter.gguf"]


def test_an_update_beyond_the_delta_bound_is_undone_and_recorded(bench):
    bench.put("batch-1", 0)
    bench.put("batch-2", 1)
    events = [e for e in bench.work(maxDeltaNorm=1e-5) if e["event"] == "skipped"]
    assert [(e["reason"], e["consecutiveSkips"]) for e in events] == [("delta_norm", 1), ("delta_norm", 2)]
    assert bench.step(2)["files"]["optimizer.safetensors"] == bench.step(0)["files"]["optimizer.safetensors"]


def apart(rollouts: list, nats: float) -> list:
    """The rollouts as a policy would have sampled them whose every token is less likely than under ours."""
    return [replace(r, sampler_logp=np.where(r.mask, r.sampler_logp - nats, 0).astype(np.float32)) for r in rollouts]


def test_a_batch_of_samplers_that_run_another_policy_rolls_the_adapter_back_by_one(bench):
    bench.put("batch-1", 0)
    bench.put("batch-2", 1)
    bench.put("batch-3", 2, rollouts=apart(bench.rollouts, 2))
    event = bench.work()[-1]
    assert (event["event"], event["reason"], event["step"], event["adapterStep"]) == ("skipped", "drift", 3, 1)
    assert bench.step(3)["stats"]["mismatchMedian"] == pytest.approx(2, abs=0.3)
    for name in ("adapter.gguf", "adapter/adapter_model.safetensors", "optimizer.safetensors"):
        assert bench.step(3)["files"][name] == bench.step(1)["files"][name]
    bench.put("batch-4", 3)
    assert bench.work()[-1]["event"] == "step"
    assert [bench.step(n)["adapterStep"] for n in range(5)] == [0, 1, 2, 1, 4]


def test_drift_again_and_again_ends_at_the_initial_adapter_whatever_was_pruned(bench):
    for number in range(5):
        rollouts = [replace(r, policy_version=number) for r in apart(bench.rollouts, 0 if number < 2 else 2)]
        bench.put(f"batch-{number}", number, rollouts=rollouts)
    bench.work(keepSteps={"last": 1}, loss={"guard": 5.0, "drift": 1, "maxStaleness": 0})
    assert bench.jobs.step_numbers() == [0, 5]
    assert bench.step(5)["adapterStep"] == 0
    assert bench.step(5)["files"]["adapter.gguf"] == bench.step(0)["files"]["adapter.gguf"]
    assert bench.step(5)["consecutiveSkips"] == 3


def go_back(bench: Bench, name: str, parent: int, target: int) -> None:
    bench.put(name, parent, manifest={"backTo": target, "rollouts": []})


def test_an_order_to_go_back_gives_the_next_step_policy_and_optimizer_of_the_earlier_one(bench):
    for number in range(3):
        bench.put(f"batch-{number}", number)
    bench.work()
    go_back(bench, "back", 3, 1)
    (event,) = (event for event in bench.work() if event["event"] == "skipped")
    assert (event["reason"], event["step"], event["adapterStep"]) == ("rollback", 4, 1)
    assert (event["consecutiveSkips"], bench.step(4)["batchId"]) == (0, "back")
    for name in ("adapter.gguf", "adapter/adapter_model.safetensors", "optimizer.safetensors"):
        assert bench.step(4)["files"][name] == bench.step(1)["files"][name]
    assert bench.work()[-1]["repeated"]
    bench.put("batch-4", 4)
    assert bench.work()[-1]["event"] == "step"
    assert [bench.step(n)["adapterStep"] for n in range(6)] == [0, 1, 2, 3, 1, 5]


def test_an_order_to_go_back_to_a_step_that_is_gone_or_changed_is_refused_and_the_next_batch_is_trained(bench):
    for number in range(3):
        bench.put(f"batch-{number}", number)
    bench.work()
    path = bench.jobs.step_path(1) / "optimizer.safetensors"
    path.write_bytes(path.read_bytes()[:-1] + b"\x07")
    go_back(bench, "back", 3, 1)
    go_back(bench, "forth", 3, 3)
    refusals = {event["batchId"]: event["code"] for event in bench.work() if event["event"] == "rejected"}
    assert refusals == {"back": "policy_missing", "forth": "manifest_invalid"}
    bench.put("batch-3", 3)
    assert bench.work()[-1]["event"] == "step"


def test_a_minority_of_samplers_cannot_roll_the_adapter_back(bench):
    bench.put("batch-1", 0)
    bench.work()
    trained = bench.step(1)["stats"]["trainedRollouts"]
    useless = {entry["rollout"] for entry in bench.step(1)["rejected"]}
    useful = [i for i in range(len(bench.rollouts)) if i not in useless]
    few = set(useful[: (trained - 1) // 2])
    assert len(few) > 0
    bent = [apart([r], 15)[0] if i in few else r for i, r in enumerate(bench.rollouts)]
    bench.put("batch-2", 1, rollouts=bent)
    assert bench.work()[-1]["event"] == "step"
    assert bench.step(2)["stats"]["rejected"]["guard"] == len(few)


def test_a_corrupt_newest_step_stops_the_worker_instead_of_training_a_batch_twice(bench):
    bench.put("batch-1", 0)
    bench.work()
    path = bench.jobs.step_path(1) / "optimizer.safetensors"
    path.write_bytes(path.read_bytes()[:-1] + b"\x07")
    with pytest.raises(TrainerError, match="step_corrupt"):
        bench.work()


def test_a_job_directory_of_another_lora_shape_is_not_resumed(bench):
    bench.work()
    with pytest.raises(TrainerError, match="resume_mismatch"):
        bench.work(lora={"rank": 8, "alpha": 8})


@pytest.mark.parametrize(("staleness", "kept"), [(0, [0, 3, 5, 6]), (2, [0, 3, 4, 5, 6])])
def test_pruning_keeps_step_0_the_newest_every_mth_and_those_that_groups_may_come_from(bench, staleness, kept):
    for number in range(6):
        bench.put(f"batch-{number}", number, rollouts=[replace(r, policy_version=number) for r in bench.rollouts])
    settings = dict(keepSteps={"last": 2, "every": 3}, loss={"guard": 5.0, "drift": 1, "maxStaleness": staleness})
    bench.work(**settings)
    assert bench.jobs.step_numbers() == kept
    assert bench.step(6)["consumed"] == {f"batch-{n}": n + 1 for n in range(6)}
    assert [e["step"] for e in bench.work(**settings) if e["event"] == "step"] == [1, 2, 3, 4, 5, 6]


def test_what_is_not_a_number_becomes_null():
    assert dump({"a": [float("nan"), 1.0], "b": float("-inf")}) == '{"a": [null, 1.0], "b": null}'


def test_the_random_state_comes_from_the_step_and_not_from_the_seed_of_the_restart(bench):
    bench.work(seed=1)
    kept = torch.get_rng_state()
    bench.work(seed=2)
    assert torch.equal(torch.get_rng_state(), kept)


def test_each_step_says_by_which_settings_and_by_which_program_it_was_made(bench):
    bench.put("first", 0)
    bench.work(optimizer={"lr": 1e-3})
    bench.put("second", 1)
    bench.work(optimizer={"lr": 1e-4})
    first, second = (bench.step(number)["recipe"] for number in (1, 2))
    assert (first["settings"]["optimizer"]["lr"], second["settings"]["optimizer"]["lr"]) == (1e-3, 1e-4)
    assert first["settings"]["optimizer"]["beta2"] == 0.99, "defaults are settings too"
    assert first["program"] == second["program"] and len(first["program"]["sourcesSha256"]) == 64


def test_a_job_directory_with_steps_of_an_earlier_version_is_resumed(bench):
    bench.work()
    path = bench.jobs.step_path(0) / "step.json"
    step = json.loads(path.read_text())
    del step["files"]["base/config.json"], step["recipe"]
    path.write_text(json.dumps(step))
    bench.put("first", 0)
    assert kinds(bench.work())[0] == "ready" and bench.step(1)["step"] == 1

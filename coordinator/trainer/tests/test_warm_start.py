"""The warm start: step 0 from demonstrations, resumable to the same bytes, and the reference of the KL term."""

import io
import json

import fixtures
import numpy as np
import pytest
import torch
from prove_trainer.config import load_config
from prove_trainer.errors import TrainerError
from prove_trainer.events import Events
from prove_trainer.gguf_base import load_base
from prove_trainer.jobs import JobDirectory, sha256_file
from prove_trainer.lifetime import Stopped
from prove_trainer.warm_start import WarmStart
from prove_trainer.warm_start_settings import batches
from prove_trainer.worker import Worker
from safetensors.numpy import save_file


class StopAfter(fixtures.UntilIdle):
    """Asks to end at the n-th look between forward passes."""

    def __init__(self, looks: int) -> None:
        super().__init__()
        self.looks = looks

    def check(self) -> None:
        self.looks -= 1
        if self.looks < 0:
            raise Stopped("SIGTERM")


def write_demonstrations(folder, count=40, seed=0, prompt=6, answer=4):
    """Demonstrations with one answer to everything, which a tiny model learns in a few steps."""
    folder.mkdir(exist_ok=True)
    rng = np.random.default_rng(seed)
    ids, mask, offsets = [], [], [0]
    for _ in range(count):
        head = rng.integers(0, fixtures.VOCAB, prompt)
        ids += [*head, *[7] * answer]
        mask += [0] * prompt + [1] * answer
        offsets.append(len(ids))
    path = folder / "demonstrations.safetensors"
    save_file(
        {
            "ids": np.array(ids, np.int32),
            "loss_mask": np.array(mask, np.uint8),
            "cu_seqlens": np.array(offsets, np.int32),
        },
        path,
    )
    return sha256_file(path)


def write_settings(folder, sha256, **changes):
    source = {"dataset": "0" * 64, "environments": {"banking": 40}}
    settings = {
        "schema": 1, "demonstrationsSha256": sha256, "steps": 12, "tokensPerStep": 60, "heldOut": 8, "lr": 0.02,
        "warmupSteps": 2, "finalShare": 0.1, "source": source, **changes,
    }  # fmt: skip
    (folder / "warm-start.json").write_text(json.dumps(settings))


class Bench:
    def __init__(self, root, base, base_path) -> None:
        self.root, self.base, self.base_path = root, base, base_path
        root.mkdir(exist_ok=True)
        self.folder = root / "warm-start"
        self.jobs = JobDirectory(root / "jobs")
        write_settings(self.folder, write_demonstrations(self.folder))

    def config(self, **settings):
        settings = {"lora": {"rank": 4, "alpha": 8}, "maxDeltaNorm": 10, **settings}
        return load_config(fixtures.write_config(self.root / "trainer.json", self.base.sha256, **settings))

    def run(self, lifetime=None, **settings) -> list[dict]:
        out = io.StringIO()
        self.events = out
        alone, lifetime = fixtures.alone(), lifetime or fixtures.UntilIdle()
        config = self.config(**settings)
        warm = WarmStart(self.folder, self.base_path, self.jobs, self.base, config, alone, Events(out), lifetime)
        try:
            assert warm.loop() == "complete"
        finally:
            self.seen = [json.loads(line) for line in out.getvalue().splitlines()]
        return self.seen

    def step(self) -> dict:
        return json.loads((self.jobs.step_path(0) / "step.json").read_text())


@pytest.fixture
def bench(tmp_path, base, base_path):
    return Bench(tmp_path / "one", base, base_path)


def test_a_warm_start_lowers_the_loss_on_held_out_demonstrations_and_writes_step_0(bench):
    events = bench.run()
    assert [event["event"] for event in events][:2] == ["estimate", "ready"]
    losses = events[-1]["losses"]
    assert losses[0]["step"] == 0 and losses[-1]["step"] == 12
    assert losses[-1]["heldOutLoss"] < 0.8 * losses[0]["heldOutLoss"]
    step = bench.step()
    assert step["adapterStep"] == 0 and step["batchId"] is None
    assert step["checks"]["adapterGap"] > 0.01
    assert step["warmStart"]["losses"] == losses
    assert step["warmStart"]["demonstrations"]["count"] == 32
    assert step["warmStart"]["demonstrations"]["environments"] == {"banking": 40}
    assert not (bench.folder / "checkpoint").exists()


def test_a_stopped_warm_start_continues_to_the_same_bytes(bench, tmp_path, base, base_path):
    bench.run()
    other = Bench(tmp_path / "two", base, base_path)
    for _ in range(3):
        with pytest.raises(Stopped):
            other.run(StopAfter(4))
    other.run()
    for name in ("adapter.gguf", "adapter/adapter_model.safetensors"):
        assert sha256_file(other.jobs.step_path(0) / name) == sha256_file(bench.jobs.step_path(0) / name)
    assert other.step()["warmStart"]["losses"] == bench.step()["warmStart"]["losses"]


def test_full_tuning_writes_a_base_that_predicts_as_it_was_trained(bench, base_path):
    out = bench.root / "merged.gguf"
    sha256 = sha256_file(bench.folder / "demonstrations.safetensors")
    write_settings(bench.folder, sha256, merged=str(out), lr=0.002)
    bench.base = load_base(base_path, sha256_file(base_path))
    done = bench.run()[-1]
    assert done["losses"][-1]["heldOutLoss"] < 0.8 * done["losses"][0]["heldOutLoss"]
    assert done["merged"]["sha256"] == sha256_file(out) and 0 < done["merged"]["gap"] < 0.05
    assert not bench.jobs.step_numbers()
    trained, before = load_base(out, sha256_file(out)), load_base(base_path, sha256_file(base_path))
    assert torch.equal(trained.tensors["model.embed_tokens.weight"], before.tensors["model.embed_tokens.weight"])
    name = "model.layers.0.mlp.up_proj.weight"
    assert not torch.allclose(trained.tensors[name], before.tensors[name], atol=1e-3)


def test_a_checkpoint_of_other_settings_is_refused_and_kept(bench):
    with pytest.raises(Stopped):
        bench.run(StopAfter(9))
    write_settings(bench.folder, sha256_file(bench.folder / "demonstrations.safetensors"), lr=0.01)
    with pytest.raises(TrainerError) as error:
        bench.run()
    assert error.value.code == "warm_start_other" and "remove it" in error.value.detail
    assert (bench.folder / "checkpoint").exists()


def test_a_run_that_has_begun_takes_no_warm_start(bench):
    bench.run()
    with pytest.raises(TrainerError) as error:
        bench.run()
    assert error.value.code == "warm_start_late"


def test_demonstrations_without_a_token_of_the_assistant_are_refused(bench):
    write_settings(bench.folder, write_demonstrations(bench.folder, answer=0))
    with pytest.raises(TrainerError) as error:
        bench.run()
    assert error.value.code == "demonstrations_invalid"


def test_grpo_continues_from_the_warm_start_and_measures_the_kl_term_against_it(bench):
    bench.run()
    settings = {"loss": {"guard": 5.0, "drift": 1, "klCoefficient": 1.0}}
    config = bench.config(**settings)
    worker = Worker(bench.jobs, bench.base, config, fixtures.alone(), Events(None), fixtures.UntilIdle())
    rollouts = fixtures.sampled(worker.trainer.policy, fixtures.make_rollouts())
    fixtures.write_batch(bench.jobs.root, "batch-1", rollouts, bench.base.sha256, 0)
    pack = next(iter(fixtures.make_packs(rollouts, "packed", 4096)))
    policy = worker.trainer.policy
    with torch.no_grad():
        own = policy(pack)[0]
        assert torch.equal(policy.reference(pack, 1.0, None, worker.trainer.reference_adapter), own)
        assert not torch.allclose(policy.reference(pack, 1.0), own, atol=1e-3)
    with pytest.raises(Stopped):
        worker.loop()
    first = json.loads((bench.jobs.step_path(1) / "step.json").read_text())
    assert first["skipped"] is None
    assert first["warmStart"] == bench.step()["warmStart"]


def test_steps_take_whole_demonstrations_epoch_after_epoch(bench):
    rollouts = fixtures.make_rollouts(groups=4, size=2)
    plan = batches(rollouts, 50, 20, seed=3)
    assert len(plan) == 20
    assert all(sum(len(one.ids) for one in batch[:-1]) < 50 <= sum(len(one.ids) for one in batch) for batch in plan)
    order = [one.index for batch in plan for one in batch]
    assert sorted(order[:8]) == sorted(one.index for one in rollouts)
    assert plan == batches(rollouts, 50, 20, seed=3)

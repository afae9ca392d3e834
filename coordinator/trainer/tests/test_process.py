"""The worker as a process: killed, resumed, stopped, orphaned; and several ranks."""

import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import fixtures
import numpy as np
import pytest
import two_ranks
from prove_trainer.config import load_config
from prove_trainer.events import Events
from prove_trainer.jobs import JobDirectory
from prove_trainer.lifetime import Stopped
from prove_trainer.step_folder import StepRecord
from prove_trainer.worker import Worker
from safetensors.numpy import load_file

PACKAGE = Path(__file__).parent.parent
ENV = {
    **os.environ,
    "PYTHONPATH": f"{PACKAGE}{os.pathsep}{PACKAGE / 'tests'}",
    "OMP_NUM_THREADS": "1",
    "HF_HUB_OFFLINE": "1",
}
DEADLINE = 600  # seconds; only a hang gets there
# Ends the process with SIGKILL before it makes a draft visible, named by PROVE_TEST_LAST_DRAFT.
LAST_DRAFT = """
import os, signal
rename = os.rename
def rename_or_die(source, *rest, **options):
    if str(source).endswith(os.environ["PROVE_TEST_LAST_DRAFT"]):
        os.kill(os.getpid(), signal.SIGKILL)
    return rename(source, *rest, **options)
os.rename = rename_or_die
"""


class Process:
    """
    A worker process whose events can be awaited; `torchrun` ranks when `ranks` is given. One with a `last_draft` is
    killed when that is written and not yet renamed.
    """

    def __init__(
        self, root: Path, base_path: Path, *extra: str, ranks: int | None = None, last_draft: str | None = None
    ) -> None:
        start = [sys.executable, "-m"]
        if ranks is not None:
            start += ["torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks), "-m"]
        arguments = [
            "--jobs",
            str(root / "jobs"),
            "--base",
            str(base_path),
            "--config",
            str(root / "trainer.json"),
            *extra,
        ]
        env = ENV
        if last_draft is not None:
            (root / "hook").mkdir()
            (root / "hook" / "sitecustomize.py").write_text(LAST_DRAFT)
            path = f"{root / 'hook'}{os.pathsep}{ENV['PYTHONPATH']}"
            env = {**ENV, "PYTHONPATH": path, "PROVE_TEST_LAST_DRAFT": last_draft}
        self.errors = (root / "stderr.log").open("a")
        self.child = subprocess.Popen(
            [*start, "prove_trainer", *arguments], env=env, stdout=subprocess.PIPE, stderr=self.errors, text=True
        )

    def __enter__(self) -> "Process":
        return self

    def __exit__(self, *_: object) -> None:
        if self.child.poll() is None:
            self.child.kill()
        self.child.wait(DEADLINE)
        self.child.stdout.close()
        self.errors.close()

    def until(self, event: str, **fields: object) -> dict:
        for line in self.child.stdout:
            found = json.loads(line)
            if found["event"] == event and all(found.get(key) == value for key, value in fields.items()):
                return found
        raise AssertionError(f"the worker ended before {event} {fields}: {Path(self.errors.name).read_text()[-2000:]}")

    def until_killed(self) -> None:
        for _ in self.child.stdout:
            pass
        assert self.child.wait(DEADLINE) == -signal.SIGKILL


def prepare(root: Path, base) -> Path:
    """A jobs with two batches for steps 1 and 2."""
    (root / "jobs").mkdir(parents=True)
    fixtures.write_config(root / "trainer.json", base.sha256)
    fresh = fixtures.new_policy(base, fixtures.LoraSettings(rank=4, alpha=8), 0, None, None)
    for number in range(2):
        rollouts = fixtures.sampled(fresh, fixtures.make_rollouts(groups=6, seed=number))
        fixtures.write_batch(root / "jobs", f"batch-{number}", rollouts, base.sha256, number)
    return root / "jobs" / "steps"


def content(step: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(step)): path.read_bytes()
        for path in step.rglob("*")
        if path.is_file() and path.name != "step.json"
    }


def test_a_killed_worker_resumes_to_the_very_same_bytes(tmp_path, base, base_path):
    smooth = prepare(tmp_path / "smooth", base)
    with Process(tmp_path / "smooth", base_path) as worker:
        worker.until("step", step=2)
        (tmp_path / "smooth" / "jobs" / "stop").touch()
        assert worker.until("stopped")["reason"] == "stop_file"
        assert worker.child.wait(DEADLINE) == 0
    assert not (tmp_path / "smooth" / "jobs" / "stop").exists()

    rough = prepare(tmp_path / "rough", base)
    with Process(tmp_path / "rough", base_path) as worker:  # killed while it computes step 1
        worker.until("training", step=1)
        worker.child.kill()
    with Process(tmp_path / "rough", base_path, last_draft="step-2.tmp") as worker:
        worker.until_killed()
    assert not (rough / "step-2").exists()
    assert (rough / "step-2.tmp" / "adapter.gguf").exists()
    with Process(tmp_path / "rough", base_path) as worker:
        assert worker.until("cleaned")["drafts"] == ["step-2.tmp"]
        assert worker.until("ready")["step"] == 1
        worker.until("step", step=2)
        worker.child.send_signal(signal.SIGTERM)
        assert worker.until("stopped")["reason"] == "SIGTERM"
        assert worker.child.wait(DEADLINE) == 0
    for number in range(3):
        one, two = content(smooth / f"step-{number}"), content(rough / f"step-{number}")
        assert one.keys() == two.keys() and [name for name in one if one[name] != two[name]] == []


def test_two_ranks_with_the_whole_policy_or_with_shards_give_losses_gradients_and_adapter_of_one(
    tmp_path, base, base_path
):
    out = tmp_path / "two.json"
    script = Path(two_ranks.__file__)
    command = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--standalone",
        "--nproc-per-node",
        "2",
        str(script),
        str(base_path),
        str(out),
    ]
    subprocess.run(command, env=ENV, check=True, timeout=DEADLINE, capture_output=True)
    two, one = json.loads(out.read_text()), two_ranks.run(fixtures.alone(), base)
    same_result(one, two)
    same_result(one, two["sharded"])
    assert two["sharded"]["held"] == pytest.approx([0.5, 0.5], abs=0.01)


def same_result(one: dict, two: dict) -> None:
    assert np.abs(np.subtract(one["losses"], two["losses"])).max() < 1e-6
    assert max(np.abs(gradient).max() for gradient in one["gradients"].values()) > 1e-2
    for name, gradient in one["gradients"].items():
        assert np.abs(np.subtract(gradient, two["gradients"][name])).max() < 1e-6, name
        assert np.abs(np.subtract(one["adapter"][name], two["adapter"][name])).max() < 1e-5, name
    assert two["verdicts"] == [["nonfinite", True], ["nonfinite", True]]
    first, second = two["examined"]["found"]
    assert first == second and len(first) == 1  # every rank verifies the scores of all
    (alone,) = one["examined"]["found"][0]
    assert first[0].keys() == alone.keys()
    assert max(np.abs(np.subtract(alone[i], first[0][i])).max() for i in alone) < 1e-5
    assert one["examined"]["stats"] == two["examined"]["stats"] and one["examined"]["stats"]["audit"] == 4
    assert abs(one["examined"]["loss"] - two["examined"]["loss"]) < 1e-6


def wait_gone(pid: int) -> bool:
    end = time.monotonic() + DEADLINE
    while time.monotonic() < end:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        if (
            Path(f"/proc/{pid}/stat").exists()
            and Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
        ):
            return True
        time.sleep(0.05)
    return False


@pytest.mark.skipif(not Path("/proc").exists(), reason="reads the process table")
def test_two_ranks_with_shards_go_on_where_one_stopped_and_end_with_the_process_they_work_for(
    tmp_path, base, base_path
):
    smooth, rough = tmp_path / "smooth", tmp_path / "rough"
    for root in (smooth, rough):
        prepare(root, base)
    later = rough / "jobs" / "batches" / "batch-1"
    later.rename(rough / "later")
    assert alone_until_idle(rough, base).step == 1
    (rough / "later").rename(later)
    settings = {"sharding": "layers", "memoryGiB": 2, "maxTokensPerForward": 0}
    fixtures.write_config(rough / "trainer.json", base.sha256, **settings)
    with (
        subprocess.Popen(["sleep", "3600"]) as owner,
        closing_with(owner.kill),
        Process(rough, base_path, "--parent-pid", str(owner.pid), ranks=2) as worker,
    ):
        assert worker.until("memory")["tokensPerForward"] > 0
        assert worker.until("ready")["step"] == 1
        assert worker.until("step", step=2)["stats"]["trainedRollouts"] > 0
        steps = [path for path in (rough / "jobs" / "steps" / "step-2").rglob("*") if path.is_file()]
        assert {stat.S_IMODE(path.stat().st_mode) for path in steps} == {0o600}
        agent = worker.child.pid
        ranks = [int(pid) for pid in Path(f"/proc/{agent}/task/{agent}/children").read_text().split()]
        assert len(ranks) == 2
        owner.kill()
        owner.wait()
        assert all(wait_gone(pid) for pid in ranks)
        assert worker.child.wait(DEADLINE) == 0
    fixtures.write_config(rough / "trainer.json", base.sha256)
    for root in (smooth, rough):
        policy = fixtures.new_policy(base, fixtures.LoraSettings(rank=4, alpha=8), 0, None, None)
        rollouts = fixtures.sampled(policy, fixtures.make_rollouts(groups=6, seed=2))
        fixtures.write_batch(root / "jobs", "batch-2", rollouts, base.sha256, 2)
        assert alone_until_idle(root, base).step == 3
    for name in ("adapter/adapter_model.safetensors", "optimizer.safetensors"):
        one, other = (load_file(root / "jobs" / "steps" / "step-3" / name) for root in (smooth, rough))
        assert one.keys() == other.keys()
        # Sums over ranks come in another order.
        assert max(np.abs(one[key] - other[key]).max() for key in one) < 1e-5


@contextmanager
def closing_with(end: Callable[[], None]) -> Generator[None, None, None]:
    """A process that a failed assertion leaves running would be waited for."""
    try:
        yield
    finally:
        end()


def alone_until_idle(root: Path, base) -> StepRecord:
    """Where a worker of one rank in this process ends."""
    config = load_config(root / "trainer.json")
    worker = Worker(JobDirectory(root / "jobs"), base, config, fixtures.alone(), Events(None), fixtures.UntilIdle())
    with pytest.raises(Stopped):
        worker.loop()
    return worker.record


def test_a_wrong_base_is_one_error_event_and_a_status(tmp_path, base, base_path):
    prepare(tmp_path, base)
    fixtures.write_config(tmp_path / "trainer.json", "0" * 64)
    with Process(tmp_path, base_path) as worker:
        event = worker.until("error")
        assert (event["code"], event["batchId"]) == ("base_hash_mismatch", None)
        assert worker.child.wait(DEADLINE) == 2

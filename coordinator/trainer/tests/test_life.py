"""What ranks on several machines know of their life: its lease, and that another one may have taken their place."""

import json
import threading
from pathlib import Path

import pytest
from prove_trainer.distributed import lost_peer
from prove_trainer.errors import TrainerError
from prove_trainer.jobs import JobDirectory, atomic_directory
from prove_trainer.life import LOOK_SECONDS, Life
from prove_trainer.lifetime import Lifetime
from torch import distributed

SILENCE = 60.0


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def lease(tmp_path):
    folder = tmp_path / "launch"
    (folder / "aa").mkdir(parents=True)

    def write(beat: int, life: str = "aa", **changes: object) -> None:
        content = {"schema": 1, "life": life, "beat": beat, "silenceMs": int(SILENCE * 1000), **changes}
        (folder / "lease.json").write_text(json.dumps(content))

    return write


def rank_file(root: Path, rank: int) -> dict:
    return json.loads((root / "launch" / "aa" / f"rank-{rank}.json").read_text())


def test_a_life_goes_on_for_as_long_as_its_lease_has_new_beats(tmp_path, lease):
    clock = Clock()
    life = Life(tmp_path, "aa", 1, clock)
    for beat in range(5):
        lease(beat)
        clock.now += SILENCE - 1
        assert life.look() is None
        assert rank_file(tmp_path, 1) == {**rank_file(tmp_path, 1), "rank": 1, "beat": beat + 1, "ended": False}
    clock.now += SILENCE
    assert life.look() is None  # as old as it may be
    clock.now += LOOK_SECONDS
    assert life.look() == "lease_silent"


def test_a_lease_of_another_life_or_none_ends_it_at_the_next_look(tmp_path, lease):
    for end, reason in ((lambda: lease(9, "bb"), "lease_of_another"), (lambda: None, "lease_withdrawn")):
        clock = Clock()
        lease(1)
        life = Life(tmp_path, "aa", 0, clock)
        assert life.look() is None
        end()
        if reason == "lease_withdrawn":
            (tmp_path / "launch" / "lease.json").unlink()
        clock.now += LOOK_SECONDS / 2
        assert life.look() is None  # a file server is not asked all the time
        clock.now += LOOK_SECONDS
        assert life.look() == reason


@pytest.mark.parametrize("changes", [{"schema": 2}, {"silenceMs": 0}, {"beat": -1}, {"beats": 1}])
def test_a_lease_that_cannot_be_read_is_as_good_as_silence(tmp_path, lease, changes):
    clock = Clock()
    lease(1)
    life = Life(tmp_path, "aa", 0, clock)
    assert life.look() is None
    lease(**{"beat": 2, **changes})
    clock.now += SILENCE
    assert life.look() is None
    clock.now += LOOK_SECONDS
    assert life.look() == "lease_silent"


def test_the_watch_asks_the_main_thread_to_end_and_then_ends_the_process(tmp_path, lease, monkeypatch):
    lease(1, "bb")
    ended: list[int] = []
    written = threading.Event()

    def leave(status: int) -> None:
        ended.append(status)
        written.set()
        threading.Event().wait()  # nothing in the process continues

    monkeypatch.setattr("prove_trainer.lifetime.GRACE_SECONDS", 0)
    monkeypatch.setattr("prove_trainer.lifetime.os._exit", leave)
    lifetime = Lifetime(None, lambda: None, interval=0.001, life=Life(tmp_path, "aa", 0))
    assert written.wait(60)
    assert ended == [1]
    assert lifetime.reason_to_end() == "lease_of_another"
    assert rank_file(tmp_path, 0)["ended"]


def test_the_error_that_ends_a_rank_is_reported_next_to_the_others(tmp_path, lease):
    lease(1)
    life = Life(tmp_path, "aa", 3)
    life.failed("internal", "ValueError: no", "batch-1")
    life.tell(ended=True)
    written = rank_file(tmp_path, 3)
    assert (
        written["error"] == {"code": "internal", "message": "ValueError: no", "batchId": "batch-1"} and written["ended"]
    )
    assert life.events().emit("step", step=1) is None and not (tmp_path / "launch" / "aa" / "events.jsonl").exists()
    Life(tmp_path, "aa", 0).events().emit("step", step=1)
    assert (tmp_path / "launch" / "aa" / "events.jsonl").read_text() == '{"event": "step", "step": 1}\n'


def test_two_lives_that_write_the_same_step_leave_one_whole_step(tmp_path):
    """The earlier one has been taken for gone, and was not."""
    earlier, later = JobDirectory(tmp_path, "aa"), JobDirectory(tmp_path, "bb")
    target = earlier.step_path(1)

    def write_both() -> None:
        with atomic_directory(target, earlier.draft_of(target)) as draft:
            (draft / "adapter.gguf").write_text("of aa")
            with atomic_directory(target, later.draft_of(target)) as other:
                (other / "adapter.gguf").write_text("of bb")
            (draft / "step.json").write_text("of aa")

    with pytest.raises(TrainerError) as caught:
        write_both()
    assert caught.value.code == "overtaken"
    assert [(path.name, path.read_text()) for path in target.iterdir()] == [("adapter.gguf", "of bb")]
    assert later.clean_drafts() == ["step-1.aa.tmp"]
    assert later.step_numbers() == [1]


def test_only_a_collective_that_lost_its_other_side_is_the_loss_of_a_peer():
    gloo = "[/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.0.0.2]:4711"
    assert lost_peer(RuntimeError(gloo))
    assert lost_peer(distributed.DistNetworkError("Broken pipe"))
    assert not lost_peer(RuntimeError("mat1 and mat2 shapes cannot be multiplied"))
    assert not lost_peer(ValueError(gloo))

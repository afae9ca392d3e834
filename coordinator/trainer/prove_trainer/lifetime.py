"""Reasons for the worker to end: a signal, the stop file, or the end of its parent process."""

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

from .life import Life

# From asking the main thread to end until it is ended: a forward pass, or a collective whose peers are gone.
GRACE_SECONDS = 5.0


class Stopped(Exception):
    """Raised between forward passes when the worker was asked to end. The step in progress is discarded."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def start_time(pid: int) -> str | None:
    """
    Return a process's start time in kernel ticks, so that a reused id is not taken for the same process. None: dead,
    zombie or unknown.
    """
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()  # the name before it may hold spaces and brackets
    return None if fields[0] in ("Z", "X") else fields[19]


def alive(pid: int, started: str | None) -> bool:
    """Return whether `pid` is still the process that began at `started` (None where /proc does not exist)."""
    if started is not None:
        return start_time(pid) == started
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


class Lifetime:
    """
    Collects reasons to end. `check()` raises Stopped; `pause(seconds)` sleeps, and ends early when asked to end.

    A thread watches the parents and ends the process at once, because the main thread may wait in a collective whose
    peer is gone. The exit status is 0, or torchrun would restart the orphan.

    With a `life`, of ranks on several machines, the thread watches the lease too. The exit status is then 1: a torchrun
    agent whose ranks exit with 0 waits for the other agents.
    """

    def __init__(
        self,
        parent_pid: int | None,
        on_orphaned: Callable[[], None],
        interval: float = 0.5,
        life: Life | None = None,
    ) -> None:
        self._asked = threading.Event()
        self._reason = ""
        self._parent = os.getppid()
        watched = [self._parent] + ([parent_pid] if parent_pid is not None else [])
        self._watched = [(pid, start_time(pid)) for pid in watched]

        def watch() -> None:
            while not self._orphaned():
                if life and (reason := life.look()):
                    self.ask(reason)
                    time.sleep(GRACE_SECONDS)
                    life.tell(ended=True)
                    os._exit(1)
                time.sleep(interval)
            on_orphaned()
            if life:
                life.tell(ended=True)
            os._exit(0)

        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda received, _: self.ask(signal.Signals(received).name))
        threading.Thread(target=watch, name="watch", daemon=True).start()

    def _orphaned(self) -> bool:
        return os.getppid() != self._parent or not all(alive(pid, started) for pid, started in self._watched)

    def reason_to_end(self) -> str | None:
        """
        Return why the process should end, or None. Checked after a failure: a peer that was asked to end a moment
        earlier breaks the collective of this rank, which is not an error.
        """
        return self._reason or ("orphaned" if self._orphaned() else None)

    def ask(self, reason: str) -> None:
        self._reason = self._reason or reason
        self._asked.set()

    def check(self) -> None:
        if self._asked.is_set():
            raise Stopped(self._reason)

    def pause(self, seconds: float) -> None:
        self._asked.wait(seconds)
        self.check()

"""When the worker must end: a signal, the stop file, or the death of the process it works for."""

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
    """Raised between forward passes when the worker has been asked to end; nothing of the step in progress is kept."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def start_time(pid: int) -> str | None:
    """
    A process's start time as the kernel counts it, so that a reused id is not taken for the same process. None: dead,
    zombie or unknown.
    """
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()  # the name before it may hold spaces and brackets
    return None if fields[0] in ("Z", "X") else fields[19]


def alive(pid: int, started: str | None) -> bool:
    """Whether `pid` is still the process that began at `started` (None where /proc does not exist)."""
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
    Collects reasons to end. `check()` raises Stopped; `pause(seconds)` sleeps but returns early when asked to end.

    The watch on the parents runs in a thread and ends the process at once, because the main thread may sit in a
    collective whose peer is gone. Exit status 0, or torchrun would start the orphan again.

    With a `life`, of ranks on several machines, the end of its lease is watched in place of a process's. Exit status 1
    then: an agent of torchrun whose ranks are content waits for the others'.
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
        Why the process should end, or None. Asked when something failed: a peer that was told to end a moment earlier
        breaks the collective this rank sits in, and that is no error.
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

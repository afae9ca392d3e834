"""`prove-server env` as a process of one's own, which never outlives the one that started it."""

import os
import re
import shutil
import subprocess
import threading
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue

from .errors import NotStarted

_SERVING = re.compile(r"episodes at (http://\S+)")
_LAST_LINES = 20
_END_TIMEOUT_S = 10.0


class Server:
    """
    Serves a data set on a free port of this machine. Its stdin is a pipe that this process holds: when it closes,
    because `close` was called or because this process has ended in whatever way, the server ends.

    Attributes:
        url: Where it serves.

    Raises:
        NotStarted: With what the server said.
    """

    def __init__(self, dataset: str | Path, *, program: str | Path | Sequence[str], timeout_s: float) -> None:
        command = [*command_of(program), "env", "--dataset", str(dataset), "--http", "0", "--end-with-stdin"]
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
            )
        except OSError as error:
            raise NotStarted(f"{command[0]} cannot be run: {error}") from error
        _close_in_forks(self._process)
        self._last: deque[str] = deque(maxlen=_LAST_LINES)
        found: SimpleQueue[str | None] = SimpleQueue()
        threading.Thread(target=self._read, args=(found,), daemon=True).start()
        try:
            url = found.get(timeout=timeout_s)
        except Empty:
            self.close()
            raise NotStarted(f"{command[0]} did not serve {dataset} within {timeout_s:g} s. {self._said()}") from None
        except BaseException:
            # Ctrl-C, while it reads its data set.
            self.close()
            raise
        if url is None:
            status = self._process.wait()
            raise NotStarted(f"{command[0]} ended with status {status}. {self._said()}")
        self.url = url

    def close(self) -> None:
        """Ends it, and waits until it has."""
        if self._process.stdin:
            with suppress(OSError):
                self._process.stdin.close()
        try:
            self._process.wait(_END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _read(self, found: "SimpleQueue[str | None]") -> None:
        """Reads all that it says, or the pipe would fill and hold it up."""
        assert self._process.stderr
        for line in self._process.stderr:
            text = line.decode(errors="replace").rstrip()
            self._last.append(text)
            if serving := _SERVING.search(text):
                found.put(serving[1])
        found.put(None)

    def _said(self) -> str:
        return "It said nothing." if not self._last else "It said: " + "\n".join(self._last)


def command_of(program: str | Path | Sequence[str]) -> list[str]:
    """
    Raises:
        NotStarted: It is not there.
    """
    if not isinstance(program, (str, Path)):
        return list(program)
    found = shutil.which(program)
    if Path(program).suffix in {".cjs", ".mjs", ".js"} and Path(program).exists():
        node = shutil.which("node")
        if node is None:
            raise NotStarted("Node.js is needed, and there is no node on the PATH")
        return [node, str(program)]
    if found is None:
        raise NotStarted(f"there is no {program} on the PATH: install it, or name it by `program`")
    return [found]


def _close_in_forks(process: "subprocess.Popen[bytes]") -> None:
    """A process that is forked from this one must not hold the pipe open, for it may live longer."""
    if hasattr(os, "register_at_fork") and process.stdin:
        os.register_at_fork(after_in_child=process.stdin.close)

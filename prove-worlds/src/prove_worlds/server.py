"""A child process `prove-server env` that never outlives its parent process."""

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
    A server of a data set on a free port of this machine.

    The server's stdin is a pipe from this process. The server ends when the pipe closes: after `close`, or when this
    process ends for any reason.

    Attributes:
        url: Address of the server.

    Raises:
        NotStarted: The server did not start. The message contains the server's output.
    """

    def __init__(self, dataset: str | Path, *, program: str | Path | Sequence[str], timeout_s: float) -> None:
        command = [*command_of(program), "env", "--dataset", str(dataset), "--port", "0", "--end-with-stdin"]
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
            raise NotStarted(
                f"{command[0]} did not serve {dataset} within {timeout_s:g} s; raise start_timeout_s. {self._output()}"
            ) from None
        except BaseException:
            # Ctrl-C while the server reads its data set.
            self.close()
            raise
        if url is None:
            status = self._process.wait()
            raise NotStarted(f"{command[0]} ended with status {status}. {self._output()}")
        self.url = url

    def close(self) -> None:
        """End the server and wait until its process has ended."""
        if self._process.stdin:
            with suppress(OSError):
                self._process.stdin.close()
        try:
            self._process.wait(_END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _read(self, found: "SimpleQueue[str | None]") -> None:
        """Read all output: a full pipe would block the server."""
        assert self._process.stderr
        for line in self._process.stderr:
            text = line.decode(errors="replace").rstrip()
            self._last.append(text)
            if serving := _SERVING.search(text):
                found.put(serving[1])
        found.put(None)

    def _output(self) -> str:
        return "It printed nothing." if not self._last else "It printed: " + "\n".join(self._last)


def command_of(program: str | Path | Sequence[str]) -> list[str]:
    """
    Return the command line for a program.

    Args:
        program: Name on the PATH, path of a program or of a JavaScript file, or a whole command.

    Raises:
        NotStarted: The program or Node.js was not found.
    """
    if not isinstance(program, (str, Path)):
        return list(program)
    found = shutil.which(program)
    if Path(program).suffix in {".cjs", ".mjs", ".js"} and Path(program).exists():
        node = shutil.which("node")
        if node is None:
            raise NotStarted("no program node on the PATH: install Node.js")
        return [node, str(program)]
    if found is None:
        raise NotStarted(f"no program {program} on the PATH: install it, or pass its path as `program`")
    return [found]


def _close_in_forks(process: "subprocess.Popen[bytes]") -> None:
    """Close the pipe in forked children: a child that lives longer must not keep the server alive."""
    if hasattr(os, "register_at_fork") and process.stdin:
        os.register_at_fork(after_in_child=process.stdin.close)

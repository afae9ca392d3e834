"""Client of `prove-server env`: lists tasks and opens episodes."""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from urllib.parse import quote

from .episode import Episode
from .errors import TooManyEpisodes, UnknownEpisode, Unreachable
from .http import Json, JsonClient, as_object, as_objects, field
from .server import Server

DEFAULT_URL = "http://127.0.0.1:8080"
URL_VARIABLE = "PROVE_WORLDS_URL"

_PAGE = 500
_RETRY_S = 1.0
"""Seconds before a retry if a full server names no time."""


@dataclass(frozen=True)
class Listed:
    """Entry of a task list. `index` is the position of the task in its split."""

    id: str
    split: str
    index: int
    kind: str


@dataclass(frozen=True)
class Task:
    """
    Public part of a task. The server keeps the ground truth.

    Attributes:
        id: Id of the task.
        kind: Kind of the task, such as `multi-turn`.
        user_turns: Number of user messages, including the first.
        messages: Opening messages for the model.
        tools: Tools that are offered at first, in OpenAI's format.
        brings_tools: True if a later user turn adds tools. The text of that turn describes the added tools.
        reply_tool: Additional tool for models that can only call tools, for tasks with several user turns.
    """

    id: str
    kind: str
    user_turns: int
    messages: Sequence[Json]
    tools: Sequence[Json]
    brings_tools: bool
    reply_tool: Json


class Worlds:
    """
    Client of a running `prove-server env`. Several threads may use it. `Worlds.start` starts and ends a server.

    Args:
        url: Address of the server. Default: the environment variable `PROVE_WORLDS_URL`, or else http://127.0.0.1:8080.
        timeout_s: Time limit for each request, in seconds.
        patience_s: Time in seconds that `open` waits for a full server.
        server: Server that `close` ends.
        sleep: Function that waits for a number of seconds.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        timeout_s: float = 60.0,
        patience_s: float = 60.0,
        server: Server | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._client = JsonClient(url or os.environ.get(URL_VARIABLE) or DEFAULT_URL, timeout_s)
        self._patience_s = patience_s
        self._server = server
        self._sleep = sleep
        self._open: set[str] = set()

    @classmethod
    def start(
        cls,
        dataset: str | Path,
        *,
        program: str | Path | Sequence[str] = "prove-server",
        start_timeout_s: float = 120.0,
        timeout_s: float = 60.0,
        patience_s: float = 60.0,
    ) -> "Worlds":
        """
        Start `prove-server env` on a free port of 127.0.0.1.

        The server ends with `close`, or when this process ends for any reason.

        Args:
            dataset: Folder of a data set from `prove-lab synthesize`.
            program: Name on the PATH, path of the program, path of `prove-server.cjs` in a checkout, or a command line.
            start_timeout_s: Time limit in seconds for the server to read the data set.
            timeout_s: Time limit for each request, in seconds.
            patience_s: Time in seconds that `open` waits for a full server.

        Raises:
            NotStarted: The server did not start. The message contains the server's output.
        """
        server = Server(dataset, program=program, timeout_s=start_timeout_s)
        return cls(server.url, timeout_s=timeout_s, patience_s=patience_s, server=server)

    @property
    def url(self) -> str:
        """Address of the server."""
        return self._client.url

    def splits(self) -> dict[str, int]:
        """Return the number of tasks in each split."""
        splits = as_object(self._client.ask("GET", "/tasks?count=1").get("splits"), self.url)
        return {name: field(splits, name, int, self.url) for name in splits}

    def tasks(self, split: str = "train", start: int = 0, stop: int | None = None) -> Iterator[Listed]:
        """Yield the tasks of a split from index `start` to before `stop`, in the order of the data set."""
        while stop is None or start < stop:
            count = _PAGE if stop is None else min(_PAGE, stop - start)
            answer = self._client.ask("GET", f"/tasks?split={quote(split)}&start={start}&count={count}")
            page = as_objects(answer.get("tasks"), self.url)
            for row in page:
                yield Listed(
                    id=field(row, "id", str, self.url),
                    split=field(row, "split", str, self.url),
                    index=field(row, "index", int, self.url),
                    kind=field(row, "kind", str, self.url),
                )
            if len(page) < count:
                return
            start += count

    def task(self, name: str) -> Task:
        """
        Return the public part of a task.

        Raises:
            UnknownTask: The data set has no task with this id.
        """
        answer = self._client.ask("GET", f"/tasks/{quote(name, safe='')}")
        return Task(
            id=field(answer, "id", str, self.url),
            kind=field(answer, "kind", str, self.url),
            user_turns=field(answer, "user_turns", int, self.url),
            messages=as_objects(answer.get("messages"), self.url),
            tools=as_objects(answer.get("tools"), self.url),
            brings_tools=field(answer, "brings_tools", bool, self.url),
            reply_tool=as_object(answer.get("reply_tool"), self.url),
        )

    def open(
        self,
        task: str | Mapping[str, object] | None = None,
        *,
        split: str = "train",
        index: int | None = None,
        reward: str | None = None,
        actions: Sequence[Mapping[str, object]] = (),
    ) -> Episode:
        """
        Open an episode of a task.

        Args:
            task: Id of the task, or the task itself as an object.
            split: Split of `index`.
            index: Position of the task in the split, instead of `task`.
            reward: Name of a reward preset. Default: the server's preset.
            actions: Actions of an earlier episode of the task. The server replays them first.

        Raises:
            UnknownTask: The data set has no such task.
            TooManyEpisodes: The server stayed full for `patience_s`.
        """
        if (task is None) == (index is None):
            raise ValueError("pass either a task or an index")
        place: dict[str, object] = {"split": split, "index": index} if task is None else {"task": task}
        named = {} if reward is None else {"reward": reward}
        answer = self._open_when_not_full({**place, **named, "actions": list(actions)})
        return Episode(self._client, answer, self._open)

    def score(self, task: str, messages: Sequence[Json], *, reward: str | None = None) -> dict[str, object]:
        """
        Return the score of a whole conversation, in a new episode of its task.

        Everything that the model wrote counts: also calls that its framework answered itself. Messages after the end of
        the episode do not count.

        Args:
            task: Id of the task.
            messages: Messages of the model, from `message`.
            reward: Name of a reward preset. Default: the server's preset.

        Returns:
            `total`, `components`, `solved`, `preset` and `actions`, as plain values.
        """
        with self.open(task, reward=reward) as episode:
            for said in messages:
                if episode.over:
                    break
                episode.send_message(said)
            return episode.record()

    def episode(self, name: str) -> Episode:
        """
        Return an open episode by its id.

        `Worlds.close` does not close this episode: it belongs to the client that opened it.

        Raises:
            UnknownEpisode: The server has no such open episode.
        """
        return Episode(self._client, self._client.ask("GET", f"/episodes/{quote(name, safe='')}"), set())

    def close(self) -> None:
        """Close all open episodes of this client, and the server if `start` started it."""
        if self._server:
            # The episodes end with the server.
            self._server.close()
        else:
            self._close_episodes()
        self._client.close()

    def __enter__(self) -> "Worlds":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _close_episodes(self) -> None:
        # A server that cannot be reached closes idle episodes after a while.
        with suppress(Unreachable):
            while self._open:
                with suppress(UnknownEpisode):
                    self._client.ask("DELETE", f"/episodes/{self._open.pop()}")

    def _open_when_not_full(self, request: Mapping[str, object]) -> Json:
        waited = 0.0
        while True:
            try:
                return self._client.ask("POST", "/episodes", request)
            except TooManyEpisodes as error:
                wait_s = error.retry_after_s or _RETRY_S
                if waited + wait_s > self._patience_s:
                    raise
            self._sleep(wait_s)
            waited += wait_s

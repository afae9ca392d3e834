"""A server of episodes: its tasks, and opening them."""

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
"""Where a server without room does not say when to ask again."""


@dataclass(frozen=True)
class Listed:
    """A task in the list of its split, of which `index` is its place."""

    id: str
    split: str
    index: int
    kind: str


@dataclass(frozen=True)
class Task:
    """
    What is known of a task before it is opened. Its ground truth stays with the server.

    Attributes:
        user_turns: Messages that the user has for the model, the first included.
        messages: What the model reads first.
        tools: What it may call at first, in OpenAI's format.
        brings_tools: Whether a later turn of the user brings more, and tells them in its text.
        reply_tool: What to offer besides, to a model that can do nothing but call tools and has several user turns
            before it.
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
    A running `prove-server env`, found at its URL, or started and ended by `Worlds.start`. May be used by several
    threads.

    Args:
        url: Where it serves. Without one, `PROVE_WORLDS_URL` of the environment, or else http://127.0.0.1:8080.
        timeout_s: For each request.
        patience_s: For how long `open` waits for room on a server that has none.
        server: Is ended with this.
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
        Starts `prove-server env` on a free port of this machine, where only this machine reaches it. It ends with
        `close`, and with this process, however that ends.

        Args:
            dataset: A folder of tasks, as `prove-lab synthesize` makes it.
            program: `prove-server` on the PATH, a path to it, to the `prove-server.cjs` of a checkout, or a whole
                command.
            start_timeout_s: For the server to read the data set.

        Raises:
            NotStarted: Says what the server said.
        """
        server = Server(dataset, program=program, timeout_s=start_timeout_s)
        return cls(server.url, timeout_s=timeout_s, patience_s=patience_s, server=server)

    @property
    def url(self) -> str:
        return self._client.url

    def splits(self) -> dict[str, int]:
        """Tasks of each split."""
        splits = as_object(self._client.ask("GET", "/tasks?count=1").get("splits"), self.url)
        return {name: field(splits, name, int, self.url) for name in splits}

    def tasks(self, split: str = "train", start: int = 0, stop: int | None = None) -> Iterator[Listed]:
        """The tasks of a split in the order of the data set, fetched page by page."""
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
        Raises:
            UnknownTask: The data set has none of that id.
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
        Opens a task: by its id, by its place in a split, or the task itself.

        Args:
            reward: Name of the preset; without one, the server's.
            actions: What was done in the episode before, here or elsewhere: it is done again first.

        Raises:
            UnknownTask: There is none.
            TooManyEpisodes: There was no room for as long as was waited.
        """
        if (task is None) == (index is None):
            raise ValueError("either a task or an index is needed")
        place: dict[str, object] = {"split": split, "index": index} if task is None else {"task": task}
        named = {} if reward is None else {"reward": reward}
        answer = self._ask_for_room({**place, **named, "actions": list(actions)})
        return Episode(self._client, answer, self._open)

    def episode(self, name: str) -> Episode:
        """
        One that is open already, by its id. It is its opener's: `close` here leaves it open.

        Raises:
            UnknownEpisode: It is not open there.
        """
        return Episode(self._client, self._client.ask("GET", f"/episodes/{quote(name, safe='')}"), set())

    def close(self) -> None:
        """Closes the episodes that were opened here and are open still, and the server, if it was started here."""
        if self._server:
            # It takes its episodes with it.
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
        # A server that cannot be reached closes them when they have rested for long.
        with suppress(Unreachable):
            while self._open:
                with suppress(UnknownEpisode):
                    self._client.ask("DELETE", f"/episodes/{self._open.pop()}")

    def _ask_for_room(self, request: Mapping[str, object]) -> Json:
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

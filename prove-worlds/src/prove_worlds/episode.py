"""One task in play."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import cast

from .errors import UnknownEpisode
from .http import Json, JsonClient, as_object, as_objects, field


@dataclass(frozen=True)
class Result:
    """
    What a call was answered with.

    Attributes:
        ok: Whether it was offered, fitted, and succeeded in its world.
        text: What the model reads.
    """

    ok: bool
    text: str


@dataclass(frozen=True)
class Score:
    """
    What an episode is worth so far.

    Attributes:
        total: The reward.
        components: Its parts by name; none where no call is the right answer.
        solved: Every call of the ground truth was made with its arguments, in its order.
        preset: Name of the reward.
        state_hashes: SHA-256 (hex) of each world's state.
    """

    total: float
    components: Mapping[str, float]
    solved: bool
    preset: str
    state_hashes: Mapping[str, str]


def parse_score(answer: Json, where: str) -> Score:
    components = answer.get("components")
    parts: Json = {} if components is None else as_object(components, where)
    hashes = as_object(answer.get("stateHashes"), where)
    return Score(
        total=field(answer, "total", float, where),
        components={name: field(parts, name, float, where) for name in parts},
        solved=field(answer, "solved", bool, where),
        preset=field(answer, "preset", str, where),
        state_hashes={name: field(hashes, name, str, where) for name in hashes},
    )


def readable(arguments: Mapping[str, object] | str) -> Mapping[str, object] | None:
    """Arguments as an object; None for what is none in JSON, which has no NaN and no infinity."""
    try:
        read: object = json.loads(arguments) if isinstance(arguments, str) else arguments
        json.dumps(read, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return None
    return cast("Json", read) if isinstance(read, Mapping) else None


class Episode:
    """
    A task with worlds of its own: nothing done here is seen by another episode. Made by `Worlds.open`, and ended by
    `close` or by the end of its `with`. What it was so far is known to the server alone, so several of these may speak
    of one episode.

    Attributes:
        id: Its name on the server.
        task: Id of its task.
        kind: Of the task, such as `single-turn`.
        messages: What the model reads first, as `{"role", "content"}`.
        tools: What it may call now, in OpenAI's format: some hidden, some without the values of their enums, as the
            task says. A user's turn can bring more, and tells them in its text.
        over: Whether the user has said everything, or the most calls are made, as far as is known here.
    """

    def __init__(self, client: JsonClient, answer: Json, open_here: set[str]) -> None:
        where = f"an episode of {client.url}"
        self._client = client
        self._open_here = open_here
        self.id = field(answer, "episode", str, where)
        self.task = field(answer, "task", str, where)
        self.kind = field(answer, "kind", str, where)
        self.messages = as_objects(answer.get("messages"), where)
        self.tools = as_objects(answer.get("tools"), where)
        self.over = field(answer, "over", bool, where)
        open_here.add(self.id)

    def call(self, name: str, arguments: Mapping[str, object] | str) -> Result:
        """
        Makes a call. One with a tool that is not offered, or with arguments that do not fit, is answered with an error
        and counts.

        Args:
            arguments: Or their JSON as a text, as OpenAI's chat format has them. What is no JSON object counts as a
                call that could not be read.

        Raises:
            EpisodeOver: Nothing more can be done.
        """
        read = readable(arguments)
        return self.unreadable(name) if read is None else self._result({"name": name, "arguments": read})

    def unreadable(self, text: str) -> Result:
        """A call of the model that could not be read. It counts, and the model reads what is wrong."""
        return self._result({"unreadable": text})

    def reply(self, text: str) -> str | None:
        """
        A message of the model without calls.

        Returns:
            The user's next turn, or None when there is none: the episode is then over.
        """
        user = self._act({"say": text}).get("user")
        return user if isinstance(user, str) else None

    def score(self) -> Score:
        """The reward of everything so far, with its parts; whenever, and as often as wanted."""
        return parse_score(as_object(self._state().get("score"), self.id), self.id)

    @property
    def actions(self) -> list[Json]:
        """Everything that was done, as `Worlds.open` and `prove-server score` take it."""
        return as_objects(self._state().get("actions"), self.id)

    def record(self) -> dict[str, object]:
        """The score and what was done, as plain values: what a framework keeps when the episode is over."""
        score = self.score()
        return {
            "total": score.total,
            "components": dict(score.components),
            "solved": score.solved,
            "preset": score.preset,
            "actions": self.actions,
        }

    def fork(self) -> "Episode":
        """Another episode in the same state."""
        return Episode(self._client, self._client.ask("POST", f"/episodes/{self.id}/fork"), self._open_here)

    def close(self) -> None:
        """Ends it. Nothing happens to one that is gone already."""
        self._open_here.discard(self.id)
        try:
            self._client.ask("DELETE", f"/episodes/{self.id}")
        except UnknownEpisode:
            return

    def __enter__(self) -> "Episode":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _state(self) -> Json:
        return self._client.ask("GET", f"/episodes/{self.id}")

    def _act(self, action: Mapping[str, object]) -> Json:
        answer = self._client.ask("POST", f"/episodes/{self.id}/actions", action)
        self.over = field(answer, "over", bool, self.id)
        if "tools" in answer:
            self.tools = [*self.tools, *as_objects(answer["tools"], self.id)]
        return answer

    def _result(self, action: Mapping[str, object]) -> Result:
        answer = self._act(action)
        return Result(field(answer, "ok", bool, self.id), field(answer, "result", str, self.id))

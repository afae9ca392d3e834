"""An open episode: a task, its environments, and the actions taken so far."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import cast

from .errors import EpisodeOver, UnknownEpisode
from .http import Json, JsonClient, as_object, as_objects, field


@dataclass(frozen=True)
class Result:
    """
    Result of a tool call.

    Attributes:
        ok: True if the tool was offered, the arguments were valid, and the call succeeded in its environment.
        text: Text of the result, for the model.
    """

    ok: bool
    text: str


@dataclass(frozen=True)
class Score:
    """
    Reward of an episode so far.

    Attributes:
        total: The reward.
        components: Components of the reward by name. Empty if the right solution makes no call.
        solved: True if every ground-truth call was made with its arguments, in the required order.
        preset: Name of the reward preset.
        state_hashes: SHA-256 (hex) of the state of each environment, by the environment's name.
    """

    total: float
    components: Mapping[str, float]
    solved: bool
    preset: str
    state_hashes: Mapping[str, str]


def parse_score(answer: Json, where: str) -> Score:
    """
    Parse a score from the server's JSON.

    Args:
        answer: JSON object of the score.
        where: Description of the request, for error messages.

    Raises:
        BadAnswer: A field is missing or has the wrong type.
    """
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


Call = tuple[str, Mapping[str, object] | str]
"""A call as the model wrote it: the name of the tool, and the arguments as an object or as JSON text."""


@dataclass(frozen=True)
class Reply:
    """
    Reply to a message of the model.

    Attributes:
        results: One result for each call of the message.
        user: The user's next turn. None after a message with calls, and at the end of the episode.
    """

    results: tuple[Result, ...]
    user: str | None


def readable(arguments: Mapping[str, object] | str) -> Mapping[str, object] | None:
    """
    Return arguments as an object.

    Returns:
        The arguments, or None if they are not a JSON object. JSON has no NaN and no infinity.
    """
    try:
        read: object = json.loads(arguments) if isinstance(arguments, str) else arguments
        json.dumps(read, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return None
    return cast("Json", read) if isinstance(read, Mapping) else None


def message(text: str = "", calls: Iterable[Call] = (), *, more: bool = False) -> Json:
    """
    Return a message of the model in the form that the server accepts.

    Args:
        text: Text of the message, without its calls.
        calls: Calls of the message. Without calls, the message is for the user.
        more: True if the next message continues this one with further calls.
    """
    made = [
        # The server reads the JSON text of arguments. What Python cannot write as JSON is no call that it could read.
        {"name": name, "arguments": arguments}
        if isinstance(arguments, str) or readable(arguments) is not None
        else {"unreadable": name}
        for name, arguments in calls
    ]
    return {"text": text, "calls": made, **({"more": True} if more else {})}


def first_of(reply: Reply) -> Result:
    """
    Return the result of the only call of a message.

    Raises:
        EpisodeOver: The call was beyond the limit of the episode, so it was not made.
    """
    if not reply.results:
        raise EpisodeOver("episode_over", "the episode has no calls left, and its reward is final: open another", 409)
    return reply.results[0]


class Episode:
    """
    A task in progress, in environments that no other episode shares.

    `Worlds.open` creates an episode. `close` or the end of a `with` block closes the episode. Only the server stores
    the state, so several `Episode` objects may refer to the same episode.

    Attributes:
        id: Name of the episode on the server.
        task: Id of the task.
        kind: Kind of the task, such as `multi-turn`.
        messages: Opening messages for the model, as `{"role", "content"}`.
        tools: Tools that the model may call now, in OpenAI's format. The task may hide tools or enum values. A later
            user turn can add tools, and its text describes the added tools.
        over: True if the user has no further turn or a limit is reached, according to the newest response.
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

    def send(self, text: str = "", calls: Iterable[Call] = (), *, more: bool = False) -> Reply:
        """
        Send a message of the model: its text and its calls.

        A call to a tool that is not offered, or with invalid arguments, returns an error and counts as a call.
        Arguments that are not a JSON object count as a malformed call. A message without calls is for the user. A call
        beyond the limit of the episode is not made and has no result.

        Args:
            text: Text of the message, without its calls.
            calls: Calls of the message.
            more: True if the next message continues this one with further calls.

        Raises:
            EpisodeOver: The episode accepts no further message.
        """
        return self.send_message(message(text, calls, more=more))

    def call(self, name: str, arguments: Mapping[str, object] | str) -> Result:
        """
        Send a message with one call, and return the result of the call. `send` describes which calls count.

        Raises:
            EpisodeOver: The episode accepts no further call.
        """
        return first_of(self.send(calls=[(name, arguments)]))

    def unreadable(self, text: str) -> Result:
        """Record a call that could not be parsed. The call counts, and the result describes the problem."""
        return first_of(self.send_message({"text": "", "calls": [{"unreadable": text}]}))

    def reply(self, text: str) -> str | None:
        """
        Send a message without tool calls to the user.

        Returns:
            The user's next turn, or None if the user has no further turn. The episode is then over.
        """
        return self.send(text).user

    def score(self) -> Score:
        """Return the reward so far. A client may call this method at any time and any number of times."""
        return parse_score(as_object(self._state().get("score"), self.id), self.id)

    @property
    def actions(self) -> list[Json]:
        """All actions so far, in the form that `Worlds.open` and `prove-server score` accept."""
        return as_objects(self._state().get("actions"), self.id)

    def record(self) -> dict[str, object]:
        """Return the score and the actions as plain values, for a framework to store when the episode is over."""
        score = self.score()
        return {
            "total": score.total,
            "components": dict(score.components),
            "solved": score.solved,
            "preset": score.preset,
            "actions": self.actions,
        }

    def fork(self) -> "Episode":
        """Return a new, independent episode in the same state."""
        return Episode(self._client, self._client.ask("POST", f"/episodes/{self.id}/fork"), self._open_here)

    def close(self) -> None:
        """Close the episode. Do nothing if the server has already closed it."""
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

    def send_message(self, said: Json) -> Reply:
        """Send a message from `message`."""
        answer = self._client.ask("POST", f"/episodes/{self.id}/actions", said)
        self.over = field(answer, "over", bool, self.id)
        self.tools = [*self.tools, *as_objects(answer.get("tools"), self.id)]
        results = as_objects(answer.get("results"), self.id)
        user = answer.get("user")
        return Reply(
            tuple(Result(field(one, "ok", bool, self.id), field(one, "text", str, self.id)) for one in results),
            user if isinstance(user, str) else None,
        )

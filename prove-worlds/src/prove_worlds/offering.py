"""Conversations of agents that can only call tools, and end with their first message without calls."""

from collections.abc import Iterable, Mapping, Sequence

from .episode import Call, Episode, Result, first_of, message, readable
from .http import Json, as_object, field
from .worlds import Task


def offered(task: Task) -> list[Json]:
    """Return the tools of a task, with the reply tool if the task has more than one user turn."""
    return [*task.tools, task.reply_tool] if task.user_turns > 1 else [*task.tools]


def name_of(tool: Json) -> str:
    """Return the name of a tool in OpenAI's format."""
    return field(as_object(tool.get("function"), "a tool"), "name", str, "a tool")


def call(
    episode: Episode,
    reply_name: str,
    name: str,
    arguments: Mapping[str, object] | str,
    *,
    text: str = "",
    more: bool = False,
) -> Result:
    """
    Make a call to a tool of the task or to the reply tool.

    A call to the reply tool sends a message to the user and does not count as a tool call.

    Args:
        episode: The episode.
        reply_name: Name of the reply tool. Empty: the agent has no reply tool.
        name: Name of the called tool.
        arguments: Arguments of the call.
        text: Text that the model wrote before the call in the same message.
        more: True if further calls of the same message may follow.

    Raises:
        EpisodeOver: The episode accepts no further message.
    """
    words = _words(reply_name, name, arguments)
    if words is not None:
        user = episode.reply(_joined(text, words))
        return Result(True, "The conversation is over." if user is None else f"The user says: {user}")
    return first_of(episode.send(text, [(name, arguments)], more=more))


def transcript(said: Iterable[tuple[str, Sequence[Call]]], reply_name: str) -> list[Json]:
    """
    Return a conversation of the model as messages for `Worlds.score`.

    A call to the reply tool ends a message, as in `call`.

    Args:
        said: Text and calls of each message of the model, in order.
        reply_name: Name of the reply tool. Empty: the agent has no reply tool.
    """
    messages: list[Json] = []
    for text, calls in said:
        left, made = text, [*calls]
        pending: list[Call] = []
        for name, arguments in made:
            words = _words(reply_name, name, arguments)
            if words is None:
                pending.append((name, arguments))
                continue
            if pending:
                messages.append(message(left, pending))
                left, pending = "", []
            messages.append(message(_joined(left, words)))
            left = ""
        if pending or not made:
            messages.append(message(left, pending))
    return messages


def _words(reply_name: str, name: str, arguments: Mapping[str, object] | str) -> str | None:
    """Return the text of a call to the reply tool; None for any other call, and for arguments that do not fit."""
    if not reply_name or name != reply_name:
        return None
    read = readable(arguments)
    text = None if read is None or len(read) > 1 else read.get("text")
    return text if isinstance(text, str) else None


def _joined(*parts: str) -> str:
    return "\n".join(part for part in parts if part)

"""What is offered to agents that can do nothing but call tools, and end with their first message without calls."""

from collections.abc import Mapping

from .episode import Episode, Result, readable
from .http import Json, as_object, field
from .worlds import Task


def offered(task: Task) -> list[Json]:
    """The tools of a task, and one to reply with where its user has more to say than the first message."""
    return [*task.tools, task.reply_tool] if task.user_turns > 1 else [*task.tools]


def name_of(tool: Json) -> str:
    return field(as_object(tool.get("function"), "a tool"), "name", str, "a tool")


def call(episode: Episode, reply_name: str, name: str, arguments: Mapping[str, object] | str) -> Result:
    """
    Makes a call of what is offered. Replying is a message without calls, and counts as no call.

    Raises:
        EpisodeOver: Nothing more can be done.
    """
    if name != reply_name:
        return episode.call(name, arguments)
    read = readable(arguments) or {}
    text = read.get("text")
    if not isinstance(text, str) or len(read) > 1:
        return episode.unreadable(name)
    user = episode.reply(text)
    return Result(True, "The conversation is over." if user is None else f"The user says: {user}")

"""Tools for agents that can only call tools and end with their first message without calls."""

from collections.abc import Mapping

from .episode import Episode, Result, readable
from .http import Json, as_object, field
from .worlds import Task


def offered(task: Task) -> list[Json]:
    """Return the tools of a task, with the reply tool if the task has more than one user turn."""
    return [*task.tools, task.reply_tool] if task.user_turns > 1 else [*task.tools]


def name_of(tool: Json) -> str:
    """Return the name of a tool in OpenAI's format."""
    return field(as_object(tool.get("function"), "a tool"), "name", str, "a tool")


def call(episode: Episode, reply_name: str, name: str, arguments: Mapping[str, object] | str) -> Result:
    """
    Make a call to a tool of the task or to the reply tool.

    A call to the reply tool sends a message to the user and does not count as a tool call.

    Raises:
        EpisodeOver: The episode accepts no further action.
    """
    if name != reply_name:
        return episode.call(name, arguments)
    read = readable(arguments) or {}
    text = read.get("text")
    if not isinstance(text, str) or len(read) > 1:
        return episode.unreadable(name)
    user = episode.reply(text)
    return Result(True, "The conversation is over." if user is None else f"The user says: {user}")

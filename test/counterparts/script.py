"""What a scripted model writes: the reference solution of a task, or the same with a fault in its first call."""

import json
from dataclasses import dataclass

MODES = ("right", "wrong", "unreadable", "unknown")
"""
`wrong`: another value of an argument. `unreadable`: arguments that are not JSON. `unknown`: a tool that is not offered.
"""

WORDS = "I look it up."
"""Text next to the first calls of a script."""

BROKEN = "{not JSON"
UNKNOWN_TOOL = "no_such_tool"


@dataclass(frozen=True)
class Message:
    """
    Message of a script.

    `calls` are names with arguments as JSON text. Without calls, the message is for the user.
    """

    text: str
    calls: tuple[tuple[str, str], ...]


class Script:
    """
    Messages of a scripted model for one task.

    Attributes:
        task: Id of the task.
        opening: First message of the user, which identifies the task in a conversation.
        messages: Messages of the model, in order.
    """

    def __init__(self, example, mode):
        self.task = example["id"]
        self.mode = mode
        self.opening = next(said["content"] for said in example["messages"] if said["role"] == "user")
        self.messages = [
            Message(
                said.get("content") or "",
                tuple(_named(call["function"]) for call in said.get("tool_calls") or ()),
            )
            for said in example["messages"]
            if said["role"] == "assistant"
        ]
        at = next(i for i, message in enumerate(self.messages) if message.calls)
        first, *others = self.messages[at].calls
        self.messages[at] = Message(WORDS, (spoilt(first, mode), *others))

    def actions(self):
        """Return the script for `prove-server score`, one list of actions for each message."""
        return [_written(message) for message in self.messages]


def _named(function):
    return function["name"], function["arguments"]


def spoilt(call, mode):
    """Return a call with the fault of a mode."""
    name, text = call
    if mode == "right":
        return call
    if mode == "unreadable":
        return name, BROKEN
    if mode == "unknown":
        return UNKNOWN_TOOL, text
    arguments = json.loads(text)
    first = next(iter(arguments), "nonsense")
    arguments[first] = "nobody" if isinstance(arguments.get(first), str) else -1
    return name, json.dumps(arguments)


def _written(message):
    calls = [{"name": name, "arguments": text} for name, text in message.calls]
    return [{"text": message.text, "calls": calls}]

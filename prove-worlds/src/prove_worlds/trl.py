"""
Worlds for `GRPOTrainer` of TRL (tried with 1.13): rows, and an environment for each set of tools.

    with Worlds.start("my-tasks") as worlds:
        tasks = TrlTasks(worlds)
        GRPOTrainer(model, train_dataset=tasks.train_dataset, environment_factory=tasks.environment_factory, …).train()
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from itertools import islice
from types import MethodType

from datasets import Dataset

from .episode import Episode
from .errors import EpisodeOver, Refused, UnusableTool, WorldsError
from .http import Json
from .offering import call, name_of, offered
from .tool_method import tool_method
from .worlds import Worlds

RESERVED = frozenset({"reset", "get_reward"})
"""What TRL takes for itself of an environment's methods."""

_TOO_LARGE = 413


class ProveEnvironment:
    """
    One place for rollouts: TRL resets it with a row, calls its tools, and asks for the reward. Its tools are bound to
    the instance, not to a class of their own: TRL logs a reward for each class of environments.

    Raises:
        UnusableTool: A tool cannot be a method of it.
    """

    def __init__(self, worlds: Worlds, tools: Sequence[Json], reply_name: str, reward: str | None) -> None:
        self._worlds = worlds
        self._reply_name = reply_name
        self._reward = reward
        self._episode: Episode | None = None
        self._failure: WorldsError | None = None
        for method in (tool_method(tool, self._call) for tool in tools):
            if method.__name__ in RESERVED:
                raise UnusableTool(f"TRL has another use for a method called {method.__name__}")
            setattr(self, method.__name__, MethodType(method, self))

    def reset(self, task: str, **_row: object) -> None:
        """Opens the task of a row. What the model reads is in the row already, as its prompt."""
        self._close()
        self._failure = None
        self._episode = self._worlds.open(task, reward=self._reward)

    def get_reward(self) -> float:
        """
        Of everything that was done since the reset.

        Raises:
            WorldsError: That kept a call from being made: a rollout without its worlds has no reward, and must not be
                trained on.
        """
        if self._failure:
            raise self._failure
        return self._playing().score().total

    def _call(self, name: str, arguments: dict[str, object]) -> str:
        episode = self._playing()
        try:
            return call(episode, self._reply_name, name, arguments).text
        except EpisodeOver:
            raise
        except WorldsError as error:
            # TRL tells the model of any exception and goes on: right for what the model did, and for nothing else.
            if not (isinstance(error, Refused) and error.status == _TOO_LARGE):
                self._failure = error
            raise

    def _playing(self) -> Episode:
        if self._episode is None:
            raise RuntimeError("reset was not called")
        return self._episode

    def _close(self) -> None:
        if self._episode:
            self._episode.close()
        self._episode = None


class TrlTasks:
    """
    Tasks of a split in the form of TRL's arguments. Each task shows its model other tools, so there is a factory for
    each set of them, and `environment` of a row names it.

    Args:
        worlds: Must stay open while the trainer runs.
        split: Of the data set.
        start: Place of the first task.
        count: How many tasks; all from `start` on without it.
        reward: Name of the preset; without one, the server's.
    """

    def __init__(
        self,
        worlds: Worlds,
        *,
        split: str = "train",
        start: int = 0,
        count: int | None = None,
        reward: str | None = None,
    ) -> None:
        self._worlds = worlds
        self._reward = reward
        listed = islice(worlds.tasks(split, start, None if count is None else start + count), count)
        tasks = [worlds.task(task.id) for task in listed]
        # An environment of TRL has its tools for good.
        self._tasks = [task for task in tasks if not task.brings_tools]

    @cached_property
    def train_dataset(self) -> Dataset:
        """Rows of `prompt`, `task`, `kind`, and the `environment` that has the task's tools."""
        rows = [
            {
                "prompt": [dict(message) for message in task.messages],
                "task": task.id,
                "kind": task.kind,
                "environment": toolset_of(offered(task)),
            }
            for task in self._tasks
        ]
        return Dataset.from_list(rows)  # pyright: ignore[reportUnknownMemberType]

    @cached_property
    def environment_factory(self) -> dict[str, Callable[[], ProveEnvironment]]:
        """For `GRPOTrainer`, by the names that the rows give."""
        factories: dict[str, Callable[[], ProveEnvironment]] = {}
        for task in self._tasks:
            tools = offered(task)
            name = toolset_of(tools)
            if name not in factories:
                reply_name = name_of(task.reply_tool)
                factories[name] = partial(ProveEnvironment, self._worlds, tools, reply_name, self._reward)
        return factories


def toolset_of(tools: Sequence[Json]) -> str:
    """The same for the same tools."""
    return hashlib.sha256(json.dumps(tools, sort_keys=True).encode()).hexdigest()[:16]

"""
Adapter for `GRPOTrainer` of TRL (tested with 1.13): a data set of tasks and one environment factory per tool set.

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
"""Method names of an environment that TRL reserves."""

_TOO_LARGE = 413


class ProveEnvironment:
    """
    Environment for one rollout at a time. TRL resets it with a row, calls its tools, and reads the reward.

    The tools are bound to the instance and not to one class per tool set, because TRL logs a reward per class.

    Raises:
        UnusableTool: A tool cannot be a method of this class.
    """

    def __init__(self, worlds: Worlds, tools: Sequence[Json], reply_name: str, reward: str | None) -> None:
        self._worlds = worlds
        self._reply_name = reply_name
        self._reward = reward
        self._episode: Episode | None = None
        self._failure: WorldsError | None = None
        for method in (tool_method(tool, self._call) for tool in tools):
            if method.__name__ in RESERVED:
                raise UnusableTool(
                    f"the tool {method.__name__} has a name that TRL reserves; exclude tasks with this tool"
                )
            setattr(self, method.__name__, MethodType(method, self))

    def reset(self, task: str, **_row: object) -> None:
        """Open the task of a row. The row's prompt already contains the opening messages."""
        self._close()
        self._failure = None
        self._episode = self._worlds.open(task, reward=self._reward)

    def get_reward(self) -> float:
        """
        Return the reward of all actions since the reset.

        Raises:
            WorldsError: An earlier call failed with this error. A rollout that lost its environments has no reward, and
                the trainer must not use it.
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
            # TRL passes every exception to the model and continues. That is right only for errors of the model.
            if not (isinstance(error, Refused) and error.status == _TOO_LARGE):
                self._failure = error
            raise

    def _playing(self) -> Episode:
        if self._episode is None:
            raise RuntimeError("no episode is open: call reset first")
        return self._episode

    def _close(self) -> None:
        if self._episode:
            self._episode.close()
        self._episode = None


class TrlTasks:
    """
    Tasks of a split in the form of TRL's arguments.

    Tasks offer different tools, so each set of tools has a factory. The `environment` column names the factory.

    Args:
        worlds: Client of the server. It must stay open while the trainer runs.
        split: Split of the data set.
        start: Index of the first task in the split.
        count: Number of tasks. Default: all tasks from `start` on.
        reward: Name of a reward preset. Default: the server's preset.
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
        # TRL cannot change the tools of an environment during a rollout.
        self._tasks = [task for task in tasks if not task.brings_tools]

    @cached_property
    def train_dataset(self) -> Dataset:
        """Data set with the columns `prompt`, `task`, `kind` and `environment`, the factory for the task's tools."""
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
        """Factories for `GRPOTrainer`, by the names in the `environment` column."""
        factories: dict[str, Callable[[], ProveEnvironment]] = {}
        for task in self._tasks:
            tools = offered(task)
            name = toolset_of(tools)
            if name not in factories:
                reply_name = name_of(task.reply_tool)
                factories[name] = partial(ProveEnvironment, self._worlds, tools, reply_name, self._reward)
        return factories


def toolset_of(tools: Sequence[Json]) -> str:
    """Return a name that depends only on the tools."""
    return hashlib.sha256(json.dumps(tools, sort_keys=True).encode()).hexdigest()[:16]

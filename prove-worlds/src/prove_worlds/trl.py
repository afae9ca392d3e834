"""
Adapter for `GRPOTrainer` of TRL: a data set of tasks, one environment class per tool set, and a reward function.

    with Worlds.start("my-tasks") as worlds:
        tasks = TrlTasks(worlds)
        GRPOTrainer(
            model,
            train_dataset=tasks.train_dataset,
            environment_factory=tasks.environment_factory,
            reward_funcs=tasks.prove_reward,
            …
        ).train()
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from itertools import islice
from typing import cast

from datasets import Dataset

from .episode import Call, Episode
from .errors import EpisodeOver, Refused, UnusableTool, WorldsError
from .http import Json
from .offering import call, name_of, offered, transcript
from .tool_method import tool_method
from .worlds import Worlds

RESERVED = frozenset({"reset", "get_reward"})
"""Method names of an environment that TRL reserves."""

_TOO_LARGE = 413


class ProveEnvironment:
    """
    Environment for one rollout at a time. TRL resets it with a row and calls its tools.

    `environment_class` adds the tools as methods, because TRL lists the functions of the class.
    """

    def __init__(self, worlds: Worlds, reply_name: str) -> None:
        self._worlds = worlds
        self._reply_name = reply_name
        self._episode: Episode | None = None
        self._failure: WorldsError | None = None

    def reset(self, task: str, **_row: object) -> None:
        """Open the task of a row. The row's prompt already contains the opening messages."""
        self._close()
        self._failure = None
        self._episode = self._worlds.open(task)

    def _score(self, completion: Sequence[Mapping[str, object]], reward: str | None) -> float:
        """
        Return the reward of everything that the model wrote since the reset.

        Raises:
            WorldsError: An earlier call failed with this error. A rollout that lost its environments has no reward, and
                the trainer must not use it.
        """
        if self._failure:
            raise self._failure
        said = [(_text_of(message), _calls_of(message)) for message in completion if message["role"] == "assistant"]
        score = self._worlds.score(self._playing().task, transcript(said, self._reply_name), reward=reward)
        return cast("float", score["total"])

    def _call(self, name: str, arguments: dict[str, object]) -> str:
        episode = self._playing()
        try:
            # TRL does not report which calls belong to one message. The reward counts the messages as written.
            return call(episode, self._reply_name, name, arguments, more=True).text
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


def environment_class(tools: Sequence[Json]) -> type[ProveEnvironment]:
    """
    Return a class of environments with these tools as methods.

    Raises:
        UnusableTool: A tool cannot be a method of the class.
    """

    def forwarded(tool: Json) -> Callable[..., str]:
        return tool_method(tool, lambda environment, name, arguments: environment._call(name, arguments))

    methods = {method.__name__: method for method in map(forwarded, tools)}
    for name in sorted(RESERVED.intersection(methods)):
        raise UnusableTool(f"the tool {name} has a name that TRL reserves; exclude tasks with this tool")
    return type("ProveEnvironment", (ProveEnvironment,), methods)


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
                reply_name = name_of(task.reply_tool) if task.user_turns > 1 else ""
                factories[name] = partial(environment_class(tools), self._worlds, reply_name)
        return factories

    def prove_reward(
        self,
        completions: Sequence[Sequence[Mapping[str, object]]],
        environments: Sequence[ProveEnvironment],
        **_: object,
    ) -> list[float]:
        """
        Return the rewards of a batch, for `reward_funcs` of `GRPOTrainer`.

        Everything in a completion counts: texts next to calls, and calls that TRL answered itself.
        """
        return [
            environment._score(completion, self._reward)  # pyright: ignore[reportPrivateUsage]
            for completion, environment in zip(completions, environments, strict=True)
        ]


def _text_of(message: Mapping[str, object]) -> str:
    content = message.get("content")
    return content if isinstance(content, str) else ""


def _calls_of(message: Mapping[str, object]) -> list[Call]:
    made = cast("Sequence[Mapping[str, Mapping[str, object]]]", message.get("tool_calls") or ())
    functions = [call.get("function", call) for call in made]
    return [(str(function.get("name")), cast("str", function.get("arguments", {}))) for function in functions]


def toolset_of(tools: Sequence[Json]) -> str:
    """Return a name that depends only on the tools."""
    return hashlib.sha256(json.dumps(tools, sort_keys=True).encode()).hexdigest()[:16]

"""Episodes of `prove-server env` as environments of OpenEnv's own server."""

import os
from functools import partial
from typing import Any

from openenv.core.env_server.http_server import create_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.mcp_types import (
    CallToolAction,
    CallToolObservation,
    ListToolsAction,
    ListToolsObservation,
    Tool,
)
from openenv.core.env_server.types import Action, EnvironmentMetadata, Observation, State
from pydantic import SerializerFunctionWrapHandler, model_serializer

from .. import offering
from ..episode import Episode
from ..http import Json
from ..worlds import Worlds


class _Telling(Observation):
    """
    OpenEnv 0.3 leaves the metadata out of what it sends, where its clients look for them: in them is what the model
    reads first, and what its reward is made of.
    """

    @model_serializer(mode="wrap")
    def _with_metadata(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {**write(self), "metadata": self.metadata}


class ProveTools(_Telling, ListToolsObservation):
    """The tools of an episode; of a reset, its metadata have `messages`, `task`, `kind` and `episode_id` besides."""


class ProveResult(_Telling, CallToolObservation):
    """What the model reads of a call; of the last one, its metadata have the parts of the reward."""


MOST_ENVIRONMENTS = 256
"""Connections at once, of which each has an episode; `MAX_CONCURRENT_ENVS` says otherwise, as for OpenEnv's own."""


def create_prove_app(worlds: Worlds) -> Any:
    """OpenEnv's server as an ASGI program: `/ws`, `/reset`, `/step`, `/state`, `/health` and what else it has."""
    most = int(os.environ.get("MAX_CONCURRENT_ENVS", MOST_ENVIRONMENTS))
    environment = partial(ProveEnvironment, worlds)
    return create_app(environment, CallToolAction, ProveResult, env_name="prove", max_concurrent_envs=most)


class ProveEnvironment(Environment):
    """
    One place for episodes. Actions are calls of tools, of which `reply_to_user` is one: with it the model says
    something, and its last use ends the episode. The reward comes with the action that does.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, worlds: Worlds) -> None:
        super().__init__()
        self._worlds = worlds
        self._episode: Episode | None = None
        self._reply_tool: Json = {}
        self._steps = 0

    def reset(self, seed: int | None = None, episode_id: str | None = None, **asked: Any) -> Observation:
        """
        Args:
            seed: Where no task is named, the task at this place of the split, counted round.
            episode_id: Is not used: the server of the worlds names its episodes.
            asked: `task`, or `split` and `index`; `reward` names a preset.
        """
        self.close()
        task, split, index = asked.get("task"), asked.get("split") or "train", asked.get("index")
        if task is None and index is None:
            index = (seed or 0) % max(1, self._worlds.splits().get(split, 0))
        episode = self._worlds.open(task, split=split, index=index, reward=asked.get("reward"))
        self._episode, self._steps = episode, 0
        self._reply_tool = self._worlds.task(episode.task).reply_tool
        about = {"episode_id": episode.id, "task": episode.task, "kind": episode.kind, "messages": episode.messages}
        return ProveTools(tools=self._tools(), metadata=about)

    def step(self, action: Action, timeout_s: float | None = None, **_: Any) -> Observation:
        if isinstance(action, ListToolsAction):
            return ProveTools(tools=self._tools(), done=self._over)
        if not isinstance(action, CallToolAction):
            raise TypeError(f"an action is list_tools or call_tool, and not {type(action).__name__}")
        episode = self._playing()
        reply_name = offering.name_of(self._reply_tool)
        result = offering.call(episode, reply_name, action.tool_name, action.arguments)
        self._steps += 1
        told = ProveResult(tool_name=action.tool_name, result=result.text)
        if episode.over:
            score = episode.score()
            told.done, told.reward = True, score.total
            told.metadata = {"total": score.total, "components": dict(score.components), "solved": score.solved}
        return told

    @property
    def state(self) -> State:
        episode = self._episode
        if episode is None:
            return State()
        return State(episode_id=episode.id, step_count=self._steps, task=episode.task, over=episode.over)

    def get_metadata(self) -> EnvironmentMetadata:
        return EnvironmentMetadata(
            name="prove", description="Tasks in stateful worlds, with tools and a programmatic reward", version="0.1.0"
        )

    def close(self) -> None:
        if self._episode is not None:
            self._episode.close()
        self._episode = None

    @property
    def _over(self) -> bool:
        return self._episode is not None and self._episode.over

    def _playing(self) -> Episode:
        if self._episode is None:
            raise RuntimeError("reset comes first")
        return self._episode

    def _tools(self) -> list[Tool]:
        episode = self._episode
        if episode is None:
            return []
        functions: list[Any] = [tool["function"] for tool in [*episode.tools, self._reply_tool]]
        return [
            Tool(name=tool["name"], description=tool["description"], input_schema=tool["parameters"])
            for tool in functions
        ]

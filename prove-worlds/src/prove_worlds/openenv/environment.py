"""Adapter that serves episodes of `prove-server env` through OpenEnv's own server."""

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


class _WithMetadata(Observation):
    """
    Observation that is sent with its metadata.

    OpenEnv omits the metadata from its responses although its clients read them. The metadata contain the opening
    messages and the components of the reward.
    """

    @model_serializer(mode="wrap")
    def _with_metadata(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {**write(self), "metadata": self.metadata}


class ProveTools(_WithMetadata, ListToolsObservation):
    """Tools of an episode. After a reset, the metadata contain `messages`, `task`, `kind` and `episode_id`."""


class ProveResult(_WithMetadata, CallToolObservation):
    """Result of a call. The metadata of the last result contain the components of the reward."""


MESSAGE_KEY = "prove/message"
"""Key of an action's metadata for the message around a call: `{"text": …, "more": …}`."""

MOST_ENVIRONMENTS = 256
"""Default limit of connections, each with one episode. `MAX_CONCURRENT_ENVS` overrides it, as in OpenEnv."""


def create_prove_app(worlds: Worlds) -> Any:
    """Return OpenEnv's server as an ASGI application: `/ws`, `/reset`, `/step`, `/state`, `/health` and others."""
    most = int(os.environ.get("MAX_CONCURRENT_ENVS", MOST_ENVIRONMENTS))
    environment = partial(ProveEnvironment, worlds)
    return create_app(environment, CallToolAction, ProveResult, env_name="prove", max_concurrent_envs=most)


class ProveEnvironment(Environment):
    """
    Environment for one episode at a time.

    Actions are tool calls. The tool `reply_to_user` sends a message to the user, and its last use ends the episode. The
    observation of the action that ends the episode contains the reward.
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
        Close the current episode and open a new one.

        Args:
            seed: Index of the task if none is named, modulo the size of the split.
            episode_id: Not used: `prove-server env` names its episodes.
            asked: `task`, or `split` and `index`. `reward` names a reward preset.
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
        """
        Carry out an action and return its observation.

        Raises:
            EpisodeOver: The episode accepts no further action.
            TypeError: The action is neither `list_tools` nor `call_tool`.
        """
        if isinstance(action, ListToolsAction):
            return ProveTools(tools=self._tools(), done=self._over)
        if not isinstance(action, CallToolAction):
            raise TypeError(f"unknown action {type(action).__name__}: use list_tools or call_tool")
        episode = self._playing()
        reply_name = offering.name_of(self._reply_tool)
        around = action.metadata.get(MESSAGE_KEY) or {}
        result = offering.call(
            episode,
            reply_name,
            action.tool_name,
            action.arguments,
            text=around.get("text") or "",
            more=bool(around.get("more")),
        )
        self._steps += 1
        observation = ProveResult(tool_name=action.tool_name, result=result.text)
        if episode.over:
            score = episode.score()
            observation.done, observation.reward = True, score.total
            observation.metadata = {"total": score.total, "components": dict(score.components), "solved": score.solved}
        return observation

    @property
    def state(self) -> State:
        """State of the current episode, empty before the first reset."""
        episode = self._episode
        if episode is None:
            return State()
        return State(episode_id=episode.id, step_count=self._steps, task=episode.task, over=episode.over)

    def get_metadata(self) -> EnvironmentMetadata:
        """Return the name and description of this environment."""
        return EnvironmentMetadata(
            name="prove",
            description="Tasks in stateful environments, with tools and a programmatic reward",
            version="0.1.0",
        )

    def close(self) -> None:
        """Close the current episode, if any."""
        if self._episode is not None:
            self._episode.close()
        self._episode = None

    @property
    def _over(self) -> bool:
        return self._episode is not None and self._episode.over

    def _playing(self) -> Episode:
        if self._episode is None:
            raise RuntimeError("no episode is open: call reset first")
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

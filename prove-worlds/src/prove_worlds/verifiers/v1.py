"""
Taskset for verifiers v1. Each rollout has one episode.

One tool server serves all rollouts and reads the episode from the rollout's state. verifiers runs this module as that
server.
"""

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from itertools import islice
from typing import Any

import verifiers.v1 as vf
from mcp.types import CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams, TextContent
from mcp.types import Tool as McpTool
from pydantic import Field

from .. import offering
from ..episode import Episode
from ..errors import UnknownEpisode
from ..worlds import Task, Worlds

_INFO = "prove"


@cache
def _worlds(url: str | None) -> Worlds:
    """Return the client of this process: its connections serve all rollouts."""
    return Worlds(url)


class ProveState(vf.State):
    """State that the hooks of a task and the tool server share."""

    url: str = ""
    episode: str = ""
    reply_tool: dict[str, Any] = Field(default_factory=dict)
    """Additional tool to reply with. Empty for tasks with a single user turn."""
    over: bool = False


class ProveData(vf.TaskData):
    """Row of a task. The server keeps the tools and the ground truth."""

    task: str
    kind: str


class ProveTaskConfig(vf.TaskConfig):
    """Options under `--env.taskset.task`."""

    url: str | None = None
    """Address of `prove-server env`. Default: `PROVE_WORLDS_URL`, or else http://127.0.0.1:8080."""
    reward: str | None = None
    """Name of a reward preset. Default: the server's preset."""


class ProveTasksetConfig(vf.TasksetConfig):
    """Options under `--env.taskset`."""

    split: str = "train"
    start: int = 0
    count: int | None = None
    tools: vf.SharedToolsetConfig = vf.SharedToolsetConfig()
    task: ProveTaskConfig = ProveTaskConfig()


class ProveToolset(vf.Toolset[vf.SharedToolsetConfig, ProveState]):
    """Tools of the calling rollout's episode, with the schemas that the task offers."""

    TOOL_PREFIX = None

    def register(self, mcp: Any) -> None:
        # Replaces the handlers of the SDK: they build schemas from Python types and would lose bounds and patterns.
        server = mcp._lowlevel_server
        server.add_request_handler("tools/list", PaginatedRequestParams, self._with_state(self.list_tools))
        server.add_request_handler("tools/call", CallToolRequestParams, self._with_state(self.call_tool))

    async def list_tools(self, context: object, params: PaginatedRequestParams | None) -> ListToolsResult:
        episode = await self._episode()
        more = [self.state.reply_tool] if self.state.reply_tool else []
        functions: list[Any] = [tool["function"] for tool in [*episode.tools, *more]]
        return ListToolsResult(
            tools=[
                McpTool(name=tool["name"], description=tool["description"], input_schema=tool["parameters"])
                for tool in functions
            ]
        )

    async def call_tool(self, context: object, params: CallToolRequestParams) -> CallToolResult:
        episode = await self._episode()
        # A harness does not report which calls belong to one message. The reward counts the messages as written.
        result = await asyncio.to_thread(
            offering.call, episode, _reply_name(self.state), params.name, params.arguments or {}, more=True
        )
        self.state.over = episode.over
        return CallToolResult(content=[TextContent(type="text", text=result.text)], is_error=not result.ok)

    async def _episode(self) -> Episode:
        return await asyncio.to_thread(_worlds(self.state.url).episode, self.state.episode)


def _reply_name(state: ProveState) -> str:
    return offering.name_of(state.reply_tool) if state.reply_tool else ""


class ProveTask(vf.Task[ProveData, ProveState, ProveTaskConfig]):
    """Task whose rollouts are episodes of `prove-server env`."""

    @property
    def key(self) -> str:
        return self.data.task

    async def setup(self, trace: vf.Trace, runtime: vf.Runtime) -> None:
        worlds = _worlds(self.config.url)
        task = await asyncio.to_thread(worlds.task, self.data.task)
        episode = await asyncio.to_thread(worlds.open, self.data.task, reward=self.config.reward)
        state = trace.state
        state.url, state.episode = worlds.url, episode.id
        state.reply_tool = dict(task.reply_tool) if task.user_turns > 1 else {}

    @vf.stop
    async def over(self, trace: vf.Trace) -> bool:
        """Return whether the user has no further turn or the call limit is reached."""
        return trace.state.over

    async def finalize(self, trace: vf.Trace, runtime: vf.Runtime) -> None:
        """Store the score of everything that the model wrote, and close the episode."""
        trace.info[_INFO] = await asyncio.to_thread(_finish, trace, self.config.reward)

    @vf.reward(weight=1.0)
    async def prove(self, trace: vf.Trace) -> float:
        score = trace.info[_INFO]
        for name, value in score["components"].items():
            trace.record_metric(name, value)
        trace.record_metric("solved", float(score["solved"]))
        return score["total"]


class ProveTaskset(vf.Taskset[ProveTask, ProveTasksetConfig]):
    """Tasks of a split, fetched one by one."""

    @classmethod
    def toolsets(cls, config: ProveTasksetConfig) -> list[vf.Toolset]:
        return [ProveToolset(config.tools)]

    def load(self) -> Iterator[ProveTask]:
        config = self.config
        worlds = _worlds(config.task.url)
        stop = None if config.count is None else config.start + config.count
        for listed in islice(worlds.tasks(config.split, config.start, stop), config.count):
            yield ProveTask(_row(listed.index, worlds.task(listed.id)), config.task)


def _row(index: int, task: Task) -> ProveData:
    messages = [dict(message) for message in task.messages]
    # Not every harness accepts a system prompt or several messages in the prompt.
    system = messages.pop(0)["content"] if messages[0]["role"] == "system" else None
    alone = len(messages) == 1 and messages[0]["role"] == "user"
    prompt: Any = messages[0]["content"] if alone else messages
    return ProveData(idx=index, name=task.id, prompt=prompt, system_prompt=system, task=task.id, kind=task.kind)


def _finish(trace: Any, reward: str | None) -> dict[str, Any]:
    worlds, state = _worlds(trace.state.url), trace.state
    with suppress(UnknownEpisode):
        worlds.episode(state.episode).close()
    said = [
        (message.content or "", [(call.name, call.arguments) for call in message.tool_calls or ()])
        for message in trace.assistant_messages
    ]
    return worlds.score(trace.task.data.task, offering.transcript(said, _reply_name(state)), reward=reward)


if __name__ == "__main__":
    ProveToolset.run()

"""
The taskset of v1. Each rollout has an episode; its tools come to the model from one server for all rollouts, which
finds the episode in the rollout's state. verifiers runs this module as that server.
"""

import asyncio
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Any

import verifiers.v1 as vf
from mcp.types import CallToolResult, TextContent
from mcp.types import Tool as McpTool
from pydantic import Field

from .. import offering
from ..worlds import Task, Worlds

_INFO = "prove"


@cache
def _worlds(url: str | None) -> Worlds:
    """Kept for as long as the process lives: its connections serve all rollouts."""
    return Worlds(url)


class ProveState(vf.State):
    """What the hooks of a task and the server of its tools share."""

    url: str = ""
    episode: str = ""
    reply_tool: dict[str, Any] = Field(default_factory=dict)
    """Is offered besides the tools of the task; nothing where its user says all at once."""
    over: bool = False


class ProveData(vf.TaskData):
    """A row. Its tools and its ground truth stay with the server."""

    task: str
    kind: str


class ProveTaskConfig(vf.TaskConfig):
    """Under `--env.taskset.task`."""

    url: str | None = None
    """Of `prove-server env`; without one, `PROVE_WORLDS_URL`, or http://127.0.0.1:8080."""
    reward: str | None = None
    """Name of the preset; without one, the server's."""


class ProveTasksetConfig(vf.TasksetConfig):
    """Under `--env.taskset`."""

    split: str = "train"
    start: int = 0
    count: int | None = None
    tools: vf.SharedToolsetConfig = vf.SharedToolsetConfig()
    task: ProveTaskConfig = ProveTaskConfig()


class ProveToolset(vf.Toolset[vf.SharedToolsetConfig, ProveState]):
    """The tools of whichever episode asks, with their schemas as the task offers them."""

    TOOL_PREFIX = None

    def register(self, mcp: Any) -> None:
        # Below the decorators of FastMCP, which make schemas from Python's types and would lose what those cannot say.
        server = mcp._mcp_server
        server.list_tools()(self._with_state(self.list_tools))
        server.call_tool(validate_input=False)(self._with_state(self.call_tool))

    async def list_tools(self) -> list[McpTool]:
        episode = await self._episode()
        more = [self.state.reply_tool] if self.state.reply_tool else []
        functions: list[Any] = [tool["function"] for tool in [*episode.tools, *more]]
        return [
            McpTool(name=tool["name"], description=tool["description"], inputSchema=tool["parameters"])
            for tool in functions
        ]

    async def call_tool(self, name: str, arguments: dict[str, Any]) -> CallToolResult:
        episode = await self._episode()
        reply_name = offering.name_of(self.state.reply_tool) if self.state.reply_tool else ""
        result = await asyncio.to_thread(offering.call, episode, reply_name, name, arguments)
        self.state.over = episode.over
        return CallToolResult(content=[TextContent(type="text", text=result.text)], isError=not result.ok)

    async def _episode(self):
        return await asyncio.to_thread(_worlds(self.state.url).episode, self.state.episode)


class ProveTask(vf.Task[ProveData, ProveState, ProveTaskConfig]):
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
        """The user has said everything, or the most calls are made."""
        return trace.state.over

    async def finalize(self, trace: vf.Trace, runtime: vf.Runtime) -> None:
        """Says the last message to the user, and keeps the score: the episode ends here."""
        trace.info[_INFO] = await asyncio.to_thread(_finish, trace)

    @vf.reward(weight=1.0)
    async def prove(self, trace: vf.Trace) -> float:
        score = trace.info[_INFO]
        for name, value in score["components"].items():
            trace.record_metric(name, value)
        trace.record_metric("solved", float(score["solved"]))
        return score["total"]


class ProveTaskset(vf.Taskset[ProveTask, ProveTasksetConfig]):
    """The tasks of a split, asked for one by one."""

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
    # Not every harness takes a system prompt, or several messages, within the prompt.
    system = messages.pop(0)["content"] if messages[0]["role"] == "system" else None
    alone = len(messages) == 1 and messages[0]["role"] == "user"
    prompt: Any = messages[0]["content"] if alone else messages
    return ProveData(idx=index, name=task.id, prompt=prompt, system_prompt=system, task=task.id, kind=task.kind)


def _finish(trace: Any) -> dict[str, Any]:
    with _worlds(trace.state.url).episode(trace.state.episode) as episode:
        said = trace.assistant_messages
        if said and not said[-1].tool_calls and not episode.over:
            episode.reply(said[-1].content or "")
        return episode.record()


if __name__ == "__main__":
    ProveToolset.run()

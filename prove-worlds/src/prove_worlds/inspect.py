"""
Tasks for Inspect (https://inspect.aisi.org.uk).

    inspect eval prove_worlds/prove --model … -T split=held-out
"""

import asyncio
from collections.abc import Iterator
from typing import Any

from .episode import Call, first_of
from .errors import MissingFramework
from .offering import transcript
from .worlds import Worlds

try:
    from inspect_ai import Task, task
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser
    from inspect_ai.scorer import Score, Scorer, Target, accuracy, mean, scorer, stderr
    from inspect_ai.solver import Generate, Solver, TaskState, solver
    from inspect_ai.tool import Tool, ToolDef, ToolParams
except ModuleNotFoundError as error:
    raise MissingFramework("inspect_ai", __name__) from error

_SCORE = "prove"


@task
def prove(
    url: str | None = None,
    split: str = "held-out",
    start: int = 0,
    count: int | None = None,
    reward: str | None = None,
) -> Task:
    """
    Return an Inspect task over a split of a data set.

    Args:
        url: Address of `prove-server env`. Default: `PROVE_WORLDS_URL`, or else http://127.0.0.1:8080.
        split: Split of the server's data set.
        start: Index of the first task in the split.
        count: Number of tasks. Default: all tasks from `start` on.
        reward: Name of a reward preset. Default: the server's preset.
    """
    worlds = Worlds(url)
    stop = None if count is None else start + count
    samples = [_sample(worlds, listed.id) for listed in worlds.tasks(split, start, stop)]
    return Task(dataset=MemoryDataset(samples, name="prove"), solver=converse(url, reward), scorer=episode_reward())


def _sample(worlds: Worlds, name: str) -> Sample:
    task = worlds.task(name)
    kinds: dict[Any, Any] = {"system": ChatMessageSystem, "user": ChatMessageUser}
    messages = [kinds[message["role"]](content=message["content"]) for message in task.messages]
    return Sample(id=task.id, input=messages, metadata={"kind": task.kind})


@solver
def converse(url: str | None = None, reward: str | None = None) -> Solver:
    """Return a solver that plays an episode: the model calls tools, and each message without calls gets a user turn."""
    worlds = Worlds(url)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        episode = await asyncio.to_thread(worlds.open, str(state.sample_id), reward=reward)
        opening = len(state.messages)
        try:

            def offered(definition: Any) -> Tool:
                async def call(**arguments: Any) -> str:
                    # Inspect does not report which calls belong to one message. The score counts them as written.
                    made = [(definition["name"], arguments)]
                    reply = await asyncio.to_thread(episode.send, "", made, more=True)
                    state.completed = state.completed or episode.over
                    return first_of(reply).text

                parameters = ToolParams(**definition["parameters"])
                return ToolDef(
                    call, name=definition["name"], description=definition["description"], parameters=parameters
                ).as_tool()

            state.tools = [offered(tool["function"]) for tool in episode.tools]
            while not episode.over:
                state = await generate(state, tool_calls="loop")
                said = state.messages[-1]
                if state.completed or not isinstance(said, ChatMessageAssistant) or said.tool_calls:
                    break
                user = await asyncio.to_thread(episode.reply, said.text)
                if user is not None:
                    state.messages.append(ChatMessageUser(content=user))
                    state.tools = [offered(tool["function"]) for tool in episode.tools]
            said = transcript(_written(state.messages[opening:]), "")
            state.metadata[_SCORE] = await asyncio.to_thread(worlds.score, episode.task, said, reward=reward)
        finally:
            await asyncio.to_thread(episode.close)
        return state

    return solve


def _written(messages: Any) -> Iterator[tuple[str, list[Call]]]:
    """Yield what the model wrote, also calls that Inspect answered itself."""
    for message in messages:
        if isinstance(message, ChatMessageAssistant):
            made = message.tool_calls or ()
            yield message.text, [(call.function, call.parse_error or call.arguments) for call in made]


@scorer(metrics={"total": [mean(), stderr()], "solved": [accuracy(), stderr()]})
def episode_reward() -> Scorer:
    """Return a scorer that reports the reward and whether the task was solved."""

    async def score(state: TaskState, target: Target) -> Score:
        found = state.metadata[_SCORE]
        return Score(value={"total": found["total"], "solved": float(found["solved"])}, metadata=found)

    return score

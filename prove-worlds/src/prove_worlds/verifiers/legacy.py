"""
Environment for verifiers before v1, which later versions provide as `verifiers.legacy`.

The user's next turn answers each message without calls, so the model needs no reply tool.
"""

import asyncio
import json
from collections.abc import Callable
from typing import Any, TypeVar

import verifiers as vf
from datasets import Dataset

from ..episode import Episode
from ..errors import WorldsError
from ..worlds import Worlds

T = TypeVar("T")


def load_environment(
    url: str | None = None, *, split: str = "train", start: int = 0, count: int | None = None, reward: str | None = None
) -> Any:
    """
    Return an environment over the tasks of a split.

    Args:
        url: Address of `prove-server env`. Default: `PROVE_WORLDS_URL`, or else http://127.0.0.1:8080.
        split: Split of the server's data set.
        start: Index of the first task in the split.
        count: Number of tasks. Default: all tasks from `start` on.
        reward: Name of a reward preset. Default: the server's preset.
    """
    worlds = Worlds(url)
    stop = None if count is None else start + count
    rows = [_row(worlds, listed.id) for listed in worlds.tasks(split, start, stop)]
    rubric = vf.Rubric(funcs=[prove, solved], weights=[1.0, 0.0])
    return ProveEnv(worlds, reward, dataset=Dataset.from_list(rows), rubric=rubric)


async def prove(state: vf.State) -> float:
    """Return the reward. `state["prove"]` contains its components and the actions."""
    return state["prove"]["total"]


async def solved(state: vf.State) -> float:
    """Return 1 if the task is solved, else 0."""
    return float(state["prove"]["solved"])


class ProveEnv(vf.MultiTurnEnv):
    """Environment with one episode per rollout."""

    def __init__(self, worlds: Worlds, reward: str | None, **options: Any) -> None:
        super().__init__(**options)
        self._worlds = worlds
        self._reward = reward
        self._playing: dict[str, Episode] = {}

    async def setup_state(self, state: vf.State) -> vf.State:
        task = state["info"]["task"]
        episode = await _ask(lambda: self._worlds.open(task, reward=self._reward))
        self._playing[state["trajectory_id"]] = episode
        return state

    async def env_response(self, messages: Any, state: vf.State, **_: Any) -> list[dict[str, str]]:
        episode = self._playing[state["trajectory_id"]]
        last = messages[-1]
        answers: list[dict[str, str]] = []
        if last.tool_calls:
            for made in last.tool_calls:
                name, arguments = made.name, made.arguments
                result = await _ask(lambda name=name, arguments=arguments: episode.call(name, arguments))
                answers.append({"role": "tool", "tool_call_id": made.id, "content": result.text})
                if episode.over:
                    break
        else:
            user = await _ask(lambda: episode.reply(last.content or ""))
            answers = [] if user is None else [{"role": "user", "content": user}]
        if episode.over:
            state["final_env_response"] = answers
        return answers

    @vf.cleanup
    async def finish(self, state: vf.State) -> None:
        """Store the score before the rubric reads it, and close the episode."""
        episode = self._playing.pop(state["trajectory_id"], None)
        if episode is None:
            return
        try:
            state["prove"] = await _ask(lambda: _finish(episode))
        except vf.InfraError as error:
            # Raised from here, the error would end all rollouts.
            state["error"] = state.get("error") or error


def _row(worlds: Worlds, name: str) -> dict[str, Any]:
    task = worlds.task(name)
    # As text: as columns of a data set, every row would get the parameters of all tools.
    info = json.dumps({"task": task.id, "kind": task.kind, "tool_defs": [tool["function"] for tool in task.tools]})
    return {"prompt": [dict(message) for message in task.messages], "answer": "", "info": info}


def _finish(episode: Episode) -> dict[str, Any]:
    with episode:
        return episode.record()


async def _ask(work: Callable[[], T]) -> T:
    """Run a blocking request in a thread. A lost server is an error of verifiers, not a reward."""
    try:
        return await asyncio.to_thread(work)
    except WorldsError as error:
        raise vf.InfraError(str(error)) from error

"""What `prove_worlds.verifiers.legacy` uses of `verifiers.legacy` 0.3, and the order in which that calls it."""

import json
from types import SimpleNamespace
from uuid import uuid4


class InfraError(Exception):
    pass


class State(dict):
    pass


class Rubric:
    def __init__(self, funcs, weights):
        self.funcs, self.weights = funcs, weights

    async def score_rollout(self, state):
        values = {func.__name__: float(await func(state=state)) for func in self.funcs}
        state["metrics"] = values
        state["reward"] = sum(
            values[func.__name__] * weight for func, weight in zip(self.funcs, self.weights, strict=True)
        )


def cleanup(func):
    func.cleanup = True
    return func


class Environment:
    def __init__(self, dataset, rubric):
        self.dataset, self.rubric = dataset, rubric


class MultiTurnEnv(Environment):
    async def rollout(self, row, model):
        """`model` answers messages with a message: `(content, [(id, name, arguments)])`."""
        info = json.loads(row["info"])
        state = State(prompt=row["prompt"], info=info, tool_defs=info["tool_defs"], trajectory=[], error=None)
        state.update(trajectory_id=uuid4().hex, final_env_response=None)
        messages = list(state["prompt"])
        try:
            state = await self.setup_state(state) or state
        except InfraError as error:
            state["error"] = error
        while state["error"] is None and state["final_env_response"] is None:
            try:
                if state["trajectory"]:
                    messages += await self.env_response(messages, state)
                    if state["final_env_response"] is not None:
                        continue
                content, calls = model(state["tool_defs"], messages)
                made = [SimpleNamespace(id=one, name=name, arguments=text) for one, name, text in calls]
                messages.append(SimpleNamespace(role="assistant", content=content, tool_calls=made or None))
                state["trajectory"].append(messages[-1])
            except InfraError as error:
                state["error"] = error
        state["completion"] = messages[len(state["prompt"]) :]
        for name in dir(self):
            if getattr(getattr(type(self), name, None), "cleanup", False):
                await getattr(self, name)(state)
        return state

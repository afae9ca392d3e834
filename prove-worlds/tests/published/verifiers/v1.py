"""What `prove_worlds.verifiers.v1` uses of `verifiers.v1` 0.3, and the order in which that calls it."""

from types import SimpleNamespace
from typing import Generic, TypeVar

from pydantic import BaseModel, ConfigDict

A, B, C = TypeVar("A"), TypeVar("B"), TypeVar("C")


class State(BaseModel):
    model_config = ConfigDict(extra="forbid")


class TaskData(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    idx: int | None = None
    name: str | None = None
    prompt: str | list[dict[str, str]] | None = None
    system_prompt: str | None = None


class TaskConfig(BaseModel):
    model_config = ConfigDict(extra="forbid")


class SharedToolsetConfig(BaseModel):
    url: str | None = None


class TasksetConfig(BaseModel):
    model_config = ConfigDict(extra="forbid")
    id: str = ""


class Trace(SimpleNamespace):
    """`state`, `info`, `metrics` and `assistant_messages`."""

    def record_metric(self, name, value):
        self.metrics[name] = float(value)


class Runtime:
    pass


def stop(func):
    func.stop = True
    return func


def reward(weight=1.0):
    def mark(func):
        func.reward, func._vf_weight = True, weight
        return func

    return mark


class Task(Generic[A, B, C]):
    def __init__(self, data, config):
        self.data, self.config = data, config


class Taskset(Generic[A, B]):
    def __init__(self, config):
        self.config = config

    def __iter__(self):
        yield from self.load()


class Toolset(Generic[A, B]):
    """Each call is made with the state of its rollout, which is kept when it changed."""

    def __init__(self, config):
        self.config = config
        self.state = None

    def _with_state(self, func):
        async def wrapper(*arguments):
            wanted = type(self.state)
            self.state = wanted.model_validate_json(self.state.model_dump_json())
            return await func(*arguments)

        return wrapper

"""As OpenEnv 0.3 has them."""

from typing import Any

from pydantic import BaseModel, ConfigDict


class Action(BaseModel):
    model_config = ConfigDict(extra="forbid")
    metadata: dict[str, Any] = {}


class Observation(BaseModel):
    model_config = ConfigDict(extra="forbid", validate_assignment=True)
    done: bool = False
    reward: bool | int | float | None = None
    metadata: dict[str, Any] = {}


class State(BaseModel):
    model_config = ConfigDict(extra="allow")
    episode_id: str | None = None
    step_count: int = 0


class EnvironmentMetadata(BaseModel):
    name: str
    description: str
    version: str | None = None

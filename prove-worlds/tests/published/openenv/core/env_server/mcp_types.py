"""As OpenEnv 0.3 has them."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from .types import Action, Observation


class Tool(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str
    description: str
    input_schema: dict[str, Any]


class ListToolsAction(Action):
    type: Literal["list_tools"] = "list_tools"


class CallToolAction(Action):
    type: Literal["call_tool"] = "call_tool"
    tool_name: str
    arguments: dict[str, Any] = Field(default_factory=dict)


class ListToolsObservation(Observation):
    tools: list[Tool]


class CallToolObservation(Observation):
    tool_name: str
    result: Any = None
    error: Any = None

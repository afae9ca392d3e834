from typing import Any, Literal

from pydantic import BaseModel

Tool = object


class JSONSchema(BaseModel):
    type: str | list[str] | None = None
    description: str | None = None
    enum: list[Any] | None = None
    items: "JSONSchema | None" = None


class ToolParams(BaseModel):
    type: Literal["object"] = "object"
    properties: dict[str, JSONSchema] = {}
    required: list[str] = []
    additionalProperties: bool = False


class ToolDef:
    def __init__(self, tool, name, description, parameters):
        self.tool, self.name, self.description, self.parameters = tool, name, description, parameters

    def as_tool(self):
        return self

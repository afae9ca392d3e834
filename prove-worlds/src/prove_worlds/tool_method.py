"""
Convert tools with JSON Schemas to Python methods with typed signatures and docstrings.

Trainers convert the signature and docstring back to a schema. Bounds and patterns, which Python types cannot express,
become text of the docstring.
"""

import inspect
import keyword
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any, Literal, cast

from .errors import UnusableTool
from .http import Json, as_object, field

_TYPES: Mapping[object, object] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "null": None,
    "object": dict,
}


def tool_method(tool: Json, call: Callable[[Any, str, dict[str, object]], str]) -> FunctionType:
    """
    Return a method for a tool.

    The function accepts any keyword arguments: the environment answers invalid calls, because invalid calls count. The
    signature only serves inspection.

    Args:
        tool: Tool in OpenAI's format.
        call: Function of the instance, the tool's name and the arguments that returns the text of the result.

    Raises:
        UnusableTool: The tool or a parameter has a name that is not valid in Python.
    """
    function = as_object(tool.get("function"), "a tool")
    name = field(function, "name", str, "a tool")
    parameters = as_object(function.get("parameters"), name)
    properties = as_object(parameters.get("properties", {}), name)
    required = cast("list[object]", parameters.get("required", []))
    for word in (name, *properties):
        if not word.isidentifier() or keyword.iskeyword(word) or word.startswith("_"):
            raise UnusableTool(
                f"{word!r} of the tool {name!r} is not a valid name in Python; exclude tasks with this tool"
            )

    def method(self: object, /, **arguments: object) -> str:
        return call(self, name, arguments)

    schemas = {parameter: as_object(schema, name) for parameter, schema in properties.items()}
    hints = {parameter: type_of(schema) for parameter, schema in schemas.items()}
    method.__name__ = method.__qualname__ = name
    method.__doc__ = _docstring(field(function, "description", str, name), schemas)
    # Without the return type: trainers would add the return type to the schema.
    method.__annotations__ = hints
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    method.__signature__ = inspect.Signature(  # pyright: ignore[reportFunctionMemberAccess]
        [own, *(_parameter(parameter, hint, parameter in required) for parameter, hint in hints.items())]
    )
    return cast("FunctionType", method)


def type_of(schema: Json) -> object:
    """Return the most specific Python type for a JSON Schema."""
    values = schema.get("enum")
    if isinstance(values, list) and values:
        return Literal[tuple(cast("list[str]", values))]
    if schema.get("type") == "array":
        items = schema.get("items")
        return list[type_of(cast("Json", items))] if isinstance(items, dict) else list
    kind = schema.get("type")
    return _TYPES.get(kind, Any) if isinstance(kind, str) else Any


def _parameter(name: str, hint: object, required: bool) -> inspect.Parameter:
    default = inspect.Parameter.empty if required else None
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=hint, default=default)


def _docstring(description: str, schemas: Mapping[str, Json]) -> str:
    lines = [" ".join(description.split())]
    if schemas:
        lines += ["", "Args:", *(f"    {name}: {_words(name, schema)}" for name, schema in schemas.items())]
    return "\n".join(lines)


def _words(name: str, schema: Json) -> str:
    """Return the description of a parameter on one line. Never empty, because docstring parsers require a text."""
    given = schema.get("description")
    text = " ".join(given.split()) if isinstance(given, str) else ""
    text = (text or name.replace("_", " ").capitalize()).removesuffix(".")
    bounds = "; ".join(_bounds(schema))
    return f"{text} ({bounds})." if bounds else f"{text}."


def _bounds(schema: Json) -> list[str]:
    def between(low: object, high: object, what: str) -> list[str]:
        if low is None and high is None:
            return []
        if low is None:
            return [f"at most {high}{what}"]
        return [f"at least {low}{what}" if high is None else f"{low} to {high}{what}"]

    bounds = between(schema.get("minLength"), schema.get("maxLength"), " characters")
    bounds += between(schema.get("minimum"), schema.get("maximum"), "")
    if "multipleOf" in schema:
        bounds.append(f"a multiple of {schema['multipleOf']}")
    if "format" in schema:
        bounds.append(f"a {schema['format']}")
    elif "pattern" in schema:
        bounds.append(f"matches {schema['pattern']}")
    return bounds

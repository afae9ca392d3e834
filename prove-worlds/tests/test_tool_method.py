"""Tools as methods of Python, whose signature and docstring a trainer converts back to a schema."""

import json

import pytest
from prove_worlds import MissingFramework, UnusableTool, openenv, verifiers
from prove_worlds.tool_method import tool_method
from transformers.utils import get_json_schema

ALL_TOOLS = """
const { loadEnvironments } = await import('./dist/servers/catalogue.js')
const { offeredTool } = await import('./dist/servers/kernel/tool-schema.js')
const environments = await loadEnvironments()
const tools = [...environments.values()].flatMap((environment) => environment.tools.map((tool) => offeredTool(tool)))
process.stdout.write(JSON.stringify(tools.map(({ name, description, inputSchema: parameters }) => (
  { type: 'function', function: { name, description, parameters } }))))
"""


def nothing(environment, name, arguments):
    return name


def without_bounds(schema):
    """Return what Python's types can say of a tool's parameters."""
    said = {
        name: {key: value for key, value in parameter.items() if key in {"type", "enum"}}
        for name, parameter in schema["properties"].items()
    }
    return {"type": "object", "properties": said, **({"required": schema["required"]} if "required" in schema else {})}


def test_every_tool_of_every_environment_keeps_its_types_enums_and_words_as_a_method(run_node):
    tools = json.loads(run_node(ALL_TOOLS))
    assert len(tools) > 300
    for tool in tools:
        wanted = tool["function"]
        found = get_json_schema(tool_method(tool, nothing).__get__(object()))["function"]
        descriptions = {name: schema["description"] for name, schema in found["parameters"]["properties"].items()}
        assert all(descriptions.values())
        for name, schema in wanted["parameters"]["properties"].items():
            assert schema.get("description", "").removesuffix(".") in descriptions[name]
            assert str(schema.get("maxLength", "")) in descriptions[name]
        assert (found["name"], found["description"]) == (wanted["name"], wanted["description"])
        assert without_bounds(found["parameters"]) == without_bounds(wanted["parameters"])


def tool(name, **properties):
    parameters = {"type": "object", "properties": properties}
    return {"type": "function", "function": {"name": name, "description": "Does it.", "parameters": parameters}}


def test_names_that_python_or_trl_cannot_use_are_refused():
    from prove_worlds.trl import environment_class

    for bad in (tool("do-it"), tool("class"), tool("_hidden"), tool("do", **{"from": {"type": "string"}})):
        with pytest.raises(UnusableTool):
            tool_method(bad, nothing)
    with pytest.raises(UnusableTool, match="get_reward"):
        environment_class([tool("get_reward")])


def test_tasks_with_the_same_tools_share_a_factory():
    from prove_worlds.trl import toolset_of

    assert toolset_of([tool("a"), tool("b")]) == toolset_of([tool("a"), tool("b")])
    assert toolset_of([tool("a"), tool("b")]) != toolset_of([tool("a")])


def test_a_missing_framework_is_reported_and_the_rest_of_the_package_works():
    for part in (lambda: verifiers.ProveTaskset, lambda: openenv.create_prove_app):
        with pytest.raises(MissingFramework, match="which is not installed") as missing:
            part()
        assert isinstance(missing.value, ImportError)

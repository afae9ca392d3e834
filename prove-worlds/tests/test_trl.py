"""Worlds in TRL's `GRPOTrainer`, with the demo model: this file alone imports torch."""

import json
import os
from functools import partial

import pytest
import torch
from conftest import run_node

os.environ["TRL_EXPERIMENTAL_SILENCE"] = "1"

from prove_worlds import UnknownEpisode, UnusableTool
from prove_worlds.tool_method import tool_method
from prove_worlds.trl import ProveEnvironment, TrlTasks, toolset_of
from transformers import TrainerCallback
from transformers.utils import get_json_schema
from trl import GRPOTrainer

ALL_TOOLS = """
const { loadEnvironments } = await import('./dist/servers/catalogue.js')
const { offeredTool } = await import('./dist/servers/kernel/tool-schema.js')
const environments = await loadEnvironments()
const tools = [...environments.values()].flatMap((environment) => environment.tools.map((tool) => offeredTool(tool)))
process.stdout.write(JSON.stringify(tools.map(({ name, description, inputSchema: parameters }) => (
  { type: 'function', function: { name, description, parameters } }))))
"""


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    torch.set_num_threads(1)


def without_bounds(schema):
    """What Python's types can say of a tool's parameters."""
    said = {
        name: {key: value for key, value in parameter.items() if key in {"type", "enum"}}
        for name, parameter in schema["properties"].items()
    }
    return {"type": "object", "properties": said, **({"required": schema["required"]} if "required" in schema else {})}


def test_every_tool_of_every_environment_keeps_its_types_enums_and_words_as_a_method():
    tools = json.loads(run_node(ALL_TOOLS))
    assert len(tools) > 300
    for tool in tools:
        wanted = tool["function"]
        found = get_json_schema(tool_method(tool, lambda name, _: name))["function"]
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
    for bad in (tool("do-it"), tool("class"), tool("_hidden"), tool("do", **{"from": {"type": "string"}})):
        with pytest.raises(UnusableTool):
            tool_method(bad, lambda name, _: name)
    with pytest.raises(UnusableTool, match="get_reward"):
        ProveEnvironment(None, [tool("get_reward")], "reply_to_user", None)


def test_tasks_with_the_same_tools_share_a_factory():
    assert toolset_of([tool("a"), tool("b")]) == toolset_of([tool("a"), tool("b")])
    assert toolset_of([tool("a"), tool("b")]) != toolset_of([tool("a")])


def test_a_call_that_does_not_fit_counts_and_one_that_was_lost_leaves_no_reward(worlds, examples):
    # Whose user says all at once: otherwise there would be a tool more, to answer with.
    example = next(one for one in examples if [said["role"] for said in one["messages"]].count("user") == 1)
    factory = TrlTasks(worlds).environment_factory[toolset_of(example["tools"])]
    environment = factory()
    environment.reset(task=example["id"], prompt=example["messages"][:1], kind="ignored")
    name = example["ground_truth"][0]["name"]
    assert "error" in json.loads(getattr(environment, name)(self="x", nonsense=1))
    assert environment.get_reward() < 1.3
    environment._episode.close()
    with pytest.raises(UnknownEpisode):
        getattr(environment, name)()
    with pytest.raises(UnknownEpisode):
        environment.get_reward()
    environment.reset(task=example["id"])
    assert environment.get_reward() == 0


def test_a_user_with_more_to_say_is_answered_by_a_tool(worlds):
    task = worlds.task(next(worlds.tasks()).id)
    environment = ProveEnvironment(worlds, [*task.tools, task.reply_tool], "reply_to_user", None)
    environment.reset(task=task.id)
    assert get_json_schema(environment.reply_to_user)["function"]["parameters"]["required"] == ["text"]
    assert "malformed" in environment.reply_to_user(words="Done.")
    for _ in range(task.user_turns - 1):
        assert environment.reply_to_user(text="Done.").startswith("The user says: ")
    assert environment.reply_to_user(text="Done.") == "The conversation is over."


def test_the_program_of_the_readme_takes_a_step_on_rewards_that_prove_server_score_gives_too(readme, score):
    before = {}

    class Watch(TrainerCallback):
        def on_train_begin(self, args, state, control, model=None, **_):
            before.update({name: weights.clone() for name, weights in model.state_dict().items()})

    with pytest.MonkeyPatch.context() as patched:
        watched = partial(GRPOTrainer, callbacks=[Watch()])
        patched.setattr("trl.GRPOTrainer", watched)
        program = readme("GRPOTrainer")
    trainer = program["trainer"]
    environments = trainer.environments
    actions = [environment._episode.actions for environment in environments]
    assert len(actions) == 8
    assert any(actions), "the model makes calls"
    tasks = [environment._episode.task for environment in environments]
    scored = score([{"task": task, "actions": made} for task, made in zip(tasks, actions, strict=True)])
    rewards = [answer["total"] for answer in scored]
    assert [environment.get_reward() for environment in environments] == rewards
    step = next(entry for entry in trainer.state.log_history if "reward" in entry)
    assert step["reward"] == pytest.approx(sum(rewards) / len(rewards), rel=1e-6)
    assert len(set(rewards)) > 1, "nothing to learn from"
    after = trainer.model.state_dict()
    assert any(not torch.equal(weights, after[name]) for name, weights in before.items())

"""
Frameworks that cannot be installed where these tests run.

The stand-ins in `published/` follow the frameworks' sources: they have the same types and make the same calls in the
same order. The environments are real.
"""

import asyncio
import importlib.util
import json
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace

import prove_worlds
import pytest
import yaml
from prove_worlds import MissingFramework, UnknownEpisode

FRAMEWORKS = ("verifiers", "inspect_ai", "openenv")
PARTS = ("verifiers.v1", "verifiers.legacy", "inspect", "openenv.client", "openenv.environment")
MADE_FOR = {f"prove_worlds.{part}" for part in PARTS}


def forget():
    for name in list(sys.modules):
        if name.partition(".")[0] in FRAMEWORKS or name in MADE_FOR:
            del sys.modules[name]


@pytest.fixture
def published(monkeypatch):
    forget()
    monkeypatch.syspath_prepend(Path(__file__).parent / "published")
    yield
    forget()


class Player:
    """Player that sends the assistant messages of an example, one after another."""

    def __init__(self, example):
        self._left = iter(message for message in example["messages"] if message["role"] == "assistant")
        self.results = [message["content"] for message in example["messages"] if message["role"] == "tool"]

    def next(self):
        message = next(self._left)
        made = [call["function"] for call in message.get("tool_calls") or []]
        return message.get("content") or "", [(call["name"], json.loads(call["arguments"])) for call in made]


@pytest.fixture
def talkative(examples):
    """Example with the most user turns."""
    return max(examples, key=lambda example: [message["role"] for message in example["messages"]].count("user"))


def test_a_missing_framework_is_reported_and_the_rest_of_the_package_works():
    from prove_worlds import openenv, verifiers

    for part in (
        lambda: verifiers.ProveTaskset,
        lambda: prove_worlds.load_environment,
        lambda: openenv.create_prove_app,
        lambda: importlib.import_module("prove_worlds.inspect"),
    ):
        with pytest.raises(MissingFramework, match="which is not installed") as missing:
            part()
        assert isinstance(missing.value, ImportError)
        assert missing.value.framework in FRAMEWORKS
    assert all(hasattr(prove_worlds, name) for name in prove_worlds.__all__)
    assert not hasattr(prove_worlds, "ProveHarness")


def test_verifiers_finds_one_taskset_and_the_older_environment_by_the_name_of_the_package(published):
    import verifiers.v1 as vf

    spec = importlib.util.find_spec("prove_worlds")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = [getattr(module, name, None) for name in module.__all__]
    tasksets = [one for one in found if isinstance(one, type) and issubclass(one, vf.Taskset)]
    assert [one.__name__ for one in tasksets] == ["ProveTaskset"]
    assert callable(module.load_environment)


class LowLevel:
    """Low-level server below FastMCP's, to which the toolset attaches its handlers."""

    def __init__(self):
        self.handlers = {}

    def list_tools(self):
        return lambda func: self.handlers.update(list=func)

    def call_tool(self, validate_input):
        assert not validate_input
        return lambda func: self.handlers.update(call=func)


async def roll_out(task, toolset, player):
    """Run a rollout as verifiers does: set up, list tools, call tools, finalize, score."""
    from prove_worlds.verifiers.v1 import ProveState

    trace = SimpleNamespace(state=ProveState(), info={}, metrics={}, assistant_messages=[])
    trace.record_metric = lambda name, value: trace.metrics.update({name: value})
    await task.setup(trace, None)
    server = LowLevel()
    toolset.state = trace.state
    toolset.register(SimpleNamespace(_mcp_server=server))
    tools = await server.handlers["list"]()
    results = []
    while not await task.over(trace):
        content, calls = player.next()
        if not calls and task.data.kind == "multi-turn" and player.more():
            calls = [("reply_to_user", {"text": content})]
        trace.assistant_messages.append(SimpleNamespace(content=content, tool_calls=calls or None))
        for name, arguments in calls:
            result = await server.handlers["call"](name, arguments)
            results.append(result)
            trace.state = toolset.state
        if not calls:
            break
    await task.finalize(trace, None)
    return trace, tools, results, await task.prove(trace)


def test_the_taskset_of_verifiers_plays_tasks_and_gets_the_full_reward(published, worlds, examples, score):
    from prove_worlds.verifiers import ProveTaskset
    from prove_worlds.verifiers.v1 import ProveTaskConfig, ProveTasksetConfig

    config = ProveTasksetConfig(task=ProveTaskConfig(url=worlds.url))
    (toolset,) = ProveTaskset.toolsets(config)
    tasks = list(ProveTaskset(config))
    assert [task.key for task in tasks] == [example["id"] for example in examples]
    assert [task.data.idx for task in ProveTaskset(config.model_copy(update={"start": 2, "count": 2}))] == [2, 3]
    rewards, played = [], []
    for task, example in zip(tasks, examples, strict=True):
        assert (task.data.system_prompt, task.data.prompt) == (None, users(example)[0])
        trace, tools, results, reward = asyncio.run(roll_out(task, toolset, ReplyingPlayer(example)))
        offered = [tool["function"] for tool in example["tools"]]
        named = {tool.name: tool.model_dump(by_alias=True)["inputSchema"] for tool in tools}
        assert {tool["name"]: tool["parameters"] for tool in offered}.items() <= named.items()
        texts = [result.content[0].text for result in results]
        assert [text for text in texts if not text.startswith("The user says: ")] == Player(example).results
        assert trace.metrics["solved"] == 1.0
        rewards.append(reward)
        played.append({"task": task.data.task, "actions": trace.info["prove"]["actions"]})
        with pytest.raises(UnknownEpisode):
            worlds.episode(trace.state.episode)
    assert rewards == [1.3] * len(examples) == [answer["total"] for answer in score(played)]


class ReplyingPlayer(Player):
    """Player that sends all messages but the last by the reply tool."""

    def __init__(self, example):
        super().__init__(example)
        self._said = sum(1 for m in example["messages"] if m["role"] == "assistant" and not m.get("tool_calls"))

    def more(self):
        self._said -= 1
        return self._said > 0


def test_the_environment_before_v1_alternates_with_the_user(published, worlds, talkative, score):
    from prove_worlds.verifiers import load_environment

    environment = load_environment(worlds.url)
    row = next(row for row in environment.dataset if json.loads(row["info"])["task"] == talkative["id"])
    player = Player(talkative)

    def model(tools, messages):
        assert tools == [tool["function"] for tool in talkative["tools"]]
        content, calls = player.next()
        return content, [(f"call_{i}", name, json.dumps(arguments)) for i, (name, arguments) in enumerate(calls)]

    state = asyncio.run(environment.rollout(row, model))
    asyncio.run(environment.rubric.score_rollout(state))
    assert state["error"] is None
    assert (state["reward"], state["metrics"]["solved"]) == (1.3, 1.0)
    said = [message for message in state["completion"] if isinstance(message, dict)]
    assert [message["content"] for message in said if message["role"] == "tool"] == player.results
    assert [message["content"] for message in said if message["role"] == "user"] == users(talkative)[1:]
    (again,) = score([{"task": talkative["id"], "actions": state["prove"]["actions"]}])
    assert again["total"] == 1.3


def users(example):
    return [message["content"] for message in example["messages"] if message["role"] == "user"]


def test_a_malformed_call_counts_and_a_lost_episode_is_an_error_of_verifiers(published, worlds, talkative):
    from prove_worlds.verifiers import load_environment

    environment = load_environment(worlds.url, count=1)
    (row,) = environment.dataset
    said = iter([("", [("call_0", talkative["ground_truth"][0]["name"], "{not JSON")]), ("Done.", [])])
    state = asyncio.run(environment.rollout(row, lambda *_: next(said, ("Done.", []))))
    assert state["prove"]["components"]["validity"] == 0

    def close_it(*_):
        for episode in environment._playing.values():
            episode.close()
        return "Done.", []

    state = asyncio.run(environment.rollout(row, close_it))
    assert "unknown_episode" in str(state["error"])
    assert "prove" not in state


def test_inspect_lets_the_user_answer_each_message_without_calls(published, worlds, talkative):
    from inspect_ai.model import ChatMessageAssistant, ChatMessageUser
    from inspect_ai.solver import TaskState, generating
    from prove_worlds.inspect import prove

    task = prove(worlds.url, split="train")
    sample = next(sample for sample in task.dataset if sample.id == talkative["id"])
    state = TaskState(sample_id=sample.id, messages=list(sample.input), tools=[], metadata={}, completed=False)
    player = Player(talkative)
    generate = generating(lambda tools, messages: ChatMessageAssistant(*player.next()))
    state = asyncio.run(task.solver(state, generate))
    assert [message.content for message in state.messages if isinstance(message, ChatMessageUser)] == users(talkative)
    result = asyncio.run(task.scorer(state, None))
    assert result.value == {"total": 1.3, "solved": 1.0}
    assert result.metadata["components"]["validity"] == 1


def test_openenvs_own_server_and_prove_server_give_the_same_observations(published, worlds, examples):
    import httpx
    from openenv.core.env_server.mcp_types import CallToolAction, ListToolsAction
    from prove_worlds.openenv import create_prove_app

    app = create_prove_app(worlds)
    environment = app.env()
    assert environment.SUPPORTS_CONCURRENT_SESSIONS
    assert environment.state.episode_id is None
    # The same requests go to `prove-server env` directly.
    with httpx.Client(base_url=worlds.url, trust_env=False) as direct:
        for example in examples[:2]:
            theirs = direct.post("/reset", json={"task": example["id"]}).json()
            mine = environment.reset(task=example["id"])
            assert [tool.model_dump() for tool in mine.tools] == theirs["observation"]["tools"]
            sent = mine.model_dump(exclude={"reward", "done", "metadata"})
            assert sent["metadata"]["messages"] == theirs["observation"]["metadata"]["messages"]
            name = theirs["observation"]["metadata"]["episode_id"]
            player = Player(example)
            done = False
            while not done:
                content, calls = player.next()
                for tool, arguments in calls or [("reply_to_user", {"text": content})]:
                    action = {"type": "call_tool", "tool_name": tool, "arguments": arguments}
                    response = direct.post("/step", json={"action": action, "episode_id": name}).json()
                    observed = environment.step(CallToolAction(tool_name=tool, arguments=arguments))
                    done = response["done"]
                    assert (observed.result, observed.done) == (response["observation"]["result"], done)
                    assert observed.reward == response["reward"]
            assert observed.reward == 1.3
            state = direct.get("/state", params={"episode_id": name}).json()
            assert environment.state.step_count == state["step_count"]
            assert environment.step(ListToolsAction()).done
    last = environment.state.episode_id
    environment.close()
    with pytest.raises(UnknownEpisode):
        worlds.episode(last)
    seeded = environment.reset(seed=len(examples) + 1)
    assert seeded.metadata["task"] == examples[1]["id"]
    environment.close()


def test_the_space_serves_what_its_declaration_names(published, worlds, monkeypatch):
    space = Path(__file__).parents[1] / "space"
    declared = yaml.safe_load((space / "openenv.yaml").read_text())
    card = yaml.safe_load((space / "README.md").read_text().split("---")[1])
    assert declared["port"] == card["app_port"]
    file, name = declared["app"].replace(".", "/").split(":")
    monkeypatch.setenv("PROVE_WORLDS_URL", worlds.url)
    app = runpy.run_path(str(space / f"{file}.py"))[name]
    environment = app.env()
    assert environment.reset(seed=0).tools
    environment.close()

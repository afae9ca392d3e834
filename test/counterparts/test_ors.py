"""The clients `ors-sdk` and `openreward` of the Open Reward Standard over `prove-server env`."""

import json

import pytest
from openreward import OpenReward
from ors.client import ORS
from script import MODES
from scripted_model import REPLY_TOOL


@pytest.fixture(params=["ors", "openreward", "openreward with a variant"])
def environment(request, worlds, monkeypatch):
    """The environment of each client, whose paths differ."""
    for name in ("URL", "API_URL", "SESSION_URL"):
        monkeypatch.setenv(f"OPENREWARD_{name}", worlds.url)
    if request.param == "ors":
        with ORS(base_url=worlds.url) as client:
            yield client.environment("prove")
    else:
        variant = "prove" if "variant" in request.param else None
        client = OpenReward(api_key="none", base_url=worlds.url)
        yield client.environments.get("prove", variant=variant, base_url=worlds.url)


def calls(script):
    """Yield a script as single calls with objects as arguments."""
    for message in script.messages:
        for name, text in message.calls:
            yield name, json.loads(text)
        if not message.calls:
            yield REPLY_TOOL, {"text": message.text}


def play(environment, task, script):
    with environment.session(task=task) as session:
        assert session.get_prompt()[-1].text.endswith(script.opening)
        assert REPLY_TOOL in [tool.name for tool in session.list_tools()]
        for name, arguments in calls(script):
            output = session.call_tool(name, arguments)
        assert output.finished
        return output.reward


# The clients accept only objects as arguments, so an agent cannot send what is no JSON.
@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "unreadable"])
def test_every_session_gets_the_reward_of_prove_server_score(environment, scripts, assert_scored, mode):
    tasks = environment.list_tasks("train")
    assert len(tasks) == len(scripts[mode])
    assert len(environment.get_task_range("train", 0, 2)) == 2
    played = []
    for task in tasks[:3]:
        script = scripts[mode][task.task_spec["task"]]
        played.append((script.task, script.actions(), play(environment, task, script)))
    assert_scored(played)
    if mode == "right":
        assert {reward for _, _, reward in played} == {1.3}

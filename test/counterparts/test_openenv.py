"""OpenEnv's own server over `create_prove_app`, its clients, and its validation of the server and of the space."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from openenv.core import GenericEnvClient
from openenv.core.env_server.mcp_types import CallToolAction
from prove_worlds.openenv import ProveClient
from script import MODES
from scripted_model import REPLY_TOOL
from served import CHECKOUT, PATIENCE_S

SPACE = CHECKOUT / "prove-worlds" / "space"
PROGRAM = str(Path(sys.executable).parent / "openenv")


@contextmanager
def serving(url):
    """Serve the application of the space on a free port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "uvicorn", "server.app:app", "--host", "127.0.0.1", "--port", str(port)]
    env = {**os.environ, "PROVE_WORLDS_URL": url}
    process = subprocess.Popen([*command, "--log-level", "warning"], cwd=SPACE, env=env)
    try:
        origin, deadline = f"http://127.0.0.1:{port}", time.monotonic() + PATIENCE_S
        while not answers(origin):
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.2)
        yield origin
    finally:
        process.terminate()
        process.wait()


def answers(origin):
    try:
        return httpx.get(f"{origin}/health", trust_env=False).status_code == 200
    except httpx.TransportError:
        return False


@pytest.fixture(scope="module")
def space(worlds):
    with serving(worlds.url) as origin:
        yield origin


def steps(script):
    """Yield a script as single calls, each with the message around it."""
    for message in script.messages:
        for i, (name, text) in enumerate(message.calls):
            around = {"more": i + 1 < len(message.calls), **({"text": message.text} if i == 0 else {})}
            yield name, arguments_of(text), around
        if not message.calls:
            yield REPLY_TOOL, {"text": message.text}, {}


def arguments_of(text):
    """Return arguments for a client that accepts only objects. The reply tool has no argument `broken`."""
    try:
        return json.loads(text)
    except ValueError:
        return None


async def play_typed(origin, script):
    async with ProveClient(base_url=origin, message_timeout_s=PATIENCE_S) as env:
        opened = await env.reset(task=script.task)
        assert opened.observation.metadata["messages"][-1]["content"].endswith(script.opening)
        assert REPLY_TOOL in [tool.name for tool in opened.observation.tools]
        for name, arguments, around in steps(script):
            action = CallToolAction(tool_name=name, arguments=arguments, metadata={"prove/message": around})
            result = await env.step(action)
        return result


async def play_generic(origin, script):
    async with GenericEnvClient(base_url=origin, message_timeout_s=PATIENCE_S) as env:
        await env.reset(task=script.task)
        for name, arguments, around in steps(script):
            action = {"type": "call_tool", "tool_name": name, "arguments": arguments}
            result = await env.step({**action, "metadata": {"prove/message": around}})
        return result


@pytest.mark.parametrize("play", [play_typed, play_generic])
# OpenEnv's actions have objects as arguments, so an agent cannot send what is no JSON.
@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "unreadable"])
def test_every_episode_gets_the_reward_of_prove_server_score(space, scripts, assert_scored, mode, play):
    played = []
    for task, script in scripts[mode].items():
        result = asyncio.run(play(space, script))
        assert result.done
        played.append((task, script.actions(), result.reward))
    assert_scored(played)
    if mode == "right":
        assert {reward for _, _, reward in played} == {1.3}


def test_openenv_validates_the_running_server(space):
    done = subprocess.run(
        [PROGRAM, "validate", "--url", space, "--json", "--timeout", "60"],
        check=False,
        timeout=PATIENCE_S,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert done.returncode == 0, done.stdout


def test_openenv_validates_the_folder_of_the_space(tmp_path):
    done = subprocess.run(
        [PROGRAM, "validate", str(SPACE), "--level", "static", "--skip-build", "--json"],
        cwd=tmp_path,
        check=False,
        timeout=PATIENCE_S,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert done.returncode == 0, done.stdout

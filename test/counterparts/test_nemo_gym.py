"""NeMo Gym's agent and its model server over the resources server in `prove-server env`."""

import asyncio
import json
import socket
import threading
import urllib.request

import pytest
import uvicorn
from nemo_gym.config_types import BaseServerConfig
from nemo_gym.server_utils import GlobalAIOHTTPAsyncClientConfig, ServerClient, set_global_aiohttp_client
from omegaconf import OmegaConf
from responses_api_agents.simple_agent.app import SimpleAgent, SimpleAgentConfig
from responses_api_models.vllm_model.app import VLLMModel, VLLMModelConfig
from script import MODES, Message, Script
from scripted_model import ScriptedModel
from served import PATIENCE_S

ODD_CALLS = {
    "camel": ("CreateEvent", '{"title": "x"}'),
    "verify": ("verify", "{}"),
    "seed_session": ("seed_session", "{}"),
    "episodes": ("episodes", '{"index": 0}'),
    "aggregate_metrics": ("aggregate_metrics", "{}"),
    "a path": ("a/../b c?d#e", "{}"),
    "no name": ("", "{}"),
    "null": ("list_accounts", "null"),
    "a list": ("list_accounts", "[1]"),
    "a text": ("list_accounts", '"{}"'),
    "NaN": ("list_accounts", '{"limit": NaN}'),
    "no text": ("list_accounts", ""),
}
"""Calls that a model may write before its first right one. Names of routes are among them."""


def entry_of(kind, name, port):
    """Return a server as an entry of NeMo Gym's configuration."""
    return {name: {kind: {name: {"host": "127.0.0.1", "port": port}}}}


def free_socket():
    return socket.create_server(("127.0.0.1", 0))


class Gym:
    """
    NeMo Gym's agent and model server for each scripted model, in a thread of this process.

    They share NeMo Gym's global HTTP client.

    Attributes:
        agents: URL of the agent of each model.
    """

    def __init__(self, resources_port):
        self.agents = {}
        self._resources = entry_of("resources_servers", "prove", resources_port)
        self._servers = []
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)

    def add(self, name, model_url, model, **settings):
        """Add the servers of a model. `settings` are those of NeMo Gym's global configuration."""
        listening = [free_socket(), free_socket()]
        common = {"entrypoint": "app.py", "host": "127.0.0.1"}
        ports = [one.getsockname()[1] for one in listening]
        vllm = VLLMModelConfig(
            **common,
            name="policy_model",
            port=ports[0],
            base_url=model_url,
            api_key="none",
            model=model,
            return_token_id_information=False,
            uses_reasoning_parser=True,
        )
        agent = SimpleAgentConfig(
            **common,
            name="prove_simple_agent",
            port=ports[1],
            resources_server={"type": "resources_servers", "name": "prove"},
            model_server={"type": "responses_api_models", "name": vllm.name},
        )
        entries = {
            **self._resources,
            **entry_of("responses_api_models", vllm.name, vllm.port),
            **entry_of("responses_api_agents", agent.name, agent.port),
        }
        client = ServerClient(
            head_server_config=BaseServerConfig(host="127.0.0.1", port=1),
            global_config_dict=OmegaConf.create({**entries, **settings}),
        )
        for one, server in zip(
            listening,
            [VLLMModel(config=vllm, server_client=client), SimpleAgent(config=agent, server_client=client)],
            strict=True,
        ):
            self._servers.append((uvicorn.Server(uvicorn.Config(server.setup_webserver(), log_level="warning")), one))
        self.agents[name] = f"http://127.0.0.1:{agent.port}"

    async def _serve(self):
        async with set_global_aiohttp_client(GlobalAIOHTTPAsyncClientConfig()):
            await asyncio.gather(*(server.serve(sockets=[one]) for server, one in self._servers))

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        for server, _ in self._servers:
            server.should_exit = True
        self._thread.join(PATIENCE_S)

    def run(self, name, row):
        """Let the agent of a model play a row, and return its answer."""
        request = urllib.request.Request(
            f"{self.agents[name]}/run", json.dumps(row).encode(), {"content-type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            return json.load(answer)


@pytest.fixture(scope="module")
def odd_scripts(examples):
    """Scripts with each of the odd calls in a message before the first call."""
    scripts = {}
    for odd, call in ODD_CALLS.items():
        scripts[odd] = {}
        for example in examples:
            script = Script(example, "right")
            at = next(i for i, message in enumerate(script.messages) if message.calls)
            script.messages.insert(at, Message("", (call,)))
            scripts[odd][script.task] = script
    return scripts


@pytest.fixture(scope="module")
def gym(worlds, scripted_model, odd_scripts, tmp_path_factory):
    with ScriptedModel(odd_scripts) as odd_model:
        gym = Gym(int(worlds.url.rsplit(":", 1)[1]))
        for mode in MODES:
            gym.add(mode, scripted_model.url, mode)
        for odd in odd_scripts:
            gym.add(odd, odd_model.url, odd)
        captures = tmp_path_factory.mktemp("captures")
        observed = {"observability_enabled": True, "model_call_capture_dir": str(captures)}
        gym.add("observed", scripted_model.url, "wrong", **observed)
        with gym:
            yield gym


@pytest.fixture(scope="module")
def rows(worlds):
    with urllib.request.urlopen(f"{worlds.url}/nemo_gym.jsonl?split=train", timeout=PATIENCE_S) as answer:
        return [json.loads(line) for line in answer]


def play(gym, name, rows, scripts):
    """Play rows, and return `(task, messages, reward)` of each."""
    played = []
    for row in rows:
        script = scripts[row["verifier_metadata"]["task"]]
        done = gym.run(name, row)
        assert done["verifier_metadata"] == row["verifier_metadata"]
        played.append((script.task, script.actions(), done["reward"]))
    return played


@pytest.mark.parametrize("mode", MODES)
def test_every_rollout_gets_the_reward_of_prove_server_score(gym, rows, scripts, assert_scored, mode):
    assert len(rows) == len(scripts[mode])
    played = play(gym, mode, rows, scripts[mode])
    assert_scored(played)
    if mode == "right":
        assert {reward for _, _, reward in played} == {1.3}


@pytest.mark.parametrize("odd", ODD_CALLS)
def test_every_call_that_the_model_wrote_counts(gym, rows, odd_scripts, assert_scored, odd):
    assert_scored(play(gym, odd, rows[:2], odd_scripts[odd]))


def test_rollouts_with_observability_use_the_same_tools(gym, rows, scripts, assert_scored):
    """NeMo Gym then puts the name of the rollout before the path of each request."""
    row = {**rows[0], "_ng_task_index": 0, "_ng_rollout_index": 0}
    done = gym.run("observed", row)
    script = scripts["wrong"][row["verifier_metadata"]["task"]]
    assert_scored([(script.task, script.actions(), done["reward"])])
    results = [item["output"] for item in done["response"]["output"] if item["type"] == "function_call_output"]
    assert "error" in results[0]
    assert "error" not in results[1]

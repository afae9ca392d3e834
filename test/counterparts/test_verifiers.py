"""`vf-eval` of verifiers over the taskset of `prove_worlds.verifiers`, with the command of the README."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from script import MODES
from served import CHECKOUT, PATIENCE_S

README = (CHECKOUT / "prove-worlds" / "README.md").read_text()
(COMMAND,) = re.findall(r"^(?:\w+=\w+ )?vf-eval .*?(?<!\\)$", README, re.MULTILINE | re.DOTALL)


TASKS = 2


def evaluate(folder, url, model, mode):
    """Run the README's command with other addresses, and return the traces of its rollouts."""
    text = COMMAND.replace("\\\n", " ").replace("http://127.0.0.1:9001/v1", model.url)
    text = text.replace("http://127.0.0.1:8080", url).replace("-m my-model", f"-m {mode}")
    words = shlex.split(text.replace("-n 5", f"-n {TASKS} -c 1"))
    settings = [word for word in words if "=" in word.split("-")[0]]
    program = [str(Path(sys.executable).parent / "vf-eval"), *words[len(settings) + 1 :], "-o", str(folder)]
    env = {**os.environ, **dict(word.split("=", 1) for word in settings)}
    # The harness's program has packages of its own, which uv installs from the same index.
    env["UV_CACHE_DIR"] = str(CHECKOUT / ".cache" / "counterparts" / "uv")
    env["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), env["PATH"]])
    done = subprocess.run(
        program,
        cwd=folder,
        env=env,
        check=False,
        timeout=4 * PATIENCE_S,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    lines = [line for file in folder.rglob("traces.jsonl") for line in file.read_text().splitlines()]
    traces = [trace for line in lines for trace in json.loads(line)["traces"]]
    assert done.returncode == 0 and len(traces) == TASKS, done.stdout[-4000:]
    return traces


@pytest.mark.parametrize("mode", MODES)
def test_every_rollout_gets_the_reward_of_prove_server_score(
    worlds, scripts, scripted_model, assert_scored, tmp_path, mode
):
    traces = evaluate(tmp_path, worlds.url, scripted_model, mode)
    played = []
    for trace in traces:
        assert trace["errors"] == []
        task = trace["task"]["data"]["task"]
        (reward,) = trace["rewards"].values()
        total = trace["info"]["prove"]["total"]
        assert reward["score"] * reward["weight"] == total
        played.append((task, scripts[mode][task].actions(), total))
    assert_scored(played)
    if mode == "right":
        assert {total for _, _, total in played} == {1.3}

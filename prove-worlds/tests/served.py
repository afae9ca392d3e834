"""Fixtures of tests that play tasks: a data set, `prove-server env` over it, and `prove-server score`."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
sys.path.insert(0, str(Path(__file__).parent.parent / "src"))

from prove_worlds import Worlds  # noqa: E402

PROGRAM = CHECKOUT / "bin" / "prove-server.cjs"
PATIENCE_S = 300.0
"""Time limit that only a hang exceeds."""


def run_node(code: str, *arguments: str) -> str:
    """Run JavaScript in the built checkout and return its output."""
    command = ["node", "--input-type=module", "-e", code, *arguments]
    return subprocess.run(
        command, cwd=CHECKOUT, check=True, timeout=PATIENCE_S, stdout=subprocess.PIPE, text=True
    ).stdout


@pytest.fixture(scope="session", name="run_node")
def _run_node():
    return run_node


@pytest.fixture(scope="session")
def dataset(tmp_path_factory):
    """Folder of a data set with six tasks in the vocabulary of the demo model."""
    folder = tmp_path_factory.mktemp("tasks") / "demo"
    run_node(
        "const { writeDemoTasks } = await import('./dist/test/support/demo-tasks.js');"
        "await writeDemoTasks(process.argv[1], 6, 0)",
        str(folder),
    )
    return folder


@pytest.fixture(scope="session")
def examples(dataset):
    lines = (dataset / "data" / "train.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture(scope="session")
def worlds(dataset):
    with Worlds.start(dataset, program=PROGRAM, start_timeout_s=PATIENCE_S, timeout_s=PATIENCE_S) as worlds:
        yield worlds


@pytest.fixture(scope="session")
def score(dataset):
    """Function that runs `prove-server score` with a reward preset."""

    def run(rollouts, reward="paper"):
        lines = "".join(json.dumps(rollout) + "\n" for rollout in rollouts)
        command = ["node", str(PROGRAM), "score", "--dataset", str(dataset), "--reward", reward]
        done = subprocess.run(command, input=lines, check=True, timeout=PATIENCE_S, stdout=subprocess.PIPE, text=True)
        return [json.loads(line) for line in done.stdout.splitlines()]

    return run

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "prove-worlds" / "tests")]

import pytest  # noqa: E402
from script import MODES, Script  # noqa: E402
from scripted_model import ScriptedModel  # noqa: E402
from served import _run_node, dataset, examples, score, worlds  # noqa: E402

__all__ = ["_run_node", "dataset", "examples", "score", "worlds"]


@pytest.fixture(scope="session")
def scripts(examples):
    """Scripts of all tasks in all modes: what a model writes, by mode and then by the id of the task."""
    return {mode: {example["id"]: Script(example, mode) for example in examples} for mode in MODES}


@pytest.fixture(scope="session")
def scripted_model(scripts):
    """Server of OpenAI's chat completions, whose models are the modes and write the scripts."""
    with ScriptedModel(scripts) as model:
        yield model


@pytest.fixture
def assert_scored(score):
    """Function that compares rewards with `prove-server score` over the messages that the model wrote."""

    def compare(played):
        """Compare `(task, messages, reward)` of each episode."""
        lines = [
            {"task": task, "actions": [part for message in messages for part in message]}
            for task, messages, _ in played
        ]
        wanted = [answer["total"] for answer in score(lines)]
        assert [reward for _, _, reward in played] == wanted
        assert played

    return compare

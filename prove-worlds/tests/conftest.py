import re
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from served import CHECKOUT, _run_node, dataset, examples, score, worlds

__all__ = ["_run_node", "dataset", "examples", "score", "worlds"]


@pytest.fixture
def readme(worlds, tmp_path, monkeypatch):
    """Function that runs the README program that contains a word, and returns its variables."""
    from prove_worlds import Worlds

    text = (CHECKOUT / "prove-worlds" / "README.md").read_text()
    programs = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Worlds, "start", lambda _: nullcontext(worlds))

    def run(word):
        (program,) = [program for program in programs if word in program]
        variables = {"__name__": "__main__"}
        exec(compile(program, "README.md", "exec"), variables)
        return variables

    return run

"""An exported adapter, as other programs load it."""

import json
import subprocess

import pytest
from served import CHECKOUT, PATIENCE_S

ROUNDING = 0.02
"""Nats between two programs, or between an adapter in float32 and the same in float16 (docs/reference/trainer.md)."""


@pytest.fixture(scope="session")
def exported(tmp_path_factory):
    """Folder of an adapter, and what the trainer computes with it."""
    folder = tmp_path_factory.mktemp("my-adapter")
    python, program = CHECKOUT / ".venv" / "bin" / "python", CHECKOUT / "test" / "counterparts" / "make_adapter.py"
    done = subprocess.run(
        [str(python), str(program), str(folder)],
        check=True,
        timeout=4 * PATIENCE_S,
        stdout=subprocess.PIPE,
        text=True,
    )
    return folder, json.loads(done.stdout)

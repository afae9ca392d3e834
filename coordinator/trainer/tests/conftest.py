import sys
from pathlib import Path

import pytest
import torch

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]

import fixtures  # noqa: E402
from prove_trainer.gguf_base import load_base  # noqa: E402
from prove_trainer.jobs import sha256_file  # noqa: E402


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def base_path(tmp_path_factory):
    return fixtures.write_base(tmp_path_factory.mktemp("base") / "tiny.gguf")


@pytest.fixture(scope="session")
def base(base_path):
    return load_base(base_path, sha256_file(base_path))

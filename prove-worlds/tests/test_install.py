"""The package as pip builds and installs it, with the program as npm links it: no path leads into the checkout."""

import os
import re
import shutil
import subprocess
import sys

import pytest
from served import CHECKOUT, PATIENCE_S, PROGRAM

PROJECT = CHECKOUT / "prove-worlds"


@pytest.fixture(scope="session")
def installed(tmp_path_factory):
    """Folder that `pip install ./prove-worlds` fills. httpx is installed already, and setuptools with torch."""
    folder = tmp_path_factory.mktemp("installed")
    source = folder / "prove-worlds"
    shutil.copytree(PROJECT, source, ignore=shutil.ignore_patterns("tests", "build", "*.egg-info", "__pycache__"))
    target = folder / "packages"
    options = ["--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--target", str(target)]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, str(source)], check=True, timeout=PATIENCE_S)
    return target


def run(installed, folder, program):
    path = os.pathsep.join([str(folder / "bin"), os.environ["PATH"]])
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(installed), "PATH": path},
        check=True,
        timeout=PATIENCE_S,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout.splitlines()


def test_the_first_program_of_the_readme_runs_with_the_installed_package(installed, dataset, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "prove-server").symlink_to(PROGRAM)
    (tmp_path / "my-tasks").symlink_to(dataset)
    readme = (PROJECT / "README.md").read_text()
    (program,) = re.findall(r"^```python\n([^`]*worlds\.open\(index=0\)[^`]*)^```", readme, re.MULTILINE)
    printed = run(installed, tmp_path, program)
    assert printed[0] == "{'train': 6}"
    assert printed[-1].startswith("Score(total=")


def test_every_module_and_the_types_are_installed(installed, tmp_path):
    package = installed / "prove_worlds"
    source = PROJECT / "src" / "prove_worlds"

    def files(folder):
        found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
        return sorted(str(path) for path in found if "__pycache__" not in path.parts)

    assert files(package) == files(source)
    assert "py.typed" in files(package)
    code = (
        "from importlib.metadata import entry_points, version;"
        "print(version('prove-worlds'), *(point.value for point in entry_points(group='inspect_ai')))"
    )
    assert run(installed, tmp_path, code) == ["0.1.0 prove_worlds.inspect"]

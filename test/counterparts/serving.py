"""`prove-node serve` with the demo model, for clients of OpenAI's API."""

import json
import re
import subprocess

import pytest
from served import CHECKOUT, run_node

MODEL = "demo"
QUESTION = "List my checking accounts."

TOOLS = """
const { CATALOGUE } = await import('./dist/test/support/catalogue.js')
const { offeredTool } = await import('./dist/servers/kernel/index.js')
const named = CATALOGUE.get('banking').tools.filter(({ name }) => name === 'list_accounts')
const tools = named.map((tool) => offeredTool(tool))
process.stdout.write(JSON.stringify(tools.map(({ name, description, inputSchema: parameters }) => (
  { type: 'function', function: { name, description, parameters } }))))
"""

TOO_LONG = "word " * 4000
"""A message that does not fit into the context."""


@pytest.fixture(scope="session")
def served_model():
    """Base URL of the server."""
    model = CHECKOUT / "models" / "demo" / "prove-demo-base-f16.gguf"
    command = ["node", str(CHECKOUT / "bin" / "prove-node.cjs"), "serve", "--model", str(model), "--model-name", MODEL]
    options = ["--port", "0", "--cpu", "--threads", "1", "--context", "2048"]
    process = subprocess.Popen([*command, *options], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    line = process.stdout.readline()
    found = re.search(r" at (http:\S+), context ", line)
    assert found, line
    yield found[1]
    process.terminate()
    process.wait()


@pytest.fixture(scope="session")
def tools():
    """Tools of the question in OpenAI's format."""
    return json.loads(run_node(TOOLS))

"""llama.cpp's server with the `adapter.gguf` of an exported adapter."""

import json
import urllib.request

import pytest
import xllamacpp
from adapters import ROUNDING, exported
from served import PATIENCE_S

__all__ = ["exported"]


@pytest.fixture(params=["adapted", "bare"])
def served(request, exported):
    """Server with the adapter or without, and what the trainer computes."""
    folder, trained = exported
    params = xllamacpp.CommonParams()
    params.model.path = trained["base"]
    params.n_ctx = 512
    params.n_parallel = 1
    params.warmup = False
    params.cpuparams.n_threads = 1
    params.port = 0
    if request.param == "adapted":
        adapter = xllamacpp.CommonAdapterLoraInfo()
        adapter.path, adapter.scale = str(folder / "adapter.gguf"), 1.0
        params.lora_adapters = [adapter]
    server = xllamacpp.Server(params)
    # The server ends with its object.
    return server, trained["ids"], trained[request.param]


def complete(url, body):
    request = urllib.request.Request(
        f"{url}/completion", json.dumps(body).encode(), {"content-type": "application/json"}
    )
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=PATIENCE_S) as answer:
        return json.load(answer)


def test_the_next_token_has_the_log_probabilities_of_the_trainer(served):
    server, ids, wanted = served
    body = {"prompt": ids, "n_predict": 1, "n_probs": 5, "temperature": 0, "cache_prompt": False}
    (token,) = complete(server.listening_address, body)["completion_probabilities"]
    found = {str(one["id"]): one["logprob"] for one in token["top_logprobs"]}
    assert found == pytest.approx(wanted, abs=ROUNDING)

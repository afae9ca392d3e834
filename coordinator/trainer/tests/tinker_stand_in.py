"""
A service on this machine that answers as the published Tinker API does, and trains: transformers and PEFT as they are,
one sequence after the other, with nothing of the trainer's own forward pass, loss or optimizer.
"""

import io
import json
import tarfile
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

import torch
from peft import LoraConfig, get_peft_model, get_peft_model_state_dict, set_peft_model_state_dict
from safetensors.torch import save
from transformers import Qwen3ForCausalLM

KEY = "tml-secret-of-a-test"
ATTENTION = ["k_proj", "o_proj", "q_proj", "v_proj"]
MLP = ["down_proj", "gate_proj", "up_proj"]


class Refusal(Exception):
    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status


class Trained:
    """A model with an adapter, its gradients, and its optimizer."""

    def __init__(self, base: Qwen3ForCausalLM, config: dict, alpha: float) -> None:
        fresh = Qwen3ForCausalLM(base.config)
        fresh.load_state_dict(base.state_dict())
        self.modules = [*(ATTENTION if config["train_attn"] else []), *(MLP if config["train_mlp"] else [])]
        with torch.random.fork_rng():
            torch.manual_seed(config["seed"])
            self.model = get_peft_model(
                fresh.eval(), LoraConfig(r=config["rank"], lora_alpha=alpha, target_modules=self.modules)
            )
        self.config = {"r": config["rank"], "lora_alpha": alpha, "target_modules": self.modules}
        self.parameters = [parameter for parameter in self.model.parameters() if parameter.requires_grad]
        self.optimizer = torch.optim.AdamW(self.parameters, lr=0.0)
        self.done: dict[int, str] = {}  # by number of the request, what was promised for it
        self.steps = 0

    def forward_backward(self, given: dict) -> dict:
        if given["loss_fn"] != "cross_entropy":
            raise Refusal(400, "unknown loss")
        outputs = []
        for datum in given["data"]:
            tokens = [token for chunk in datum["model_input"]["chunks"] for token in chunk["tokens"]]
            inputs = datum["loss_fn_inputs"]
            targets = torch.tensor(inputs["target_tokens"]["data"])
            weights = torch.tensor(inputs["weights"]["data"], dtype=torch.float32)
            if not len(tokens) == len(targets) == len(weights):
                raise Refusal(400, "lengths differ")
            logits = self.model(input_ids=torch.tensor([tokens]), use_cache=False).logits[0].float()
            logp = logits.log_softmax(-1).gather(1, targets[:, None])[:, 0]
            (-(logp * weights).sum()).backward()
            outputs.append({"logprobs": {"data": logp.tolist(), "dtype": "float32", "shape": [len(targets)]}})
        return {"loss_fn_output_type": "TorchLossReturn", "loss_fn_outputs": outputs, "metrics": {}}

    def optim_step(self, adam: dict) -> dict:
        if adam["grad_clip_norm"] > 0:
            torch.nn.utils.clip_grad_norm_(self.parameters, adam["grad_clip_norm"])
        for group in self.optimizer.param_groups:
            group |= {
                "lr": adam["learning_rate"],
                "betas": (adam["beta1"], adam["beta2"]),
                "eps": adam["eps"],
                "weight_decay": adam["weight_decay"],
            }
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.steps += 1
        return {"metrics": {}}

    def adapter(self) -> dict[str, torch.Tensor]:
        return {name: values.detach().clone() for name, values in get_peft_model_state_dict(self.model).items()}

    def saved(self) -> dict:
        # A copy: the optimizer goes on with the tensors that it gives out.
        box = io.BytesIO()
        torch.save({"adapter": self.adapter(), "optimizer": self.optimizer.state_dict()}, box)
        return {"bytes": box.getvalue()}

    def load(self, saved: dict) -> None:
        state = torch.load(io.BytesIO(saved["bytes"]))
        set_peft_model_state_dict(self.model, state["adapter"])
        self.optimizer.load_state_dict(state["optimizer"])


def archive_of(files: dict[str, bytes], mode: str = "w:gz", extra: tuple[tarfile.TarInfo, ...] = ()) -> bytes:
    box = io.BytesIO()
    with tarfile.open(fileobj=box, mode=mode) as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
        for info in extra:
            tar.addfile(info)
    return box.getvalue()


class StandIn:
    """
    `faults`: by the last part of a path, what happens to its next requests in place of an answer: a status, or
    'drop' to carry it out and break the connection. `before`: called with the path and the content of each request.
    """

    def __init__(self, base: Qwen3ForCausalLM, alpha: float = 8.0) -> None:
        self.base = base
        self.alpha = alpha
        self.models: dict[str, Trained] = {}
        self.states: dict[str, dict] = {}
        self.archives: dict[str, bytes] = {}
        self.results: dict[str, dict] = {}
        self.pending = 0  # answers 'try again' for each promise
        self.asked: dict[str, int] = {}
        self.log: list[str] = []
        self.faults: dict[str, list[int | str]] = {}
        self.words = "out of order"
        self.before: Callable[[str, dict], None] = lambda *_: None
        self.change: Callable[[dict[str, torch.Tensor], dict], None] = lambda *_: None
        self.location: str | None = None
        self.beat = threading.Event()
        self._lock = threading.Lock()
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                owner._serve(self, {})

            def do_POST(self) -> None:
                owner._serve(self, json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/services/here"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    @property
    def steps(self) -> int:
        """Of all optimizers."""
        return sum(model.steps for model in self.models.values())

    def _serve(self, request: BaseHTTPRequestHandler, content: dict) -> None:
        path = unquote(request.path)
        name = path.rpartition("/")[2]
        with self._lock:
            self.log.append(name)
            fault = (self.faults.get(name) or [None]).pop(0)
            try:
                if isinstance(fault, int):
                    raise Refusal(fault, self.words)
                self.before(name, content)
                found = self._answer(path, content, request.headers.get("X-API-Key"))
            except Refusal as refusal:
                found = refusal
        if fault == "drop":
            request.close_connection = True
            return
        if isinstance(found, Refusal):
            self._send(request, found.status, json.dumps({"detail": str(found)}).encode(), {"Retry-After": "3"})
        elif isinstance(found, bytes):
            self._send(request, 200, found, {})
        elif "location" in found:
            self._send(request, 302, b"", {"Location": found["location"]})
        else:
            self._send(request, 200, json.dumps(found).encode(), {})

    def _send(self, request: BaseHTTPRequestHandler, status: int, body: bytes, headers: dict[str, str]) -> None:
        request.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            request.send_header(name, value)
        request.end_headers()
        request.wfile.write(body)

    def _answer(self, path: str, content: dict, key: str | None) -> dict | bytes:
        if path.startswith("/storage/"):
            if key is not None:
                raise Refusal(400, "storage has no business with a key")
            return self.archives[path.removeprefix("/storage/")]
        if key != KEY:
            raise Refusal(401, f"{key} is not known")
        name = path.removeprefix("/services/here/api/v1/")
        if name == "get_server_capabilities":
            return {"supported_models": [{"model_name": "Random/Tiny", "max_context_length": 256}]}
        if name == "create_session":
            return {"type": "create_session", "session_id": "session-1"}
        if name == "session_heartbeat":
            self.beat.set()
            return {"type": "session_heartbeat"}
        if name == "create_model":
            if content["base_model"] != "Random/Tiny" or content["lora_config"]["train_unembed"]:
                raise Refusal(400, "no such model")
            model_id = f"run-{len(self.models)}"
            self.models[model_id] = Trained(self.base, content["lora_config"], self.alpha)
            return self._promise({"model_id": model_id, "type": "create_model"})
        if name == "unload_model":
            return self._promise({"type": "unload_model"})
        if name == "retrieve_future":
            return self._result(content["request_id"])
        if name.startswith("training_runs/"):
            _, run, _, kind, checkpoint, _ = name.split("/")
            return {
                "location": self.location
                or f"{self.url.removesuffix('/services/here')}/storage/{run}/{kind}/{checkpoint}"
            }
        return self._of_model(name, content)

    def _promise(self, result: dict) -> dict:
        request_id = str(len(self.results))
        self.results[request_id] = result
        return {"request_id": request_id}

    def _result(self, request_id: str) -> dict:
        self.asked[request_id] = self.asked.get(request_id, 0) + 1
        if self.asked[request_id] <= self.pending:
            if self.asked[request_id] % 2:
                raise Refusal(408, "nothing yet")
            return {"type": "try_again", "request_id": request_id, "queue_state": "active"}
        return self.results[request_id]

    def _of_model(self, name: str, content: dict) -> dict:
        model = self.models.get(content["model_id"])
        if model is None:
            raise Refusal(404, "no such model")
        number = content["seq_id"]
        if number in model.done:  # an attempt that it has had
            return {"request_id": model.done[number]}
        if number != len(model.done) + 1:
            raise Refusal(400, f"request {number} after {len(model.done)}")
        promise = self._promise(self._carry_out(name, content, model))
        model.done[number] = promise["request_id"]
        return promise

    def _carry_out(self, name: str, content: dict, model: Trained) -> dict:
        if name == "forward_backward":
            return model.forward_backward(content["forward_backward_input"])
        if name == "optim_step":
            return model.optim_step(content["adam_params"])
        if name == "load_weights":
            if model.done:
                raise Refusal(400, "LoadWeights is not permitted")
            if content["path"] not in self.states:
                raise Refusal(404, "no such checkpoint")
            model.load(self.states[content["path"]])
            return {"type": "load_weights", "path": content["path"]}
        if name == "save_weights":
            path = f"tinker://{content['model_id']}/weights/{content['path']}"
            if path in self.states:
                raise Refusal(409, "exists")
            self.states[path] = model.saved()
            return {"type": "save_weights", "path": path}
        if name == "save_weights_for_sampler":
            tensors, config = model.adapter(), dict(model.config)
            self.change(tensors, config)
            files = {"adapter_model.safetensors": save(tensors), "adapter_config.json": json.dumps(config).encode()}
            self.archives[f"{content['model_id']}/sampler_weights/{content['path']}"] = archive_of(files)
            return {"type": name, "path": f"tinker://{content['model_id']}/sampler_weights/{content['path']}"}
        raise Refusal(404, "no such path")

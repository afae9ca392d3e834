"""
Client of a remote training service with Tinker's published HTTP API: a session, models in it with numbered requests,
and results that are polled until they are ready.
"""

import logging
import re
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar
from urllib.parse import quote

import numpy as np

from . import __version__
from .config import ATTENTION_PROJECTIONS, MLP_PROJECTIONS, LoraSettings, OptimizerSettings
from .errors import TrainerError
from .limits import (
    SERVICE_BEAT_SECONDS,
    SERVICE_LONGEST_PAUSE,
    SERVICE_PARTING_SECONDS,
    SERVICE_POLL_PAUSE,
    SERVICE_REQUEST_TOKENS,
)
from .tinker_http import ServiceHttp, StatusError, Transient

log = logging.getLogger("prove_trainer")

_IDENTIFIER = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_STATE_PATH = re.compile(r"tinker://[A-Za-z0-9._:-]{1,128}/weights/[A-Za-z0-9._-]{1,128}")
_GONE = (404, 410)

_SESSION = {"tags": ["prove"], "user_metadata": {}, "sdk_version": __version__, "type": "create_session"}

T = TypeVar("T")


class Interrupted(Exception):
    """The service failed at a request of a model. A retry from the last saved state may succeed."""


class Gone(Interrupted):
    """The service no longer has a model, a promised result or a saved state."""


@dataclass(frozen=True)
class Datum:
    """A sequence, and the weight of the log-probability of each token but the first."""

    ids: np.ndarray  # [L]
    weights: np.ndarray  # [L - 1] float32: of ids[1:]; the loss is minus the weighted sum of their log-probabilities

    def content(self) -> dict[str, Any]:
        return {
            "model_input": {"chunks": [{"type": "encoded_text", "tokens": self.ids[:-1].tolist()}]},
            "loss_fn_inputs": {
                "target_tokens": {"data": self.ids[1:].tolist(), "dtype": "int64", "shape": [len(self.ids) - 1]},
                "weights": {"data": self.weights.tolist(), "dtype": "float32", "shape": [len(self.ids) - 1]},
            },
        }


def in_requests(data: Sequence[Datum]) -> list[list[Datum]]:
    """Split data in order into requests of at most `SERVICE_REQUEST_TOKENS` tokens, with at least one datum each."""
    requests: list[list[Datum]] = []
    tokens = 0
    for datum in data:
        if requests and tokens + len(datum.ids) <= SERVICE_REQUEST_TOKENS:
            requests[-1].append(datum)
            tokens += len(datum.ids)
        else:
            requests.append([datum])
            tokens = len(datum.ids)
    return requests


class TinkerService:
    """
    One service. `pause` sleeps for a number of seconds, and may raise to give up. `tell` is called once for each outage
    of the service, with the reason; the client then waits.
    """

    def __init__(
        self,
        http: ServiceHttp,
        model: str,
        pause: Callable[[float], None],
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.http = http
        self.model = model
        self.pause = pause
        self._tell = tell

    def check(self) -> None:
        """
        Check key and model. Raises TrainerError `service_key` for a refused key, `service_model` without the model.
        """
        answer = self.call(lambda: self.http.get("/api/v1/get_server_capabilities"))
        listed = answer.get("supported_models")
        names = [one.get("model_name") for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
        if self.model not in names:
            there = self.http.said(", ".join(map(str, names)))
            raise TrainerError("service_model", f"the service has no {self.model}; set tinker.model to one of: {there}")

    def new_model(self, lora: LoraSettings, seed: int) -> "TinkerModel":
        """Create a model with a new adapter."""
        session = _text(self._post("create_session", _SESSION), "session_id")
        config = {
            "rank": lora.rank,
            "seed": seed,
            "train_unembed": False,
            "train_mlp": set(MLP_PROJECTIONS) <= set(lora.target_modules),
            "train_attn": set(ATTENTION_PROJECTIONS) <= set(lora.target_modules),
        }
        beats = _Beats(self.http, session)
        try:
            asked = {"session_id": session, "model_seq_id": 0, "base_model": self.model, "lora_config": config}
            made = self.result(self._post("create_model", {**asked, "type": "create_model"}))
            return TinkerModel(self, _text(made, "model_id"), beats)
        except BaseException:
            beats.end()
            raise

    def saved_model(self, path: str, lora: LoraSettings, seed: int) -> "TinkerModel":
        """Create a model from the state saved at `path`. Raises TrainerError `service_state` if the state is gone."""
        model = self.new_model(lora, seed)
        try:
            # The service loads a state only as the first request of a model.
            model.request("load_weights", {"path": path, "optimizer": True})
        except Gone as error:
            model.close()
            raise TrainerError("service_state", f"the service no longer has {path}: {error}") from error
        except BaseException:
            model.close()
            raise
        return model

    def call(self, attempt: Callable[[], T]) -> T:
        """
        Call `attempt` until it succeeds, and return its result. Raises TrainerError `service_refused`, or the error of
        `pause`.
        """
        failures = 0
        while isinstance(found := _tried(attempt), Transient):
            if failures == 0:
                self._tell(str(found))
            log.warning("the service does not answer as it should: %s", found)
            self.pause(max(found.after, min(2.0**failures, SERVICE_LONGEST_PAUSE)))
            failures = min(failures + 1, 16)
        return found

    def _post(self, path: str, content: dict[str, Any]) -> dict[str, Any]:
        return self.call(lambda: self.http.post(f"/api/v1/{path}", content))

    def result(self, promise: dict[str, Any]) -> dict[str, Any]:
        """
        Wait for a promised result. Raises Interrupted when the service lost it, TrainerError `service_refused` when the
        service blames the request.
        """
        request = _text(promise, "request_id")
        while True:
            answer = self.call(lambda: self._poll(request))
            if answer is None or answer.get("type") == "try_again":
                self.pause(SERVICE_POLL_PAUSE)
            elif "error" in answer:
                words = self.http.said(str(answer["error"]))
                if str(answer.get("category")).lower() == "user":
                    raise TrainerError("service_refused", f"the service says: {words}")
                raise Interrupted(words)
            else:
                return answer

    def _poll(self, request: str) -> dict[str, Any] | None:
        try:
            return self.http.post("/api/v1/retrieve_future", {"request_id": request})
        except StatusError as error:
            if error.status == 408:  # nothing yet
                return None
            if error.status in _GONE:
                raise Gone(str(error)) from error
            raise


class TinkerModel:
    """A model at the service, with gradients and an optimizer. The service runs its requests in order."""

    def __init__(self, service: TinkerService, name: str, beats: "_Beats") -> None:
        self.service = service
        self.name = name
        self._beats = beats
        self._requests = 0

    def request(self, path: str, content: dict[str, Any]) -> dict[str, Any]:
        """
        Send a request and return its result. All attempts have one number, by which the service detects repetitions.

        Raises Interrupted, and TrainerError `service_refused`.
        """
        self._requests += 1
        body = {"model_id": self.name, "seq_id": self._requests, **content, "type": path}
        return self.service.result(self.service.call(lambda: self._post(path, body)))

    def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        try:
            return self.service.http.post(f"/api/v1/{path}", body)
        except StatusError as error:
            if error.status in _GONE:
                raise Gone(str(error)) from error
            raise

    def learn(self, data: Sequence[Datum]) -> list[np.ndarray]:
        """
        Add the gradients of the weighted log-probabilities. Returns the log-probabilities (nats), [L - 1] for each
        datum.
        """
        found: list[np.ndarray] = []
        for part in in_requests(data):
            content = {"data": [datum.content() for datum in part], "loss_fn": "cross_entropy"}
            answer = self.request("forward_backward", {"forward_backward_input": content})
            outputs = answer.get("loss_fn_outputs")
            if not isinstance(outputs, list) or len(outputs) != len(part):
                raise TrainerError("service_answer", "forward_backward does not answer for each sequence")
            found += [_numbers(output, len(datum.ids) - 1) for output, datum in zip(outputs, part, strict=True)]
        return found

    def step(self, settings: OptimizerSettings, rate: float) -> None:
        """Take one step of AdamW with the gradients added since the last step."""
        adam = {
            "learning_rate": rate,
            "beta1": settings.beta1,
            "beta2": settings.beta2,
            "eps": settings.eps,
            "weight_decay": settings.weight_decay,
            "grad_clip_norm": settings.max_grad_norm,
        }
        self.request("optim_step", {"adam_params": adam})

    def save_state(self, name: str) -> str:
        """Save adapter and optimizer, and return their path for `TinkerService.saved_model`."""
        path = self._save("save_weights", "weights", name)
        if not _STATE_PATH.fullmatch(path):
            raise TrainerError("service_answer", "the service names no valid path of the saved state")
        return path

    def download_adapter(self, name: str, limit: int) -> bytes:
        """Download an archive with the current adapter, of at most `limit` bytes."""
        self._save("save_weights_for_sampler", "sampler_weights", name)
        run = f"/api/v1/training_runs/{quote(self.name, safe='')}"
        service = self.service
        # An address of storage expires: after a refusal, the client asks for a new one.
        for _ in range(2):
            url = service.call(lambda: service.http.locate(f"{run}/checkpoints/sampler_weights/{name}/archive"))
            archive = service.call(partial(self._fetch, url, limit))
            if archive is not None:
                return archive
        raise Interrupted("the adapter is not at the address that the service names")

    def _fetch(self, url: str, limit: int) -> bytes | None:
        try:
            return self.service.http.download(url, limit)
        except StatusError as error:
            log.warning("the adapter is not at the address that the service names: %s", error)
            return None

    def _save(self, path: str, kind: str, name: str) -> str:
        try:
            return str(self.request(path, {"path": name}).get("path"))
        except TrainerError as error:
            # An earlier attempt whose answer was lost has saved it: names are unique in each model.
            if not isinstance(error.__cause__, StatusError) or error.__cause__.status != 409:
                raise
            return f"tinker://{self.name}/{kind}/{name}"

    def close(self) -> None:
        """Unload the model. A failure is only logged: the end of the session unloads it too."""
        self._beats.end()
        try:
            asked = {"model_id": self.name, "type": "unload_model"}
            self.service.http.post("/api/v1/unload_model", asked, SERVICE_PARTING_SECONDS)
        except (Transient, StatusError, TrainerError) as error:
            log.warning("a model was not unloaded: %s", error)


class _Beats:
    """Heartbeats: without them the service ends a session while this process computes."""

    def __init__(self, http: ServiceHttp, session: str, interval: float = SERVICE_BEAT_SECONDS) -> None:
        self._http = http
        self._session = session
        self._over = threading.Event()

        def live() -> None:
            while not self._over.wait(interval):
                self._beat()

        threading.Thread(target=live, name="beats", daemon=True).start()

    def _beat(self) -> None:
        asked = {"session_id": self._session, "type": "session_heartbeat"}
        try:
            self._http.post("/api/v1/session_heartbeat", asked, SERVICE_BEAT_SECONDS)
        except (Transient, StatusError, TrainerError) as error:
            log.warning("a heartbeat failed: %s", error)

    def end(self) -> None:
        self._over.set()


def _tried(attempt: Callable[[], T]) -> T | Transient:
    try:
        return attempt()
    except Transient as error:
        return error
    except StatusError as error:
        raise TrainerError("service_refused", f"the service answers {error}") from error


def _text(answer: dict[str, Any], key: str) -> str:
    value = answer.get(key)
    if not isinstance(value, str) or not _IDENTIFIER.fullmatch(value):
        raise TrainerError("service_answer", f"an answer without a usable {key}")
    return value


def _numbers(output: object, count: int) -> np.ndarray:
    """Return the log-probabilities in one output of `cross_entropy`."""
    tensor = output.get("logprobs") if isinstance(output, dict) else None
    data = tensor.get("data") if isinstance(tensor, dict) else None
    if isinstance(data, list) and len(data) == count and all(isinstance(value, float | int) for value in data):
        with suppress(OverflowError):  # of an integer
            return np.array([float(value) for value in data])
    raise TrainerError("service_answer", "forward_backward does not return a log-probability for each token")

"""
A service that trains adapters, by the HTTP API that Tinker has published: a session, models in it whose requests are
numbered, and results that are asked for until they are there.
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
    """The service has failed at a request of a model. From the last saved state on all may be well."""


class Gone(Interrupted):
    """The service knows nothing of a model, or of what it has promised or saved."""


@dataclass(frozen=True)
class Datum:
    """A sequence, and how much the log-probability of each of its tokens but the first counts."""

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
    """In order, as many together as one request may have tokens, at least one."""
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
    `pause` sleeps for so many seconds, and may raise to give up. `tell` is told, once for each time, that the service
    cannot be reached or does not work: that is waited for.
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
        """Raises TrainerError `service_key` when the key is not accepted, `service_model` without such a model."""
        answer = self.call(lambda: self.http.get("/api/v1/get_server_capabilities"))
        listed = answer.get("supported_models")
        names = [one.get("model_name") for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
        if self.model not in names:
            there = self.http.said(", ".join(map(str, names)))
            raise TrainerError("service_model", f"the service has no {self.model}; the first that it has: {there}")

    def new_model(self, lora: LoraSettings, seed: int) -> "TinkerModel":
        """A model with a new adapter."""
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
        """A model with adapter and optimizer as `path` has them. Raises TrainerError `service_state`: that is gone."""
        model = self.new_model(lora, seed)
        try:
            # Such a service loads into a model of which nothing else was asked yet.
            model.request("load_weights", {"path": path, "optimizer": True})
        except Gone as error:
            model.close()
            raise TrainerError("service_state", f"the service keeps {path} no more: {error}") from error
        except BaseException:
            model.close()
            raise
        return model

    def call(self, attempt: Callable[[], T]) -> T:
        """
        What `attempt` returns, however often it takes. Raises TrainerError `service_refused`, or whatever `pause` does.
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
        What was promised, once it is there. Raises Interrupted when it never will be, TrainerError `service_refused`
        when the fault is said to be ours.
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
    """A model at the service, with gradients and an optimizer. Its requests are carried out in their order."""

    def __init__(self, service: TinkerService, name: str, beats: "_Beats") -> None:
        self.service = service
        self.name = name
        self._beats = beats
        self._requests = 0

    def request(self, path: str, content: dict[str, Any]) -> dict[str, Any]:
        """
        The result of a request. It keeps its number in all attempts, by which a service knows one that it has had.

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
        Adds the gradients of the weighted log-probabilities. Returns the log-probabilities (nats), [L - 1] for each.
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
        """One step of AdamW with the gradients that were added since the last one."""
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
        """Where adapter and optimizer are kept, for `TinkerService.saved_model`."""
        path = self._save("save_weights", "weights", name)
        if not _STATE_PATH.fullmatch(path):
            raise TrainerError("service_answer", "the service does not say where it keeps the state")
        return path

    def download_adapter(self, name: str, limit: int) -> bytes:
        """An archive with the adapter as it is now, of `limit` bytes at most."""
        self._save("save_weights_for_sampler", "sampler_weights", name)
        run = f"/api/v1/training_runs/{quote(self.name, safe='')}"
        service = self.service
        # An address of storage holds for a while only: one that is refused is asked for again.
        for _ in range(2):
            url = service.call(lambda: service.http.locate(f"{run}/checkpoints/sampler_weights/{name}/archive"))
            archive = service.call(partial(self._fetch, url, limit))
            if archive is not None:
                return archive
        raise Interrupted("the adapter is not where the service says that it is")

    def _fetch(self, url: str, limit: int) -> bytes | None:
        try:
            return self.service.http.download(url, limit)
        except StatusError as error:
            log.warning("the adapter is not where the service says that it is: %s", error)
            return None

    def _save(self, path: str, kind: str, name: str) -> str:
        try:
            return str(self.request(path, {"path": name}).get("path"))
        except TrainerError as error:
            # An attempt whose answer was lost has saved it: names are new in each model.
            if not isinstance(error.__cause__, StatusError) or error.__cause__.status != 409:
                raise
            return f"tinker://{self.name}/{kind}/{name}"

    def close(self) -> None:
        """Lets go of it; what fails in that the end of the session cures."""
        self._beats.end()
        try:
            asked = {"model_id": self.name, "type": "unload_model"}
            self.service.http.post("/api/v1/unload_model", asked, SERVICE_PARTING_SECONDS)
        except (Transient, StatusError, TrainerError) as error:
            log.warning("a model was not unloaded: %s", error)


class _Beats:
    """Signs of life, without which a service ends a session while this process computes."""

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
            log.warning("a sign of life did not arrive: %s", error)

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
    """The log-probabilities in one output of `cross_entropy`."""
    tensor = output.get("logprobs") if isinstance(output, dict) else None
    data = tensor.get("data") if isinstance(tensor, dict) else None
    if isinstance(data, list) and len(data) == count and all(isinstance(value, float | int) for value in data):
        with suppress(OverflowError):  # of an integer
            return np.array([float(value) for value in data])
    raise TrainerError("service_answer", "forward_backward answers no log-probability for each token")

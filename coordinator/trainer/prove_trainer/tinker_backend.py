"""
Gradients and optimizer at a service that speaks the Tinker API; every forward pass that decides something stays here.

The loss is any function of the log-probabilities that the policy gives to the sampled tokens. Its slopes by these,
which autograd finds here without the model, are the weights of a weighted cross entropy, whose gradient there is then
that of the loss. Between steps nothing of a service lives: a step begins with the state that the last one has saved.
"""

import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import torch

from .backend import SERVICE_STATE, Update
from .batch import Rollout
from .config import LoraSettings, OptimizerSettings, TinkerSettings, TrainerConfig
from .distributed import Ranks
from .errors import TrainerError
from .limits import SERVICE_ATTEMPTS, SERVICE_POLL_PAUSE
from .packing import Pack
from .policy import Policy
from .shards import put
from .tinker_adapter import most_bytes, read_adapter
from .tinker_http import KEY_VARIABLE, ServiceHttp
from .tinker_service import Datum, Interrupted, TinkerModel, TinkerService

log = logging.getLogger("prove_trainer")

T = TypeVar("T")


@dataclass(frozen=True)
class _Lesson:
    """The results of a pass for a rollout's sampled tokens, [T] float64 each."""

    rollout: Rollout
    slopes: np.ndarray  # gradients of the loss sum by the log-probabilities
    logp: np.ndarray

    def datum(self, tokens: float) -> Datum:
        """Return the sequence up to its last sampled token, with the loss divided by `tokens`."""
        places = np.nonzero(self.rollout.mask)[0]
        ids = self.rollout.ids[: int(places[-1]) + 1]
        weights = np.zeros(len(ids) - 1, dtype=np.float32)
        weights[places - 1] = -self.slopes / tokens
        return Datum(ids, weights)

    def gaps(self, theirs: np.ndarray) -> np.ndarray:
        """Return the distances (nats) to the service's log-probabilities of `datum`, [T]."""
        return np.abs(theirs[np.nonzero(self.rollout.mask)[0] - 1] - self.logp)


class TinkerBackend:
    """A `Backend` for one rank. `state` is the path under which the service keeps adapter and optimizer."""

    keeps_graph = False

    def __init__(
        self,
        policy: Policy,
        optimizer: OptimizerSettings,
        lora: LoraSettings,
        seed: int,
        settings: TinkerSettings,
        service: TinkerService,
    ) -> None:
        self.named = policy.adapter_parameters()
        self.shapes = {name: parameter.shape for name, parameter in self.named}
        self.optimizer = optimizer
        self.lora = lora
        self.seed = seed
        self.settings = settings
        self.service = service
        self.path: str | None = None
        self._model: TinkerModel | None = None
        self._saves = 0  # of the current model
        self._lessons: list[_Lesson] = []

    def start(self) -> None:
        try:
            adapter = self._persist(self._begin_run)
        finally:
            self.end()
        if any(not values.isfinite().all() or ("lora_B" in name and values.any()) for name, values in adapter.items()):
            raise TrainerError("service_adapter", "the service's new adapter changes the base model")

    def _begin_run(self) -> dict[str, torch.Tensor]:
        self._model = self.service.new_model(self.lora, self.seed)
        return self._take(self._model)

    def begin(self) -> None:
        self._lessons = []

    def learn(self, pack: Pack, logp: torch.Tensor, total: torch.Tensor) -> None:
        (slopes,) = torch.autograd.grad(total, logp)
        theirs, own = slopes.double().cpu().numpy(), logp.detach().double().cpu().numpy()
        owner = pack.owner.cpu().numpy()
        for number, rollout in enumerate(pack.rollouts):
            self._lessons.append(_Lesson(rollout, theirs[owner == number], own[owner == number]))

    def gather(self) -> None:
        """Do nothing: there is one rank."""

    def apply(self, tokens: float, finite: bool, rate: float, should_stop: Callable[[], None]) -> Update | None:
        """
        Take one step at the service.

        Raises TrainerError `service_base` when the service's log-probabilities are further from the trainer's than
        `maxDistance`, `service_failed` when it loses the pass repeatedly, and the errors of `TinkerService`.
        """
        if not finite or not all(np.isfinite(lesson.slopes).all() for lesson in self._lessons):
            return None
        should_stop()
        return self._persist(lambda: self._pass(max(tokens, 1.0), rate))

    def _persist(self, attempt: Callable[[], T], left: int = SERVICE_ATTEMPTS) -> T:
        """Call `attempt` and return its result. If the service loses it, try again from the last saved state."""
        try:
            return attempt()
        except Interrupted as error:
            log.warning("the service lost the pass, which is repeated from the last saved state: %s", error)
            self._leave()
            if left == 1:
                raise TrainerError("service_failed", f"the service lost {SERVICE_ATTEMPTS} attempts") from error
        self.service.pause(SERVICE_POLL_PAUSE)
        return self._persist(attempt, left - 1)

    def _pass(self, tokens: float, rate: float) -> Update | None:
        if self._model is None:
            self._model = self.service.saved_model(self._saved(), self.lora, self.seed)
        model = self._model
        # Rollouts without gradients are not sent. But a step without any gradient still updates the momentum.
        lessons = [lesson for lesson in self._lessons if lesson.slopes.any()] or self._lessons
        answers = model.learn([lesson.datum(tokens) for lesson in lessons])
        gaps = np.concatenate([lesson.gaps(theirs) for lesson, theirs in zip(lessons, answers, strict=True)])
        self._check(gaps)
        model.step(self.optimizer, rate)
        adapter = self._take(model)
        if not all(bool(values.isfinite().all()) for values in adapter.values()):
            return None
        return Update(None, {"serviceGapMean": float(gaps.mean()), "serviceGapMax": float(gaps.max())})

    def _check(self, gaps: np.ndarray) -> None:
        mean = float(gaps.mean())
        if not mean <= self.settings.max_distance:  # NaN fails too
            raise TrainerError(
                "service_base",
                f"the service's log-probabilities differ by {mean:.3g} nats on average, {gaps.max():.3g} at most; "
                f"tinker.maxDistance is {self.settings.max_distance:g}. Check that {self.settings.model} is the base "
                "that the volunteers run, in the same precision",
            )

    def _take(self, model: TinkerModel) -> dict[str, torch.Tensor]:
        """Save the model's state, put its adapter into the policy, and return the adapter."""
        self._saves += 1
        name = f"prove-{self._saves}"
        archive = model.download_adapter(name, most_bytes(self.shapes))
        adapter = read_adapter(archive, self.shapes, self.lora)
        path = model.save_state(name)
        put(self.named, adapter)
        self.path = path
        return adapter

    def end(self) -> None:
        self.begin()
        self._leave()

    def _leave(self) -> None:
        if self._model is not None:
            self._model.close()
        self._model, self._saves = None, 0

    def _saved(self) -> str:
        if self.path is None:
            raise TrainerError("resume_mismatch", "the service has no saved state of this adapter: begin another run")
        return self.path

    def state(self) -> dict[str, torch.Tensor]:
        return {SERVICE_STATE: torch.frombuffer(bytearray(self._saved().encode()), dtype=torch.uint8)}

    def restore(self, tensors: Mapping[str, torch.Tensor]) -> None:
        if SERVICE_STATE not in tensors:
            raise TrainerError(
                "resume_mismatch",
                "the optimizer's state is not at a service: continue without `tinker`, or begin another run",
            )
        self.end()
        self.path = tensors[SERVICE_STATE].numpy().tobytes().decode()


def join_service(
    policy: Policy,
    config: TrainerConfig,
    settings: TinkerSettings,
    ranks: Ranks,
    pause: Callable[[float], None],
    tell: Callable[[str], None],
) -> TinkerBackend:
    """
    Connect to the service that `config.tinker` describes, with the key from the environment. Raises TrainerError
    `config_tinker`, `service_key`, `service_model`, and the errors of `pause`.
    """
    if ranks.world > 1:
        raise TrainerError("config_tinker", "tinker needs one rank: set `trainer.processes: 1` and no `trainer.launch`")
    service = TinkerService(ServiceHttp(settings.url, os.environ.get(KEY_VARIABLE, "")), settings.model, pause, tell)
    service.check()
    return TinkerBackend(policy, config.optimizer, config.lora, config.seed, settings, service)

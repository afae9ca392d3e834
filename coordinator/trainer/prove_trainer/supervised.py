"""Supervised training on demonstrations, which a stop interrupts at any step and the next start continues."""

import json
import shutil
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from .backend import Backend
from .batch import Rollout
from .capacity import Capacity
from .config import TrainerConfig, json_names
from .distributed import Ranks
from .errors import TrainerError
from .events import Events
from .jobs import atomic_directory, write_json_atomic
from .lifetime import Lifetime, Stopped
from .packing import Pack, make_packs
from .policy import Policy
from .schedule import share_of_rate
from .shards import put
from .warm_start_settings import WarmStartSettings, batches

CHECKPOINT = "checkpoint"
CHECKPOINT_EVERY = 20  # steps; a stop writes one too
EVALUATIONS = 4  # measurements of the held-out loss, after the first one


class SupervisedTraining:
    """
    Trains the parameters of `policy` that have gradients. The same inputs on one machine give the same bytes, also
    after stops.
    """

    def __init__(
        self,
        policy: Policy,
        demonstrations: Sequence[Rollout],
        settings: WarmStartSettings,
        config: TrainerConfig,
        base_sha256: str,
        capacity: Capacity,
        ranks: Ranks,
        folder: Path,
        events: Events,
        lifetime: Lifetime,
    ) -> None:
        self.policy, self.settings, self.config, self.base_sha256 = policy, settings, config, base_sha256
        self.training = demonstrations[: -settings.held_out]
        self.held_out = demonstrations[-settings.held_out :]
        self.capacity, self.ranks, self.folder, self.events, self.lifetime = capacity, ranks, folder, events, lifetime
        policy.checkpointing = capacity.checkpointing
        self.backend = Backend(policy, settings.optimizer, ranks)
        self.named = policy.adapter_parameters()
        self.step = 0
        self.seen = 0  # tokens trained on
        self.losses: list[dict[str, float]] = []  # held-out loss by step
        self._resume()

    def run(self) -> None:
        """Train to the end. A stop saves a checkpoint and passes on."""
        plan = batches(self.training, self.settings.tokens_per_step, self.settings.steps, self.config.seed)
        self.events.emit(
            "ready",
            step=self.step,
            steps=self.settings.steps,
            demonstrations=len(self.training),
            tokens=sum(len(rollout.ids) for batch in plan for rollout in batch),
            seen=self.seen,
        )
        try:
            self._note_due_loss()
            for batch in plan[self.step :]:
                loss = self._train(batch)
                self.events.emit("trained", step=self.step, tokens=self.seen, loss=loss)
                self._note_due_loss()
                if self.step % CHECKPOINT_EVERY == 0:
                    self._save()
        except Stopped:
            self._save()
            raise

    def forget(self) -> None:
        """Remove the checkpoint of a training whose result is written."""
        shutil.rmtree(self.folder / CHECKPOINT, ignore_errors=True)

    def _packs(self, rollouts: Sequence[Rollout]) -> list[Pack]:
        return make_packs(rollouts, "packed", self.capacity.budget)

    @torch.no_grad()
    def _measure(self) -> float:
        """Return the mean loss of the held-out demonstrations, in nats per token of the assistant."""
        total, own = 0.0, 0
        for pack in self._packs(self.held_out):
            self.lifetime.check()
            logp, _ = self.policy(pack.to(self.ranks.device))
            total -= float(logp.double().sum())
            own += len(logp)
        return total / own

    def _note_due_loss(self) -> None:
        """Measure the held-out loss where it is due. A stop may have come between a step and its measurement."""
        steps = self.settings.steps
        is_due = self.step == steps or self.step % max(1, steps // EVALUATIONS) == 0
        if not is_due or (self.losses and self.losses[-1]["step"] == self.step):
            return
        loss = self._measure()
        self.losses.append({"step": self.step, "tokens": self.seen, "heldOutLoss": loss})
        self.events.emit("held_out", step=self.step, tokens=self.seen, loss=loss)

    def _train(self, batch: Sequence[Rollout]) -> float:
        """Take one step. Returns the mean loss before it, in nats per token of the assistant."""
        self.backend.begin()
        total, own = 0.0, 0
        for pack in self._packs(batch):
            self.lifetime.check()
            logp, _ = self.policy(pack.to(self.ranks.device))
            loss = -logp.sum()
            total += float(loss.detach())
            own += len(logp)
            loss.backward()
        rate = self.settings.optimizer.lr * share_of_rate(self.settings.optimizer, self.step)
        if self.backend.apply(own, np.isfinite(total).item(), rate) is None:
            raise TrainerError("warm_start_diverged", f"step {self.step + 1} is not finite: lower the learning rate")
        self.step += 1
        self.seen += sum(len(rollout.ids) for rollout in batch)
        return total / own

    def _identity(self) -> dict[str, Any]:
        """Return what a checkpoint must agree with to be continued."""
        settings = {**asdict(self.settings), "merged": self.settings.merged is not None}
        lora = None if self.settings.merged else json_names(self.config.lora)
        return {"settings": settings, "base": self.base_sha256, "lora": lora, "seed": self.config.seed}

    def _save(self) -> None:
        target = self.folder / CHECKPOINT
        old = self.folder / f"{CHECKPOINT}.old"
        shutil.rmtree(old, ignore_errors=True)
        fresh = self.folder / f"{CHECKPOINT}.new"
        shutil.rmtree(fresh, ignore_errors=True)
        with atomic_directory(fresh) as draft:
            state = {f"adapter/{name}": parameter.detach().cpu().clone() for name, parameter in self.named}
            save_file(state | self.backend.state(), draft / "state.safetensors")
            progress = {"step": self.step, "seen": self.seen, "losses": self.losses, "identity": self._identity()}
            write_json_atomic(draft / "progress.json", progress)
        if target.exists():
            target.rename(old)
        fresh.rename(target)
        shutil.rmtree(old, ignore_errors=True)

    def _resume(self) -> None:
        """Continue from the newest checkpoint. Raises TrainerError `warm_start_other` for one with other settings."""
        places = (self.folder / name for name in (CHECKPOINT, f"{CHECKPOINT}.new", f"{CHECKPOINT}.old"))
        path = next((place for place in places if place.exists()), None)
        if path is None:
            return
        try:
            progress = json.loads((path / "progress.json").read_text(encoding="utf-8"))
            if progress["identity"] != json.loads(json.dumps(self._identity())):
                raise TrainerError(
                    "warm_start_other",
                    f"{path} is of other settings, demonstrations or another base: remove it to begin again",
                )
            tensors = load_file(path / "state.safetensors")
            put(self.named, {name: tensors[f"adapter/{name}"] for name, _ in self.named})
            self.backend.restore(tensors)
            self.step, self.seen, self.losses = progress["step"], progress["seen"], progress["losses"]
        except (OSError, SafetensorError, KeyError, ValueError, RuntimeError) as error:
            raise TrainerError(
                "warm_start_other", f"{path} cannot be read ({error}): remove it to begin again"
            ) from error

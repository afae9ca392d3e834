"""
The warm start: supervised training of a run's first adapter on demonstrations, before the run begins. Its result is
step 0 of the job directory, from which the worker continues with GRPO.
"""

import json
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from .backend import LocalBackend
from .batch import Rollout
from .capacity import find_capacity
from .config import OptimizerSettings, TrainerConfig, json_names
from .demonstrations import read_demonstrations
from .distributed import Ranks
from .errors import TrainerError
from .events import Events
from .fields import read_json
from .gguf_base import Base
from .grpo import GrpoTrainer
from .jobs import JobDirectory, atomic_directory, write_json_atomic
from .lifetime import Lifetime, Stopped
from .limits import MAX_WARM_START_STEPS, MAX_WARM_START_TOKENS, SCHEMA
from .memory import available_memory, count
from .packing import Pack, make_packs
from .policy import Policy, new_policy
from .program import program_record
from .reference import Reference
from .schedule import share_of_rate
from .shards import put
from .step_folder import portray, write_step

SETTINGS_FILE = "warm-start.json"
DEMONSTRATIONS_FILE = "demonstrations.safetensors"
CHECKPOINT = "checkpoint"
CHECKPOINT_EVERY = 20  # steps; a stop writes one too
EVALUATIONS = 4  # of the held-out demonstrations while training, after the first


@dataclass(frozen=True)
class WarmStartSettings:
    """`warm-start.json`: what the first adapter is trained on, and how."""

    demonstrations_sha256: str
    steps: int  # optimizer steps
    tokens_per_step: int  # of whole demonstrations: a step takes them until it has so many
    held_out: int  # demonstrations at the end of the file that only measure
    optimizer: OptimizerSettings
    source: dict[str, Any]  # where the demonstrations are from, as the coordinator describes it; kept in step.json


def load_settings(path: Path) -> WarmStartSettings:
    """Read `warm-start.json`. Raises TrainerError `warm_start_invalid`, which names the field."""
    fields, _ = read_json(path, "warmStart", lambda detail: TrainerError("warm_start_invalid", detail))
    fields.integer("schema", SCHEMA, SCHEMA)
    steps = fields.integer("steps", 1, MAX_WARM_START_STEPS)
    usual = OptimizerSettings()
    settings = WarmStartSettings(
        demonstrations_sha256=fields.sha256("demonstrationsSha256"),
        steps=steps,
        tokens_per_step=fields.integer("tokensPerStep", 1, MAX_WARM_START_TOKENS),
        held_out=fields.integer("heldOut", 1, 1_000_000),
        optimizer=replace(
            usual,
            lr=fields.number("lr", 0.0, 10.0),
            warmup_steps=min(steps - 1, fields.integer("warmupSteps", 0, MAX_WARM_START_STEPS)),
            schedule="linear",
            decay_steps=steps,
            final_share=fields.number("finalShare", 0.0, 1.0),
        ),
        source=fields.raw("source"),
    )
    fields.done()
    return settings


def order_of(count: int, epoch: int, seed: int) -> np.ndarray:
    """Return the order of `count` demonstrations in an epoch."""
    return np.random.default_rng([seed, epoch]).permutation(count)


def batches(demonstrations: Sequence[Rollout], tokens_per_step: int, steps: int, seed: int) -> list[list[Rollout]]:
    """Return the demonstrations of each step, whole epochs after one another."""
    found: list[list[Rollout]] = []
    batch: list[Rollout] = []
    epoch = tokens = 0
    while True:
        for i in order_of(len(demonstrations), epoch, seed):
            batch.append(demonstrations[i])
            tokens += len(demonstrations[i].ids)
            if tokens >= tokens_per_step:
                found.append(batch)
                batch, tokens = [], 0
                if len(found) == steps:
                    return found
        epoch += 1


def check_is_first(jobs: JobDirectory) -> None:
    if jobs.step_numbers():
        raise TrainerError("warm_start_late", "the run has steps already: a warm start comes before the first one")


def write_first_step(
    jobs: JobDirectory, policy: Policy, base: Base, config: TrainerConfig, ranks: Ranks, record: dict[str, Any]
) -> None:
    """Write step 0 with the adapter of `policy` and a new optimizer. `record` describes how the adapter was trained."""
    trainer = GrpoTrainer(policy, config.optimizer, ranks)
    portrait = portray(trainer, base, config)
    write_step(jobs, 0, trainer, portrait, base, config, None, None, None, 0, Reference(base), record)


class WarmStart:
    """Trains the first adapter, resumably. The same settings on one machine give the same bytes, stopped or not."""

    busy_with: str | None = None

    def __init__(
        self,
        folder: Path,
        jobs: JobDirectory,
        base: Base,
        config: TrainerConfig,
        ranks: Ranks,
        events: Events,
        lifetime: Lifetime,
    ) -> None:
        if ranks.world > 1:
            raise TrainerError("config_invalid", "a warm start runs in one process: set trainer.processes to 1")
        if config.tinker:
            raise TrainerError("config_invalid", "a warm start trains on this machine: remove config.tinker")
        check_is_first(jobs)
        self.folder, self.jobs, self.base, self.config = folder, jobs, base, config
        self.ranks, self.events, self.lifetime = ranks, events, lifetime
        self.settings = load_settings(folder / SETTINGS_FILE)
        found = read_demonstrations(
            folder / DEMONSTRATIONS_FILE, self.settings.demonstrations_sha256, base.vocab_size, base.context_length
        )
        if len(found) <= self.settings.held_out:
            raise TrainerError(
                "warm_start_invalid", f"{len(found)} demonstrations, of which {self.settings.held_out} are held out"
            )
        self.training, self.held_out = found[: -self.settings.held_out], found[-self.settings.held_out :]
        torch.manual_seed(config.seed)
        self.policy = new_policy(base, config.lora, config.seed, config.base_name, config.base_revision)
        self.capacity = find_capacity(config, base, ranks.device, 1, lambda **found: events.emit("memory", **found))
        self.policy.checkpointing = self.capacity.checkpointing
        self._check_memory()
        self.backend = LocalBackend(self.policy, self.settings.optimizer, ranks)
        self.named = self.policy.adapter_parameters()
        self.step = 0
        self.seen = 0  # tokens trained on
        self.losses: list[dict[str, float]] = []  # of the held-out demonstrations, by step
        self._resume()

    def _check_memory(self) -> None:
        """
        Report the memory that the training needs. Raises TrainerError `device_memory` when the machine has less free.
        A GPU is planned for by `find_capacity`.
        """
        if self.ranks.device.type != "cpu":
            return
        longest = max(len(rollout.ids) for rollout in (*self.training, *self.held_out))
        needed = round(count(self.base, self.config.lora).of(max(longest, self.capacity.budget), self.capacity.checkpointing))
        free = available_memory()
        self.events.emit("estimate", bytes=needed, available=free)
        # The base is in memory already.
        if free is not None and needed - self.base.bytes > free:
            raise TrainerError(
                "device_memory",
                f"the training needs {needed / 2**30:.1f} GiB, and {(free + self.base.bytes) / 2**30:.1f} GiB are free: "
                "lower trainer.settings.maxTokensPerForward, or set trainer.settings.checkpointing to layer",
            )

    def _identity(self) -> dict[str, Any]:
        """Return what a checkpoint must agree with to be continued."""
        settings = asdict(self.settings)
        return {"settings": settings, "base": self.base.sha256, "lora": json_names(self.config.lora), "seed": self.config.seed}

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
            self.backend.learn(pack, logp, loss)
        rate = self.settings.optimizer.lr * share_of_rate(self.settings.optimizer, self.step)
        if self.backend.apply(own, np.isfinite(total).item(), rate, self.lifetime.check) is None:
            raise TrainerError("warm_start_diverged", f"step {self.step + 1} is not finite: lower the learning rate")
        self.step += 1
        self.seen += sum(len(rollout.ids) for rollout in batch)
        return total / own

    def loop(self) -> str:
        """Train to the end and write step 0. Returns the reason to end."""
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
        self._finish()
        return "complete"

    def _finish(self) -> None:
        """Write step 0 with the trained adapter."""
        record = {
            "demonstrations": {"sha256": self.settings.demonstrations_sha256, "count": len(self.training), **self.settings.source},
            "settings": {
                "steps": self.settings.steps,
                "tokensPerStep": self.settings.tokens_per_step,
                "heldOut": self.settings.held_out,
                "optimizer": json_names(self.settings.optimizer),
                "seed": self.config.seed,
                "precision": self.config.precision,
            },
            "tokens": self.seen,
            "losses": self.losses,
            "program": program_record(),
        }
        write_first_step(self.jobs, self.policy, self.base, self.config, self.ranks, record)
        shutil.rmtree(self.folder / CHECKPOINT, ignore_errors=True)
        self.events.emit("complete", step=self.step, tokens=self.seen, losses=self.losses)

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
                    "warm_start_other", f"{path} is of other settings, demonstrations or another base: remove it to begin anew"
                )
            tensors = load_file(path / "state.safetensors")
            put(self.named, {name: tensors[f"adapter/{name}"] for name, _ in self.named})
            self.backend.restore(tensors)
            self.step, self.seen, self.losses = progress["step"], progress["seen"], progress["losses"]
        except (OSError, SafetensorError, KeyError, ValueError, RuntimeError) as error:
            raise TrainerError("warm_start_other", f"{path} cannot be read ({error}): remove it to begin again") from error

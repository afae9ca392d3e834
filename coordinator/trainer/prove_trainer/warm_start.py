"""
The warm start: supervised training on demonstrations, before a run begins. Its result is step 0 of the job directory,
from which the worker continues with GRPO, or a merged base for a new run.
"""

from pathlib import Path
from typing import Any

import torch

from .canary import default_canary, score_canaries
from .capacity import Capacity, find_capacity
from .config import TrainerConfig, json_names
from .demonstrations import read_demonstrations
from .distributed import Ranks
from .errors import TrainerError
from .events import Events
from .export import largest_gap
from .gguf_base import Base, load_base
from .gguf_copy import write_gguf
from .grpo import GrpoTrainer
from .jobs import JobDirectory, sha256_file
from .lifetime import Lifetime
from .memory import available_memory, count
from .policy import Policy, new_policy, whole_policy
from .program import program_record
from .reference import Reference
from .step_folder import portray, write_step
from .supervised import SupervisedTraining
from .warm_start_settings import DEMONSTRATIONS_FILE, SETTINGS_FILE, load_settings

LARGEST_MERGED_GAP = 1.0  # nats on a canary between training and the merged file: rounding to 16 bits is a tenth


def check_is_first(jobs: JobDirectory) -> None:
    if jobs.step_numbers():
        raise TrainerError("warm_start_late", "the run has steps already: a warm start comes before the first one")


def write_first_step(
    jobs: JobDirectory, policy: Policy, base: Base, config: TrainerConfig, ranks: Ranks, record: dict[str, Any] | None
) -> None:
    """
    Write step 0 with the adapter of `policy` and a new optimizer. `record` describes how the adapter was trained; None:
    it is not the result of a training.
    """
    trainer = GrpoTrainer(policy, config.optimizer, ranks)
    portrait = portray(trainer, base, config)
    write_step(jobs, 0, trainer, portrait, base, config, None, None, None, 0, Reference(base), record)


class WarmStart:
    """A warm start from the folder that the coordinator has written."""

    busy_with: str | None = None

    def __init__(
        self,
        folder: Path,
        base_path: Path,
        jobs: JobDirectory,
        base: Base,
        config: TrainerConfig,
        ranks: Ranks,
        events: Events,
        lifetime: Lifetime,
    ) -> None:
        if ranks.world > 1:
            raise TrainerError("config_invalid", "a warm start runs in one process: set trainer.processes to 1")
        self.base_path, self.jobs, self.base, self.config = base_path, jobs, base, config
        self.ranks, self.events, self.lifetime = ranks, events, lifetime
        self.settings = load_settings(folder / SETTINGS_FILE)
        found = read_demonstrations(
            folder / DEMONSTRATIONS_FILE, self.settings.demonstrations_sha256, base.vocab_size, base.context_length
        )
        if len(found) <= self.settings.held_out:
            raise TrainerError(
                "warm_start_invalid", f"{len(found)} demonstrations, of which {self.settings.held_out} are held out"
            )
        torch.manual_seed(config.seed)
        if self.settings.merged is None:
            check_is_first(jobs)
            self.policy = new_policy(base, config.lora, config.seed, config.base_name, config.base_revision)
        else:
            self.policy = whole_policy(base, config.precision)
        capacity = find_capacity(config, base, ranks.device, 1, lambda **found: events.emit("memory", **found))
        self._check_memory(capacity, max(len(rollout.ids) for rollout in found))
        self.training = SupervisedTraining(
            self.policy, found, self.settings, config, base.sha256, capacity, ranks, folder, events, lifetime
        )

    def _check_memory(self, capacity: Capacity, longest: int) -> None:
        """
        Report the memory that the training needs. Raises TrainerError `device_memory` when the machine has less free.
        A GPU is planned for by `find_capacity`.
        """
        if self.ranks.device.type != "cpu":
            return
        forward = count(self.base, self.config.lora).forward(capacity.checkpointing)
        # Gradients and both moments of AdamW.
        trained = 12 * sum(parameter.numel() for _, parameter in self.policy.adapter_parameters())
        needed = round(self.base.bytes + trained + forward.bytes(max(longest, capacity.budget)))
        free = available_memory()
        self.events.emit("estimate", bytes=needed, available=free)
        # The base is in memory already.
        if free is not None and needed - self.base.bytes > free:
            have = (free + self.base.bytes) / 2**30
            raise TrainerError(
                "device_memory",
                f"the training needs {needed / 2**30:.1f} GiB, and {have:.1f} GiB are free: lower "
                "trainer.settings.maxTokensPerForward, or set trainer.settings.checkpointing to layer",
            )

    def loop(self) -> str:
        """Train to the end and write the result. Returns the reason to end."""
        self.training.run()
        record = self._record()
        if self.settings.merged is None:
            write_first_step(self.jobs, self.policy, self.base, self.config, self.ranks, record)
            merged = None
        else:
            merged = {"gap": self._write_merged(self.settings.merged), "sha256": sha256_file(self.settings.merged)}
        self.training.forget()
        done = {"step": self.training.step, "tokens": record["tokens"], "losses": record["losses"]}
        self.events.emit("complete", **done, merged=merged, record=record)
        return "complete"

    def _record(self) -> dict[str, Any]:
        settings = self.settings
        return {
            "demonstrations": {
                "sha256": settings.demonstrations_sha256,
                "count": len(self.training.training),
                **settings.source,
            },
            "settings": {
                "steps": settings.steps,
                "tokensPerStep": settings.tokens_per_step,
                "heldOut": settings.held_out,
                "optimizer": json_names(settings.optimizer),
                "seed": self.config.seed,
                "precision": self.config.precision,
                "threads": self.config.threads,
            },
            "tokens": self.training.seen,
            "losses": self.training.losses,
            "program": program_record(),
        }

    def _write_merged(self, out: Path) -> float:
        """
        Write the trained base as float16. Returns the largest difference of its log-probabilities from those of
        training, in nats, on a canary. Raises TrainerError `export_check_failed`, and the errors of `write_gguf`.
        """
        order, stored = self.base.row_order, self.base.stored
        replaced = {}
        for name, parameter in self.policy.adapter_parameters():
            own = stored[name].name
            replaced[own] = order.stored(own, parameter.detach().cpu().numpy())
        write_gguf(self.base_path, out, replaced=replaced, check=self.lifetime.check)
        canaries = self.config.canaries or [default_canary(self.base.vocab_size, self.base.context_length)]
        trained = score_canaries(self.policy, canaries, 1.0)
        gap = largest_gap(trained, Reference(load_base(out, sha256_file(out))).score(canaries, 1.0))
        if not gap < LARGEST_MERGED_GAP:
            out.unlink()
            raise TrainerError("export_check_failed", f"the merged file is {gap:.3f} nats off on a canary")
        return gap

"""
A finished warm start as the start of another run: its adapter, and the record of its training.
"""

from pathlib import Path

import torch

from .adapter import published_adapter
from .config import TrainerConfig, json_names
from .distributed import Ranks
from .errors import TrainerError
from .events import Events
from .fields import read_json
from .gguf_base import Base
from .jobs import JobDirectory
from .limits import SCHEMA
from .policy import new_policy
from .shards import put
from .warm_start import check_is_first, write_first_step

ADAPTER_FILE = "adapter.gguf"
RECORD_FILE = "record.json"


class AdoptedStart:
    """Makes step 0 from the folder of a finished warm start."""

    busy_with: str | None = None

    def __init__(
        self, folder: Path, jobs: JobDirectory, base: Base, config: TrainerConfig, ranks: Ranks, events: Events
    ) -> None:
        check_is_first(jobs)
        self.folder, self.jobs, self.base, self.config, self.ranks = folder, jobs, base, config, ranks
        self.events = events

    def loop(self) -> str:
        """Write step 0. Returns the reason to end."""
        fields, _ = read_json(
            self.folder / RECORD_FILE, "record", lambda detail: TrainerError("warm_start_invalid", detail)
        )
        fields.integer("schema", SCHEMA, SCHEMA)
        made_for = fields.sha256("baseSha256")
        lora, sha256, record = fields.raw("lora"), fields.sha256("adapterSha256"), fields.raw("warmStart")
        fields.done()
        if made_for != self.base.sha256:
            raise TrainerError(
                "warm_start_invalid",
                f"the adapter was trained over the base {made_for}, and this one is {self.base.sha256}",
            )
        if lora != json_names(self.config.lora):
            raise TrainerError(
                "warm_start_invalid", f"the adapter has the LoRA settings {lora}: set trainer.settings.lora to them"
            )
        config = self.config
        torch.manual_seed(config.seed)
        policy = new_policy(self.base, config.lora, config.seed, config.base_name, config.base_revision)
        put(policy.adapter_parameters(), published_adapter(self.base, policy, self.folder / ADAPTER_FILE, sha256))
        write_first_step(self.jobs, policy, self.base, config, self.ranks, record)
        done = {"step": 0, "tokens": record["tokens"], "losses": record["losses"]}
        self.events.emit("complete", **done, merged=None, record=record)
        return "complete"

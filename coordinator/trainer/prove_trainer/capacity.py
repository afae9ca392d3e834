"""How many tokens one forward pass may have: planned before the first, fewer after each that did not fit the device."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from .config import TrainerConfig
from .errors import TrainerError
from .fields import read_json
from .gguf_base import Base
from .limits import MAX_TOKENS_PER_FORWARD, SCHEMA
from .memory import Costs, count
from .jobs import write_json_atomic

USABLE = 0.9  # of a device: fragments, kernels' own buffers and what two packs of branches repeat of a prompt


@dataclass(frozen=True)
class Capacity:
    budget: int  # tokens of one forward, unless a single rollout has more
    checkpointing: bool  # see `Policy.checkpointing`
    may_checkpoint: bool  # it may be turned on

    def within(self, budget: int) -> "Capacity":
        """No more than `budget` tokens."""
        return replace(self, budget=min(budget, self.budget))

    def less(self, tokens: int, alone: bool) -> "Capacity":
        """
        After a forward of `tokens` tokens did not fit; `alone`: with a single rollout in it. One of a prompt that
        several packs share may be cut.

        Raises TrainerError `device_memory` when there is nothing left to give up.
        """
        if self.may_checkpoint and not self.checkpointing:
            return replace(self, checkpointing=True)
        if alone or self.budget == 1:
            raise TrainerError(
                "device_memory",
                f"a single rollout of {tokens} tokens does not fit the device: lower the run's limits of tokens, or "
                "take a smaller base or a larger device, or set precision to 16 bits and checkpointing to layer",
            )
        return replace(self, budget=max(1, min(self.budget, tokens) // 2))


UNPLANNED = Capacity(MAX_TOKENS_PER_FORWARD, checkpointing=False, may_checkpoint=True)


def plan(costs: Costs, usable: float, wanted: int, checkpointing: str, longest: int) -> Capacity:
    """
    What fits `usable` bytes. `wanted` tokens a forward, 0: as many as fit. `checkpointing`: `none`, `layer`, or `auto`:
    only where the wanted tokens, or a rollout of `longest`, would not fit without.

    Raises TrainerError `device_memory` when not even a token fits.
    """
    auto = checkpointing == "auto"
    on = checkpointing == "layer" or (auto and costs.fitting(usable, False) < (wanted or longest))
    most = costs.fitting(usable, on)
    if most < 1:
        raise TrainerError(
            "device_memory",
            f"base and adapter take {(costs.base + costs.adapter) / 2**30:.1f} GiB, and a step may use "
            f"{usable / 2**30:.1f} of the device",
        )
    return Capacity(min(wanted or most, most, MAX_TOKENS_PER_FORWARD), on, auto)


def find_capacity(
    config: TrainerConfig,
    base: Base,
    device: torch.device,
    shards: int = 1,
    tell: Callable[..., None] = lambda **_: None,
) -> Capacity:
    """
    What is planned for `device`, on which lies `base` or one of so many `shards` of it, told to `tell`. Where its
    memory is not known, on a CPU unless `memoryGiB` says it, things are as configured.

    Raises TrainerError `device_memory`, or `config_invalid` when tokens are to be planned for unknown memory.
    """
    memory, others = round(config.memory_gib * 2**30), 0
    if not memory and device.type == "cuda":
        memory = torch.cuda.get_device_properties(device).total_memory
        others = base.bytes  # of the process that audits
    wanted, checkpointing = config.max_tokens_per_forward, config.checkpointing
    if not memory:
        if wanted == 0:
            raise TrainerError("config_invalid", "config.maxTokensPerForward 0 needs config.memoryGiB on a CPU")
        return Capacity(wanted, checkpointing == "layer", checkpointing == "auto")
    costs = count(base, config.lora)
    if shards > 1:
        costs = costs.in_shards(base, shards)
    usable = memory * USABLE - others
    room = plan(costs, usable, wanted, checkpointing, base.context_length)
    tell(
        bytes=memory,
        baseBytes=costs.base,
        adapterBytes=costs.adapter,
        bytesPerToken=round(costs.forward(room.checkpointing).token),
        tokensPerForward=room.budget,
        checkpointing=room.checkpointing,
        longestRollout=costs.fitting(usable, room.checkpointing or room.may_checkpoint),
    )
    return room


def remember_capacity(folder: Path, rank: int, room: Capacity) -> None:
    """For the next start: a rank of a policy in shards that runs out of memory takes all others down with it."""
    folder.mkdir(exist_ok=True)
    content = {"schema": SCHEMA, "tokensPerForward": room.budget, "checkpointing": room.checkpointing}
    write_json_atomic(folder / f"rank-{rank}.json", content)


def remembered_capacity(folder: Path, room: Capacity) -> Capacity:
    """`room`, less what any rank has found since to be too much. Raises TrainerError `job_directory_unusable`."""
    for path in sorted(folder.glob("rank-*.json")):
        fields, _ = read_json(path, path.name, lambda detail: TrainerError("job_directory_unusable", detail))
        fields.integer("schema", SCHEMA, SCHEMA)
        room = room.within(fields.integer("tokensPerForward", 1, MAX_TOKENS_PER_FORWARD))
        room = replace(room, checkpointing=fields.flag("checkpointing") or room.checkpointing)
    return room

"""
The tokens that one forward pass may have: planned before the first pass, and fewer after each that ran out of memory.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from .config import TrainerConfig
from .errors import TrainerError
from .fields import read_json
from .gguf_base import Base
from .jobs import write_json_atomic
from .limits import MAX_TOKENS_PER_FORWARD, SCHEMA
from .memory import Costs, count

USABLE = 0.9  # of a device: fragments, kernels' own buffers and what two packs of branches repeat of a prompt


@dataclass(frozen=True)
class Capacity:
    budget: int  # tokens of one forward, unless a single rollout has more
    checkpointing: bool  # see `Policy.checkpointing`
    may_checkpoint: bool  # it may be turned on

    def within(self, budget: int) -> "Capacity":
        """Return this capacity with at most `budget` tokens."""
        return replace(self, budget=min(budget, self.budget))

    def less(self, tokens: int, alone: bool) -> "Capacity":
        """
        Return the next smaller capacity after a forward of `tokens` tokens ran out of memory. `alone`: the forward had
        a single rollout, which cannot be cut. A forward over a shared prompt can.

        Raises TrainerError `device_memory` when no smaller capacity is possible.
        """
        if self.may_checkpoint and not self.checkpointing:
            return replace(self, checkpointing=True)
        if alone or self.budget == 1:
            raise TrainerError(
                "device_memory",
                f"a single rollout of {tokens} tokens does not fit the device: lower the run's token limits, or use a "
                "smaller base or a larger device, or set precision to 16 bits and checkpointing to layer",
            )
        return replace(self, budget=max(1, min(self.budget, tokens) // 2))


UNPLANNED = Capacity(MAX_TOKENS_PER_FORWARD, checkpointing=False, may_checkpoint=True)


def plan(costs: Costs, usable: float, wanted: int, checkpointing: str, longest: int) -> Capacity:
    """
    Plan the capacity of a device with `usable` bytes. `wanted` is the number of tokens of a forward; 0: as many as fit.
    `checkpointing` is `none`, `layer`, or `auto`: only if the wanted tokens, or a rollout of `longest`, do not fit
    without it.

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
    Plan the capacity of `device`, which has `base` or one of `shards` parts of it, and report the plan to `tell`. If
    the memory is unknown (on a CPU without `memoryGiB`), the configured values apply.

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
    capacity = plan(costs, usable, wanted, checkpointing, base.context_length)
    tell(
        bytes=memory,
        baseBytes=costs.base,
        adapterBytes=costs.adapter,
        bytesPerToken=round(costs.forward(capacity.checkpointing).token),
        tokensPerForward=capacity.budget,
        checkpointing=capacity.checkpointing,
        longestRollout=costs.fitting(usable, capacity.checkpointing or capacity.may_checkpoint),
    )
    return capacity


def remember_capacity(folder: Path, rank: int, capacity: Capacity) -> None:
    """
    Write the reduced capacity for the next start: a rank of a policy in shards that runs out of memory ends all ranks.
    """
    folder.mkdir(exist_ok=True)
    content = {"schema": SCHEMA, "tokensPerForward": capacity.budget, "checkpointing": capacity.checkpointing}
    write_json_atomic(folder / f"rank-{rank}.json", content)


def remembered_capacity(folder: Path, capacity: Capacity) -> Capacity:
    """
    Return `capacity`, reduced to the smallest that any rank wrote with `remember_capacity`.

    Raises TrainerError `job_directory_unusable`.
    """
    for path in sorted(folder.glob("rank-*.json")):
        fields, _ = read_json(path, path.name, lambda detail: TrainerError("job_directory_unusable", detail))
        fields.integer("schema", SCHEMA, SCHEMA)
        capacity = capacity.within(fields.integer("tokensPerForward", 1, MAX_TOKENS_PER_FORWARD))
        capacity = replace(capacity, checkpointing=fields.flag("checkpointing") or capacity.checkpointing)
    return capacity

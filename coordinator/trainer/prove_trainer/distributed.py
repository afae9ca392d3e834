"""The ranks of one torchrun job. With one rank nothing is initialised and every call is local."""

import os
from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar, cast

import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel

from .errors import TrainerError

# Rank 0 broadcasts at every poll, so a silent peer is dead, not idle; a step of a large model must still fit.
COLLECTIVE_TIMEOUT = timedelta(minutes=30)

T = TypeVar("T")


class Ranks:
    """Rank, world size, device and the few collectives the trainer needs."""

    def __init__(self, rank: int, world: int, device: torch.device) -> None:
        self.rank = rank
        self.world = world
        self.device = device

    def sum(self, values: list[float]) -> list[float]:
        """Element-wise sum over all ranks, in float64."""
        if self.world == 1:
            return values
        tensor = torch.tensor(values, dtype=torch.float64, device=self.device)
        distributed.all_reduce(tensor, op=distributed.ReduceOp.SUM)
        return tensor.tolist()

    def all_agree(self, good: bool) -> bool:
        """True when `good` holds on every rank."""
        if self.world == 1:
            return good
        tensor = torch.tensor([1.0 if good else 0.0], device=self.device)
        distributed.all_reduce(tensor, op=distributed.ReduceOp.MIN)
        return bool(tensor.item() == 1.0)

    def gather(self, value: T) -> list[T]:
        """One picklable value per rank, in rank order. Only between our own processes."""
        if self.world == 1:
            return [value]
        found: list[T | None] = [None] * self.world
        distributed.all_gather_object(found, value)
        return cast("list[T]", found)

    def from_first(self, decide: Callable[[], T]) -> T:
        """What `decide` returns on rank 0, on every rank; the others do not call it."""
        if self.world == 1:
            return decide()
        box = [decide() if self.rank == 0 else None]
        distributed.broadcast_object_list(box, src=0, device=self.device)
        return cast("T", box[0])

    def wrap(self, module: nn.Module) -> nn.Module:
        if self.world == 1:
            return module
        return DistributedDataParallel(module, forward_sync_buffers=False)


def join_ranks(device: str) -> Ranks:
    """Joins the job torchrun describes in the environment. Raises TrainerError `device_unavailable`."""
    rank, world = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
    place = torch.device("cpu")
    if device == "cuda":
        if not torch.cuda.is_available():
            raise TrainerError("device_unavailable", "the configuration asks for cuda, torch sees none")
        place = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
        torch.cuda.set_device(place)
    if world > 1:
        distributed.init_process_group("nccl" if device == "cuda" else "gloo", timeout=COLLECTIVE_TIMEOUT)
    return Ranks(rank, world, place)

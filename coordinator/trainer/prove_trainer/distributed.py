"""The ranks of one torchrun job. With one rank nothing is initialised and every call is local."""

import os
from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar, cast

import torch
from torch import distributed, nn

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
        """Return the element-wise sum over all ranks, in float64."""
        if self.world == 1:
            return values
        tensor = torch.tensor(values, dtype=torch.float64, device=self.device)
        distributed.all_reduce(tensor, op=distributed.ReduceOp.SUM)
        return tensor.tolist()

    def all_agree(self, good: bool) -> bool:
        """Return whether `good` is true on every rank."""
        if self.world == 1:
            return good
        tensor = torch.tensor([1.0 if good else 0.0], device=self.device)
        distributed.all_reduce(tensor, op=distributed.ReduceOp.MIN)
        return bool(tensor.item() == 1.0)

    def gather(self, value: T) -> list[T]:
        """Return one picklable value per rank, in rank order. Use it between the trainer's own processes only."""
        if self.world == 1:
            return [value]
        found: list[T | None] = [None] * self.world
        distributed.all_gather_object(found, value)
        return cast("list[T]", found)

    def from_first(self, decide: Callable[[], T]) -> T:
        """Call `decide` on rank 0 only, and return its result on every rank."""
        if self.world == 1:
            return decide()
        box = [decide() if self.rank == 0 else None]
        distributed.broadcast_object_list(box, src=0, device=self.device)
        return cast("T", box[0])

    def add_gradients(self, parameters: list[nn.Parameter]) -> None:
        """
        Replace each gradient by its sum over all ranks; a rank may have none. One reduction follows the last pack: an
        adapter's gradients are a few megabytes, and ranks need neither as many packs nor to stay in step.
        """
        if self.world == 1:
            return
        grads = [torch.zeros_like(p) if p.grad is None else p.grad for p in parameters]
        flat = torch.cat([grad.flatten() for grad in grads])
        distributed.all_reduce(flat, op=distributed.ReduceOp.SUM)
        for parameter, total in zip(parameters, flat.split([grad.numel() for grad in grads]), strict=True):
            parameter.grad = total.view_as(parameter)


def lost_peer(error: BaseException) -> bool:
    """
    Return whether this rank failed only because another rank, or the network between them, is gone. Gloo has no error
    type, but its messages name its source files.
    """
    return isinstance(error, distributed.DistError) or (isinstance(error, RuntimeError) and "/gloo/" in str(error))


def join_ranks(device: str) -> Ranks:
    """Join the job that torchrun describes in the environment. Raises TrainerError `device_unavailable`."""
    rank, world = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
    place = torch.device("cpu")
    if device == "cuda":
        if not torch.cuda.is_available():
            raise TrainerError(
                "device_unavailable", "device is cuda, but torch finds no GPU: install its driver or set device: cpu"
            )
        place = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
        torch.cuda.set_device(place)
    if world > 1:
        distributed.init_process_group("nccl" if device == "cuda" else "gloo", timeout=COLLECTIVE_TIMEOUT)
    return Ranks(rank, world, place)

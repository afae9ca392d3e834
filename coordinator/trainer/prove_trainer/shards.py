"""Tensors that may be in shards over the ranks, and whole tensors."""

from collections.abc import Mapping

import torch
from torch import nn
from torch.distributed.tensor import DTensor, distribute_tensor


def whole(tensor: torch.Tensor) -> torch.Tensor:
    """Return the whole tensor, detached. For a tensor in shards, all ranks must call it together."""
    own = tensor.detach()
    return own.full_tensor() if isinstance(own, DTensor) else own


def part_like(tensor: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """Copy `values`, equal on every rank, into the sharding, device and type of `tensor`."""
    values = values.to(tensor.device, tensor.dtype, copy=True)
    if not isinstance(tensor, DTensor):
        return values
    # No source rank: each cuts its own part.
    return distribute_tensor(values, tensor.device_mesh, tensor.placements, src_data_rank=None)


def put(named: list[tuple[str, nn.Parameter]], values: Mapping[str, torch.Tensor]) -> None:
    """Copy whole tensors into the parameters of their names. Raises KeyError, or RuntimeError for another shape."""
    with torch.no_grad():
        for name, parameter in named:
            if values[name].shape != parameter.shape:
                raise RuntimeError(f"{name} is {tuple(values[name].shape)}, not {tuple(parameter.shape)}")
            parameter.copy_(part_like(parameter, values[name]))

"""
The device memory that a training step needs, counted before the first step: the policy's forward and backward pass at
its real shapes, on tensors without data.
"""

import math
import weakref
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from .config import LoraSettings
from .gguf_base import Base
from .limits import HEAD_CHUNK_ELEMENTS
from .packing import Pack, Segment
from .policy import Policy, new_policy

_DEPTHS = (1, 2)  # layers of the measured models: the difference is the cost of a layer
_LENGTH = 16_384  # tokens of the forward passes
_HEAD = 5 * 4 * HEAD_CHUNK_ELEMENTS  # a chunk as logits, probabilities and between these, and a widened block
_META = torch.device("meta")


@dataclass(frozen=True)
class Forward:
    """Bytes that a forward and its backward pass need at most, without weights, as a function of the tokens."""

    fixed: float  # in the head, for any number of tokens
    token: float

    def bytes(self, tokens: int) -> float:
        return self.fixed + self.token * tokens


@dataclass(frozen=True)
class Costs:
    """Bytes on one device."""

    base: int
    adapter: int  # with gradients, both moments of AdamW, and a copy while gradients are summed
    plain: Forward
    checkpointed: Forward

    def in_shards(self, base: Base, ranks: int) -> "Costs":
        """
        Return the costs on one of `ranks` ranks: its part of all tensors, all tensors outside layers, two whole layers
        (the one in use and the one that is fetched meanwhile), and the buffer of that fetch.
        """
        layers = base.config.num_hidden_layers
        outer = sum(
            weight.numel() * weight.element_size()
            for name, weight in base.tensors.items()
            if not name.startswith("model.layers.")
        )
        layer = (base.bytes - outer + self.adapter // 5) // layers
        return replace(
            self, base=math.ceil(base.bytes / ranks) + outer + 3 * layer, adapter=math.ceil(self.adapter / ranks)
        )

    def forward(self, checkpointing: bool) -> Forward:
        return self.checkpointed if checkpointing else self.plain

    def of(self, tokens: int, checkpointing: bool) -> float:
        """Return the bytes of a step whose forward passes have `tokens` tokens."""
        return self.base + self.adapter + self.forward(checkpointing).bytes(tokens)

    def fitting(self, memory: float, checkpointing: bool) -> int:
        """Return the tokens of the largest forward within `memory` bytes; below 1: none."""
        forward = self.forward(checkpointing)
        return int((memory - self.base - self.adapter - forward.fixed) / forward.token)


def available_memory() -> int | None:
    """Return the bytes of main memory that programs can take now. None: the system does not say (not Linux)."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError):
        return None


def count(base: Base, lora: LoraSettings) -> Costs:
    """Count the costs of policies over `base`. Only the shapes of its tensors matter: the meta device will do."""
    layers = base.config.num_hidden_layers
    found = {depth: _measure(_cut(base, depth), lora) for depth in _DEPTHS}
    one, two = (found[depth] for depth in _DEPTHS)

    def whole(what: str) -> int:
        return one[what] + (layers - 1) * (two[what] - one[what])

    plain, checkpointed = (Forward(_HEAD, whole(what) / _LENGTH) for what in ("plain", "checkpointed"))
    return Costs(base.bytes, 5 * whole("adapter"), plain, checkpointed)


def _cut(base: Base, depth: int) -> Base:
    """Return the first `depth` layers of a model, without data."""
    config = copy(base.config)
    config.num_hidden_layers = depth
    if hasattr(config, "layer_types"):
        config.layer_types = None  # it has an entry for each layer of the whole model
    tensors = {
        name: torch.empty_like(weight, device=_META)
        for name, weight in base.tensors.items()
        if not name.startswith("model.layers.") or int(name.split(".")[2]) < depth
    }
    return replace(base, config=config, tensors=tensors)


def _measure(base: Base, lora: LoraSettings) -> dict[str, int]:
    """Return the bytes of a forward and backward pass, `plain` and `checkpointed`, and of the `adapter`."""
    policy = new_policy(base, lora, 0, None, None)
    found = {"adapter": sum(4 * p.numel() for _, p in policy.adapter_parameters())}
    with FakeTensorMode():
        resident = _without_numbers(policy)
        for what in ("plain", "checkpointed"):
            policy.checkpointing = what == "checkpointed"
            with _Peak(resident) as peak:
                logp, _ = policy(_rollout(_LENGTH))
                logp.sum().backward()
            policy.zero_grad()
            found[what] = peak.most
    return found


def _without_numbers(policy: Policy) -> list[torch.Tensor]:
    """Replace all parameters and buffers by tensors of the current mode. Returns these tensors."""
    made: dict[torch.Tensor, nn.Parameter] = {}
    buffers: list[torch.Tensor] = []
    for module in policy.modules():
        for name, own in module._parameters.items():
            if own is not None:
                if own not in made:  # a tied head is one tensor
                    made[own] = nn.Parameter(torch.empty(own.shape, dtype=own.dtype), own.requires_grad)
                module._parameters[name] = made[own]
        for name, buffer in module._buffers.items():
            if buffer is not None:
                buffers.append(torch.empty(buffer.shape, dtype=buffer.dtype))
                module._buffers[name] = buffers[-1]
    return [*made.values(), *buffers]


def _rollout(length: int) -> Pack:
    """
    Return one rollout in which every 32nd token was sampled: the others are prompt and tool results. All are read, as
    where nearly all were sampled.
    """
    ids = torch.zeros(1, length, dtype=torch.int64)
    sampled, none = ids[0, ::32].clone(), torch.zeros(length // 32)
    return Pack(ids, ids, (Segment(0, 0, (length,)),), sampled, ids[0], sampled, none, none, sampled, ())


class _Peak(TorchDispatchMode):
    """The largest sum of storages that were alive at once, without those of `resident`."""

    def __init__(self, resident: list[torch.Tensor]) -> None:
        super().__init__()
        self.most = 0
        self._now = 0
        self._known = {tensor.untyped_storage()._cdata for tensor in resident}

    def __torch_dispatch__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        out = func(*args, **(kwargs or {}))
        for tensor in tree_leaves(out):
            if isinstance(tensor, torch.Tensor):
                self._note(tensor.untyped_storage())
        return out

    def _note(self, storage: torch.UntypedStorage) -> None:
        key, size = storage._cdata, storage.nbytes()
        if key in self._known:
            return
        self._known.add(key)
        self._now += size
        self.most = max(self.most, self._now)

        def gone() -> None:
            self._known.discard(key)
            self._now -= size

        weakref.finalize(storage, gone)

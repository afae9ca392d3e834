"""
Parts of a layer in fewer operations than PEFT and transformers use for them, with the same parameters and file formats.
On a CPU, a step of a small model spends as much time between its matrix products as in them.
"""

from types import MethodType
from typing import Any, cast

import torch
from peft.tuners.lora.layer import Linear
from torch import nn
from torch.autograd import Function
from torch.nn import functional


def fuse(causal: nn.Module) -> None:
    """Replace the forward passes of plain LoRA layers, of RMS norms, and of the last layer's MLP."""
    for module in causal.modules():
        if isinstance(module, Linear):
            module.forward = MethodType(_lora_forward, module)
        elif type(module).__name__.endswith("RMSNorm"):
            module.forward = MethodType(_norm_forward, module)
    _read_few(cast("Any", causal).model.layers[-1])


def _lora_forward(layer: Linear, x: torch.Tensor, *_: object, **__: object) -> torch.Tensor:
    if layer.disable_adapters:
        return layer.base_layer(x)
    (name,) = layer.active_adapters
    down, up = _weight_of(layer.lora_A, name), _weight_of(layer.lora_B, name)
    base, scaling = cast("nn.Linear", layer.base_layer), layer.scaling[name]
    if x.dtype == base.weight.dtype == torch.float32 and not torch.is_autocast_enabled(x.device.type):
        return cast("torch.Tensor", _Lora.apply(x, base.weight, base.bias, down, up, scaling))
    out = base(x)
    inner = functional.linear(x, down).flatten(0, -2)
    if torch.is_autocast_enabled(x.device.type):
        up = up.to(inner.dtype)
    return torch.addmm(out.flatten(0, -2), inner, up.T, alpha=scaling).view_as(out)


def _weight_of(modules: nn.Module, name: str) -> torch.Tensor:
    return cast("nn.Linear", cast("nn.ModuleDict", modules)[name]).weight


class _Lora(Function):
    """
    `x W^T + bias + scaling (x A^T) B^T`, float32, for frozen W and bias. The products of the adapter are added in the
    place of those of the base, forward and backward.
    """

    @staticmethod
    def forward(
        ctx: Any,
        x: torch.Tensor,
        weight: torch.Tensor,
        bias: torch.Tensor | None,
        down: torch.Tensor,
        up: torch.Tensor,
        scaling: float,
    ) -> torch.Tensor:
        rows = x.flatten(0, -2)
        inner = rows @ down.T
        out = functional.linear(rows, weight, bias).addmm_(inner, up.T, alpha=scaling)
        ctx.save_for_backward(rows, inner, weight, down, up)
        ctx.scaling, ctx.shape = scaling, x.shape
        return out.view(*x.shape[:-1], len(weight))

    @staticmethod
    def backward(ctx: Any, *grad_outputs: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        rows, inner, weight, down, up = ctx.saved_tensors
        slopes = grad_outputs[0].flatten(0, -2)
        of_inner = (slopes @ up).mul_(ctx.scaling)
        of_x = (slopes @ weight).addmm_(of_inner, down).view(ctx.shape) if ctx.needs_input_grad[0] else None
        of_up = (slopes.T @ inner).mul_(ctx.scaling)
        return of_x, None, None, of_inner.T @ rows, of_up, None


def _norm_forward(norm: nn.Module, x: torch.Tensor) -> torch.Tensor:
    if x.dtype != torch.float32 or cast("torch.Tensor", norm.weight).requires_grad:
        return type(norm).forward(norm, x)
    return cast("torch.Tensor", _Norm.apply(x, norm.weight, norm.variance_epsilon))


class _Norm(Function):
    """`x / sqrt(mean(x^2) + eps) * weight` over the last dimension, for a frozen weight."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
        length = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
        share = length.square_().div_(x.shape[-1]).add_(eps).rsqrt_()
        ctx.save_for_backward(x, weight, share)
        return (x * share).mul_(weight)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        x, weight, share = ctx.saved_tensors
        slopes = grad_outputs[0] * weight
        along = (slopes * x).sum(-1, keepdim=True).mul_(share.pow(3).div_(x.shape[-1]))
        return slopes.mul_(share).addcmul_(x, along, value=-1), None, None


def _read_few(layer: nn.Module) -> None:
    """
    Let the MLP of the last layer compute only the positions that are read. The layer's forward then takes `read`, their
    indices without repetition, and its output at other positions means nothing.
    """
    mlp = cast("nn.Module", layer.mlp)
    whole_layer, whole_mlp = layer.forward, mlp.forward
    wanted: list[torch.Tensor | None] = [None]

    def layer_forward(_: nn.Module, *args: Any, read: torch.Tensor | None = None, **kwargs: Any) -> Any:
        # With checkpointing, the backward pass calls this again, with the same arguments.
        wanted[0] = read
        try:
            return whole_layer(*args, **kwargs)
        finally:
            wanted[0] = None

    def mlp_forward(_: nn.Module, x: torch.Tensor) -> torch.Tensor:
        if (read := wanted[0]) is None:
            return whole_mlp(x)
        some = whole_mlp(x.index_select(-2, read))
        return some.new_zeros(x.shape).index_copy(-2, read, some)

    layer.forward = MethodType(layer_forward, layer)
    mlp.forward = MethodType(mlp_forward, mlp)

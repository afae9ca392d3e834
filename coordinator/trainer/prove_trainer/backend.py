"""Gradients of an adapter, and the optimizer that applies them."""

import math
from collections.abc import Mapping

import torch
from torch import nn

from .config import OptimizerSettings
from .distributed import Ranks
from .policy import Policy
from .sharding import is_sharded
from .shards import part_like, whole


class Backend:
    """
    Autograd through the policy, and AdamW on the devices of the ranks.

    With several ranks, all of them make the same calls.
    """

    def __init__(self, policy: Policy, settings: OptimizerSettings, ranks: Ranks) -> None:
        self.settings = settings
        self.ranks = ranks
        self.in_shards = is_sharded(policy)
        self.named = policy.adapter_parameters()
        self.parameters = [parameter for _, parameter in self.named]
        self.optimizer = torch.optim.AdamW(
            self.parameters,
            lr=settings.lr,
            betas=(settings.beta1, settings.beta2),
            eps=settings.eps,
            weight_decay=settings.weight_decay,
            foreach=False,
        )

    def begin(self) -> None:
        """Begin a pass over the batch: discard the gradients of an earlier one."""
        self.optimizer.zero_grad(set_to_none=True)

    def gather(self) -> None:
        """End the pass: sum the gradients of the ranks."""
        if not self.in_shards:  # FSDP2 sums gradients during the backward pass
            self.ranks.add_gradients(self.parameters)

    def apply(self, tokens: float, finite: bool, rate: float) -> float | None:
        """
        Take one optimizer step at the learning rate `rate`, with gradients divided by `tokens`. Returns the norm of the
        gradient before clipping, or None when a number is not finite on some rank. The caller then restores the state
        before.
        """
        for parameter in self.parameters:
            if parameter.grad is not None:
                parameter.grad /= max(tokens, 1.0)
        norm = float(whole(nn.utils.clip_grad_norm_(self.parameters, self.settings.max_grad_norm)))
        if not self.ranks.all_agree(finite and math.isfinite(norm)):
            return None
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.step()
        return norm

    def state(self) -> dict[str, torch.Tensor]:
        """
        Return `exp_avg/<name>`, `exp_avg_sq/<name>` and `step/<name>` as whole tensors. All ranks of a policy in
        shards must call it together.
        """
        return {
            f"{key}/{name}": whole(value).cpu().clone()
            for name, parameter in self.named
            for key, value in self.optimizer.state.get(parameter, {}).items()
        }

    def restore(self, tensors: Mapping[str, torch.Tensor]) -> None:
        """Load what `state` returned, in this process or another."""
        self.begin()
        self.optimizer.state.clear()
        for name, parameter in self.named:
            if f"exp_avg/{name}" in tensors:
                self.optimizer.state[parameter] = {
                    "step": tensors[f"step/{name}"].clone(),
                    "exp_avg": part_like(parameter, tensors[f"exp_avg/{name}"]),
                    "exp_avg_sq": part_like(parameter, tensors[f"exp_avg_sq/{name}"]),
                }

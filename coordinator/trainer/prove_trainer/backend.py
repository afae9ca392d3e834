"""
Training backends: each sums gradients and runs the optimizer, in this process or at a service. `GrpoTrainer` computes
the loss of each token and takes its steps through a backend.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import torch
from torch import nn

from .config import OptimizerSettings
from .distributed import Ranks
from .errors import TrainerError
from .packing import Pack
from .policy import Policy
from .sharding import is_sharded
from .shards import part_like, whole

# Key in a snapshot whose optimizer is at a service: the path under which the service keeps it, as bytes.
SERVICE_STATE = "service_state"


@dataclass(frozen=True)
class Update:
    """One optimizer step. The step's statistics take the largest value of `stats` over all passes."""

    norm: float | None  # of the gradient before clipping; None: the service does not report it
    stats: Mapping[str, float] = field(default_factory=dict)


class Backend(Protocol):
    """Gradients and optimizer of one policy. With several ranks, all of them make the same calls."""

    @property
    def keeps_graph(self) -> bool:
        """Whether a backward pass goes through the policy here: its forward passes keep what that needs."""
        ...

    def start(self) -> None:
        """Put the adapter that a run begins with into the policy."""
        ...

    def begin(self) -> None:
        """Begin a pass over the batch: discard the gradients of an earlier one."""
        ...

    def learn(self, pack: Pack, logp: torch.Tensor, total: torch.Tensor) -> None:
        """Add the gradients of `total`, a sum of loss terms, which are functions of the pack's `logp`."""
        ...

    def gather(self) -> None:
        """End the pass: sum the gradients of the ranks."""
        ...

    def apply(self, tokens: float, finite: bool, rate: float, should_stop: Callable[[], None]) -> Update | None:
        """
        Take one optimizer step at the learning rate `rate`, with gradients divided by `tokens`. Returns None when a
        number is not finite on some rank. The caller then restores the state before.
        """
        ...

    def end(self) -> None:
        """End the step, complete or not."""
        ...

    def state(self) -> dict[str, torch.Tensor]:
        """Return the optimizer's state, for `restore` in this process or another."""
        ...

    def restore(self, tensors: Mapping[str, torch.Tensor]) -> None:
        """
        Load what `state` returned. Raises TrainerError `resume_mismatch` for the state of another kind of backend.
        """
        ...


class LocalBackend:
    """Autograd through the policy, and AdamW on the devices of the ranks."""

    keeps_graph = True

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

    def start(self) -> None:
        """Do nothing: a new policy has its adapter already."""

    def begin(self) -> None:
        self.optimizer.zero_grad(set_to_none=True)

    def learn(self, pack: Pack, logp: torch.Tensor, total: torch.Tensor) -> None:
        total.backward()

    def gather(self) -> None:
        if not self.in_shards:  # FSDP2 sums gradients during the backward pass
            self.ranks.add_gradients(self.parameters)

    def apply(self, tokens: float, finite: bool, rate: float, should_stop: Callable[[], None]) -> Update | None:
        for parameter in self.parameters:
            if parameter.grad is not None:
                parameter.grad /= max(tokens, 1.0)
        norm = float(whole(nn.utils.clip_grad_norm_(self.parameters, self.settings.max_grad_norm)))
        if not self.ranks.all_agree(finite and math.isfinite(norm)):
            return None
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.step()
        return Update(norm)

    def end(self) -> None:
        self.begin()

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
        if SERVICE_STATE in tensors:
            raise TrainerError(
                "resume_mismatch", "the optimizer's state is at a service: continue with `tinker`, or begin another run"
            )
        self.begin()
        self.optimizer.state.clear()
        for name, parameter in self.named:
            if f"exp_avg/{name}" in tensors:
                self.optimizer.state[parameter] = {
                    "step": tensors[f"step/{name}"].clone(),
                    "exp_avg": part_like(parameter, tensors[f"exp_avg/{name}"]),
                    "exp_avg_sq": part_like(parameter, tensors[f"exp_avg_sq/{name}"]),
                }

"""
What makes another adapter of the slopes of a loss: where gradients are summed, and where the optimizer is.
`GrpoTrainer` says how much each token counts, and takes the step by what one of these backends does.
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

# Of a snapshot whose optimizer is a service's: where that keeps it, as the bytes of a path.
SERVICE_STATE = "service_state"


@dataclass(frozen=True)
class Update:
    """The adapter has moved. `stats` are numbers that the step's statistics take over, the largest of all passes."""

    norm: float | None  # of the gradient before clipping; None: whoever knows it does not say
    stats: Mapping[str, float] = field(default_factory=dict)


class Backend(Protocol):
    """Gradients and optimizer of one policy. Where several ranks are, all of them make the same calls."""

    @property
    def keeps_graph(self) -> bool:
        """Whether a backward pass goes through the policy here: its forward passes keep what that needs."""
        ...

    def start(self) -> None:
        """Puts the adapter that a run begins with into the policy."""
        ...

    def begin(self) -> None:
        """A pass over the batch begins: gradients of an earlier one are forgotten."""
        ...

    def learn(self, pack: Pack, logp: torch.Tensor, total: torch.Tensor) -> None:
        """Takes the slopes of `total`, a sum of loss terms, which are functions of the pack's `logp`."""
        ...

    def gather(self) -> None:
        """The pass is over: what the ranks have is put together."""
        ...

    def apply(self, tokens: float, finite: bool, rate: float, should_stop: Callable[[], None]) -> Update | None:
        """
        One step of the optimizer at the learning rate `rate`, by gradients divided by `tokens`. None: a number is not
        finite on some rank, and whoever asked restores what was.
        """
        ...

    def end(self) -> None:
        """The step is over, or given up."""
        ...

    def state(self) -> dict[str, torch.Tensor]:
        """The optimizer's, for `restore` in this process or another."""
        ...

    def restore(self, tensors: Mapping[str, torch.Tensor]) -> None:
        """Inverse of `state`. Raises TrainerError `resume_mismatch` for that of another kind of backend."""
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
        """A policy is made with it."""

    def begin(self) -> None:
        self.optimizer.zero_grad(set_to_none=True)

    def learn(self, pack: Pack, logp: torch.Tensor, total: torch.Tensor) -> None:
        total.backward()

    def gather(self) -> None:
        if not self.in_shards:  # whose gradients are summed as they come
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
        """`exp_avg/<name>`, `exp_avg_sq/<name>` and `step/<name>`, whole; of shards on all ranks together."""
        return {
            f"{key}/{name}": whole(value).cpu().clone()
            for name, parameter in self.named
            for key, value in self.optimizer.state.get(parameter, {}).items()
        }

    def restore(self, tensors: Mapping[str, torch.Tensor]) -> None:
        if SERVICE_STATE in tensors:
            raise TrainerError(
                "resume_mismatch", "the optimizer's state is at a service: go on with `tinker`, or begin another run"
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

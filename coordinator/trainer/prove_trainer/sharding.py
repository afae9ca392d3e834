"""
Frozen base and adapter in shards over the ranks (FSDP2): a rank has its part of every tensor, and whole tensors only of
the layers that it computes.
"""

from typing import Any, cast

from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, fully_shard, register_fsdp_forward_method

from .distributed import Ranks
from .policy import Policy


def shard(policy: Policy, ranks: Ranks) -> None:
    """
    Distribute the policy in shards over the devices of all ranks, layer by layer: no device ever has all of it. From
    then on, a forward or backward pass is a collective of all ranks, and gradients are summed over them.
    """
    mesh = init_device_mesh(ranks.device.type, (ranks.world,))
    for layer in cast("Any", policy.model.get_base_model()).model.layers:
        fully_shard(layer, mesh=mesh)
    fully_shard(policy, mesh=mesh)
    register_fsdp_forward_method(policy, "show")
    for module in policy.modules():
        if isinstance(module, FSDPModule):
            # The trainer divides by the tokens of all ranks.
            module.set_gradient_divide_factor(1.0)
            module.set_force_sum_reduction_for_comms(True)


def is_sharded(policy: Policy) -> bool:
    return isinstance(policy, FSDPModule)

"""
Frozen base and adapter in shards over the ranks (FSDP2): a rank holds its part of every tensor, and whole ones only of
the layers that it is computing.
"""

from typing import Any, cast

from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, fully_shard, register_fsdp_forward_method

from .distributed import Ranks
from .policy import Policy


def shard(policy: Policy, ranks: Ranks) -> None:
    """
    Puts the policy in shards onto the devices of all ranks, layer by layer: no device ever holds all of it. From here
    on a forward or backward pass is a collective of all ranks, and gradients come out summed over them.
    """
    mesh = init_device_mesh(ranks.device.type, (ranks.world,))
    for layer in cast("Any", policy.model.get_base_model()).model.layers:
        fully_shard(layer, mesh=mesh)
    fully_shard(policy, mesh=mesh)
    register_fsdp_forward_method(policy, "show")
    for module in policy.modules():
        if isinstance(module, FSDPModule):
            # The trainer divides by the tokens of all ranks itself.
            module.set_gradient_divide_factor(1.0)
            module.set_force_sum_reduction_for_comms(True)


def is_sharded(policy: Policy) -> bool:
    return isinstance(policy, FSDPModule)

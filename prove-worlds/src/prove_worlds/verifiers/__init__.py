"""
Tasks for verifiers (https://github.com/PrimeIntellect-ai/verifiers, written for 0.3).

Provides a taskset for v1 and an environment for earlier versions. verifiers finds both by the name `prove-worlds`.
"""

from typing import TYPE_CHECKING

from ..lazy import lazy

if TYPE_CHECKING:
    from .legacy import load_environment
    from .v1 import ProveTaskset, ProveToolset

__all__ = ["ProveTaskset", "ProveToolset", "load_environment"]

MODULES = {"ProveTaskset": "v1", "ProveToolset": "v1", "load_environment": "legacy"}
__getattr__ = lazy(__name__, "verifiers", MODULES)

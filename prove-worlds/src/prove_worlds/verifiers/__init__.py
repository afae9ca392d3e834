"""
Tasks for verifiers (https://github.com/PrimeIntellect-ai/verifiers), as a taskset of its v1.

verifiers finds the taskset by the name `prove-worlds`.
"""

from typing import TYPE_CHECKING

from ..lazy import lazy

if TYPE_CHECKING:
    from .v1 import ProveTaskset

__all__ = ["ProveTaskset"]

MODULES = {"ProveTaskset": "v1"}

__getattr__ = lazy(__name__, "verifiers", MODULES)

"""
Client and server environment for OpenEnv (https://github.com/huggingface/OpenEnv, written for 0.3).

`prove-server env` implements OpenEnv's protocol itself, so training needs neither. The client adds a typed class. The
environment serves Spaces and other deployments that the `openenv` command builds, validates and publishes.
"""

from typing import TYPE_CHECKING

from ..lazy import lazy

if TYPE_CHECKING:
    from .client import ProveClient
    from .environment import ProveEnvironment, create_prove_app

__all__ = ["ProveClient", "ProveEnvironment", "create_prove_app"]

__getattr__ = lazy(
    __name__, "openenv", {"ProveClient": "client", "ProveEnvironment": "environment", "create_prove_app": "environment"}
)

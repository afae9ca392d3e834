"""
OpenEnv (https://github.com/huggingface/OpenEnv, written for 0.3): a client, and an environment for its own server.

`prove-server env` speaks OpenEnv's wire itself, so neither is needed to train: the client adds what its type says, and
the server is for Spaces and for what else `openenv` builds, validates and publishes.
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

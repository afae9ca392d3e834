"""
Client and server environment for OpenEnv (https://github.com/huggingface/OpenEnv).

The environment puts the episodes of `prove-server env` behind OpenEnv's own server, for its clients and for Spaces. The
client adds a typed class.
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

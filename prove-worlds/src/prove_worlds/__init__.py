"""
Provide stateful tool-use environments with verified tasks and a programmatic reward to any Python trainer.

`Worlds` connects to `prove-server env` or starts it, and `Worlds.open` returns an `Episode`. `prove_worlds.trl` adapts
episodes to TRL's `GRPOTrainer`, `.verifiers` to verifiers, `.openenv` to OpenEnv, and `.inspect` to Inspect.
"""

from importlib.util import find_spec
from typing import TYPE_CHECKING

from .episode import Episode, Result, Score
from .errors import (
    BadAnswer,
    BadRequest,
    EpisodeOver,
    MissingFramework,
    NotStarted,
    Refused,
    TooManyEpisodes,
    UnknownEpisode,
    UnknownTask,
    Unreachable,
    UnusableTool,
    WorldsError,
)
from .lazy import lazy
from .verifiers import MODULES
from .worlds import Listed, Task, Worlds

if TYPE_CHECKING:
    from .verifiers import ProveTaskset

__all__ = [
    "BadAnswer",
    "BadRequest",
    "Episode",
    "EpisodeOver",
    "Listed",
    "MissingFramework",
    "NotStarted",
    "Refused",
    "Result",
    "Score",
    "Task",
    "TooManyEpisodes",
    "UnknownEpisode",
    "UnknownTask",
    "Unreachable",
    "UnusableTool",
    "Worlds",
    "WorldsError",
]

# verifiers imports a package by its name and searches `__all__` for a taskset.
__getattr__ = lazy(f"{__name__}.verifiers", "verifiers", MODULES)
if find_spec("verifiers") is not None:
    __all__ += ["ProveTaskset"]

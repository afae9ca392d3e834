"""
Stateful tool-use worlds with verified tasks and a programmatic reward, for any Python trainer.

`Worlds` finds or starts `prove-server env`, `Worlds.open` gives an `Episode`. `prove_worlds.trl` puts them into TRL's
`GRPOTrainer`, `.verifiers` into verifiers, `.openenv` into OpenEnv, and `.inspect` into Inspect.
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

# verifiers imports a package by its name and looks for a taskset in `__all__`, or for `load_environment`.
__getattr__ = lazy(f"{__name__}.verifiers", "verifiers", MODULES)
if find_spec("verifiers") is not None:
    __all__ += ["ProveTaskset"]

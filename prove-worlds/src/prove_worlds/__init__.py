"""
Stateful tool-use worlds with verified tasks and a programmatic reward, for any Python trainer.

`Worlds` finds or starts `prove-server env`, `Worlds.open` gives an `Episode`. `prove_worlds.trl` puts them into TRL's
`GRPOTrainer`.
"""

from .episode import Episode, Result, Score
from .errors import (
    BadAnswer,
    BadRequest,
    EpisodeOver,
    NotStarted,
    Refused,
    TooManyEpisodes,
    UnknownEpisode,
    UnknownTask,
    Unreachable,
    UnusableTool,
    WorldsError,
)
from .worlds import Listed, Task, Worlds

__all__ = [
    "BadAnswer",
    "BadRequest",
    "Episode",
    "EpisodeOver",
    "Listed",
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

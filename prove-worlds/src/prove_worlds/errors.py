"""What can go wrong between a trainer and its worlds. Every error has a stable `code` and a `detail` for people."""


class WorldsError(Exception):
    """
    Args:
        code: Stable, for programs.
        detail: What happened, where, and what to do about it.
    """

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail


class Unreachable(WorldsError):
    """No whole answer came in time. Whether the request took effect is not known."""

    def __init__(self, detail: str) -> None:
        super().__init__("unreachable", detail)


class BadAnswer(WorldsError):
    """What came is larger than agreed, or not what `prove-server env` answers."""

    def __init__(self, detail: str) -> None:
        super().__init__("bad_answer", detail)


class NotStarted(WorldsError):
    """`prove-server env` was not found, or ended or said nothing before it served."""

    def __init__(self, detail: str) -> None:
        super().__init__("not_started", detail)


class UnusableTool(WorldsError):
    """A tool cannot be a method of Python."""

    def __init__(self, detail: str) -> None:
        super().__init__("unusable_tool", detail)


class MissingFramework(WorldsError, ImportError):
    """A part of this package needs a framework that is not installed. The package itself does not."""

    def __init__(self, framework: str, needed_by: str) -> None:
        super().__init__("missing_framework", f"{needed_by} needs {framework}, which is not installed")
        self.framework = framework


class Refused(WorldsError):
    """
    The server said no; `code` is its own, `status` that of HTTP, `retry_after_s` when it had better be asked again.
    """

    def __init__(self, code: str, detail: str, status: int, retry_after_s: float | None = None) -> None:
        super().__init__(code, detail)
        self.status = status
        self.retry_after_s = retry_after_s


class UnknownTask(Refused):
    """There is no task of that name, or at that place of a split."""


class UnknownEpisode(Refused):
    """It never was open there, was closed, or gave way after resting for long."""


class TooManyEpisodes(Refused):
    """All places are taken, and stayed so for as long as one was waited for."""


class EpisodeOver(Refused):
    """Nothing more can be done in the episode; its reward stands."""


class BadRequest(Refused):
    """What was asked does not have the form that is needed."""


_BY_CODE: dict[str, type[Refused]] = {
    "unknown_task": UnknownTask,
    "unknown_episode": UnknownEpisode,
    "too_many_episodes": TooManyEpisodes,
    "episode_over": EpisodeOver,
    "bad_request": BadRequest,
}


def refusal(code: str, detail: str, status: int, retry_after_s: float | None) -> Refused:
    """The class that goes with a server's code; codes without one of their own are plain `Refused`."""
    return _BY_CODE.get(code, Refused)(code, detail, status, retry_after_s)

"""Errors of this package. Every error has a stable `code` for programs and a `detail` for people."""


class WorldsError(Exception):
    """
    Base class of all errors of this package.

    Args:
        code: Stable code, for programs.
        detail: Description of the problem, its place, and the remedy.
    """

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail


class Unreachable(WorldsError):
    """No complete response arrived in time. The request may or may not have taken effect."""

    def __init__(self, detail: str) -> None:
        super().__init__("unreachable", detail)


class BadAnswer(WorldsError):
    """The response is too large or does not have the format of `prove-server env`."""

    def __init__(self, detail: str) -> None:
        super().__init__("bad_answer", detail)


class NotStarted(WorldsError):
    """`prove-server env` was not found, ended before it served, or did not serve in time."""

    def __init__(self, detail: str) -> None:
        super().__init__("not_started", detail)


class UnusableTool(WorldsError):
    """A tool cannot be represented as a Python method."""

    def __init__(self, detail: str) -> None:
        super().__init__("unusable_tool", detail)


class MissingFramework(WorldsError, ImportError):
    """A module of this package needs a framework that is not installed."""

    def __init__(self, framework: str, needed_by: str) -> None:
        super().__init__(
            "missing_framework", f"{needed_by} needs {framework}, which is not installed: install it with pip"
        )
        self.framework = framework


class Refused(WorldsError):
    """
    The server rejected the request.

    Attributes:
        code: Error code of the server.
        status: HTTP status.
        retry_after_s: Seconds to wait before a retry, if the server names them.
    """

    def __init__(self, code: str, detail: str, status: int, retry_after_s: float | None = None) -> None:
        super().__init__(code, detail)
        self.status = status
        self.retry_after_s = retry_after_s


class UnknownTask(Refused):
    """The data set has no task with this id, or no task at this index of the split."""


class UnknownEpisode(Refused):
    """The server has no open episode with this id: it never existed, was closed, or was evicted while idle."""


class TooManyEpisodes(Refused):
    """The server is full and stayed full for the whole waiting time."""


class EpisodeOver(Refused):
    """The episode accepts no further action. Its reward is final."""


class BadRequest(Refused):
    """The request does not have the required form."""


_BY_CODE: dict[str, type[Refused]] = {
    "unknown_task": UnknownTask,
    "unknown_episode": UnknownEpisode,
    "too_many_episodes": TooManyEpisodes,
    "episode_over": EpisodeOver,
    "bad_request": BadRequest,
}


def refusal(code: str, detail: str, status: int, retry_after_s: float | None) -> Refused:
    """Return the error for a server's code: a subclass if one exists for the code, otherwise `Refused`."""
    return _BY_CODE.get(code, Refused)(code, detail, status, retry_after_s)

"""Typed errors. `code` is stable and meant for programs, the message for people."""

from .limits import MAX_DETAIL


class TrainerError(Exception):
    """The worker cannot continue: it prints an `error` event with this code and exits with a non-zero status."""

    def __init__(self, code: str, detail: str = "") -> None:
        super().__init__(f"{code}: {detail}" if detail else code)
        self.code = code
        self.detail = detail[:MAX_DETAIL]


class BatchRefused(TrainerError):
    """
    This batch or audit can never be processed: the worker writes `refused.json` into its folder and takes the next.
    """

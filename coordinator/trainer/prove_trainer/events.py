"""Progress on stdout: one JSON object per line, nothing else. Everything else a library prints goes to stderr."""

import json
import math
import os
from typing import Any, TextIO


def finite(value: Any) -> Any:
    """Replace non-finite floats in `value` by None: JSON.parse refuses the NaN that json.dump would write."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    return value


def dump(value: Any, indent: int | None = None) -> str:
    return json.dumps(finite(value), allow_nan=False, indent=indent, sort_keys=indent is not None)


class Events:
    """
    Writes events to `out`. A rank other than 0 passes None and writes nothing. `to_disk`: `out` is a file that another
    machine reads, so each event is synced.
    """

    def __init__(self, out: TextIO | None, to_disk: bool = False) -> None:
        self._out = out
        self._to_disk = to_disk

    def emit(self, event: str, **fields: Any) -> None:
        if self._out is None:
            return
        try:
            self._out.write(dump({"event": event, **fields}) + "\n")
            self._out.flush()
            if self._to_disk:
                os.fsync(self._out.fileno())
        except (BrokenPipeError, ValueError):
            self._out = None  # the reader is gone; the parent watch decides what that means


def claim_stdout(rank: int) -> Events:
    """Keep the real stdout for events of rank 0, and point file descriptor 1 at stderr for all other output."""
    private = os.dup(1)
    os.dup2(2, 1)
    if rank != 0:
        os.close(private)
        return Events(None)
    return Events(os.fdopen(private, "w", encoding="utf-8"))

"""
Strict reading of JSON objects that other programs wrote: unknown keys, wrong types and out-of-range numbers are
errors.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .limits import MAX_JSON_BYTES

Fail = Callable[[str], Exception]


class Fields:
    """
    One JSON object, read key by key; `done()` fails when a key was never asked for (a misspelt setting must not be
    ignored).
    """

    def __init__(self, value: Any, where: str, fail: Fail) -> None:
        self.where = where
        self.fail = fail
        if not isinstance(value, dict):
            raise fail(f"{where} must be an object")
        self._left = dict(value)

    def _take(self, key: str, default: Any) -> Any:
        if key in self._left:
            return self._left.pop(key)
        if default is ...:
            raise self.fail(f"{self.where}.{key} is missing")
        return default

    def has(self, key: str) -> bool:
        return key in self._left

    def raw(self, key: str, default: Any = ...) -> Any:
        return self._take(key, default)

    def integer(self, key: str, low: int, high: int, default: Any = ...) -> int:
        value = self._take(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise self.fail(f"{self.where}.{key} must be an integer in [{low}, {high}]")
        return value

    def number(self, key: str, low: float, high: float, default: Any = ...) -> float:
        value = self._take(key, default)
        # NaN and the infinities fail the comparison; math.isfinite would overflow on an integer beyond every float.
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
            raise self.fail(f"{self.where}.{key} must be a finite number in [{low}, {high}]")
        return float(value)

    def text(self, key: str, max_length: int, default: Any = ...) -> Any:
        value = self._take(key, default)
        if value is default and default is not ...:
            return value
        if not isinstance(value, str) or not 0 < len(value) <= max_length:
            raise self.fail(f"{self.where}.{key} must be a string of 1 to {max_length} characters")
        return value

    def sha256(self, key: str) -> str:
        value = self._take(key, ...)
        if not isinstance(value, str) or len(value) != 64 or set(value) - set("0123456789abcdef"):
            raise self.fail(f"{self.where}.{key} must be a SHA-256 in lower-case hexadecimal")
        return value

    def choice(self, key: str, options: tuple[str, ...], default: Any = ...) -> str:
        value = self._take(key, default)
        if value not in options:
            raise self.fail(f"{self.where}.{key} must be one of {', '.join(options)}")
        return value

    def choices(self, key: str, options: tuple[str, ...], default: Any = ...) -> list[str]:
        value = self._take(key, default)
        good = isinstance(value, list) and len(value) > 0 and all(isinstance(v, str) and v in options for v in value)
        if not good or len(set(value)) != len(value):
            raise self.fail(f"{self.where}.{key} must be distinct names out of {', '.join(options)}")
        return value

    def flag(self, key: str, default: Any = ...) -> bool:
        value = self._take(key, default)
        if not isinstance(value, bool):
            raise self.fail(f"{self.where}.{key} must be true or false")
        return value

    def token_ids(self, key: str, max_length: int, min_length: int = 1) -> list[int]:
        value = self._take(key, ...)
        good = isinstance(value, list) and min_length <= len(value) <= max_length
        if not good or any(isinstance(t, bool) or not isinstance(t, int) or not 0 <= t < 2**31 for t in value):
            raise self.fail(f"{self.where}.{key} must be a list of {min_length} to {max_length} token ids")
        return value

    def child(self, key: str, default: Any = ...) -> "Fields":
        return Fields(self._take(key, default), f"{self.where}.{key}", self.fail)

    def children(self, key: str, max_length: int, default: Any = ...) -> list["Fields"]:
        value = self._take(key, default)
        if not isinstance(value, list) or len(value) > max_length:
            raise self.fail(f"{self.where}.{key} must be a list of at most {max_length} objects")
        return [Fields(item, f"{self.where}.{key}[{i}]", self.fail) for i, item in enumerate(value)]

    def done(self) -> None:
        if self._left:
            raise self.fail(f"{self.where} has unknown keys: {', '.join(sorted(map(str, self._left)))}")


def read_json(path: Path, where: str, fail: Fail) -> tuple[Fields, bytes]:
    """
    The object in `path` and the file's bytes. Refuses oversize files, NaN and Infinity literals, keys given twice, and
    deep nesting.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_JSON_BYTES + 1)
    except OSError as error:
        raise fail(f"{where} cannot be read: {error.strerror}") from error
    if len(data) > MAX_JSON_BYTES:
        raise fail(f"{where} is larger than {MAX_JSON_BYTES} bytes")

    def literal(name: str) -> Any:
        raise ValueError(f"{name} is not JSON")

    def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise ValueError("a key is given twice")
        return found

    try:
        value = json.loads(data.decode("utf-8"), parse_constant=literal, object_pairs_hook=distinct)
    except (ValueError, RecursionError) as error:
        raise fail(f"{where} is not valid JSON: {error}") from error
    return Fields(value, where, fail), data

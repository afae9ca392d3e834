"""Requests in JSON that end: bounded in time and size, and with typed errors."""

import json
import time
from collections.abc import Mapping
from ipaddress import ip_address
from typing import TypeVar, cast

import httpx

from .errors import BadAnswer, Unreachable, refusal

Json = Mapping[str, object]
T = TypeVar("T", str, int, float, bool)

MOST_BYTES = 32 * 1024 * 1024
"""Of one answer: a thousand tasks are some 100 kB, and an episode with its whole call log less than 1 MB."""


class JsonClient:
    """Speaks with one server, over connections that it keeps. May be used by several threads."""

    def __init__(self, url: str, timeout_s: float) -> None:
        self.url = url.rstrip("/")
        self._timeout_s = timeout_s
        # A proxy of the environment cannot reach what only this machine reaches.
        self._http = httpx.Client(timeout=timeout_s, trust_env=not _is_loopback(self.url))

    def ask(self, method: str, path: str, body: object = None) -> Json:
        """
        Returns:
            The answer; nothing as an empty object.

        Raises:
            Refused: By the server, with its code.
            Unreachable: No whole answer came in time.
            BadAnswer: It is too large, or no JSON object.
        """
        status, data, retry_after_s = self._exchange(method, path, body)
        where = f"{method} {self.url}{path}"
        if status == 204:
            return {}
        try:
            answer = as_object(json.loads(data), where)
        except ValueError as error:
            raise BadAnswer(f"{where} was answered with {status} and no JSON") from error
        if 200 <= status < 300:
            return answer
        code, detail = answer.get("error"), answer.get("message")
        if not isinstance(code, str) or not isinstance(detail, str):
            raise BadAnswer(f"{where} was answered with {status}, as no prove-server does")
        raise refusal(code, detail, status, retry_after_s)

    def _exchange(self, method: str, path: str, body: object) -> tuple[int, bytes, float | None]:
        where = f"{method} {self.url}{path}"
        # httpx bounds the wait for each part of an answer, not for the whole.
        deadline = time.monotonic() + self._timeout_s
        data = bytearray()
        content = None if body is None else json.dumps(body, allow_nan=False, separators=(",", ":")).encode()
        headers = {} if content is None else {"content-type": "application/json"}
        try:
            with self._http.stream(method, f"{self.url}{path}", content=content, headers=headers) as answer:
                for part in answer.iter_bytes():
                    data += part
                    if len(data) > MOST_BYTES:
                        raise BadAnswer(f"{where}: the answer has more than {MOST_BYTES} bytes")
                    if time.monotonic() > deadline:
                        raise Unreachable(f"{where}: the answer was not whole after {self._timeout_s:g} s")
                seconds = answer.headers.get("retry-after", "")
                return answer.status_code, bytes(data), float(seconds) if seconds.isdigit() else None
        except httpx.TimeoutException as error:
            raise Unreachable(f"{where}: no answer within {self._timeout_s:g} s") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise Unreachable(f"{where}: {error}; is prove-server env running there?") from error

    def close(self) -> None:
        self._http.close()


def as_object(value: object, where: str) -> Json:
    if not isinstance(value, dict):
        raise BadAnswer(f"{where}: an object was expected")
    return cast("Json", value)


def as_objects(value: object, where: str) -> list[Json]:
    if not isinstance(value, list):
        raise BadAnswer(f"{where}: a list was expected")
    return [as_object(item, where) for item in cast("list[object]", value)]


def field(answer: Json, name: str, kind: type[T], where: str) -> T:
    """A field that must be there, of that type."""
    value = answer.get(name)
    # Whole numbers are numbers, and truth values are none.
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return cast("T", float(value))
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise BadAnswer(f"{where}: {name} should be of type {kind.__name__}")
    return value


def _is_loopback(url: str) -> bool:
    try:
        host = httpx.URL(url).host
        return host == "localhost" or ip_address(host).is_loopback
    except (ValueError, httpx.InvalidURL):
        return False

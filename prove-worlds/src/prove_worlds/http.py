"""JSON over HTTP with limits on time and size, and with typed errors."""

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
"""Largest response. A thousand tasks need about 100 kB, and an episode with its call log less than 1 MB."""


class JsonClient:
    """Client of one server with pooled connections. Several threads may use it."""

    def __init__(self, url: str, timeout_s: float) -> None:
        self.url = url.rstrip("/")
        self._timeout_s = timeout_s
        # A proxy from the environment variables cannot reach a loopback address of this machine.
        self._http = httpx.Client(timeout=timeout_s, trust_env=not _is_loopback(self.url))

    def ask(self, method: str, path: str, body: object = None) -> Json:
        """
        Send a request and return its JSON response.

        Returns:
            The response. An empty response gives an empty object.

        Raises:
            Refused: The server rejected the request.
            Unreachable: No complete response arrived in time.
            BadAnswer: The response is too large or is not a JSON object.
        """
        status, data, retry_after_s = self._exchange(method, path, body)
        where = f"{method} {self.url}{path}"
        if status == 204:
            return {}
        try:
            answer = as_object(json.loads(data), where)
        except ValueError as error:
            raise BadAnswer(
                f"{where}: the response has status {status} and is not JSON; "
                "check that the URL is that of prove-server env"
            ) from error
        if 200 <= status < 300:
            return answer
        code, detail = answer.get("error"), answer.get("message")
        if not isinstance(code, str) or not isinstance(detail, str):
            raise BadAnswer(
                f"{where}: the response has status {status} and no prove-server error; "
                "check that the URL is that of prove-server env"
            )
        raise refusal(code, detail, status, retry_after_s)

    def _exchange(self, method: str, path: str, body: object) -> tuple[int, bytes, float | None]:
        where = f"{method} {self.url}{path}"
        # httpx limits the wait for each part of a response, not for the whole response.
        deadline = time.monotonic() + self._timeout_s
        data = bytearray()
        content = None if body is None else json.dumps(body, allow_nan=False, separators=(",", ":")).encode()
        headers = {} if content is None else {"content-type": "application/json"}
        try:
            with self._http.stream(method, f"{self.url}{path}", content=content, headers=headers) as answer:
                for part in answer.iter_bytes():
                    data += part
                    if len(data) > MOST_BYTES:
                        raise BadAnswer(f"{where}: the response has more than {MOST_BYTES} bytes")
                    if time.monotonic() > deadline:
                        raise Unreachable(
                            f"{where}: the response was not complete after {self._timeout_s:g} s; raise timeout_s"
                        )
                seconds = answer.headers.get("retry-after", "")
                return answer.status_code, bytes(data), float(seconds) if seconds.isdigit() else None
        except httpx.TimeoutException as error:
            raise Unreachable(f"{where}: no response within {self._timeout_s:g} s; raise timeout_s") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise Unreachable(f"{where}: {error}; is prove-server env running there?") from error

    def close(self) -> None:
        """Close all connections."""
        self._http.close()


def as_object(value: object, where: str) -> Json:
    """
    Return a value that must be a JSON object.

    Raises:
        BadAnswer: The value is not an object.
    """
    if not isinstance(value, dict):
        raise BadAnswer(f"{where}: expected an object, got {type(value).__name__}")
    return cast("Json", value)


def as_objects(value: object, where: str) -> list[Json]:
    """
    Return a value that must be a list of JSON objects.

    Raises:
        BadAnswer: The value is not a list, or an item is not an object.
    """
    if not isinstance(value, list):
        raise BadAnswer(f"{where}: expected a list, got {type(value).__name__}")
    return [as_object(item, where) for item in cast("list[object]", value)]


def field(answer: Json, name: str, kind: type[T], where: str) -> T:
    """
    Return a required field of an object.

    Raises:
        BadAnswer: The field is missing or does not have type `kind`.
    """
    value = answer.get(name)
    # An integer counts as a float. In Python, a bool is an int too, but a bool does not count as a number here.
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return cast("T", float(value))
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise BadAnswer(f"{where}: expected {name} of type {kind.__name__}, got {type(value).__name__}")
    return value


def _is_loopback(url: str) -> bool:
    try:
        host = httpx.URL(url).host
        return host == "localhost" or ip_address(host).is_loopback
    except (ValueError, httpx.InvalidURL):
        return False

"""
HTTP exchanges with a remote training service: bounded, with time limits. The key never appears in messages or
redirects. A failure that a retry may cure is a `Transient`, every other one a TrainerError.
"""

import json
import time
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from http.client import HTTPException, HTTPMessage, HTTPResponse
from typing import Any, cast

from . import __version__
from .errors import TrainerError
from .limits import (
    SERVICE_ANSWER_BYTES,
    SERVICE_LONGEST_PAUSE,
    SERVICE_REQUEST_SECONDS,
    SERVICE_TRANSFER_SECONDS,
)

KEY_VARIABLE = "TINKER_API_KEY"

_HEADERS = {"Accept": "application/json, */*", "User-Agent": f"prove-trainer/{__version__}"}
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_TRANSIENT = (429, 500, 502, 503, 504)
_REDIRECTS = (301, 302, 303, 307, 308)
_WORDS = 200  # characters of an answer's text that an error repeats
_READ_FOR_WORDS = 2**16
_CHUNK = 2**16


class Transient(Exception):
    """A failure of the service or the network that a retry may cure. `after`: the seconds it asks to wait, or 0."""

    def __init__(self, detail: str, after: float = 0.0) -> None:
        super().__init__(detail)
        self.after = after


class StatusError(Exception):
    """An answer with an error status that only the caller can interpret."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(f"{status}: {detail}" if detail else str(status))
        self.status = status


@dataclass(frozen=True)
class _Answer:
    status: int
    headers: HTTPMessage
    body: bytes


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Treats a redirect as the answer: following it would send the key to its target."""

    def http_error_302(self, req: object, fp: object, code: int, msg: str, headers: object) -> None:
        return None

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


def checked_url(url: str) -> str:
    """
    Check and normalise a service's URL.

    Raises TrainerError `config_tinker` for a URL without https, unless the service is on this machine, and for a URL
    with more than scheme, host, port and path.
    """
    try:
        parts = urllib.parse.urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise TrainerError("config_tinker", f"tinker.url is no address: {error}") from error
    secure = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
    if not secure or not parts.hostname or parts.username is not None or parts.query or parts.fragment:
        raise TrainerError(
            "config_tinker", "tinker.url must be https://host/path, without user or query; http only on this machine"
        )
    return url.rstrip("/")


class ServiceHttp:
    """One service and the key for it. Calls may come from several threads."""

    def __init__(self, url: str, key: str) -> None:
        """Raises TrainerError `config_tinker` for an invalid address or key."""
        self.url = checked_url(url)
        if not key or not key.isascii() or not key.isprintable() or key != key.strip():
            raise TrainerError("config_tinker", f"set {KEY_VARIABLE} in the coordinator's environment to the key")
        self._key = key
        self._is_local = urllib.parse.urlsplit(self.url).scheme == "http"
        # A service on this machine is reached without a proxy.
        proxies = urllib.request.ProxyHandler({}) if self._is_local else urllib.request.ProxyHandler()
        self._opener = urllib.request.build_opener(proxies, _NoRedirect)

    def post(self, path: str, content: dict[str, Any], seconds: float = SERVICE_REQUEST_SECONDS) -> dict[str, Any]:
        """
        Send a request and return the JSON object of the answer. `seconds` limits the time without a byte. Raises
        Transient, StatusError, or TrainerError `service_*`.
        """
        body = json.dumps(content, allow_nan=False).encode()
        return self._object(self._exchange(self.url + path, "POST", body, seconds=seconds))

    def get(self, path: str) -> dict[str, Any]:
        """Return the JSON object at `path`. Raises the errors of `post`."""
        return self._object(self._exchange(self.url + path, "GET"))

    def locate(self, path: str) -> str:
        """
        Return the file address that `path` answers, as a redirect or as `url` of an object. Raises the errors of
        `post`, and `service_answer` for an address without https, unless service and file are on this machine.
        """
        answer = self._exchange(self.url + path, "GET")
        found = answer.headers.get("Location") if answer.status in _REDIRECTS else self._object(answer).get("url")
        if not isinstance(found, str):
            raise TrainerError("service_answer", "the service names no address of the adapter")
        try:
            url = urllib.parse.urljoin(self.url + path, found)
            parts = urllib.parse.urlsplit(url)
            _ = parts.port
        except ValueError:
            raise TrainerError("service_answer", "the service names an invalid address of the adapter") from None
        local = self._is_local and parts.scheme == "http" and parts.hostname in _LOOPBACK
        plain = url.isascii() and url.isprintable() and " " not in url
        if not plain or not parts.hostname or not (parts.scheme == "https" or local):
            raise TrainerError("service_answer", "the service names an unsafe address of the adapter")
        return url

    def download(self, url: str, limit: int) -> bytes:
        """
        Download the file at the address that `locate` returned, without the key: it may be another machine. Raises the
        errors of `post`, and `service_answer` for more than `limit` bytes.
        """
        answer = self._exchange(url, "GET", limit=limit, with_key=False)
        if answer.status != 200:
            raise StatusError(answer.status, "")
        return answer.body

    def _exchange(
        self,
        url: str,
        method: str,
        body: bytes | None = None,
        limit: int = SERVICE_ANSWER_BYTES,
        with_key: bool = True,
        seconds: float = SERVICE_REQUEST_SECONDS,
    ) -> _Answer:
        request = urllib.request.Request(url, data=body, method=method, headers=_HEADERS)
        if body is not None:
            request.add_header("Content-Type", "application/json")
        if with_key:
            request.add_unredirected_header("X-API-Key", self._key)
        try:
            with self._open(request, seconds) as response:
                answer = _Answer(response.status, response.headers, _read(response, limit))
        except (OSError, HTTPException) as error:  # URLError is an OSError
            reason = error.reason if isinstance(error, urllib.error.URLError) else error
            raise Transient(self.said(f"{type(error).__name__}: {reason}")) from None
        self._check(answer, with_key)
        return answer

    def _open(self, request: urllib.request.Request, seconds: float) -> HTTPResponse:
        try:
            return cast("HTTPResponse", self._opener.open(request, timeout=seconds))
        except urllib.error.HTTPError as error:
            return cast("HTTPResponse", error)  # for every status but 2xx, the error is the answer

    def _check(self, answer: _Answer, with_key: bool) -> None:
        status, words = answer.status, self.said(answer.body[:_READ_FOR_WORDS].decode(errors="replace"))
        if status in _TRANSIENT:
            raise Transient(f"{status}: {words}", _seconds(answer.headers.get("Retry-After")))
        if status in (401, 403) and with_key:
            raise TrainerError("service_key", f"the service answers {status}: set {KEY_VARIABLE} to a valid key")
        if status == 402:
            raise TrainerError("service_unpaid", f"the service asks for payment first: {words}")
        if not 200 <= status < 300 and status not in _REDIRECTS:
            raise StatusError(status, words)

    def _object(self, answer: _Answer) -> dict[str, Any]:
        try:
            found = json.loads(answer.body)
        except (ValueError, RecursionError) as error:
            raise TrainerError("service_answer", self.said(f"no JSON with status {answer.status}: {error}")) from None
        if not isinstance(found, dict):
            raise TrainerError("service_answer", "the service's answer is not a JSON object")
        return found

    def said(self, text: str) -> str:
        """Return the start of the service's text on one line, with the key replaced."""
        words = "".join(c if c.isprintable() else " " for c in text.replace(self._key, "***"))
        return " ".join(words.split())[:_WORDS]


def _read(response: HTTPResponse, limit: int) -> bytes:
    """
    Read an answer. Raises TrainerError `service_answer` for more than `limit` bytes, TimeoutError if it is too slow.
    """
    deadline = time.monotonic() + SERVICE_TRANSFER_SECONDS
    content = bytearray()
    while part := response.read1(_CHUNK):
        content += part
        if len(content) > limit:
            raise TrainerError("service_answer", f"an answer of more than {limit} bytes")
        if time.monotonic() > deadline:
            raise TimeoutError(f"an answer that was not complete after {SERVICE_TRANSFER_SECONDS} seconds")
    return bytes(content)


def _seconds(header: str | None) -> float:
    try:
        return min(max(float(header or 0), 0.0), SERVICE_LONGEST_PAUSE)
    except ValueError:  # a date
        return 0.0

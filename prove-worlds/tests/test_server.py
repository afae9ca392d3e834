"""Finding, starting and ending servers, and errors of the client."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import httpx
import pytest
from prove_worlds import BadAnswer, NotStarted, TooManyEpisodes, Unreachable, Worlds
from served import PATIENCE_S, PROGRAM

EPISODE = {"episode": "e", "task": "t", "kind": "k", "messages": [], "tools": [], "over": False}


@pytest.fixture
def answering():
    """Function that starts a server with the given responses `(status, headers, body)`; the last one repeats."""
    servers = []

    def serve(*answers):
        left = list(answers)

        class Handler(BaseHTTPRequestHandler):
            def answer(self):
                status, headers, body = left.pop(0) if len(left) > 1 else left[0]
                self.send_response(status)
                for name, value in {"content-length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = do_DELETE = answer

            def log_message(self, *_):
                pass

        server = HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_address[1]}"

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


def full(seconds):
    body = json.dumps({"error": "too_many_episodes", "message": "close one"}).encode()
    return (503, {"retry-after": seconds}, body)


def test_open_waits_as_long_as_a_full_server_says_and_at_most_patience_s(answering):
    waits = []
    opened = (201, {}, json.dumps(EPISODE).encode())
    worlds = Worlds(answering(full("5"), full("7"), opened), patience_s=12, sleep=waits.append)
    assert worlds.open("t").id == "e"
    assert waits == [5, 7]
    worlds = Worlds(answering(full("5")), patience_s=12, sleep=waits.append)
    with pytest.raises(TooManyEpisodes) as refused:
        worlds.open("t")
    assert refused.value.retry_after_s == 5
    assert waits[2:] == [5, 5]


@pytest.mark.parametrize(
    "answer",
    [
        (200, {}, b"<html>"),
        (200, {}, b"[]"),
        (200, {}, b'{"splits": {"train": "many"}}'),
        (404, {}, b'{"detail": "Not Found"}'),
        (200, {}, b" " * (33 * 1024 * 1024)),
    ],
    ids=["no JSON", "no object", "another type", "another server", "too large"],
)
def test_a_response_that_is_not_from_prove_server_raises_bad_answer(answering, answer):
    with pytest.raises(BadAnswer):
        Worlds(answering(answer)).splits()


def test_a_missing_server_or_a_broken_connection_raises_unreachable(answering):
    with pytest.raises(Unreachable, match="peer closed connection"):
        Worlds(answering((200, {"content-length": "100"}, b"{}"))).splits()
    url = answering((200, {}, b"{}"))
    with pytest.raises(Unreachable, match="is prove-server env running there"):
        Worlds(url.replace("http:", "nothing:")).splits()


def test_the_environment_variable_is_the_default_url(monkeypatch):
    monkeypatch.setenv("PROVE_WORLDS_URL", "http://127.0.0.1:7/")
    assert Worlds().url == "http://127.0.0.1:7"
    assert Worlds("http://127.0.0.1:8").url == "http://127.0.0.1:8"


def test_a_server_that_cannot_start_says_why(tmp_path):
    with pytest.raises(NotStarted, match="missing_file"):
        Worlds.start(tmp_path, program=PROGRAM, start_timeout_s=PATIENCE_S)
    with pytest.raises(NotStarted, match="no program prove-nothing on the PATH"):
        Worlds.start(tmp_path, program="prove-nothing")
    with pytest.raises(NotStarted, match="did not serve"):
        Worlds.start(tmp_path, program=[sys.executable, "-c", "import sys; sys.stdin.read()"], start_timeout_s=0.01)


START = """
import sys
sys.path.insert(0, sys.argv[1])
from prove_worlds import Worlds
worlds = Worlds.start(sys.argv[2], program=sys.argv[3], start_timeout_s=float(sys.argv[4]))
print(worlds.url, flush=True)
sys.stdin.read()
"""


def serves(url):
    try:
        return httpx.get(f"{url}/health", trust_env=False).json()["status"] == "ok"
    except httpx.TransportError:
        return False


def test_the_server_ends_when_its_parent_process_is_killed(dataset):
    source = Path(__file__).parents[1] / "src"
    arguments = [str(source), str(dataset), str(PROGRAM), str(PATIENCE_S)]
    parent = subprocess.Popen(
        [sys.executable, "-c", START, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout
    assert parent.stdin
    url = parent.stdout.readline().strip()
    assert serves(url)
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    parent.stdin.close()
    parent.stdout.close()
    deadline = time.monotonic() + PATIENCE_S
    while serves(url):
        assert time.monotonic() < deadline, "the server lives on"
        time.sleep(0.1)

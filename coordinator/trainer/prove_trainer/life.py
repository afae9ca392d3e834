"""
One life of a trainer whose ranks are on several machines: its lease from the coordinator, and the status that each rank
reports. Both are files of the job directory, which these machines share.
"""

import os
import re
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .events import Events, dump
from .fields import Fields, read_json
from .layout import EVENTS_FILE, LAUNCH, LEASE_FILE
from .limits import MAX_LIFE_NAME, MAX_SILENCE_MS, SCHEMA

LIFE_NAME = re.compile(r"[a-z0-9]+")
LOOK_SECONDS = 2.0  # between two looks at the lease: each is a question to a file server


@dataclass(frozen=True)
class Lease:
    """The coordinator's permission for a life to continue."""

    life: str
    beat: int  # changes with each renewal
    silence: float  # seconds without another beat after which the coordinator is gone


def parse_lease(fields: Fields) -> Lease:
    """Parse a lease. Raises the error of `fields`."""
    fields.integer("schema", SCHEMA, SCHEMA)
    lease = Lease(
        fields.text("life", MAX_LIFE_NAME),
        fields.integer("beat", 0, 2**53),
        fields.integer("silenceMs", 1, MAX_SILENCE_MS) / 1000,
    )
    fields.done()
    return lease


class _Unreadable(Exception):
    pass


class Life:
    """
    One rank's view of its life. Clocks of two machines are never compared: a new beat counts from the moment in which
    this rank reads it.
    """

    def __init__(self, jobs: Path, name: str, rank: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.name = name
        self.rank = rank
        self._clock = clock
        self._lease = jobs / LAUNCH / LEASE_FILE
        self._folder = jobs / LAUNCH / name
        self._beat: int | None = None
        self._fresh = clock()
        self._silence = MAX_SILENCE_MS / 1000  # until the first lease sets it
        self._next_look = clock()
        self._beats = 0
        self._error: dict[str, str | None] | None = None
        self._lock = threading.Lock()

    def events(self) -> Events:
        """Open the event file of rank 0: the coordinator may be on another machine."""
        if self.rank != 0:
            return Events(None)
        return Events((self._folder / EVENTS_FILE).open("a", encoding="utf-8"), to_disk=True)

    def look(self) -> str | None:
        """
        Return why this life is over, or None. Reads the lease and reports this rank's status at most every
        `LOOK_SECONDS`, however often it is called.
        """
        now = self._clock()
        if now < self._next_look:
            return None
        self._next_look = now + min(LOOK_SECONDS, self._silence / 5)
        reason = self._over(now)
        if reason is None:
            self.tell()
        return reason

    def _over(self, now: float) -> str | None:
        try:
            lease = parse_lease(read_json(self._lease, "lease", _Unreadable)[0])
        except _Unreadable as error:
            if isinstance(error.__cause__, FileNotFoundError):
                return "lease_withdrawn"
            # A file server that does not answer counts as a silent coordinator.
            return "lease_silent" if now - self._fresh > self._silence else None
        if lease.life != self.name:
            return "lease_of_another"
        self._silence = lease.silence
        if lease.beat != self._beat:
            self._beat, self._fresh = lease.beat, now
        return "lease_silent" if now - self._fresh > lease.silence else None

    def failed(self, code: str, message: str, batch_id: str | None) -> None:
        """Report the error that ends this rank, also when rank 0 only sees that a peer is gone."""
        self._error = {"code": code, "message": message, "batchId": batch_id}
        self.tell()

    def tell(self, ended: bool = False) -> None:
        """Write this rank's status. If the disk refuses, the coordinator counts this rank as silent."""
        path = self._folder / f"rank-{self.rank}.json"
        draft = path.with_name(path.name + ".tmp")
        with self._lock:
            self._beats += 1
            content = {
                "schema": SCHEMA,
                "rank": self.rank,
                "host": socket.gethostname(),
                "pid": os.getpid(),
                "beat": self._beats,
                "ended": ended,
                "error": self._error,
            }
            try:
                # Not synced: after a power cut the rank does not run, so its status does not matter.
                draft.write_text(dump(content) + "\n", encoding="utf-8")
                os.rename(draft, path)
            except OSError:
                return

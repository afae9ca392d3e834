"""The job directory: atomic writes, listing, hashing. docs/reference/trainer.md shows its layout."""

import errno
import hashlib
import os
import re
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from .errors import TrainerError
from .events import dump
from .layout import ADAPTERS, AUDITS, BATCHES, CAPACITIES, REFUSED_FILE, STEPS, TOKEN_SCORES
from .limits import SCHEMA

BATCH_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
STEP_NAME = re.compile(r"step-(0|[1-9][0-9]{0,8})")
STEP_DRAFT = re.compile(rf"{STEP_NAME.pattern}(\.[a-z0-9]+)?\.tmp")


def sha256_file(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(2**20):
            digest.update(chunk)
    return digest.hexdigest()


def fsync_path(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def atomic_directory(target: Path, draft: Path | None = None) -> Generator[Path, None, None]:
    """
    Yield `draft`, by default `<target>.tmp`, to fill. On success everything is synced and renamed, so a reader sees all
    of it or nothing.

    Raises TrainerError `overtaken` when another process has made the target meanwhile.
    """
    draft = draft or target.with_name(target.name + ".tmp")
    if draft.exists():
        shutil.rmtree(draft)
    draft.mkdir(parents=True)
    yield draft
    for folder, _, names in os.walk(draft):
        for name in names:
            fsync_path(Path(folder) / name)
        fsync_path(Path(folder))
    try:
        os.rename(draft, target)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
            raise TrainerError("overtaken", f"another process has written {target.name}") from error
        raise
    fsync_path(target.parent)


def write_json_atomic(path: Path, value: object) -> None:
    draft = path.with_name(path.name + ".tmp")
    draft.write_text(dump(value, indent=2) + "\n", encoding="utf-8")
    fsync_path(draft)
    os.rename(draft, path)
    fsync_path(path.parent)


class JobDirectory:
    """
    Paths and listings of one job directory. Creates its folders when they are missing.

    `life` names the drafts of ranks that may still run after ranks on other machines have replaced them. No two lives
    write into one draft, and only one of them can make it visible.
    """

    def __init__(self, root: Path, life: str | None = None) -> None:
        self.root = root
        self._draft_end = ".tmp" if life is None else f".{life}.tmp"
        self.batches = root / BATCHES
        self.steps = root / STEPS
        self.audits = root / AUDITS
        self.token_scores = root / TOKEN_SCORES
        self.adapters = root / ADAPTERS
        self.capacities = root / CAPACITIES  # created on first use
        self.stop_file = root / "stop"
        self.stop_audits_file = root / "stop-audits"
        try:
            for folder in (self.batches, self.steps, self.audits, self.token_scores, self.adapters):
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise TrainerError("job_directory_unusable", str(error)) from error

    def step_path(self, step: int) -> Path:
        return self.steps / f"step-{step}"

    def draft_of(self, target: Path) -> Path:
        return target.with_name(target.name + self._draft_end)

    def step_numbers(self) -> list[int]:
        """Return the numbers of complete steps on disk, ascending."""
        found = (
            STEP_NAME.fullmatch(entry.name) for entry in os.scandir(self.steps) if entry.is_dir(follow_symlinks=False)
        )
        return sorted(int(match.group(1)) for match in found if match)

    def batch_ids(self) -> list[str]:
        """Return complete batches on disk, by name. Other names, such as `*.tmp`, are ignored."""
        return _complete(self.batches)

    def open_audits(self) -> list[str]:
        """Return complete audits without token scores or refusal, by name."""
        answered = set(_complete(self.token_scores))
        return [
            name
            for name in _complete(self.audits)
            if name not in answered and not (self.audits / name / REFUSED_FILE).exists()
        ]

    def token_score_path(self, audit_id: str) -> Path:
        return self.token_scores / audit_id

    def adapter_path(self, sha256: str) -> Path:
        return self.adapters / f"{sha256}.gguf"

    def batch_token_score_path(self, batch_id: str) -> Path:
        return self.batches / batch_id / TOKEN_SCORES

    def take_stop(self) -> bool:
        """Return whether the worker was asked to end, and remove the request."""
        if not self.stop_file.exists():
            return False
        self.stop_file.unlink(missing_ok=True)
        return True

    def refused(self, batch_id: str) -> bool:
        return (self.batches / batch_id / REFUSED_FILE).exists()

    def refuse(self, batch_id: str, code: str, detail: str) -> None:
        write_json_atomic(
            self.batches / batch_id / REFUSED_FILE,
            {"schema": SCHEMA, "batchId": batch_id, "code": code, "message": detail},
        )

    def refuse_audit(self, audit_id: str, code: str, detail: str) -> None:
        write_json_atomic(
            self.audits / audit_id / REFUSED_FILE,
            {"schema": SCHEMA, "auditId": audit_id, "code": code, "message": detail},
        )

    def clean_token_score_drafts(self) -> list[str]:
        """Removes what a crash left half written under `token-scores/`; returns the names."""
        drafts = [entry.name for entry in os.scandir(self.token_scores) if entry.name.endswith(".tmp")]
        for name in drafts:
            shutil.rmtree(self.token_scores / name)
        return sorted(drafts)

    def clean_drafts(self) -> list[str]:
        """
        Remove incomplete folders that a crash left under `steps/`. Returns their names. Drafts under `batches/` belong
        to the coordinator.
        """
        drafts = [entry.name for entry in os.scandir(self.steps) if STEP_DRAFT.fullmatch(entry.name)]
        for name in drafts:
            shutil.rmtree(self.steps / name)
        return sorted(drafts)

    def prune(self, keep_last: int, keep_every: int, kept: int) -> list[int]:
        """
        Delete old steps, except step 0, step `kept`, the newest `keep_last` and every `keep_every`-th. Returns the
        deleted numbers.
        """
        if keep_last == 0:
            return []
        old = self.step_numbers()[:-keep_last]
        doomed = [n for n in old if n not in (0, kept) and (keep_every == 0 or n % keep_every != 0)]
        for number in doomed:
            # Renamed first: a reader must not see a step without some of its files.
            draft = self.step_path(number).with_name(f"step-{number}.tmp")
            os.rename(self.step_path(number), draft)
            shutil.rmtree(draft)
        return doomed


def _complete(folder: Path) -> list[str]:
    """Return complete batches or audits in a folder, by name."""
    names = (entry.name for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False))
    return sorted(name for name in names if BATCH_ID.fullmatch(name) and not name.endswith(".tmp"))

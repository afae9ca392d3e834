"""The coordinator's findings on the groups of a batch, from the token scores that the trainer wrote."""

from pathlib import Path

from .batch import Batch
from .errors import BatchRefused
from .fields import Fields, read_json
from .layout import FINDINGS_FILE
from .limits import MAX_ID_LENGTH, MAX_ROLLOUTS, SCHEMA


def parse_findings(fields: Fields) -> tuple[str, frozenset[str]]:
    """Return the batch id in a `findings.json`, and the groups to leave out. Raises the error of `fields`."""
    fields.integer("schema", SCHEMA, SCHEMA)
    batch_id = fields.text("batchId", MAX_ID_LENGTH)
    entries = fields.children("leftOut", MAX_ROLLOUTS)
    groups = frozenset(entry.text("group", MAX_ID_LENGTH) for entry in entries)
    for entry in entries:
        entry.done()
    fields.done()
    return batch_id, groups


def read_findings(directory: Path, batch: Batch) -> frozenset[str] | None:
    """
    Return the groups to leave out of the batch in this directory, or None if they are not verified yet.

    Raises BatchRefused `findings_invalid`.
    """

    def fail(detail: str) -> BatchRefused:
        return BatchRefused("findings_invalid", detail)

    path = directory / FINDINGS_FILE
    if not path.exists():
        return None
    fields, _ = read_json(path, "findings", fail)
    batch_id, groups = parse_findings(fields)
    if batch_id != batch.batch_id:
        raise fail(f"they are about {batch_id!r}")
    if unknown := groups - {rollout.group for rollout in batch.rollouts}:
        raise fail(f"{min(unknown)!r} is no group of the batch")
    return groups

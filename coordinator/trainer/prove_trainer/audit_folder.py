"""Audits in the job directory: parsed and checked here, and answered in another folder than the audit's."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors.numpy import save as save_safetensors

from . import __version__
from .batch import Rollout, check_layout, read_tokens
from .draws import DRAW_TENSORS, check_draws, draws_of
from .errors import BatchRefused
from .fields import Fields, read_json
from .gguf_base import Base
from .jobs import atomic_directory, write_json_atomic
from .layout import ANSWER_FILE, MANIFEST_FILE, TOKEN_SCORE_FILE, TOKENS_FILE
from .limits import MAX_BATCH_TOKENS, MAX_ID_LENGTH, MAX_ROLLOUTS, SCHEMA
from .token_scores import TokenScores

AUDIT_TENSORS = {"ids": np.int32, "loss_mask": np.uint8, "cu_seqlens": np.int32, **DRAW_TENSORS}


@dataclass(frozen=True)
class AuditJob:
    audit_id: str
    adapter_sha256: str | None  # names adapters/<sha256>.gguf in the job directory; None: the bare base
    manifest_sha256: str
    rollouts: tuple[Rollout, ...]  # rewards, advantages and log-probabilities are zero: an audit needs none
    draws: tuple[np.ndarray, ...]  # per rollout, see `draws_of`

    @property
    def tokens(self) -> int:
        return sum(len(rollout.ids) for rollout in self.rollouts)


@dataclass(frozen=True)
class Manifest:
    audit_id: str
    base_sha256: str
    adapter_sha256: str | None
    tokens_sha256: str
    entries: tuple[tuple[str, int], ...]  # group and length of each rollout


def parse_manifest(fields: Fields) -> Manifest:
    """Parse the content of an audit's `manifest.json`. Raises the error of `fields`."""
    fields.integer("schema", SCHEMA, SCHEMA)
    manifest = Manifest(
        audit_id=fields.text("auditId", MAX_ID_LENGTH),
        base_sha256=fields.sha256("baseSha256"),
        adapter_sha256=fields.sha256("adapterSha256") if fields.has("adapterSha256") else None,
        tokens_sha256=fields.sha256("tokensSha256"),
        entries=tuple(_entry(entry) for entry in fields.children("rollouts", MAX_ROLLOUTS)),
    )
    fields.done()
    return manifest


def _entry(fields: Fields) -> tuple[str, int]:
    entry = (fields.text("group", MAX_ID_LENGTH), fields.integer("length", 2, MAX_BATCH_TOKENS))
    fields.done()
    return entry


def load_job(directory: Path, base: Base) -> AuditJob:
    """
    Read and check an audit.

    Raises BatchRefused `manifest_invalid`, `base_mismatch`, `draws_invalid`, and the errors of `read_tokens` and
    `check_layout`.
    """

    def fail(detail: str) -> BatchRefused:
        return BatchRefused("manifest_invalid", detail)

    fields, data = read_json(directory / MANIFEST_FILE, "manifest", fail)
    manifest = parse_manifest(fields)
    if manifest.audit_id != directory.name:
        raise fail(f"auditId {manifest.audit_id!r} is not the directory's name")
    if not manifest.entries:
        raise fail("an audit needs at least one rollout")
    if manifest.base_sha256 != base.sha256:
        raise BatchRefused("base_mismatch", f"audit for base {manifest.base_sha256}, this process holds {base.sha256}")

    arrays = read_tokens(directory / TOKENS_FILE, manifest.tokens_sha256, AUDIT_TENSORS)
    lengths = [length for _, length in manifest.entries]
    offsets = check_layout(arrays, lengths, base.vocab_size, base.context_length)
    check_draws(arrays)
    rollouts, draws = [], []
    for i, (group, length) in enumerate(manifest.entries):
        part = slice(int(offsets[i]), int(offsets[i + 1]))
        mask = arrays["loss_mask"][part].astype(bool)
        if not mask.any():
            raise BatchRefused("mask_invalid", f"rollout {i} has no sampled token")
        nothing = np.zeros(length, dtype=np.float32)
        rollouts.append(Rollout(i, group, 0.0, 0.0, 0, "audited", arrays["ids"][part], mask, nothing))
        draws.append(draws_of(arrays, part, mask))
    return AuditJob(
        manifest.audit_id, manifest.adapter_sha256, hashlib.sha256(data).hexdigest(), tuple(rollouts), tuple(draws)
    )


def write_token_scores(
    folder: Path, name: str, manifest_sha256: str, scores: TokenScores, draft_folder: Path | None = None
) -> None:
    """
    Write the token scores of the job `name`, an audit or a batch, atomically. The bytes depend on job, policy and
    program only.

    Raises BatchRefused `token_scores_nonfinite` when the policy gives no finite numbers for these tokens.
    """
    broken = sorted(name for name, values in scores.items() if not np.isfinite(values).all())
    if broken:
        raise BatchRefused("token_scores_nonfinite", ", ".join(broken))
    blob = save_safetensors(scores)
    with atomic_directory(folder, draft_folder) as draft:
        (draft / TOKEN_SCORE_FILE).write_bytes(blob)
        content = {
            "schema": SCHEMA,
            "auditId": name,
            "trainer": __version__,
            "manifestSha256": manifest_sha256,
            "tokenScoresSha256": hashlib.sha256(blob).hexdigest(),
            "sampled": len(scores["logp"]),
        }
        write_json_atomic(draft / ANSWER_FILE, content)

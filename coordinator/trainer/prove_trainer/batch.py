"""Batch directories, parsed and checked: no other module reads them unchecked."""

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as load_safetensors

from .config import LossSettings
from .draws import DRAW_TENSORS, check_draws, draws_of
from .errors import BatchRefused
from .fields import Fields, read_json
from .layout import MANIFEST_FILE, TOKENS_FILE
from .limits import ADVANTAGE_SLACK, MAX_BATCH_TOKENS, MAX_ID_LENGTH, MAX_ROLLOUTS, MAX_TOKEN_FILE_BYTES, SCHEMA
from .loss import group_advantages

BATCH_TENSORS = {
    "ids": np.int32,
    "loss_mask": np.uint8,
    "sampler_logp": np.float32,
    "cu_seqlens": np.int32,
    **DRAW_TENSORS,
}


@dataclass(frozen=True)
class Rollout:
    """One attempt, as token arrays of equal length."""

    index: int  # position in the manifest
    group: str
    reward: float
    advantage: float  # recomputed here from the group's rewards
    policy_version: int
    sampler: str  # free label of backend and quantisation, for the metrics
    ids: np.ndarray  # int32
    mask: np.ndarray  # bool; True only on tokens the model sampled
    sampler_logp: np.ndarray  # float32, nats; 0 where the mask is False; as claimed, so perhaps not finite
    supplier: int = 0  # which of the batch's suppliers made it
    draws: np.ndarray | None = None  # see `draws_of`; None: the rollout was audited already


@dataclass(frozen=True)
class Batch:
    batch_id: str
    round_id: str
    parent_step: int
    loss: LossSettings
    manifest_sha256: str
    tokens_sha256: str
    rollouts: tuple[Rollout, ...]
    left_out: frozenset[str] = frozenset()  # groups that an audit refused

    @property
    def tokens(self) -> int:
        return sum(len(rollout.ids) for rollout in self.rollouts)

    @property
    def unaudited(self) -> tuple[Rollout, ...]:
        """Rollouts that must not contribute gradients before their token scores are verified."""
        return tuple(rollout for rollout in self.rollouts if rollout.draws is not None)

    def without(self, groups: frozenset[str]) -> "Batch":
        return replace(self, left_out=groups)

    def groups(self) -> dict[str, list[Rollout]]:
        """Rollouts by group, both in manifest order."""
        found: dict[str, list[Rollout]] = {}
        for rollout in self.rollouts:
            found.setdefault(rollout.group, []).append(rollout)
        return found


@dataclass(frozen=True)
class _Entry:
    group: str
    reward: float
    advantage: float | None
    policy_version: int
    sampler: str
    supplier: int
    length: int
    audit: bool


@dataclass(frozen=True)
class Manifest:
    batch_id: str
    round_id: str
    parent_step: int
    base_sha256: str
    tokens_sha256: str
    sha256: str
    entries: tuple[_Entry, ...]
    back_to: int | None = None  # for a rollback without training: the step whose policy is restored


def _entry(fields: Fields) -> _Entry:
    advantage = fields.number("advantage", -1e6, 1e6) if fields.has("advantage") else None
    entry = _Entry(
        group=fields.text("group", MAX_ID_LENGTH),
        reward=fields.number("reward", -1e6, 1e6),
        advantage=advantage,
        policy_version=fields.integer("policyVersion", 0, 2**31),
        sampler=fields.text("sampler", 64, "unlabelled"),
        supplier=fields.integer("supplier", 0, MAX_ROLLOUTS) if fields.has("supplier") else 0,
        length=fields.integer("length", 2, MAX_BATCH_TOKENS),
        audit=fields.flag("audit", False),
    )
    fields.done()
    return entry


def read_manifest(directory: Path) -> Manifest:
    """Parse `manifest.json`. Raises BatchRefused `manifest_invalid`."""

    def fail(detail: str) -> BatchRefused:
        return BatchRefused("manifest_invalid", detail)

    fields, data = read_json(directory / MANIFEST_FILE, "manifest", fail)
    manifest = parse_manifest(fields, hashlib.sha256(data).hexdigest())
    if manifest.batch_id != directory.name:
        raise fail(f"batchId {manifest.batch_id!r} is not the directory's name")
    if manifest.back_to is None and not manifest.entries:
        raise fail("a batch needs at least one rollout")
    if manifest.back_to is not None and (manifest.entries or manifest.back_to >= manifest.parent_step):
        raise fail("a rollback has no rollouts, and its backTo is an earlier step than its parent")
    return manifest


def parse_manifest(fields: Fields, sha256: str) -> Manifest:
    """Parse the content of a `manifest.json` with this hash. Raises the error of `fields`."""
    fields.integer("schema", SCHEMA, SCHEMA)
    manifest = Manifest(
        batch_id=fields.text("batchId", MAX_ID_LENGTH),
        round_id=fields.text("roundId", MAX_ID_LENGTH),
        parent_step=fields.integer("parentStep", 0, 2**31),
        base_sha256=fields.sha256("baseSha256"),
        tokens_sha256=fields.sha256("tokensSha256"),
        sha256=sha256,
        entries=tuple(_entry(entry) for entry in fields.children("rollouts", MAX_ROLLOUTS)),
        back_to=fields.integer("backTo", 0, 2**31) if fields.has("backTo") else None,
    )
    fields.done()
    return manifest


def read_tokens(path: Path, expected_sha256: str, kinds: Mapping[str, type]) -> dict[str, np.ndarray]:
    """
    Read the flat tensors of a token file: exactly the names and element types of `kinds`.

    Raises BatchRefused `tokens_unreadable`, `tokens_hash_mismatch`, `tokens_invalid`.
    """
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size > MAX_TOKEN_FILE_BYTES:
                raise BatchRefused("tokens_invalid", f"more than {MAX_TOKEN_FILE_BYTES} bytes")
            data = file.read()
    except OSError as error:
        raise BatchRefused("tokens_unreadable", str(error.strerror)) from error
    # Hashed and parsed from the same bytes: a file swapped in between cannot pass.
    actual = hashlib.sha256(data).hexdigest()
    if actual != expected_sha256:
        raise BatchRefused("tokens_hash_mismatch", f"file is {actual}, manifest says {expected_sha256}")
    try:
        arrays = load_safetensors(data)
    except (SafetensorError, ValueError, KeyError) as error:
        raise BatchRefused("tokens_invalid", str(error)) from error
    if set(arrays) != set(kinds):
        raise BatchRefused("tokens_invalid", f"tensors must be {sorted(kinds)}, found {sorted(arrays)[:8]}")
    for name, kind in kinds.items():
        if arrays[name].dtype != kind or arrays[name].ndim != 1:
            raise BatchRefused("tokens_invalid", f"{name} must be flat {np.dtype(kind).name}")
    return arrays


def check_layout(
    arrays: dict[str, np.ndarray], expected_lengths: Sequence[int], vocab_size: int, context_length: int
) -> np.ndarray:
    """
    Check `ids` and `loss_mask`, and return the start offsets of rollouts of these lengths.

    Raises BatchRefused `tokens_invalid`, `cu_seqlens_invalid`, `length_mismatch`, `too_long`, `token_out_of_range`,
    `mask_invalid`.
    """
    ids, mask, offsets = arrays["ids"], arrays["loss_mask"], arrays["cu_seqlens"]
    for name, values in arrays.items():
        if name != "cu_seqlens" and len(values) != len(ids):
            raise BatchRefused("tokens_invalid", f"ids and {name} differ in length")
    if (
        len(offsets) != len(expected_lengths) + 1
        or offsets[0] != 0
        or offsets[-1] != len(ids)
        or (np.diff(offsets.astype(np.int64)) <= 0).any()
    ):
        raise BatchRefused(
            "cu_seqlens_invalid", "offsets must rise from 0 to the number of tokens, one interval per rollout"
        )
    lengths = np.diff(offsets)
    if (lengths != list(expected_lengths)).any():
        raise BatchRefused("length_mismatch", "cu_seqlens and the manifest's lengths differ")
    if lengths.max() > context_length:
        raise BatchRefused("too_long", f"a rollout of {lengths.max()} tokens, the model's context is {context_length}")
    if ids.min() < 0 or ids.max() >= vocab_size:
        raise BatchRefused("token_out_of_range", f"ids must lie in [0, {vocab_size})")
    if mask.max() > 1:
        raise BatchRefused("mask_invalid", "loss_mask must be 0 or 1")
    if mask[offsets[:-1]].any():
        raise BatchRefused("mask_invalid", "a rollout's first token cannot have been sampled")
    return offsets


def load_batch(
    directory: Path, manifest: Manifest, loss: LossSettings, base_sha256: str, vocab_size: int, context_length: int
) -> Batch:
    """
    Read and check the whole batch; `loss` are the settings of its training. A rollout with doubtful log-probabilities
    stays in the batch: `selection.select` rejects it with a reason.

    Raises BatchRefused: `base_mismatch`, `tokens_unreadable`, `tokens_hash_mismatch`, `tokens_invalid`,
    `cu_seqlens_invalid`, `length_mismatch`, `too_long`, `token_out_of_range`, `mask_invalid`, `logp_invalid`,
    `draws_invalid`, `advantage_mismatch`.
    """
    if manifest.base_sha256 != base_sha256:
        raise BatchRefused("base_mismatch", f"batch for base {manifest.base_sha256}, this trainer has {base_sha256}")
    arrays = read_tokens(directory / TOKENS_FILE, manifest.tokens_sha256, BATCH_TENSORS)
    offsets = check_layout(arrays, [entry.length for entry in manifest.entries], vocab_size, context_length)
    if (arrays["sampler_logp"][arrays["loss_mask"] == 0] != 0).any():  # NaN != 0 as well
        raise BatchRefused("logp_invalid", "sampler_logp must be 0 where the mask is 0")
    check_draws(arrays)
    by_group: dict[str, list[int]] = {}
    for i, entry in enumerate(manifest.entries):
        by_group.setdefault(entry.group, []).append(i)
    advantages = np.zeros(len(manifest.entries))
    for members in by_group.values():
        advantages[members] = group_advantages([manifest.entries[i].reward for i in members], loss.advantage)
    rollouts = []
    for i, entry in enumerate(manifest.entries):
        if entry.advantage is not None and abs(entry.advantage - advantages[i]) > ADVANTAGE_SLACK * max(
            1.0, abs(advantages[i])
        ):
            raise BatchRefused(
                "advantage_mismatch",
                f"rollout {i}: manifest says {entry.advantage:.6g}, the group's rewards give {advantages[i]:.6g}",
            )
        part = slice(int(offsets[i]), int(offsets[i + 1]))
        mask = arrays["loss_mask"][part].astype(bool)
        rollouts.append(
            Rollout(
                index=i,
                group=entry.group,
                reward=entry.reward,
                advantage=float(advantages[i]),
                policy_version=entry.policy_version,
                sampler=entry.sampler,
                supplier=entry.supplier,
                ids=arrays["ids"][part],
                mask=mask,
                sampler_logp=arrays["sampler_logp"][part],
                draws=draws_of(arrays, part, mask) if entry.audit else None,
            )
        )
    return Batch(
        manifest.batch_id,
        manifest.round_id,
        manifest.parent_step,
        loss,
        manifest.sha256,
        manifest.tokens_sha256,
        tuple(rollouts),
    )

"""Step directories: everything needed to resume from a step, written once and never changed."""

import base64
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from . import __version__
from .batch import Batch
from .config import LoraSettings, TrainerConfig, json_names, training_record
from .errors import TrainerError
from .export import check_adapter, score_trained, write_adapter, write_base_config
from .fields import read_json
from .gguf_base import Base
from .grpo import GrpoTrainer, StepOutcome
from .jobs import JobDirectory, atomic_directory, sha256_file, write_json_atomic
from .layout import BASE_CONFIG_FILE, STEP_FILE, STEP_FILES
from .limits import MAX_ID_LENGTH, SCHEMA
from .program import program_record
from .reference import CanaryScores, Reference

_ADAPTER = "adapter/"  # in the names of a snapshot


@dataclass(frozen=True)
class StepRecord:
    """The worker's record of a complete step."""

    step: int
    batch_id: str | None  # None for step 0, the initial adapter
    skipped: str | None
    adapter_step: int  # the step whose update made this adapter: `step` itself, or an earlier one if it was skipped
    consumed: dict[str, int]  # every batch id used so far -> the step it made
    consecutive_skips: int  # non-finite steps in a row up to this one
    adapter_sha256: str  # of adapter/adapter_model.safetensors
    gguf_sha256: str  # of adapter.gguf
    warm_start: dict | None  # the supervised training of step 0; None: the run began with the base


@dataclass(frozen=True)
class Portrait:
    """The state that a step is written from. All ranks of a policy in shards make it together."""

    state: dict[str, torch.Tensor]  # as of `GrpoTrainer.snapshot`
    trained: CanaryScores | None  # of a policy in shards; other policies are scored after the export is read back

    def adapter(self) -> dict[str, torch.Tensor]:
        return {n.removeprefix(_ADAPTER): values for n, values in self.state.items() if n.startswith(_ADAPTER)}


def portray(trainer: GrpoTrainer, base: Base, config: TrainerConfig) -> Portrait:
    portrait = Portrait(trainer.snapshot(), None)
    if not trainer.in_shards:
        return portrait
    return replace(portrait, trained=score_trained(trainer.policy, base, config))


def _write_rng(path: Path, seed: int) -> None:
    state = base64.b64encode(torch.get_rng_state().numpy().tobytes()).decode("ascii")
    write_json_atomic(path, {"schema": SCHEMA, "seed": seed, "torch": state})


def write_step(
    jobs: JobDirectory,
    step: int,
    trainer: GrpoTrainer,
    portrait: Portrait,
    base: Base,
    config: TrainerConfig,
    previous: StepRecord | None,
    batch: Batch | None,
    outcome: StepOutcome | None,
    adapter_step: int,
    reference: Reference,
    warm_start: dict | None = None,
) -> tuple[StepRecord, dict]:
    """
    Write `steps/step-<step>` atomically, on rank 0 only. Returns its record and the content of step.json.
    `adapter_step` is the step whose update made the adapter of `trainer`. `warm_start` describes the supervised
    training of step 0; later steps repeat the description of their predecessor.

    Raises DeltaTooLarge and TrainerError `export_check_failed` before the step becomes visible.
    """
    skipped = outcome.skipped if outcome else None
    consumed = dict(previous.consumed) if previous else {}
    if batch:
        consumed[batch.batch_id] = step
    in_a_row = previous.consecutive_skips + 1 if previous and skipped not in (None, "no_signal", "rollback") else 0
    target = jobs.step_path(step)
    with atomic_directory(target, jobs.draft_of(target)) as draft:
        live = portrait.adapter()
        write_adapter(draft, trainer.policy, base, config, step, live)
        write_base_config(draft / BASE_CONFIG_FILE, base)
        checked = check_adapter(draft, trainer.policy, base, config, live, portrait.trained, reference)
        state = {name: tensor for name, tensor in portrait.state.items() if not name.startswith(_ADAPTER)}
        save_file(state, draft / "optimizer.safetensors")
        _write_rng(draft / "rng.json", config.seed)
        hashes = {name: sha256_file(draft / name) for name in STEP_FILES}
        content = {
            "schema": SCHEMA,
            "trainer": __version__,
            "step": step,
            "batchId": batch.batch_id if batch else None,
            "roundId": batch.round_id if batch else None,
            "skipped": skipped,
            "consecutiveSkips": in_a_row,
            "adapterStep": adapter_step,
            "consumed": consumed,
            "warmStart": previous.warm_start if previous else warm_start,
            "baseSha256": base.sha256,
            "lora": json_names(config.lora),
            "loss": json_names(batch.loss) if batch else None,
            "recipe": {"settings": training_record(config), "program": program_record()},
            "batch": {"manifestSha256": batch.manifest_sha256, "tokensSha256": batch.tokens_sha256} if batch else None,
            "worldSize": trainer.ranks.world,
            "files": hashes,
            "stats": outcome.stats if outcome else None,
            "timing": outcome.timing if outcome else None,
            "rejected": [{"rollout": index, "reason": reason} for index, reason in outcome.rejected.items()]
            if outcome
            else [],
            **checked,
        }
        write_json_atomic(draft / STEP_FILE, content)
    return _record(content), content


def _record(content: dict) -> StepRecord:
    files = content["files"]
    return StepRecord(
        step=content["step"],
        batch_id=content["batchId"],
        skipped=content["skipped"],
        adapter_step=content["adapterStep"],
        consumed=content["consumed"],
        consecutive_skips=content["consecutiveSkips"],
        adapter_sha256=files["adapter/adapter_model.safetensors"],
        gguf_sha256=files["adapter.gguf"],
        warm_start=content["warmStart"],
    )


def read_step(jobs: JobDirectory, step: int, base: Base, lora: LoraSettings) -> StepRecord:
    """
    The record of a step on disk, after checking every file's hash.

    Raises TrainerError `step_corrupt`, or `resume_mismatch` when it belongs to another base or LoRA shape. There is
    no silent fall-back to an older step: that would train a batch twice.
    """

    def fail(detail: str) -> TrainerError:
        return TrainerError("step_corrupt", f"step-{step}: {detail}")

    path = jobs.step_path(step)
    fields, _ = read_json(path / STEP_FILE, "step", fail)
    fields.integer("schema", SCHEMA, SCHEMA)
    if fields.sha256("baseSha256") != base.sha256 or fields.raw("lora") != json_names(lora):
        raise TrainerError("resume_mismatch", f"step-{step} was made with another base model or other LoRA settings")
    files = fields.child("files")
    # Spools that were begun by an earlier version have steps without the last one.
    hashes = {name: files.sha256(name) for name in STEP_FILES if name != BASE_CONFIG_FILE or files.has(name)}
    for name, wanted in hashes.items():
        try:
            actual = sha256_file(path / name)
        except OSError as error:
            raise fail(f"{name}: {error.strerror}") from error
        if actual != wanted:
            raise fail(f"{name} is {actual}, step.json says {wanted}")
    consumed = fields.raw("consumed")
    if not isinstance(consumed, dict) or not all(isinstance(number, int) for number in consumed.values()):
        raise fail("consumed must map batch ids to steps")
    return _record(
        {
            "step": fields.integer("step", step, step),
            "batchId": fields.text("batchId", MAX_ID_LENGTH, None),
            "skipped": fields.text("skipped", 64, None),
            "adapterStep": fields.integer("adapterStep", 0, step),
            "consumed": consumed,
            "consecutiveSkips": fields.integer("consecutiveSkips", 0, 2**31),
            "files": hashes,
            "warmStart": fields.raw("warmStart"),
        }
    )


def first_adapter(jobs: JobDirectory) -> dict[str, torch.Tensor]:
    """Return the adapter of step 0, by the policy's names. Raises TrainerError `step_corrupt`."""
    try:
        return load_file(jobs.step_path(0) / "adapter" / "adapter_model.safetensors")
    except (OSError, SafetensorError) as error:
        raise TrainerError("step_corrupt", f"step-0: {error}") from error


def load_state(jobs: JobDirectory, record: StepRecord, trainer: GrpoTrainer) -> None:
    """
    Puts adapter, optimizer and random state of a verified step into `trainer`. Raises TrainerError `step_corrupt`.
    """
    path = jobs.step_path(record.step)
    try:
        tensors = load_file(path / "optimizer.safetensors")
        tensors |= {
            f"adapter/{name}": tensor
            for name, tensor in load_file(path / "adapter" / "adapter_model.safetensors").items()
        }
        trainer.restore(tensors)
        fields, _ = read_json(path / "rng.json", "rng", lambda detail: TrainerError("step_corrupt", detail))
        state = base64.b64decode(fields.text("torch", 2**16), validate=True)
        torch.set_rng_state(torch.from_numpy(np.frombuffer(state, dtype=np.uint8).copy()))
    except (SafetensorError, KeyError, RuntimeError, ValueError) as error:
        raise TrainerError("step_corrupt", f"step-{record.step}: {error}") from error

"""Settings of a warm start, and the order of its demonstrations."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from .batch import Rollout
from .config import OptimizerSettings
from .errors import TrainerError
from .fields import read_json
from .limits import MAX_PATH, MAX_WARM_START_STEPS, MAX_WARM_START_TOKENS, SCHEMA

SETTINGS_FILE = "warm-start.json"
DEMONSTRATIONS_FILE = "demonstrations.safetensors"


@dataclass(frozen=True)
class WarmStartSettings:
    """`warm-start.json`: what is trained on demonstrations, and how."""

    demonstrations_sha256: str
    steps: int  # optimizer steps
    tokens_per_step: int  # a step takes whole demonstrations until it has this number
    held_out: int  # demonstrations at the end of the file that only measure
    optimizer: OptimizerSettings
    merged: Path | None  # file for the trained base, whose own matrices learn; None: the run's adapter learns
    source: dict[str, Any]  # where the demonstrations are from, as the coordinator describes it; kept in the record


def load_settings(path: Path) -> WarmStartSettings:
    """Read `warm-start.json`. Raises TrainerError `warm_start_invalid`, which names the field."""
    fields, _ = read_json(path, "warmStart", lambda detail: TrainerError("warm_start_invalid", detail))
    fields.integer("schema", SCHEMA, SCHEMA)
    steps = fields.integer("steps", 1, MAX_WARM_START_STEPS)
    merged = fields.text("merged", MAX_PATH, None)
    settings = WarmStartSettings(
        demonstrations_sha256=fields.sha256("demonstrationsSha256"),
        steps=steps,
        tokens_per_step=fields.integer("tokensPerStep", 1, MAX_WARM_START_TOKENS),
        held_out=fields.integer("heldOut", 1, 1_000_000),
        optimizer=replace(
            OptimizerSettings(),
            lr=fields.number("lr", 0.0, 10.0),
            warmup_steps=min(steps - 1, fields.integer("warmupSteps", 0, MAX_WARM_START_STEPS)),
            schedule="linear",
            decay_steps=steps,
            final_share=fields.number("finalShare", 0.0, 1.0),
        ),
        merged=None if merged is None else Path(merged),
        source=fields.raw("source"),
    )
    fields.done()
    return settings


def order_of(count: int, epoch: int, seed: int) -> np.ndarray:
    """Return the order of `count` demonstrations in an epoch."""
    return np.random.default_rng([seed, epoch]).permutation(count)


def batches(demonstrations: Sequence[Rollout], tokens_per_step: int, steps: int, seed: int) -> list[list[Rollout]]:
    """Return the demonstrations of each step, whole epochs after one another."""
    found: list[list[Rollout]] = []
    batch: list[Rollout] = []
    epoch = tokens = 0
    while True:
        for i in order_of(len(demonstrations), epoch, seed):
            batch.append(demonstrations[i])
            tokens += len(demonstrations[i].ids)
            if tokens >= tokens_per_step:
                found.append(batch)
                batch, tokens = [], 0
                if len(found) == steps:
                    return found
        epoch += 1

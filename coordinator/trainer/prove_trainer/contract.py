"""
The contract between the coordinator and this package, as one JSON object: schemas of the JSON files that they exchange,
and constants that both use. `python -m prove_trainer.contract` writes it to `contract.json`. A test on either side
compares that file with the code.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from . import audit_folder, batch, findings, layout, life, limits
from .architectures import ARCHITECTURES
from .config import parse_config
from .fields import Fields
from .gguf_config import ROPE_KEYS
from .gumbel_max import DRAW
from .token_scores import TOKEN_SCORES

CONTRACT = Path(__file__).parent.parent / "contract.json"


class Outline(Fields):
    """Records the fields that a parser reads as a JSON schema, and returns the smallest valid value for each."""

    def __init__(self) -> None:
        super().__init__({}, "outline", _unasked)
        self.properties: dict[str, Any] = {}
        self._required: list[str] = []
        self._optional: set[str] = set()

    def _note(self, key: str, default: Any, least: Any, **schema: Any) -> Any:
        if default is not ... and default is not None:
            schema["default"] = default
        self.properties[key] = schema
        if default is ... and key not in self._optional:
            self._required.append(key)
        return least if default is ... else default

    def schema(self) -> dict[str, Any]:
        found: dict[str, Any] = {"type": "object", "properties": self.properties, "additionalProperties": False}
        return {**found, "required": self._required} if self._required else found

    def has(self, key: str) -> bool:
        self._optional.add(key)
        return True

    def integer(self, key: str, low: int, high: int, default: Any = ...) -> int:
        return self._note(key, default, low, type="integer", minimum=low, maximum=high)

    def number(self, key: str, low: float, high: float, default: Any = ...) -> float:
        return self._note(key, default, low, type="number", minimum=low, maximum=high)

    def text(self, key: str, max_length: int, default: Any = ...) -> Any:
        return self._note(key, default, "x", type="string", minLength=1, maxLength=max_length)

    def sha256(self, key: str) -> str:
        return self._note(key, ..., "0" * 64, type="string", pattern="^[0-9a-f]{64}$")

    def choice(self, key: str, options: tuple[str, ...], default: Any = ...) -> str:
        return self._note(key, default, options[0], type="string", enum=list(options))

    def choices(self, key: str, options: tuple[str, ...], default: Any = ...) -> list[str]:
        items = {"type": "string", "enum": list(options)}
        return self._note(key, default, [options[0]], type="array", minItems=1, uniqueItems=True, items=items)

    def flag(self, key: str, default: Any = ...) -> bool:
        return self._note(key, default, False, type="boolean")

    def token_ids(self, key: str, max_length: int, min_length: int = 1) -> list[int]:
        items = {"type": "integer", "minimum": 0, "maximum": 2**31 - 1}
        return self._note(key, ..., [0], type="array", minItems=min_length, maxItems=max_length, items=items)

    def child(self, key: str, default: Any = ...) -> Fields:
        inner = Outline()
        self._note(key, default, None)
        self.properties[key] = _Later(inner)
        return inner

    def children(self, key: str, max_length: int, default: Any = ...) -> list[Fields]:
        inner = Outline()
        self._note(key, default, None, type="array", maxItems=max_length, items=_Later(inner))
        return [inner]


class _Later:
    """An object whose fields the parser has not read yet."""

    def __init__(self, outline: Outline) -> None:
        self.outline = outline


def _unasked(detail: str) -> NoReturn:
    raise AssertionError(detail)


def _resolved(value: Any) -> Any:
    if isinstance(value, _Later):
        return _resolved(value.outline.schema())
    if isinstance(value, dict):
        return {key: _resolved(item) for key, item in value.items()}
    return value


def outline(parse: Callable[[Fields], object]) -> dict[str, Any]:
    """Return the JSON schema of the input that `parse` accepts, with its defaults."""
    fields = Outline()
    parse(fields)
    return _resolved(fields.schema())


def _kinds(tensors: Mapping[str, type]) -> dict[str, str]:
    return {name: np.dtype(kind).name for name, kind in tensors.items()}


def contract() -> dict[str, Any]:
    return {
        "schema": limits.SCHEMA,
        "draw": DRAW,
        "trainerJson": outline(parse_config),
        "batchManifest": outline(lambda fields: batch.parse_manifest(fields, "")),
        "auditManifest": outline(audit_folder.parse_manifest),
        "findings": outline(findings.parse_findings),
        "lease": outline(life.parse_lease),
        "tensors": {
            "batch": _kinds(batch.BATCH_TENSORS),
            "audit": _kinds(audit_folder.AUDIT_TENSORS),
            "tokenScores": _kinds(TOKEN_SCORES),
        },
        "folders": [layout.BATCHES, layout.STEPS, layout.AUDITS, layout.TOKEN_SCORES, layout.ADAPTERS, layout.LAUNCH],
        "files": {
            "manifest": layout.MANIFEST_FILE,
            "tokens": layout.TOKENS_FILE,
            "refused": layout.REFUSED_FILE,
            "findings": layout.FINDINGS_FILE,
            "step": layout.STEP_FILE,
            "answer": layout.ANSWER_FILE,
            "tokenScores": layout.TOKEN_SCORE_FILE,
            "lease": layout.LEASE_FILE,
            "events": layout.EVENTS_FILE,
        },
        "stepFiles": list(layout.STEP_FILES),
        "bases": {"architectures": sorted(ARCHITECTURES), "ropeKeys": sorted(ROPE_KEYS)},
        "limits": {
            "flatReward": limits.FLAT_REWARD,
            "staleness": limits.MAX_STALENESS,
            "rank": limits.MAX_RANK,
            "alpha": limits.MAX_ALPHA,
            "nameLength": limits.MAX_NAME,
            "idLength": limits.MAX_ID_LENGTH,
            "canaries": limits.MAX_CANARIES,
            "canaryTokens": limits.MAX_CANARY_TOKENS,
        },
    }


if __name__ == "__main__":
    CONTRACT.write_text(json.dumps(contract(), indent=2) + "\n", encoding="utf-8")

"""
Copies of a GGUF with other types, weights or chat template. Equal inputs give equal bytes on every machine.
"""

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gguf
import numpy as np

from .errors import TrainerError
from .jobs import fsync_path

Kind = gguf.GGMLQuantizationType
Value = gguf.GGUFValueType

TEMPLATE = "tokenizer.chat_template"
# The writer adds the architecture first. Alignment and types are those of the copy.
OWN_KEYS = frozenset({"general.architecture", "general.alignment", "general.file_type", "general.quantization_version"})
KINDS = ("f16", "keep")
FLOATS = (Kind.F32, Kind.F16, Kind.BF16)


@dataclass(frozen=True)
class Plan:
    """How one tensor is written: its type, and its values, which are computed when they are written."""

    kind: Kind
    shape: tuple[int, ...]
    size: int  # bytes
    values: Callable[[], np.ndarray]


def write_gguf(
    source: Path,
    out: Path,
    kind: str = "f16",
    template: str | None = None,
    replaced: Mapping[str, np.ndarray] | None = None,
    draft: Path | None = None,
    check: Callable[[], None] = lambda: None,
    tell: Callable[[int, int], None] = lambda done, of: None,
) -> None:
    """
    Write a copy of the GGUF `source` to `out`, which never exists in part: the copy is written to `draft`, by default
    `<out>.tmp`, and renamed.

    `kind` f16 stores matrices as float16 and vectors as float32, and `keep` keeps the stored types. `template` replaces
    the chat template. `replaced` has other weights by tensor name, in the file's shape and order of rows. `check` is
    called before each tensor and may raise, and `tell` after each with the numbers of tensors.

    Raises TrainerError: `disk_full`, `base_unsupported` for a weight beyond float16 or a type that cannot be
    dequantised, `base_invalid` for a weight that is not finite or does not fit, `base_unreadable`.
    """
    if kind not in KINDS:
        raise ValueError(f"kind {kind!r}")
    reader = gguf.GGUFReader(source)
    replaced = replaced or {}
    unknown = set(replaced) - {tensor.name for tensor in reader.tensors}
    if unknown:
        raise TrainerError("base_invalid", f"{source.name} has no tensor {min(unknown)}")
    plans = {tensor.name: _plan(tensor, kind, replaced.get(tensor.name)) for tensor in reader.tensors}
    draft = draft or out.with_name(out.name + ".tmp")
    writer = gguf.GGUFWriter(draft, str(_contents(reader, "general.architecture")))
    _add_metadata(writer, reader, kind, template)
    for name, plan in plans.items():
        writer.add_tensor_info(name, plan.shape, np.dtype(np.float32), plan.size, raw_dtype=plan.kind)
    _check_space(draft.parent, sum(plan.size for plan in plans.values()) + reader.data_offset)
    try:
        try:
            writer.write_header_to_file()
            writer.write_kv_data_to_file()
            writer.write_ti_data_to_file()
            for done, (name, plan) in enumerate(plans.items(), 1):
                check()
                writer.write_tensor_data(_exact(name, plan))
                tell(done, len(plans))
        finally:
            writer.close()
        check()
        fsync_path(draft)
        os.rename(draft, out)
        fsync_path(out.absolute().parent)
    except OSError as error:
        raise TrainerError("disk_full", f"{out}: {error.strerror}") from error
    finally:
        draft.unlink(missing_ok=True)


def _contents(reader: gguf.GGUFReader, key: str) -> Any:
    field = reader.get_field(key)
    return None if field is None else field.contents()


def _add_metadata(writer: gguf.GGUFWriter, reader: gguf.GGUFReader, kind: str, template: str | None) -> None:
    for key, field in reader.fields.items():
        # A file may have further templates by name.
        replaced = template is not None and key.startswith(TEMPLATE)
        if key.startswith("GGUF.") or key in OWN_KEYS or replaced:
            continue
        value = field.contents()
        if field.types[0] == Value.ARRAY and not value:
            continue  # the writer cannot write an empty list, and llama.cpp reads it like a missing one
        inner = field.types[-1] if field.types[0] == Value.ARRAY else None
        writer.add_key_value(key, value, field.types[0], inner)
    kept = _contents(reader, "general.file_type")
    file_type = int(gguf.LlamaFileType.MOSTLY_F16) if kind == "f16" else kept
    if file_type is not None:
        writer.add_file_type(file_type)
    version = _contents(reader, "general.quantization_version")
    if kind == "keep" and version is not None:
        writer.add_quantization_version(version)
    if template is not None:
        writer.add_chat_template(template)


def _plan(tensor: gguf.ReaderTensor, kind: str, other: np.ndarray | None) -> Plan:
    shape = tuple(reversed(tensor.shape.tolist()))
    if other is not None and other.shape != shape:
        raise TrainerError("base_invalid", f"{tensor.name} has the shape {shape}, and its replacement {other.shape}")
    if kind == "keep" and other is None:
        return Plan(tensor.tensor_type, shape, int(tensor.n_bytes), lambda: tensor.data)
    if kind == "keep" and tensor.tensor_type not in FLOATS:
        raise TrainerError(
            "base_unsupported",
            f"{tensor.name} is quantised, and its replacement would be quantised again: write float16",
        )
    target = tensor.tensor_type if kind == "keep" else Kind.F16 if len(shape) > 1 else Kind.F32

    def values() -> np.ndarray:
        found = other if other is not None else gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        exact = np.asarray(found, np.float32)
        if not np.isfinite(exact).all():
            raise TrainerError("base_invalid", f"{tensor.name} contains a weight that is not finite")
        if target == Kind.BF16:
            return gguf.quants.quantize(exact, target)
        with np.errstate(over="ignore"):
            stored = exact.astype(np.float16 if target == Kind.F16 else np.float32)
        if not np.isfinite(stored).all():
            raise TrainerError(
                "base_unsupported", f"{tensor.name} has a weight beyond the range of float16: keep the stored types"
            )
        return stored

    elements = int(np.prod(shape))
    return Plan(target, shape, elements * (4 if target == Kind.F32 else 2), values)


def _exact(name: str, plan: Plan) -> np.ndarray:
    values = np.ascontiguousarray(plan.values())
    if values.nbytes != plan.size:
        raise TrainerError("base_invalid", f"{name} has {values.nbytes} bytes, not {plan.size}")
    return values


def _check_space(folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise TrainerError(
            "disk_full", f"the file needs {needed / 2**20:.0f} MiB, and {folder} has {free / 2**20:.0f} MiB: free some"
        )

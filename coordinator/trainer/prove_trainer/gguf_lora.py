"""
LoRA adapters as GGUF, the form that llama.cpp loads: names and layout of llama.cpp's converter, tensors in float16.
"""

import math
import re
from pathlib import Path

import gguf
import numpy as np

from .architectures import RowOrder
from .config import LoraSettings
from .errors import TrainerError
from .gguf_base import BLOCK_NAMES
from .gguf_header import check_header

_PROJECTION = {module.rpartition(".")[2]: name for name, module in BLOCK_NAMES.items() if module.endswith("_proj")}
_PEFT = re.compile(r"base_model\.model\.model\.layers\.(\d+)\.(?:self_attn|mlp)\.([a-z]+_proj)\.lora_([AB])\.weight")


def gguf_name(peft_name: str) -> str:
    """Return `blk.N.<name>.weight.lora_a` for a PEFT tensor name. Raises TrainerError `export_unknown_tensor`."""
    match = _PEFT.fullmatch(peft_name)
    if match is None or match.group(2) not in _PROJECTION:
        raise TrainerError("export_unknown_tensor", f"{peft_name!r} cannot be expressed in a GGUF adapter")
    return f"blk.{int(match.group(1))}.{_PROJECTION[match.group(2)]}.weight.lora_{match.group(3).lower()}"


def effective_alpha(lora: LoraSettings) -> float:
    """
    Return the alpha to write: llama.cpp scales by alpha / r, rank-stabilised LoRA by alpha / sqrt(r), so its alpha is
    written larger.
    """
    return lora.alpha * math.sqrt(lora.rank) if lora.rs_lora else lora.alpha


def write_gguf_lora(path: Path, tensors: dict[str, np.ndarray], lora: LoraSettings, order: RowOrder) -> None:
    """
    Write PEFT tensors (A [r, in], B [out, r], float32) as float16, sorted by name so that equal adapters give equal
    bytes.
    """
    writer = gguf.GGUFWriter(path, order.architecture)
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", effective_alpha(lora))
    for name, values in sorted((gguf_name(name), values) for name, values in tensors.items()):
        writer.add_tensor(name, order.stored(name, values).astype(np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def read_gguf_lora(path: Path) -> tuple[dict[str, np.ndarray], float]:
    """Read the stored tensors by GGUF name, and the adapter's alpha. Raises TrainerError `export_check_failed`."""
    try:
        check_header(path)
        reader = gguf.GGUFReader(path)
    except Exception as error:  # the reader raises whatever numpy or struct met first in a malformed file
        raise TrainerError("export_check_failed", f"{path.name}: {error}") from error
    alpha = reader.get_field("adapter.lora.alpha")
    if alpha is None:
        raise TrainerError("export_check_failed", "adapter.lora.alpha is missing from the GGUF")
    return {tensor.name: np.array(tensor.data) for tensor in reader.tensors}, float(alpha.contents())

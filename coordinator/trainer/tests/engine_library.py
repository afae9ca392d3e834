"""
llama.cpp as the pinned node-llama-cpp ships it: what volunteers compute with also quantises, and reads its own blocks.

    python coordinator/trainer/tests/engine_library.py SOURCE.gguf TARGET.gguf q4_k_m

writes what `llama-quantize SOURCE TARGET TYPE` writes.
"""

import ctypes
import platform
import sys
from pathlib import Path

import gguf
import numpy as np

_MACHINE = {"x86_64": "x64", "aarch64": "arm64"}[platform.machine()]
_FOLDER = Path(__file__).parents[3] / f"node_modules/@node-llama-cpp/linux-{_MACHINE}/bins/linux-{_MACHINE}"
#: Of ggml-base, by the type of a tensor.
_DEQUANTISERS = {
    gguf.GGMLQuantizationType.Q8_0: "dequantize_row_q8_0",
    gguf.GGMLQuantizationType.Q4_K: "dequantize_row_q4_K",
    gguf.GGMLQuantizationType.Q6_K: "dequantize_row_q6_K",
}


class _Settings(ctypes.Structure):
    """`llama_model_quantize_params` of llama.h, llama.cpp v0.5.0."""

    _fields_ = [
        *[(name, ctypes.c_int32) for name in ("threads", "file_type", "output_type", "embedding_type")],
        *[
            (name, ctypes.c_bool)
            for name in ("requantise", "quantise_output", "only_copy", "pure", "keep_split", "dry_run")
        ],
        *[(name, ctypes.c_void_p) for name in ("imatrix", "metadata", "tensor_types", "pruned_layers")],
        ("buffer_bytes", ctypes.c_size_t),
    ]


_QuietLog = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)


@_QuietLog
def _say_nothing(_level: int, _text: bytes, _data: int) -> None:
    """A line for each tensor otherwise."""


def quantise(source: Path, target: Path, file_type: gguf.LlamaFileType) -> Path:
    """What `llama-quantize SOURCE TARGET TYPE` writes; matrices whose rows do not fit a type get a larger one."""
    library = ctypes.CDLL(str(next(_FOLDER.glob("libllama.v*.so"))))
    library.llama_log_set(_say_nothing, None)
    library.llama_model_quantize_default_params.restype = _Settings
    settings = library.llama_model_quantize_default_params()
    settings.threads, settings.file_type = 1, int(file_type)
    library.llama_model_quantize.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(_Settings)]
    library.llama_model_quantize.restype = ctypes.c_uint32
    status = library.llama_model_quantize(bytes(source), bytes(target), ctypes.byref(settings))
    if status != 0:
        raise RuntimeError(f"llama_model_quantize: {status}")
    return target


def dequantised(tensor: gguf.ReaderTensor) -> np.ndarray:
    """llama.cpp's own float32 of a quantised matrix, flat."""
    library = ctypes.CDLL(str(_FOLDER / "libggml-base.so"))
    read = getattr(library, _DEQUANTISERS[tensor.tensor_type])
    read.argtypes, read.restype = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64], None
    blocks = np.ascontiguousarray(tensor.data)
    values = np.empty(int(tensor.n_elements), np.float32)
    read(blocks.ctypes.data, values.ctypes.data, values.size)
    return values


if __name__ == "__main__":
    quantise(Path(sys.argv[1]), Path(sys.argv[2]), gguf.LlamaFileType[f"MOSTLY_{sys.argv[3].upper()}"])

"""
The frozen base model, read from the same GGUF that the volunteers run, so that sampler and trainer have equal weights.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

import gguf
import numpy as np
import torch
from transformers import Qwen3Config, Qwen3ForCausalLM
from transformers.models.qwen3.modeling_qwen3 import Qwen3RotaryEmbedding

from .architectures import ARCHITECTURES, RowOrder
from .errors import TrainerError
from .gguf_config import metadata, read_config, rope_divisors
from .gguf_header import check_header
from .jobs import sha256_file

_CPU = torch.device("cpu")

# The precisions of 16 bits, in which matrices are stored and multiplied, see docs/reference/trainer.md.
HALVES = {"bfloat16": torch.bfloat16, "float16": torch.float16}

# GGUF block tensor -> Hugging Face module inside model.layers.N
BLOCK_NAMES = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
OUTER_NAMES = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output_norm.weight": "model.norm.weight",
    "output.weight": "lm_head.weight",
}
# Factors of Llama 3's RoPE scaling, by which llama.cpp divides the angles of each pair. No weights.
ROPE_FACTORS = "rope_freqs.weight"
BIASED = ("attn_q", "attn_k", "attn_v")  # where the architecture has biases
_BLOCK = re.compile(r"blk\.(\d{1,4})\.([a-z_]+)\.(weight|bias)")


@dataclass(frozen=True)
class Base:
    """
    The base model's weights by their Hugging Face names, and the configuration to build modules around them. This is
    the only copy on the device: all policies are modules over these tensors.
    """

    architecture: str
    sha256: str
    config: Qwen3Config  # of its architecture; all architectures have the fields that are read here
    tensors: dict[str, torch.Tensor]
    precision: str = "float32"
    rope_divisors: torch.Tensor | None = None  # [head length / 2], of the angles per token; None: no scaling
    stored: Mapping[str, gguf.ReaderTensor] = field(default_factory=dict, repr=False, compare=False)  # in the open file
    _norms: dict[str, float] = field(default_factory=dict, repr=False, compare=False)

    def norm(self, name: str) -> float:
        """Return the Frobenius norm of a weight."""
        if name not in self._norms:
            self._norms[name] = float(torch.linalg.vector_norm(self.tensors[name], dtype=torch.float32))
        return self._norms[name]

    @property
    def is_whole_in_float32(self) -> bool:
        """Return whether `tensors` are the stored weights, neither rounded to 16 bits nor in shards."""
        return self.precision == "float32" and self.device.type != "meta"

    def float32(self, name: str) -> torch.Tensor:
        """Return a weight in float32: the one in memory if it is whole there, or else dequantised from the file."""
        if self.is_whole_in_float32:
            return self.tensors[name]
        tensor = self.stored[name]
        return self.row_order.read(tensor.name, dequantised(tensor))

    def float32_rows(self, name: str, rows: torch.Tensor | slice) -> torch.Tensor:
        """Return some rows of the embedding or the head in float32."""
        if self.is_whole_in_float32:
            return self.tensors[name][rows]
        tensor = self.stored[name]
        data = tensor.data[rows if isinstance(rows, slice) else rows.numpy()]
        return _float32(gguf.quants.dequantize(data, tensor.tensor_type))

    def without_weights(self) -> "Base":
        """Return the base with shapes and norms only, for a policy in shards."""
        for name, weight in self.tensors.items():
            if weight.dim() > 1:
                self.norm(name)
        return self.shapes()

    def shapes(self) -> "Base":
        """Return the base with shapes only."""
        tensors = {name: torch.empty_like(weight, device="meta") for name, weight in self.tensors.items()}
        return replace(self, tensors=tensors)

    def on(self, device: torch.device, precision: str) -> "Base":
        """Return the same weights on another device or in another precision."""
        tensors = {name: placed(weight, device, precision) for name, weight in self.tensors.items()}
        return replace(self, tensors=tensors, precision=precision)

    @property
    def bytes(self) -> int:
        return sum(weight.numel() * weight.element_size() for weight in self.tensors.values())

    @property
    def device(self) -> torch.device:
        return self.tensors["model.embed_tokens.weight"].device

    @property
    def row_order(self) -> RowOrder:
        key_heads = self.config.num_key_value_heads or self.config.num_attention_heads
        return RowOrder(self.architecture, self.config.num_attention_heads, key_heads)

    @property
    def vocab_size(self) -> int:
        return self.config.vocab_size

    @property
    def context_length(self) -> int:
        return self.config.max_position_embeddings


def hugging_face_name(name: str, architecture: str) -> str:
    """Return the Hugging Face parameter of a GGUF tensor. Raises TrainerError `base_unknown_tensor`."""
    if name in OUTER_NAMES:
        return OUTER_NAMES[name]
    match = _BLOCK.fullmatch(name)
    if match and match.group(2) in BLOCK_NAMES:
        block, kind = match.group(2), match.group(3)
        if kind == "weight" or (ARCHITECTURES[architecture].biases and block in BIASED):
            return f"model.layers.{int(match.group(1))}.{BLOCK_NAMES[block]}.{kind}"
    raise TrainerError(
        "base_unknown_tensor", f"the architecture has no tensor {name!r}: use a GGUF of a supported model"
    )


def placed(values: torch.Tensor, device: torch.device, precision: str) -> torch.Tensor:
    """
    Move a float32 weight to the device: matrices in the 16 bits of `precision`; norms and biases, a thousandth of a
    model, stay float32.
    """
    half = HALVES.get(precision)
    return values.to(device, half if half is not None and values.dim() > 1 else torch.float32)


@dataclass(frozen=True)
class BaseFile:
    """A GGUF that can be a base, by its header."""

    reader: gguf.GGUFReader
    architecture: str
    config: Qwen3Config
    names: dict[str, str]  # Hugging Face parameter -> tensor of the file
    rope_divisors: torch.Tensor | None


def open_base(path: Path) -> BaseFile:
    """
    Read the header of a GGUF and check it against the architecture: metadata, types, names and shapes of all tensors.

    Raises TrainerError: `base_unreadable`, `base_unsupported` (architecture, quantisation, RoPE scaling),
    `base_invalid`, `base_unknown_tensor`.
    """
    try:
        check_header(path)
        reader = gguf.GGUFReader(path)
    except Exception as error:  # the reader raises whatever numpy or struct met first in a malformed file
        raise TrainerError("base_unreadable", f"{path.name}: {error}") from error
    architecture = metadata(reader, "general.architecture", str)
    if architecture not in ARCHITECTURES:
        raise TrainerError("base_unsupported", f"architecture {architecture!r}; supported: {', '.join(ARCHITECTURES)}")
    names: dict[str, str] = {}
    shapes: dict[str, torch.Tensor] = {}
    factors: torch.Tensor | None = None
    for tensor in reader.tensors:
        if tensor.name == ROPE_FACTORS and ARCHITECTURES[architecture].rope_factors:
            factors = dequantised(tensor)
            continue
        name = hugging_face_name(tensor.name, architecture)
        if name in names:
            raise TrainerError("base_invalid", f"{tensor.name} occurs twice")
        check_kind(tensor)
        names[name] = tensor.name
        shapes[name] = torch.empty(tuple(reversed(tensor.shape.tolist())), device="meta")
    embedding = shapes.get("model.embed_tokens.weight")
    if embedding is None or embedding.dim() != 2:
        raise TrainerError("base_invalid", "token_embd.weight is missing")
    config = read_config(reader, architecture, embedding.shape[0], tied="lm_head.weight" not in names)
    divisors = rope_divisors(reader, architecture, config, factors)
    build_model(Base(architecture, "", config, shapes))  # names and shapes
    return BaseFile(reader, architecture, config, names, divisors)


def check_kind(tensor: gguf.ReaderTensor) -> None:
    """Check that a tensor's type can be dequantised. Raises TrainerError `base_unsupported`."""
    kind = tensor.tensor_type
    _, block_bytes = gguf.GGML_QUANT_SIZES[kind]
    try:
        gguf.quants.dequantize(np.zeros((1, block_bytes), np.uint8), kind)
    except NotImplementedError as error:
        raise TrainerError(
            "base_unsupported", f"{tensor.name} is stored as {kind.name}, which the package gguf cannot dequantise"
        ) from error


def _float32(values: np.ndarray) -> torch.Tensor:
    """
    Return a copy in torch's own memory. Where numpy's memory begins differs between processes, and products of small
    matrices may differ with it in the last bit.
    """
    return torch.tensor(values, dtype=torch.float32)


def dequantised(tensor: gguf.ReaderTensor) -> torch.Tensor:
    """Return the values of a tensor as float32. Raises TrainerError `base_unsupported`, `base_invalid`."""
    check_kind(tensor)
    weight = _float32(gguf.quants.dequantize(tensor.data, tensor.tensor_type))
    if not torch.isfinite(weight).all():
        raise TrainerError("base_invalid", f"{tensor.name} contains a weight that is not finite")
    return weight


def load_base(path: Path, expected_sha256: str, device: torch.device = _CPU, precision: str = "float32") -> Base:
    """
    Read and dequantise a GGUF base model, tensor by tensor onto `device`.

    Raises TrainerError: `base_unreadable`, `base_hash_mismatch`, `base_unsupported` (architecture, quantisation, a
    weight beyond float16 where that is the precision), `base_invalid`, `base_unknown_tensor`.
    """
    try:
        actual = sha256_file(path)
    except OSError as error:
        raise TrainerError("base_unreadable", f"{path.name}: {error.strerror}") from error
    if actual != expected_sha256:
        raise TrainerError("base_hash_mismatch", f"{path.name} is {actual}, the configuration wants {expected_sha256}")
    file = open_base(path)
    by_name = {tensor.name: tensor for tensor in file.reader.tensors}
    stored = {name: by_name[stored_name] for name, stored_name in file.names.items()}
    base = Base(file.architecture, actual, file.config, {}, precision, file.rope_divisors, stored)
    for name, stored_name in file.names.items():
        weight = placed(dequantised(stored[name]), device, precision)
        if not torch.isfinite(weight).all():
            raise TrainerError(
                "base_unsupported", f"{stored_name} has a weight beyond the range of {precision}: use float32"
            )
        try:
            base.tensors[name] = base.row_order.read(stored_name, weight)
        except RuntimeError as error:
            raise TrainerError("base_invalid", f"the heads do not divide the rows evenly: {error}") from error
    return base


def build_model(base: Base, attention: str = "sdpa") -> Qwen3ForCausalLM:
    """
    Build a frozen model over `base.tensors` (shared, not copied). `attention` names the attention implementation.
    """
    architecture = ARCHITECTURES[base.architecture]
    config = architecture.config.from_dict(base.config.to_dict())
    config._attn_implementation = attention
    with torch.device("meta"):
        # The classes of all architectures have the same parts.
        model = cast("Qwen3ForCausalLM", architecture.model(config))
    tensors = dict(base.tensors)
    if config.tie_word_embeddings:
        tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"]
    try:
        model.load_state_dict(tensors, strict=True, assign=True)
    except RuntimeError as error:
        raise TrainerError("base_invalid", str(error)) from error
    model.tie_weights()
    # Its buffers are not in the state dict and were created on the meta device.
    rotary = cast("Qwen3RotaryEmbedding", architecture.rotary(config))
    if base.rope_divisors is not None:
        rotary.register_buffer("inv_freq", rotary.inv_freq / base.rope_divisors, persistent=False)
    model.model.rotary_emb = rotary
    model.requires_grad_(False)
    return model.eval()

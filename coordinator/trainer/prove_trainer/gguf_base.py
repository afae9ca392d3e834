"""
The frozen base model, read from the same GGUF that the volunteers run, so that sampler and trainer have equal weights.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar, cast

import gguf
import torch
from transformers import Qwen3Config, Qwen3ForCausalLM
from transformers.models.qwen3.modeling_qwen3 import Qwen3RotaryEmbedding

from .architectures import ARCHITECTURES, RowOrder
from .errors import TrainerError
from .gguf_header import check_header
from .jobs import sha256_file
from .stored_weights import StoredWeights

T = TypeVar("T")

_CPU = torch.device("cpu")

# The precisions of 16 bits, in which matrices are stored and multiplied, see docs/trainer.md.
HALVES = {"bfloat16": torch.bfloat16, "float16": torch.float16}

MAX_DIMENSION = 2**24  # of the widths in the metadata: context length, feed-forward width
MAX_LAYERS = 1_024

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
    stored: StoredWeights
    precision: str = "float32"
    _norms: dict[str, float] = field(default_factory=dict, repr=False, compare=False)

    def norm(self, name: str) -> float:
        """Return the Frobenius norm of a weight."""
        if name not in self._norms:
            self._norms[name] = float(torch.linalg.vector_norm(self.tensors[name], dtype=torch.float32))
        return self._norms[name]

    @property
    def is_whole_in_float32(self) -> bool:
        """Return whether `tensors` are the stored weights, neither rounded to 16 bits nor in shards."""
        return self.precision == "float32" and not self.device.type == "meta"

    def float32(self, name: str) -> torch.Tensor:
        """Return a weight in float32: the one in memory if it is whole there, or else dequantised from the file."""
        return self.tensors[name] if self.is_whole_in_float32 else self.stored.weight(name)

    def float32_rows(self, name: str, rows: torch.Tensor | slice) -> torch.Tensor:
        """Return some rows of the embedding or the head in float32."""
        return self.tensors[name][rows] if self.is_whole_in_float32 else self.stored.rows(name, rows)

    def without_weights(self) -> "Base":
        """Return the base with shapes and norms only, for a policy in shards."""
        for name, weight in self.tensors.items():
            if weight.dim() > 1:
                self.norm(name)
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
        return self.stored.order

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


def _metadata(reader: gguf.GGUFReader, key: str, kind: type[T], default: T | None = None) -> T:
    """Read a metadata value. Without a default, the key is required."""
    field = reader.get_field(key)
    if field is None:
        if default is None:
            raise TrainerError("base_invalid", f"metadata {key} is missing")
        return default
    try:
        value = field.contents()
    except (ValueError, IndexError) as error:  # a text that is not UTF-8, a list without entries
        raise TrainerError("base_invalid", f"metadata {key} cannot be read") from error
    if kind is float and isinstance(value, int):
        value = float(value)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise TrainerError("base_invalid", f"metadata {key} is not a {kind.__name__}")
    return cast("T", value)


def _read_config(reader: gguf.GGUFReader, architecture: str, vocab_size: int, tied: bool) -> Qwen3Config:
    def value(key: str, kind: type[T], default: T | None = None) -> T:
        found = _metadata(reader, f"{architecture}.{key}", kind, default)
        # The model's configuration creates as many objects as some of these numbers say.
        if isinstance(found, int) and not 1 <= found <= MAX_DIMENSION:
            raise TrainerError("base_invalid", f"metadata {architecture}.{key} is {found}")
        return found

    scaling = value("rope.scaling.type", str, "none")
    if scaling != "none":
        raise TrainerError("base_unsupported", f"RoPE scaling {scaling!r} is not implemented")
    if value("block_count", int) > MAX_LAYERS:
        raise TrainerError("base_invalid", f"more than {MAX_LAYERS} layers")
    hidden, heads = value("embedding_length", int), value("attention.head_count", int)
    head_dim = value("attention.key_length", int, hidden // heads)
    if value("attention.value_length", int, head_dim) != head_dim:
        raise TrainerError("base_unsupported", "key and value heads of different length")
    kind = ARCHITECTURES[architecture]
    if not kind.free_head_length and head_dim * heads != hidden:
        raise TrainerError("base_unsupported", f"{heads} heads of {head_dim} in a width of {hidden}")
    # Without a scale, llama.cpp divides by the root of the head length and omits the other multipliers.
    usual = {"attention_multiplier": head_dim**-0.5}
    multipliers = {
        name: _metadata(reader, f"{architecture}.{key}", float, usual.get(name, 1.0))
        for name, key in kind.multipliers.items()
    }
    if any(not 0 < value < 1e6 for value in multipliers.values()):
        raise TrainerError("base_invalid", f"multipliers {multipliers}")
    return cast("Callable[..., Qwen3Config]", kind.config)(
        vocab_size=vocab_size,
        hidden_size=hidden,
        intermediate_size=value("feed_forward_length", int),
        num_hidden_layers=value("block_count", int),
        num_attention_heads=heads,
        num_key_value_heads=value("attention.head_count_kv", int, heads),
        **({"head_dim": head_dim} if kind.free_head_length else {}),
        **multipliers,
        rms_norm_eps=value("attention.layer_norm_rms_epsilon", float),
        max_position_embeddings=value("context_length", int),
        rope_parameters={"rope_type": "default", "rope_theta": value("rope.freq_base", float, 10_000.0)},
        tie_word_embeddings=tied,
        attention_dropout=0.0,
        use_cache=False,
    )


def _row_order(architecture: str, config: Qwen3Config) -> RowOrder:
    key_heads = config.num_key_value_heads or config.num_attention_heads
    return RowOrder(architecture, config.num_attention_heads, key_heads)


def placed(values: torch.Tensor, device: torch.device, precision: str) -> torch.Tensor:
    """
    Move a float32 weight to the device: matrices in the 16 bits of `precision`; norms and biases, a thousandth of a
    model, stay float32.
    """
    half = HALVES.get(precision)
    return values.to(device, half if half is not None and values.dim() > 1 else torch.float32)


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
    try:
        check_header(path)
        reader = gguf.GGUFReader(path)
    except Exception as error:  # the reader raises whatever numpy or struct met first in a malformed file
        raise TrainerError("base_unreadable", f"{path.name}: {error}") from error
    architecture = _metadata(reader, "general.architecture", str)
    if architecture not in ARCHITECTURES:
        raise TrainerError("base_unsupported", f"architecture {architecture!r}; supported: {', '.join(ARCHITECTURES)}")

    tensors: dict[str, torch.Tensor] = {}
    stored: dict[str, gguf.ReaderTensor] = {}
    for tensor in reader.tensors:
        name = hugging_face_name(tensor.name, architecture)
        if name in tensors:
            raise TrainerError("base_invalid", f"{tensor.name} occurs twice")
        try:
            values = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        except NotImplementedError as error:
            raise TrainerError("base_unsupported", f"{tensor.name} is stored as {tensor.tensor_type.name}") from error
        weight = torch.from_numpy(values.astype("float32", copy=True))
        stored[name] = tensor
        if not torch.isfinite(weight).all():
            raise TrainerError("base_invalid", f"{tensor.name} holds a non-finite weight")
        tensors[name] = placed(weight, device, precision)
        if not torch.isfinite(tensors[name]).all():
            raise TrainerError(
                "base_unsupported", f"{tensor.name} has a weight beyond the range of {precision}: use float32"
            )
    embedding = tensors.get("model.embed_tokens.weight")
    if embedding is None or embedding.dim() != 2:
        raise TrainerError("base_invalid", "token_embd.weight is missing")
    config = _read_config(reader, architecture, embedding.shape[0], tied="lm_head.weight" not in tensors)
    order = _row_order(architecture, config)
    base = Base(architecture, actual, config, tensors, StoredWeights(stored, order), precision)
    try:
        tensors |= {name: order.read(stored[name].name, weight) for name, weight in tensors.items()}
    except RuntimeError as error:
        raise TrainerError("base_invalid", f"the heads do not divide the rows evenly: {error}") from error
    build_model(base)  # checks now, not at the first batch, that every tensor exists and has the right shape
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
    model.model.rotary_emb = cast("Qwen3RotaryEmbedding", architecture.rotary(config))
    model.requires_grad_(False)
    return model.eval()

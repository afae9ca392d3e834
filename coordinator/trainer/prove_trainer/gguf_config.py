"""
The configuration of a base model from a GGUF's metadata: widths, heads, multipliers, and the angles of RoPE.
"""

from collections.abc import Callable
from typing import TypeVar, cast

import gguf
import torch
from transformers import Qwen3Config

from .architectures import ARCHITECTURES
from .errors import TrainerError

T = TypeVar("T")

MAX_DIMENSION = 2**24  # of the widths in the metadata: context length, feed-forward width
MAX_LAYERS = 1_024

# The keys of RoPE that are computed or that change nothing. llama.cpp acts on all others.
ROPE_KEYS = frozenset(
    {
        "dimension_count",
        "freq_base",
        "scale_linear",
        "scaling.factor",
        "scaling.finetuned",
        "scaling.original_context_length",
        "scaling.type",
    }
)


def metadata(
    reader: gguf.GGUFReader, key: str, kind: type[T], default: T | None = None, layers: int | None = None
) -> T:
    """
    Read a metadata value. Without a default, the key is required. With `layers`, a list of one value for each layer
    stands for that value if all are equal.

    Raises TrainerError: `base_invalid`, `base_unsupported` for layers that differ.
    """
    field = reader.get_field(key)
    if field is None:
        if default is None:
            raise TrainerError("base_invalid", f"metadata {key} is missing")
        return default
    try:
        value = field.contents()
    except (ValueError, IndexError) as error:  # a text that is not UTF-8, a list without entries
        raise TrainerError("base_invalid", f"metadata {key} cannot be read") from error
    if isinstance(value, list) and len(value) == layers:
        if len(set(value)) > 1:
            raise TrainerError("base_unsupported", f"metadata {key} differs between layers: {value[:8]}")
        value = value[0]
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise TrainerError("base_invalid", f"metadata {key} is not a {kind.__name__}")
    return cast("T", value)


def read_config(reader: gguf.GGUFReader, architecture: str, vocab_size: int, tied: bool) -> Qwen3Config:
    """Return the configuration, without RoPE scaling. Raises TrainerError `base_invalid`, `base_unsupported`."""

    def value(key: str, kind: type[T], default: T | None = None, layers: int | None = None) -> T:
        found = metadata(reader, f"{architecture}.{key}", kind, default, layers)
        # The model's configuration creates as many objects as some of these numbers say.
        if isinstance(found, int) and not 1 <= found <= MAX_DIMENSION:
            raise TrainerError("base_invalid", f"metadata {architecture}.{key} is {found}")
        return found

    layers = value("block_count", int)
    if layers > MAX_LAYERS:
        raise TrainerError("base_invalid", f"more than {MAX_LAYERS} layers")
    hidden, heads = value("embedding_length", int), value("attention.head_count", int, layers=layers)
    head_dim = value("attention.key_length", int, hidden // heads)
    if value("attention.value_length", int, head_dim) != head_dim:
        raise TrainerError("base_unsupported", "key and value heads of different length")
    kind = ARCHITECTURES[architecture]
    if not kind.free_head_length and head_dim * heads != hidden:
        raise TrainerError("base_unsupported", f"{heads} heads of {head_dim} in a width of {hidden}")
    # Without a scale, llama.cpp divides by the root of the head length and omits the other multipliers.
    usual = {"attention_multiplier": head_dim**-0.5}
    multipliers = {
        name: metadata(reader, f"{architecture}.{key}", float, usual.get(name, 1.0))
        for name, key in kind.multipliers.items()
    }
    if any(not 0 < value < 1e6 for value in multipliers.values()):
        raise TrainerError("base_invalid", f"multipliers {multipliers}")
    return cast("Callable[..., Qwen3Config]", kind.config)(
        vocab_size=vocab_size,
        hidden_size=hidden,
        intermediate_size=value("feed_forward_length", int, layers=layers),
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=value("attention.head_count_kv", int, heads, layers),
        **({"head_dim": head_dim} if kind.free_head_length else {}),
        **multipliers,
        rms_norm_eps=value("attention.layer_norm_rms_epsilon", float),
        max_position_embeddings=value("context_length", int),
        rope_parameters={"rope_type": "default", "rope_theta": value("rope.freq_base", float, 10_000.0)},
        tie_word_embeddings=tied,
        attention_dropout=0.0,
        use_cache=False,
    )


def rope_divisors(
    reader: gguf.GGUFReader, architecture: str, config: Qwen3Config, factors: torch.Tensor | None
) -> torch.Tensor | None:
    """
    Return the numbers by which llama.cpp divides the angles of RoPE, [head length / 2], or None for ones.

    `factors` are those of `rope_freqs.weight`, in which llama.cpp stores the scaling of Llama 3. Linear scaling divides
    all angles by one factor. It applies without a type too, and its older name is `rope.scale_linear`.

    Raises TrainerError: `base_invalid`, `base_unsupported` for any other scaling.
    """
    prefix = f"{architecture}.rope."
    for key in reader.fields:
        if key.startswith(prefix) and key.removeprefix(prefix) not in ROPE_KEYS:
            raise TrainerError("base_unsupported", f"metadata {key}: this RoPE scaling is not implemented")
    kind = metadata(reader, f"{prefix}scaling.type", str, "linear")
    if kind not in ("none", "linear"):
        raise TrainerError("base_unsupported", f"metadata {prefix}scaling.type: {kind!r} is not implemented")
    # Granite's converter writes whether there is RoPE at all.
    if architecture == "granite" and not metadata(reader, f"{prefix}scaling.finetuned", bool, True):
        raise TrainerError("base_unsupported", f"metadata {prefix}scaling.finetuned is false: a model without RoPE")
    length = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    if metadata(reader, f"{prefix}dimension_count", int, length) != length:
        raise TrainerError("base_unsupported", f"metadata {prefix}dimension_count: RoPE of a part of each head")
    older = metadata(reader, f"{prefix}scale_linear", float, 0.0)
    factor = metadata(reader, f"{prefix}scaling.factor", float, older) if kind == "linear" else 0.0
    # llama.cpp takes 0 for no scaling.
    if factor != 0 and not 1e-3 < factor < 1e6:
        raise TrainerError("base_invalid", f"metadata {prefix}scaling.factor is {factor}")
    if factors is not None and (factors.shape != (length // 2,) or not (factors > 0).all()):
        raise TrainerError("base_invalid", f"rope_freqs.weight does not have {length // 2} factors above 0")
    if factors is None and factor in (0, 1):
        return None
    return (torch.ones(length // 2) if factors is None else factors) * (factor or 1.0)

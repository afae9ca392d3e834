"""Metadata of published files: numbers by layer, RoPE scaling, and types of tensors."""

import gguf
import numpy as np
import pytest
import torch
from prove_trainer.errors import TrainerError
from prove_trainer.gguf_base import build_model, load_base
from prove_trainer.jobs import sha256_file
from test_architectures import LLAMA_3, LOGITS, MODELS, SHAPE, random_model, rope_factors, write_gguf
from transformers import LlamaConfig, LlamaForCausalLM

Kind = gguf.GGMLQuantizationType
IDS = torch.arange(30)[None] * 11 % SHAPE["vocab_size"]


def loaded(path):
    return build_model(load_base(path, sha256_file(path)))


def logits(model):
    with torch.no_grad():
        return model(input_ids=IDS).logits


def linear_model(factor: float):
    """The random llama, whose angles transformers divides by `factor`."""
    rope = dict(rope_type="linear", rope_theta=10_000.0, factor=factor)
    model = LlamaForCausalLM(LlamaConfig(**SHAPE | dict(rope_parameters=rope), tie_word_embeddings=True)).eval()
    model.load_state_dict(random_model("llama").state_dict())
    return model


def typed(writer):
    writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
    writer.add_rope_scaling_factor(4.0)


@pytest.mark.parametrize(
    "keys",
    [
        typed,
        lambda writer: writer.add_rope_scaling_factor(4.0),
        lambda writer: writer.add_float32("llama.rope.scale_linear", 4.0),
    ],
    ids=["type and factor", "factor alone", "older key"],
)
def test_linear_scaling_is_that_of_transformers_with_and_without_its_type(tmp_path, keys):
    ours = logits(loaded(write_gguf(tmp_path / "m.gguf", "llama", keys)))
    assert (ours - logits(linear_model(4.0))).abs().max() < LOGITS
    assert (ours - logits(random_model("llama"))).abs().max() > 100 * LOGITS


def unscaled(writer):
    writer.add_rope_scaling_type(gguf.RopeScalingType.NONE)
    writer.add_rope_scaling_factor(4.0)


def test_a_factor_under_the_type_none_changes_nothing(tmp_path):
    ours = logits(loaded(write_gguf(tmp_path / "m.gguf", "llama", unscaled)))
    assert (ours - logits(random_model("llama"))).abs().max() < LOGITS


def test_the_scaling_of_llama_3_is_not_ignored(tmp_path):
    ours = logits(loaded(write_gguf(tmp_path / "m.gguf", "llama3")))
    assert (ours - logits(random_model("llama"))).abs().max() > 100 * LOGITS


def yarn(writer):
    writer.add_rope_scaling_type(gguf.RopeScalingType.YARN)
    writer.add_rope_scaling_factor(4.0)


def longrope(writer):
    writer.add_rope_scaling_type(gguf.RopeScalingType.LONGROPE)


@pytest.mark.parametrize(
    ("name", "keys", "words"),
    [
        ("llama", yarn, "rope.scaling.type: 'yarn' is not implemented"),
        ("llama", longrope, "rope.scaling.type: 'longrope'"),
        ("llama", lambda writer: writer.add_rope_scaling_attn_factors(1.5), "rope.scaling.attn_factor"),
        ("llama", lambda writer: writer.add_rope_scaling_yarn_ext_factor(1.0), "yarn_ext_factor"),
        ("llama", lambda writer: writer.add_float32("llama.rope.freq_base_swa", 1e4), "freq_base_swa"),
        ("qwen3", lambda writer: writer.add_rope_dimension_count(16), "a part of each head"),
        ("granite", lambda writer: writer.add_rope_scaling_finetuned(False), "without RoPE"),
        ("llama", lambda writer: writer.add_rope_scaling_factor(float("nan")), "rope.scaling.factor is nan"),
        ("llama", lambda writer: writer.add_rope_scaling_factor(-2.0), "rope.scaling.factor is -2"),
        ("llama", lambda writer: writer.add_head_count_kv([2, 1]), r"differs between layers: \[2, 1\]"),
        ("llama", lambda writer: writer.add_head_count_kv([2, 2, 2]), "head_count_kv is not a int"),
        ("llama", lambda writer: writer.add_array("llama.attention.head_count_kv", [2.0, 2.0]), "is not a int"),
        ("qwen3", lambda writer: writer.add_tensor("rope_freqs.weight", np.ones(16, np.float32)), "rope_freqs.weight"),
        ("llama", lambda writer: writer.add_tensor("rope_freqs.weight", np.ones(4, np.float32)), "8 factors"),
        ("llama", lambda writer: writer.add_tensor("rope_freqs.weight", np.zeros(8, np.float32)), "factors above 0"),
    ],
)
def test_what_llama_cpp_would_compute_otherwise_is_refused_with_its_key(tmp_path, name, keys, words):
    with pytest.raises(TrainerError, match=words) as caught:
        loaded(write_gguf(tmp_path / "m.gguf", name, keys))
    assert caught.value.code.startswith("base_")


def test_numbers_by_layer_are_one_number_where_all_are_equal(tmp_path):
    def keys(writer):
        layers = SHAPE["num_hidden_layers"]
        writer.add_head_count([SHAPE["num_attention_heads"]] * layers)
        writer.add_head_count_kv([SHAPE["num_key_value_heads"]] * layers)
        writer.add_feed_forward_length([SHAPE["intermediate_size"]] * layers)

    assert torch.equal(
        logits(loaded(write_gguf(tmp_path / "list.gguf", "llama", keys))),
        logits(loaded(write_gguf(tmp_path / "one.gguf", "llama"))),
    )


def test_the_factors_of_llama_3_are_those_of_transformers():
    rotary = MODELS["llama3"]().model.rotary_emb
    plain = MODELS["llama"]().model.rotary_emb
    factors = torch.from_numpy(rope_factors(16, LLAMA_3))
    assert torch.allclose(plain.inv_freq / factors, rotary.inv_freq, rtol=1e-6, atol=0)


def replace_type(path, kind: Kind, name: str = "blk.0.ffn_up.weight"):
    """Declare a tensor's bytes to be of another type, as a file of another program may."""
    data = bytearray(path.read_bytes())
    at = data.index(name.encode()) + len(name) + 4 + 2 * 8
    data[at : at + 4] = int(kind).to_bytes(4, "little")
    path.write_bytes(data)


def test_a_type_that_gguf_cannot_dequantise_is_refused_by_its_name(tmp_path):
    path = write_gguf(tmp_path / "m.gguf", "llama")
    replace_type(path, Kind.I16)
    with pytest.raises(TrainerError, match=r"base_unsupported: blk.0.ffn_up.weight is stored as I16"):
        loaded(path)


# Types whose blocks have 256 numbers, in matrices of that width.
BLOCKS = sorted(set(gguf.GGML_QUANT_SIZES) & set(gguf.quants._type_traits), key=int)


@pytest.mark.parametrize("kind", BLOCKS, ids=lambda kind: kind.name)
def test_every_type_that_gguf_dequantises_becomes_its_weights(tmp_path, kind, monkeypatch):
    monkeypatch.setitem(SHAPE, "intermediate_size", 256)
    rng = np.random.default_rng(0)
    _, size = gguf.GGML_QUANT_SIZES[kind]
    per_row = 256 // gguf.GGML_QUANT_SIZES[kind][0]
    raw = rng.integers(0, 256, (64, per_row * size), dtype=np.uint8)
    with np.errstate(all="ignore"):
        # Scales are float16 numbers, and some random ones are not finite.
        raw[~np.isfinite(gguf.quants.dequantize(raw, kind)).all(axis=1)] = 0
        wanted = gguf.quants.dequantize(raw, kind)

    def keys(writer):
        add = writer.add_tensor

        def swapped(name, values, raw_dtype=None):
            if name == "blk.1.ffn_down.weight":
                add(name, raw, raw_dtype=kind)
            else:
                add(name, values, raw_dtype=raw_dtype)

        writer.add_tensor = swapped

    path = write_gguf(tmp_path / "m.gguf", "llama", keys)
    base = load_base(path, sha256_file(path))
    assert np.array_equal(base.tensors["model.layers.1.mlp.down_proj.weight"].numpy(), wanted)

import fixtures
import gguf
import numpy as np
import pytest
import torch
from prove_trainer.errors import TrainerError
from prove_trainer.gguf_base import build_model, load_base
from prove_trainer.jobs import sha256_file

Kind = gguf.GGMLQuantizationType


def code_of(path, sha256=None) -> str:
    with pytest.raises(TrainerError) as caught:
        load_base(path, sha256 or sha256_file(path))
    return caught.value.code


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize(
    ("kind", "tolerance"), [(Kind.F32, 1e-5), (Kind.F16, 0.05), (Kind.BF16, 0.4), (Kind.Q8_0, 0.4), (Kind.Q4_0, 4.0)]
)
def test_a_gguf_of_any_quantisation_becomes_the_model_it_was_written_from(tmp_path, kind, tolerance, tied):
    original = fixtures.random_model(tied=tied)
    path = fixtures.write_base(tmp_path / "m.gguf", kind, model=original)
    loaded = build_model(load_base(path, sha256_file(path)))
    ids = torch.arange(20)[None]
    with torch.no_grad():
        gap = (loaded(input_ids=ids).logits - original(input_ids=ids).logits).abs().max()
    assert gap < tolerance
    assert kind == Kind.F32 or gap > 0  # the trainer holds the rounded weights, not the original ones


def test_the_base_is_frozen_and_shared_between_modules(base):
    one, two = build_model(base), build_model(base)
    assert not any(parameter.requires_grad for parameter in one.parameters())
    assert (
        one.model.embed_tokens.weight.data_ptr()
        == two.model.embed_tokens.weight.data_ptr()
        == one.lm_head.weight.data_ptr()
    )


def test_a_file_with_another_hash_is_refused(base_path):
    assert code_of(base_path, "0" * 64) == "base_hash_mismatch"


def test_an_architecture_off_the_list_is_refused(tmp_path):
    assert code_of(fixtures.write_base(tmp_path / "m.gguf", architecture="gemma3")) == "base_unsupported"


def test_a_tensor_without_a_place_is_refused(tmp_path):
    path = fixtures.write_base(tmp_path / "m.gguf", extra={"blk.0.attn_q.bias": np.zeros(128, dtype=np.float32)})
    assert code_of(path) == "base_unknown_tensor"


def test_a_missing_tensor_is_refused(tmp_path):
    assert code_of(fixtures.write_base(tmp_path / "m.gguf", leave_out="blk.1.ffn_up.weight")) == "base_invalid"


def test_a_head_length_that_does_not_fit_the_weights_is_refused(tmp_path):
    assert code_of(fixtures.write_base(tmp_path / "m.gguf", key_length=16)) == "base_invalid"


def test_a_non_finite_weight_is_refused(tmp_path):
    model = fixtures.random_model()
    with torch.no_grad():
        model.model.norm.weight[3] = float("nan")
    assert code_of(fixtures.write_base(tmp_path / "m.gguf", model=model)) == "base_invalid"


@pytest.mark.parametrize("content", [b"", b"GGUF", b"not a model at all", b"GGUF\x03\x00\x00\x00" + b"\xff" * 64])
def test_a_malformed_file_is_refused(tmp_path, content):
    path = tmp_path / "m.gguf"
    path.write_bytes(content)
    assert code_of(path) == "base_unreadable"

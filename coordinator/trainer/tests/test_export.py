import json
from dataclasses import replace

import fixtures
import gguf
import numpy as np
import pytest
import torch
from peft import PeftModel
from prove_trainer import export
from prove_trainer.config import Canary, LoraSettings, TrainerConfig
from prove_trainer.errors import TrainerError
from prove_trainer.gguf_base import build_model
from prove_trainer.gguf_lora import gguf_name, read_gguf_lora
from safetensors.numpy import load_file, save_file

CANARY = Canary((5, 6, 7, 8), (9, 10, 11))


@pytest.fixture(scope="module")
def policy(base):
    return fixtures.with_random_adapter(base)


@pytest.fixture
def config(base):
    return TrainerConfig(
        base_sha256=base.sha256,
        base_name="someone/tiny-model",
        lora=LoraSettings(rank=4, alpha=8),
        canaries=(CANARY,),
        max_delta_norm=10,
    )


def teacher_forced(model, canary: Canary) -> np.ndarray:
    ids = torch.tensor([canary.prompt + canary.continuation])
    with torch.no_grad():
        logp = torch.log_softmax(model(input_ids=ids).logits[0], -1)
    return np.array([logp[len(canary.prompt) - 1 + i, token].item() for i, token in enumerate(canary.continuation)])


def test_the_peft_directory_loads_into_plain_transformers_and_gives_the_canaries(tmp_path, base, policy, config):
    export.write_adapter(tmp_path, policy, base, config, 3)
    found = export.check_adapter(tmp_path, policy, base, config)
    (canary,) = found["canaries"]
    bare = teacher_forced(build_model(base), CANARY)
    adapted = teacher_forced(PeftModel.from_pretrained(build_model(base), str(tmp_path / "adapter")), CANARY)
    assert np.abs(np.array(canary["base"]) - bare).max() < 1e-5
    assert np.abs(np.array(canary["adapter"]) - adapted).max() < 1e-3  # canaries are those of the float16 adapter
    assert np.abs(adapted - bare).max() > 0.01
    assert found["checks"]["reloadGap"] < 1e-6


def test_the_gguf_holds_the_same_numbers_in_half_precision(tmp_path, base, policy, config):
    export.write_adapter(tmp_path, policy, base, config, 3)
    stored, alpha = read_gguf_lora(tmp_path / "adapter.gguf")
    tensors = load_file(tmp_path / "adapter" / "adapter_model.safetensors")
    assert alpha == 8 and len(stored) == len(tensors) == 2 * 7 * 2
    for name, values in tensors.items():
        assert np.array_equal(stored[gguf_name(name)], values.astype(np.float16))
    reader = gguf.GGUFReader(tmp_path / "adapter.gguf")
    assert [reader.get_field(key).contents() for key in ("general.architecture", "general.type", "adapter.type")] == [
        "qwen3",
        "adapter",
        "lora",
    ]
    assert stored["blk.1.ffn_down.weight.lora_a"].shape == (4, 96)


def test_rank_stabilised_scaling_is_written_into_alpha(tmp_path, base, config):
    lora = LoraSettings(rank=4, alpha=8, rs_lora=True)
    policy = fixtures.new_policy(base, lora, 0, None, None)
    export.write_adapter(tmp_path, policy, base, replace(config, lora=lora), 0)
    assert read_gguf_lora(tmp_path / "adapter.gguf")[1] == 16


@pytest.mark.parametrize("precision", ["bfloat16", "float16"])
def test_what_is_published_does_not_depend_on_the_precision_of_training(tmp_path, base, config, precision):
    scores = []
    for name, own in (("float32", base), (precision, base.on(base.device, precision))):
        (tmp_path / name).mkdir()
        policy = fixtures.with_random_adapter(own)
        export.write_adapter(tmp_path / name, policy, own, config, 3)
        scores.append(export.check_adapter(tmp_path / name, policy, own, config))
    (wanted,), (found,) = (one["canaries"] for one in scores)
    for kind in ("base", "adapter"):
        assert np.abs(np.array(wanted[kind]) - np.array(found[kind])).max() < 1e-5
    assert scores[0]["checks"]["publishedGap"] < scores[1]["checks"]["publishedGap"]


def test_equal_adapters_give_equal_bytes(tmp_path, base, policy, config):
    files = ("adapter/adapter_config.json", "adapter/adapter_model.safetensors", "adapter/README.md", "adapter.gguf")
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        export.write_adapter(tmp_path / name, policy, base, config, 3)
    for file in files:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()
    settings = json.loads((tmp_path / "one" / "adapter/adapter_config.json").read_text())
    assert settings["base_model_name_or_path"] == "someone/tiny-model"
    assert settings["target_modules"] == sorted(settings["target_modules"])
    assert all(name.endswith((".lora_A.weight", ".lora_B.weight")) for name in load_file(tmp_path / "one" / files[1]))


def test_a_gguf_that_differs_from_the_safetensors_is_not_published(tmp_path, base, policy, config):
    export.write_adapter(tmp_path, policy, base, config, 3)
    path = tmp_path / "adapter.gguf"
    data = bytearray(path.read_bytes())
    data[-40] ^= 1
    path.write_bytes(data)
    with pytest.raises(TrainerError, match="export_check_failed"):
        export.check_adapter(tmp_path, policy, base, config)


def test_an_adapter_that_is_not_the_trained_one_is_not_published(tmp_path, base, policy, config):
    export.write_adapter(tmp_path, policy, base, config, 3)
    path = tmp_path / "adapter" / "adapter_model.safetensors"
    tensors = load_file(path)
    next(iter(tensors.values()))[0, 0] += 1e-4
    save_file(tensors, path)
    with pytest.raises(TrainerError, match="export_check_failed"):
        export.check_adapter(tmp_path, policy, base, config)


def test_an_adapter_that_outgrew_its_bound_is_not_published(tmp_path, base, policy, config):
    export.write_adapter(tmp_path, policy, base, config, 3)
    with pytest.raises(export.DeltaTooLarge):
        export.check_adapter(tmp_path, policy, base, replace(config, max_delta_norm=1e-3))


def test_the_delta_norm_is_that_of_the_product(tmp_path, base, policy, config):
    export.write_adapter(tmp_path, policy, base, config, 3)
    tensors = load_file(tmp_path / "adapter" / "adapter_model.safetensors")
    module = "model.layers.1.mlp.up_proj"
    a, b = (tensors[f"base_model.model.{module}.lora_{x}.weight"] for x in "AB")
    expected = np.linalg.norm(2 * b @ a) / np.linalg.norm(base.tensors[f"{module}.weight"].numpy())
    assert export.delta_norms(tensors, config.lora, base)[module] == pytest.approx(expected, rel=1e-5)

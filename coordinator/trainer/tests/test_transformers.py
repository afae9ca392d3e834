"""The published folder as anyone loads it: plain transformers and PEFT, and nothing of this package."""

from pathlib import Path

import fixtures
import pytest
import torch
from peft import PeftModel
from prove_trainer import export
from prove_trainer.config import LoraSettings, TrainerConfig
from prove_trainer.gguf_base import build_model, load_base
from prove_trainer.jobs import sha256_file
from transformers import AutoConfig, AutoModelForCausalLM

DEMO = Path(__file__).parents[3] / "models" / "demo" / "prove-demo-base-f16.gguf"
IDS = torch.tensor([[5, 6, 7, 8, 9, 100, 200, 2047, 0, 31]])


@pytest.fixture(scope="module")
def demo():
    return load_base(DEMO, sha256_file(DEMO))


@pytest.fixture(scope="module")
def adapter(demo, tmp_path_factory):
    """A folder as `prove-node adapters pull` makes it."""
    folder = tmp_path_factory.mktemp("my-adapter")
    config = TrainerConfig(base_sha256=demo.sha256, lora=LoraSettings(rank=4, alpha=8))
    export.write_adapter(folder, fixtures.with_random_adapter(demo), demo, config, 1)
    export.write_base_config(folder / "base" / "config.json", demo)
    for name in ("adapter_config.json", "adapter_model.safetensors"):
        (folder / "adapter" / name).rename(folder / name)
    return folder


def load(folder, **settings):
    return AutoModelForCausalLM.from_pretrained(
        str(DEMO.parent), gguf_file=DEMO.name, dtype=torch.float32, **settings
    ).eval()


def test_the_base_gguf_with_the_published_config_and_the_adapter_give_the_logits_of_the_trainer(demo, adapter):
    base = load(adapter, config=AutoConfig.from_pretrained(str(adapter / "base")))
    with torch.no_grad():
        assert torch.equal(base(IDS).logits, build_model(demo)(IDS).logits)
    ours = PeftModel.from_pretrained(build_model(demo), str(adapter)).eval()
    theirs = PeftModel.from_pretrained(base, str(adapter)).eval()
    with torch.no_grad(), ours.disable_adapter():
        bare = ours(IDS).logits
    with torch.no_grad():
        wanted, found = ours(IDS).logits, theirs(IDS).logits
    assert torch.equal(found, wanted)
    assert (wanted - bare).abs().max() > 0.01, "the adapter says something"


def test_without_it_transformers_guesses_the_length_of_the_heads_and_the_adapter_does_not_fit(demo, adapter):
    base = load(adapter)
    assert base.config.head_dim != demo.config.head_dim
    with pytest.raises(RuntimeError, match="size mismatch"):
        PeftModel.from_pretrained(base, str(adapter))

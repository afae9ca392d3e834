"""PEFT and transformers over an exported adapter, with the words of docs/use-a-model/pull.md."""

from pathlib import Path

import pytest
import torch
from adapters import ROUNDING, exported
from peft import PeftModel
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

__all__ = ["exported"]


def most_likely(model, ids):
    with torch.no_grad():
        found = torch.log_softmax(model(torch.tensor([ids])).logits[0, -1].double(), 0).topk(5)
    return dict(zip(map(str, found.indices.tolist()), found.values.tolist(), strict=True))


def test_base_and_adapter_give_the_log_probabilities_of_the_trainer(exported):
    folder, trained = exported
    base = Path(trained["base"])
    torch.set_num_threads(1)
    config = AutoConfig.from_pretrained(folder / "base")
    plain = AutoModelForCausalLM.from_pretrained(
        str(base.parent), gguf_file=base.name, dtype=torch.float32, config=config
    )
    model = PeftModel.from_pretrained(plain, folder).eval()
    assert most_likely(model, trained["ids"]) == pytest.approx(trained["adapted"], abs=ROUNDING)
    with model.disable_adapter():
        assert most_likely(model, trained["ids"]) == pytest.approx(trained["bare"], abs=ROUNDING)
    assert trained["adapted"] != pytest.approx(trained["bare"], abs=ROUNDING)


def test_the_tokenizer_of_the_base_is_read(exported):
    _, trained = exported
    base = Path(trained["base"])
    tokenizer = AutoTokenizer.from_pretrained(str(base.parent), gguf_file=base.name)
    assert tokenizer.decode(tokenizer("List all my accounts.")["input_ids"]) == "List all my accounts."

"""
Makes an adapter of the demo model as `prove-node adapters pull` does, and prints what the trainer computes with it.

Runs in the trainer's environment. Usage: make_adapter.py FOLDER. The output is JSON: token ids of a prompt, and the
log-probabilities of the five most likely next tokens, with the adapter and without.
"""

import json
import sys
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
sys.path[:0] = [str(CHECKOUT / "coordinator" / "trainer"), str(CHECKOUT / "coordinator" / "trainer" / "tests")]

import fixtures  # noqa: E402
import torch  # noqa: E402
from peft import PeftModel  # noqa: E402
from prove_trainer import export  # noqa: E402
from prove_trainer.config import LoraSettings, TrainerConfig  # noqa: E402
from prove_trainer.gguf_base import build_model, load_base  # noqa: E402
from prove_trainer.jobs import sha256_file  # noqa: E402

DEMO = CHECKOUT / "models" / "demo" / "prove-demo-base-f16.gguf"
# <|im_start|>user\nSave post-25 for later.<|im_end|>\n<|im_start|>assistant\n
# Weights in float16 instead of float32 change llama.cpp's log-probabilities by 0.011 nats for this prompt,
# and by 0.038 for random ids.
IDS = [1, 293, 207, 1149, 296, 229, 483, 271, 21, 26, 29, 229, 423, 229, 84, 276, 270, 22, 2, 207, 1, 295, 207]

folder = Path(sys.argv[1])
torch.set_num_threads(1)
base = load_base(DEMO, sha256_file(DEMO))
config = TrainerConfig(base_sha256=base.sha256, lora=LoraSettings(rank=4, alpha=8))
export.write_adapter(folder, fixtures.with_random_adapter(base), base, config, 1)
export.write_base_config(folder / "base" / "config.json", base)
for name in ("adapter_config.json", "adapter_model.safetensors"):
    (folder / "adapter" / name).rename(folder / name)


def most_likely(model):
    with torch.no_grad():
        found = torch.log_softmax(model(torch.tensor([IDS])).logits[0, -1].double(), 0).topk(5)
    return dict(zip(map(str, found.indices.tolist()), found.values.tolist(), strict=True))


model = PeftModel.from_pretrained(build_model(base), str(folder)).eval()
adapted = most_likely(model)
with model.disable_adapter():
    bare = most_likely(model)
json.dump({"base": str(DEMO), "ids": IDS, "adapted": adapted, "bare": bare}, sys.stdout)

"""Loads a pulled folder as docs/use-a-model/pull.md says, and reports on stdout what it does, as JSON.

Input on stdin: {"base": path of the run's base GGUF, "adapter": the folder}. The network is off.
"""

import json
import os
import sys
from pathlib import Path

job = json.load(sys.stdin)
os.environ["HF_HUB_OFFLINE"] = "1"

import torch  # noqa: E402, the environment must be set before
from peft import PeftModel  # noqa: E402
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer  # noqa: E402

base = Path(job["base"])
folder = job["adapter"]
config = AutoConfig.from_pretrained(f"{folder}/base")
plain = AutoModelForCausalLM.from_pretrained(str(base.parent), gguf_file=base.name, dtype=torch.float32, config=config)
model = PeftModel.from_pretrained(plain, folder).eval()
tokenizer = AutoTokenizer.from_pretrained(str(base.parent), gguf_file=base.name)
ids = tokenizer("List all my accounts.", return_tensors="pt").input_ids
with torch.no_grad():
    logits = model(ids).logits
    with model.disable_adapter():
        bare = model(ids).logits

json.dump(
    {
        "tokens": ids.shape[1],
        "finite": bool(torch.isfinite(logits).all()),
        "adapter": model.active_adapter,
        "change": float((logits - bare).abs().max()),
    },
    sys.stdout,
)

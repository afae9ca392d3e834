"""Train the demo's model for one step with TRL on the tasks in `my-tasks`. Usage: python examples/python/trl.py, in the checkout."""

import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer
from trl import GRPOConfig, GRPOTrainer
from trl.chat_template_utils import qwen3_template

from prove_worlds import Worlds
from prove_worlds.trl import TrlTasks

FOLDER, GGUF = "models/demo", "prove-demo-base-f16.gguf"


def demo_config():
    config = AutoConfig.from_pretrained(FOLDER, gguf_file=GGUF)
    config.head_dim = 64  # transformers does not read it from the file
    return config


# transformers does not train a model that it has read from GGUF, so the weights are copied into a new model.
read = AutoModelForCausalLM.from_pretrained(FOLDER, gguf_file=GGUF, config=demo_config(), dtype=torch.float32)
model = AutoModelForCausalLM.from_config(demo_config())
model.load_state_dict(read.state_dict())
tokenizer = AutoTokenizer.from_pretrained(FOLDER, gguf_file=GGUF)
tokenizer.eos_token = "<|im_end|>"
tokenizer.response_template = qwen3_template  # it writes calls as Qwen3 does

with Worlds.start("my-tasks") as worlds:
    tasks = TrlTasks(worlds)
    trainer = GRPOTrainer(
        model,
        processing_class=tokenizer,
        train_dataset=tasks.train_dataset,
        environment_factory=tasks.environment_factory,
        reward_funcs=tasks.prove_reward,
        args=GRPOConfig(
            output_dir="trained",
            max_steps=1,
            learning_rate=1e-3,
            per_device_train_batch_size=8,
            num_generations=4,
            max_completion_length=256,
            max_tool_calling_iterations=8,
            logging_steps=1,
            use_cpu=True,
            bf16=False,
            report_to=[],
        ),
    )
    trainer.train()

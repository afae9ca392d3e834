"""A training step at real models' shapes on the first CUDA device, beside what docs say it takes.

Random numbers in 16 bits stand for a base: neither time nor memory depends on them. A group of 16 rollouts has a
shared prompt of 4,096 tokens; every 32nd token after it was sampled, and a KL term costs its reference pass. Seconds
are of the second of two equal steps, next to those of docs/operate/sizing.md for as many groups. Bytes are the
most that PyTorch had allocated, next to those that the plan counts for the same forward passes
(docs/reference/trainer.md, "Memory"). Prints one JSON object, `versions` and `results`.

    .venv/bin/python test/bench/trainer_gpu.py                       # Qwen3-4B and Qwen3-8B
    .venv/bin/python test/bench/trainer_gpu.py --model Qwen3-8B --rest 4096
"""

import argparse
import json
import sys
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "coordinator" / "trainer" / "tests"))
sys.path.insert(0, str(Path(__file__).parent.parent / "coordinator" / "trainer"))

import numpy as np
import torch
from prove_trainer.batch import Batch, Rollout
from prove_trainer.capacity import find_capacity
from prove_trainer.config import LoraSettings, LossSettings, OptimizerSettings, TrainerConfig
from prove_trainer.distributed import Ranks
from prove_trainer.gguf_base import Base
from prove_trainer.grpo import GrpoTrainer
from prove_trainer.memory import count
from prove_trainer.packing import make_packs
from prove_trainer.policy import new_policy
from test_memory_table import GIB, MODELS, shapes
from test_sizing import GROUPS, SIZE, step_seconds

PROMPT = 4096  # tokens
EVERY = 32  # of the tokens after it one was sampled
# Their log-probabilities are nobody's: nothing may be left out for it.
LOSS = LossSettings(kl_coefficient=0.001, guard=20.0, drift=20.0)
ROWS = (("Qwen3-4B-Instruct-2507", 4096), ("Qwen3-8B", 4096), ("Qwen3-4B-Instruct-2507", 12_288))


def random_base(name: str, device: torch.device) -> Base:
    """Of the model's shapes."""
    empty = shapes(*MODELS[name])
    generator = torch.Generator(device).manual_seed(0)

    def numbers(weight: torch.Tensor) -> torch.Tensor:
        made = torch.empty(weight.shape, dtype=weight.dtype, device=device)
        return made.normal_(0, 0.02, generator=generator) if weight.dim() > 1 else made.fill_(1)

    return replace(empty, tensors={name: numbers(weight) for name, weight in empty.tensors.items()})


def one_group(base: Base, rest: int) -> Batch:
    rng = np.random.default_rng(0)
    prompt = rng.integers(0, base.vocab_size, PROMPT)
    rollouts = []
    for member in range(SIZE):
        ids = np.concatenate([prompt, rng.integers(0, base.vocab_size, rest)]).astype(np.int32)
        mask = (np.arange(len(ids)) >= PROMPT) & (np.arange(len(ids)) % EVERY == EVERY - 1)
        claimed = np.full(len(ids), -np.log(base.vocab_size), dtype=np.float32)
        advantage = member - (SIZE - 1) / 2
        rollouts.append(Rollout(member, "group", float(member), advantage, 0, "bench", ids, mask, claimed))
    return Batch("bench", "bench", 0, LOSS, "", "", tuple(rollouts))


def measure(name: str, rest: int, device: torch.device) -> list[dict]:
    base = random_base(name, device)
    config = TrainerConfig(base.sha256, device="cuda", precision="bfloat16", max_tokens_per_forward=0)
    room = find_capacity(config, base, device)
    policy = new_policy(base, LoraSettings(), 0, None, None)
    given_up: list[int] = []
    trainer = GrpoTrainer(
        policy, OptimizerSettings(lr=0.0), Ranks(0, 1, device), room, lambda _, tokens: given_up.append(tokens)
    )
    batch = one_group(base, rest)
    torch.cuda.reset_peak_memory_stats(device)
    for _ in range(2):
        outcome = trainer.run(batch, 0, "shared", room.budget)
    if outcome.skipped or outcome.rejected:
        raise SystemExit(f"the batch was not trained in full: {outcome.skipped} {outcome.rejected}")
    packs = make_packs(batch.rollouts, "shared", trainer.room.budget)
    largest = max(pack.ids.shape[1] for pack in packs)
    planned = count(base, LoraSettings()).of(largest, trainer.room.checkpointing)
    seconds, computed = outcome.timing["seconds"], step_seconds(base, PROMPT, rest, 1) / GROUPS
    peak = torch.cuda.max_memory_allocated(device)
    what = f"{name}, {PROMPT} + {rest} tokens, {SIZE} rollouts"
    rows = [
        ("step", seconds, "s", computed),
        ("memory at most", peak / GIB, "GiB", planned / GIB),
        ("tokens of the largest forward", largest, "tokens", room.budget),
        ("forwards that did not fit", len(given_up), "forwards", None),
    ]
    return [
        {"metric": f"{what}: {metric}", "value": value, "unit": unit}
        | ({} if expected is None else {"peer": "computed", "ratio": value / expected})
        for metric, value, unit, expected in rows
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description="A training step at real models' shapes on a GPU.")
    parser.add_argument("--model", choices=MODELS)
    parser.add_argument("--rest", type=int, default=4096, help="tokens of each rollout after the prompt")
    args = parser.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit(f"torch {torch.__version__} sees no CUDA device")
    device = torch.device("cuda", 0)
    results = []
    for name, rest in [(args.model, args.rest)] if args.model else ROWS:
        found = measure(name, rest, device)
        print(json.dumps(found), file=sys.stderr, flush=True)
        results += found
        torch.cuda.empty_cache()
    versions = {name: version(name) for name in ("torch", "transformers", "peft")}
    print(json.dumps({"versions": versions | {"GPU": torch.cuda.get_device_name(device)}, "results": results}))


if __name__ == "__main__":
    main()

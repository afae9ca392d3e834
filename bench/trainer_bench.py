"""Tokens per second of one training step: this project's trainer beside TRL's GRPOTrainer, same model, same batch, same
process.

The batch has the demo's shape: groups of 8 rollouts, about 200 prompt tokens shared by a group, about 250 tokens
after them of which a third were sampled. Both sides start from the same adapter and their gradients are compared, so
neither can win by computing something else. Prints one JSON object, `versions` and `results`; `npm run bench --
trainer` adds the machine. Needs coordinator/trainer/requirements-test.txt.
"""

import argparse
import contextlib
import json
import os
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")
sys.path.insert(0, str(Path(__file__).parent.parent / "coordinator" / "trainer"))

import numpy as np
import torch
from prove_trainer.batch import Batch, Rollout
from prove_trainer.config import LoraSettings, LossSettings, OptimizerSettings
from prove_trainer.distributed import Ranks
from prove_trainer.gguf_base import Base, build_model
from prove_trainer.grpo import GrpoTrainer
from prove_trainer.loss import group_advantages
from prove_trainer.packing import make_packs
from prove_trainer.policy import Policy, lora_config, new_policy
from transformers import Qwen3Config, Qwen3ForCausalLM

GROUP_SIZE = 8
PROMPT_TOKENS = 200
Gradients = dict[str, torch.Tensor]
Seconds = tuple[float, float]  # wall clock, processor
OPTIMIZER = OptimizerSettings(lr=1e-3, max_grad_norm=1e6, warmup_steps=0)


def now() -> Seconds:
    return time.perf_counter(), time.process_time()


def since(start: Seconds, end: Seconds) -> Seconds:
    return end[0] - start[0], end[1] - start[1]


def random_base(layers: int, hidden: int, vocab: int) -> Base:
    """Random weights: speed does not depend on them."""
    torch.manual_seed(0)
    config = Qwen3Config(
        vocab_size=vocab,
        hidden_size=hidden,
        intermediate_size=3 * hidden,
        num_hidden_layers=layers,
        num_attention_heads=hidden // 64,
        num_key_value_heads=max(1, hidden // 128),
        head_dim=64,
        tie_word_embeddings=True,
        max_position_embeddings=2048,
        rope_parameters={"rope_type": "default", "rope_theta": 10_000.0},
        use_cache=False,
    )
    state = Qwen3ForCausalLM(config).state_dict()
    return Base("qwen3", "0" * 64, config, {name: tensor for name, tensor in state.items() if name != "lm_head.weight"})


def make_policy(base: Base) -> Policy:
    """An adapter with a non-zero B, so that every parameter has a gradient."""
    policy = new_policy(base, LoraSettings(), 0, None, None)
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for _, parameter in policy.adapter_parameters():
            parameter.copy_(0.02 * torch.randn(parameter.shape, generator=generator))
    return policy


def make_batch(base: Base, groups: int) -> Batch:
    """
    On-policy rollouts: TRL has no correction for another sampler outside vLLM, so the sampler's logprobs are the
    policy's own.
    """
    rng = np.random.default_rng(0)
    policy, rollouts = make_policy(base), []
    for group in range(groups):
        prompt = rng.integers(4, base.vocab_size, PROMPT_TOKENS)
        rewards = rng.random(GROUP_SIZE)
        for member, advantage in enumerate(group_advantages(list(rewards), "none")):
            ids = np.concatenate([prompt, rng.integers(4, base.vocab_size, rng.integers(200, 300))]).astype(np.int32)
            turn = (np.arange(len(ids)) - PROMPT_TOKENS) % 83  # 27 sampled tokens, 56 of the environment, and so on
            mask = (np.arange(len(ids)) >= PROMPT_TOKENS) & (turn < 27)
            logp = np.zeros(len(ids), dtype=np.float32)
            rollout = Rollout(
                len(rollouts), str(group), float(rewards[member]), float(advantage), 0, "self", ids, mask, logp
            )
            with torch.no_grad():
                logp[mask] = policy(make_packs([rollout], "single", 1)[0])[0].numpy()
            rollouts.append(rollout)
    return Batch("bench", "bench", 0, LossSettings(), "0" * 64, "0" * 64, tuple(rollouts))


def our_step(base: Base, batch: Batch, packing: str, precision: str = "float32") -> tuple[Seconds, Gradients]:
    """Cost of one step, and its gradients."""
    policy = make_policy(base.on(torch.device("cpu"), precision))
    trainer = GrpoTrainer(policy, OPTIMIZER, Ranks(0, 1, torch.device("cpu")))
    gradients: Gradients = {}
    trainer.optimizer.register_step_pre_hook(
        lambda *_: gradients.update({name: p.grad.clone() for name, p in trainer.named})
    )
    started = now()
    outcome = trainer.run(batch, 0, packing, 1536)
    seconds = since(started, now())
    if outcome.skipped or outcome.rejected:
        raise SystemExit(f"the benchmark's batch was not trained in full: {outcome.skipped} {outcome.rejected}")
    return seconds, gradients


def trl_step(base: Base, batch: Batch, micro_batch: int, folder: Path) -> tuple[Seconds, Gradients]:
    """The same from TRL: cost from the rollouts' arrival to the end of the optimizer step, and its gradients."""
    from datasets import Dataset
    from peft import get_peft_model
    from tokenizers import Tokenizer, models
    from transformers import PreTrainedTokenizerFast, TrainerCallback
    from trl import GRPOConfig, GRPOTrainer

    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(models.WordLevel({f"t{i}": i for i in range(base.vocab_size)}, unk_token="t2")),
        pad_token="t0",
        eos_token="t1",
    )
    model = get_peft_model(build_model(base), lora_config(LoraSettings(), None, None))
    start = dict(make_policy(base).adapter_parameters())
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.requires_grad:
                parameter.copy_(start[name.replace(".default.", ".")])
    clock: dict[str, Seconds] = {}
    gradients: Gradients = {}

    def rollout_func(prompts: list, _) -> dict:
        if len(prompts) != len(batch.rollouts):
            raise SystemExit(f"TRL asked for {len(prompts)} rollouts, the batch has {len(batch.rollouts)}")
        clock["start"] = now()
        heads = [PROMPT_TOKENS] * len(batch.rollouts)
        return {
            "prompt_ids": [r.ids[:n].tolist() for r, n in zip(batch.rollouts, heads, strict=True)],
            "completion_ids": [r.ids[n:].tolist() for r, n in zip(batch.rollouts, heads, strict=True)],
            "logprobs": [r.sampler_logp[n:].tolist() for r, n in zip(batch.rollouts, heads, strict=True)],
            "env_mask": [r.mask[n:].astype(int).tolist() for r, n in zip(batch.rollouts, heads, strict=True)],
            "reward": [r.reward for r in batch.rollouts],
        }

    class Watch(TrainerCallback):
        def on_pre_optimizer_step(self, args, state, control, model=None, **_):
            gradients.update(
                {
                    name.replace(".default.", "."): p.grad.clone()
                    for name, p in model.named_parameters()
                    if p.requires_grad
                }
            )

        def on_optimizer_step(self, args, state, control, **_):
            clock["end"] = now()

    settings = GRPOConfig(
        output_dir=str(folder),
        per_device_train_batch_size=micro_batch,
        gradient_accumulation_steps=len(batch.rollouts) // micro_batch,
        num_generations=GROUP_SIZE,
        max_steps=1,
        learning_rate=OPTIMIZER.lr,
        max_grad_norm=OPTIMIZER.max_grad_norm,
        loss_type="dapo",
        epsilon=0.2,
        epsilon_high=0.28,
        beta=0.0,
        scale_rewards="none",
        temperature=1.0,
        max_completion_length=512,
        gradient_checkpointing=False,
        shuffle_dataset=False,
        use_cpu=True,
        bf16=False,
        report_to=[],
        save_strategy="no",
        logging_strategy="no",
        disable_tqdm=True,
    )
    trainer = GRPOTrainer(
        model=model,
        args=settings,
        reward_funcs=lambda reward, **_: reward,
        train_dataset=Dataset.from_list([{"prompt": f"t{g + 4}"} for g in range(len(batch.rollouts) // GROUP_SIZE)]),
        processing_class=tokenizer,
        rollout_func=rollout_func,
        callbacks=[Watch()],
    )
    trainer.train()
    return since(clock["start"], clock["end"]), gradients


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--groups", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=2, help="the best of this many interleaved runs counts")
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--vocab", type=int, default=2048)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument(
        "--trl-batch",
        type=int,
        default=1,
        help="rollouts per forward of the peer; 1 was its fastest of 1, 4 and 8 on a CPU",
    )
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    base = random_base(args.layers, args.hidden, args.vocab)
    batch = make_batch(base, args.groups)

    sides = {
        "shared": lambda _: our_step(base, batch, "shared"),
        "single": lambda _: our_step(base, batch, "single"),
        "bfloat16": lambda _: our_step(base, batch, "shared", "bfloat16"),
        "trl": lambda folder: trl_step(base, batch, args.trl_batch, folder),
    }
    best: dict[str, Seconds] = {}
    gradients: dict[str, Gradients] = {}
    with contextlib.redirect_stdout(sys.stderr), tempfile.TemporaryDirectory() as folder:
        for side in sides.values():  # the first step of a process pays for allocations and imports
            side(Path(folder))
        for _ in range(args.rounds):
            for name, side in sides.items():
                cost, gradients[name] = side(Path(folder))
                best[name] = tuple(map(min, cost, best.get(name, cost)))
    if gradients["trl"].keys() != gradients["shared"].keys():
        raise SystemExit("the two sides trained different parameters")
    gap = max(float((gradients["trl"][name] - gradients["shared"][name]).abs().max()) for name in gradients["trl"])
    largest = max(float(g.abs().max()) for g in gradients["trl"].values())

    peer = f"TRL GRPOTrainer, {args.trl_batch} rollout(s) per forward"
    labels = {
        "shared": "training step, prompts shared",
        "single": "training step, one rollout per forward",
        "bfloat16": "training step, prompts shared, bfloat16 autocast",
    }
    shape = f"{len(batch.rollouts)} rollouts, {args.layers} layers of {args.hidden}, {args.threads} thread(s)"
    results = [{"metric": f"batch: {shape}", "value": batch.tokens, "unit": "tokens"}]
    for name, label in labels.items():
        # Processor time too: on a shared machine it is the steadier of the two.
        for i, unit in enumerate(("batch tokens/s", "batch tokens per processor second")):
            ours, theirs = batch.tokens / best[name][i], batch.tokens / best["trl"][i]
            results.append({"metric": label, "value": ours, "unit": unit, "peer": peer, "ratio": ours / theirs})
    results.append({"metric": "largest gradient difference to the peer", "value": gap, "unit": f"of {largest:.3g}"})
    versions = {name: version(name) for name in ("torch", "transformers", "peft", "trl")}
    print(json.dumps({"versions": versions, "results": results}, allow_nan=False))


if __name__ == "__main__":
    main()

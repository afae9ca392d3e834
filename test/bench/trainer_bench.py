"""Tokens per second of one training step: this project's trainer beside TRL's GRPOTrainer, same model, same batch, same
process.

Groups of 8 rollouts: a prompt shared by the group, about 250 tokens after it of which a third were sampled. Three
settings unless one is described by options: the demo's model and shape, the same with long prompts, and a random model
of 103 million parameters with a vocabulary of 151,936. Both sides start from the same adapter and their gradients are
compared, so neither can win by computing something else. Prints one JSON object, `versions` and `results`; `npm run
bench -- trainer` adds the machine. Needs coordinator/trainer/requirements-test.txt.
"""

import argparse
import contextlib
import json
import os
import sys
import tempfile
import time
from dataclasses import dataclass
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
Gradients = dict[str, torch.Tensor]
Seconds = tuple[float, float]  # wall clock, processor
OPTIMIZER = OptimizerSettings(lr=1e-3, max_grad_norm=1e6, warmup_steps=0)


@dataclass(frozen=True)
class Setting:
    name: str
    layers: int
    hidden: int
    vocab: int
    prompt: int  # tokens, shared by a group
    groups: int
    budget: int  # tokens of a forward of ours


SETTINGS = (
    Setting("demo's model", 6, 256, 2048, 200, 2, 1536),
    Setting("demo's model, long prompts", 6, 256, 2048, 1200, 1, 3500),
    Setting("103 M parameters", 8, 512, 151_936, 200, 1, 1536),
)


class Kept:
    """
    Bytes that autograd keeps for a backward pass beside the model's own tensors, at their largest: every tensor that is
    saved holds its storage until the graph lets go of it.
    """

    def __init__(self, model: torch.nn.Module) -> None:
        self._own = {t.untyped_storage().data_ptr() for t in (*model.parameters(), *model.buffers())}
        self._holders: dict[int, int] = {}
        self._bytes = 0
        self.largest = 0

    def hooks(self) -> torch.autograd.graph.saved_tensors_hooks:
        return torch.autograd.graph.saved_tensors_hooks(lambda tensor: _Held(self, tensor), lambda held: held.tensor)

    def hold(self, storage: torch.UntypedStorage) -> None:
        at = storage.data_ptr()
        if at not in self._own:
            self._bytes += 0 if self._holders.get(at) else storage.nbytes()
            self._holders[at] = self._holders.get(at, 0) + 1
            self.largest = max(self.largest, self._bytes)

    def let_go(self, storage: torch.UntypedStorage) -> None:
        at = storage.data_ptr()
        if at not in self._own:
            self._holders[at] -= 1
            self._bytes -= 0 if self._holders[at] else storage.nbytes()


class _Held:
    def __init__(self, kept: Kept, tensor: torch.Tensor) -> None:
        self.kept, self.tensor = kept, tensor
        kept.hold(tensor.untyped_storage())

    def __del__(self) -> None:
        self.kept.let_go(self.tensor.untyped_storage())


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


def make_batch(base: Base, groups: int, prompt_tokens: int) -> Batch:
    """
    On-policy rollouts: TRL has no correction for another sampler outside vLLM, so the sampler's logprobs are the
    policy's own.
    """
    rng = np.random.default_rng(0)
    policy, rollouts = make_policy(base), []
    for group in range(groups):
        prompt = rng.integers(4, base.vocab_size, prompt_tokens)
        rewards = rng.random(GROUP_SIZE)
        for member, advantage in enumerate(group_advantages(list(rewards), "none")):
            ids = np.concatenate([prompt, rng.integers(4, base.vocab_size, rng.integers(200, 300))]).astype(np.int32)
            turn = (np.arange(len(ids)) - prompt_tokens) % 83  # 27 sampled tokens, 56 of the environment, and so on
            mask = (np.arange(len(ids)) >= prompt_tokens) & (turn < 27)
            logp = np.zeros(len(ids), dtype=np.float32)
            rollout = Rollout(
                len(rollouts), str(group), float(rewards[member]), float(advantage), 0, "self", ids, mask, logp
            )
            with torch.no_grad():
                logp[mask] = policy(make_packs([rollout], "single", 1)[0])[0].numpy()
            rollouts.append(rollout)
    return Batch("bench", "bench", 0, LossSettings(), "0" * 64, "0" * 64, tuple(rollouts))


def our_step(
    base: Base, batch: Batch, packing: str, budget: int, precision: str = "float32", measured: list[int] | None = None
) -> tuple[Seconds, Gradients]:
    """Cost of one step, and its gradients. To `measured`, where given, is added what autograd kept, in bytes."""
    policy = make_policy(base.on(torch.device("cpu"), precision))
    trainer = GrpoTrainer(policy, OPTIMIZER, Ranks(0, 1, torch.device("cpu")))
    gradients: Gradients = {}
    trainer.backend.optimizer.register_step_pre_hook(
        lambda *_: gradients.update({name: p.grad.clone() for name, p in trainer.named})
    )
    kept = Kept(policy)
    started = now()
    with contextlib.nullcontext() if measured is None else kept.hooks():
        outcome = trainer.run(batch, 0, packing, budget)
    seconds = since(started, now())
    if measured is not None:
        measured.append(kept.largest)
    if outcome.skipped or outcome.rejected:
        raise SystemExit(f"the benchmark's batch was not trained in full: {outcome.skipped} {outcome.rejected}")
    return seconds, gradients


def trl_step(
    base: Base, batch: Batch, prompt_tokens: int, micro_batch: int, folder: Path, measured: list[int] | None = None
) -> tuple[Seconds, Gradients]:
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
        heads = [prompt_tokens] * len(batch.rollouts)
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
    kept = Kept(model)
    with contextlib.nullcontext() if measured is None else kept.hooks():
        trainer.train()
    if measured is not None:
        measured.append(kept.largest)
    return since(clock["start"], clock["end"]), gradients


def compare(setting: Setting, rounds: int, trl_batch: int, threads: int) -> list[dict]:
    """Rows of the result for one setting."""
    base = random_base(setting.layers, setting.hidden, setting.vocab)
    batch = make_batch(base, setting.groups, setting.prompt)
    budget = setting.budget

    def peer_step(folder: Path, measured: list[int] | None = None) -> tuple[Seconds, Gradients]:
        return trl_step(base, batch, setting.prompt, trl_batch, folder, measured)

    sides = {
        "shared": lambda _, measured=None: our_step(base, batch, "shared", budget, measured=measured),
        "single": lambda _, measured=None: our_step(base, batch, "single", budget, measured=measured),
        "bfloat16": lambda _, measured=None: our_step(base, batch, "shared", budget, "bfloat16", measured),
        "trl": peer_step,
    }
    best: dict[str, Seconds] = {}
    bytes_kept: dict[str, list[int]] = {name: [] for name in sides}
    gradients: dict[str, Gradients] = {}
    with tempfile.TemporaryDirectory() as folder:
        # The first step of a process pays for allocations and imports: there bytes are counted, and no time.
        for name, side in sides.items():
            side(Path(folder), bytes_kept[name])
        for _ in range(rounds):
            for name, side in sides.items():
                cost, gradients[name] = side(Path(folder))
                best[name] = tuple(map(min, cost, best.get(name, cost)))
    if gradients["trl"].keys() != gradients["shared"].keys():
        raise SystemExit("the two sides trained different parameters")
    gap = max(float((gradients["trl"][name] - gradients["shared"][name]).abs().max()) for name in gradients["trl"])
    largest = max(float(g.abs().max()) for g in gradients["trl"].values())

    peer = f"TRL GRPOTrainer, {trl_batch} rollout(s) per forward"
    labels = {
        "shared": "prompts shared",
        "single": "one rollout per forward",
        "bfloat16": "prompts shared, bfloat16",
    }
    shape = f"{len(batch.rollouts)} rollouts, {setting.layers} layers of {setting.hidden}, vocabulary {setting.vocab}"
    title = f"{setting.name}: "
    results = [{"metric": f"{title}{shape}, {threads} thread(s)", "value": batch.tokens, "unit": "tokens"}]
    for name, label in labels.items():
        # Processor time too: on a shared machine it is the steadier of the two.
        for i, unit in enumerate(("batch tokens/s", "batch tokens per processor second")):
            ours, theirs = batch.tokens / best[name][i], batch.tokens / best["trl"][i]
            row = {"metric": title + label, "value": ours, "unit": unit, "peer": peer, "ratio": ours / theirs}
            results.append(row)
    # Rollouts of the forward that keeps most: all that a pack holds, or the micro-batch.
    mean = batch.tokens / len(batch.rollouts)
    packs = make_packs(list(batch.rollouts), "shared", budget)
    together = {"shared": max(len(pack.rollouts) for pack in packs), "single": 1, "trl": trl_batch}
    for name, label in {"shared": labels["shared"], "single": labels["single"], "trl": peer}.items():
        per_token = bytes_kept[name][0] / (together[name] * mean) / 1024
        unit = "KiB kept per batch token in the largest forward"
        results.append({"metric": title + label, "value": per_token, "unit": unit})
    found = {"metric": f"{title}largest gradient difference to the peer", "value": gap, "unit": f"of {largest:.3g}"}
    return [*results, found]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=2, help="the best of this many interleaved runs counts")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument(
        "--trl-batch",
        type=int,
        default=1,
        help="rollouts per forward of the peer; 1 was its fastest of 1, 4 and 8 on a CPU",
    )
    parser.add_argument("--only", type=int, choices=range(len(SETTINGS)), help="one of the settings, by its number")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    settings = SETTINGS if args.only is None else (SETTINGS[args.only],)
    with contextlib.redirect_stdout(sys.stderr):
        results = [row for one in settings for row in compare(one, args.rounds, args.trl_batch, args.threads)]
    versions = {name: version(name) for name in ("torch", "transformers", "peft", "trl")}
    print(json.dumps({"versions": versions, "results": results}, allow_nan=False))


if __name__ == "__main__":
    main()

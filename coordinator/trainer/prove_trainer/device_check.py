"""
Compares a step on a GPU with the same step on the CPU, and prints one JSON object.

    python -m prove_trainer.device_check --base base.gguf
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter

import numpy as np
import torch

from .batch import Batch, Rollout
from .config import LoraSettings, LossSettings, OptimizerSettings
from .distributed import Ranks
from .gguf_base import Base, load_base
from .grpo import GrpoTrainer
from .jobs import sha256_file
from .packing import make_packs
from .policy import Policy, new_policy

GROUPS, SIZE = 2, 4
PROMPT, ANSWER = 96, 64  # tokens
BUDGET = 1024  # tokens of a forward
# Largest `distance` by precision. A different summation order in float32 causes 1e-6 to 1e-5, and 16 bits cause more
# than the float32 bound. bfloat16 and float16 cause 0.09 and 0.011 for the demo model on a CPU; a device may be twice
# as far off.
BOUNDS = {"float32": 1e-3, "bfloat16": 0.2, "float16": 0.025}
# No rollout is left out: both sides compute the same batch.
LOSS = LossSettings(guard=20.0, drift=20.0)


@dataclass(frozen=True)
class Step:
    gradient: torch.Tensor  # of all adapter parameters, in the order of their names; float64, on the CPU
    seconds: float


def random_policy(base: Base) -> Policy:
    """Return a policy with a random adapter: B of a new one is zero, which makes the gradient of A zero too."""
    policy = new_policy(base, LoraSettings(), 0, None, None)
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for _, parameter in policy.adapter_parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.02)
    return policy


def random_batch(policy: Policy, vocab_size: int) -> Batch:
    """Return rollouts of random tokens, with the policy's own log-probabilities as the sampler's."""
    rng = np.random.default_rng(0)
    rollouts = []
    for group in range(GROUPS):
        prompt = rng.integers(0, vocab_size, PROMPT)
        for member in range(SIZE):
            ids = np.concatenate([prompt, rng.integers(0, vocab_size, ANSWER)]).astype(np.int32)
            mask = np.arange(len(ids)) >= PROMPT
            advantage = member - (SIZE - 1) / 2
            empty = np.zeros(len(ids), dtype=np.float32)
            rollouts.append(
                Rollout(len(rollouts), f"group-{group}", float(member), advantage, 0, "random", ids, mask, empty)
            )
    claimed = []
    for rollout in rollouts:
        (pack,) = make_packs([rollout], "single", BUDGET)
        with torch.no_grad():
            logp = policy(pack)[0].numpy()
        known = rollout.sampler_logp.copy()
        known[rollout.mask] = logp
        claimed.append(replace(rollout, sampler_logp=known))
    return Batch("device-check", "device-check", 0, LOSS, "", "", tuple(claimed))


def step(policy: Policy, batch: Batch, device: torch.device) -> Step:
    """Return the second of two equal steps at learning rate 0: the first one compiles and warms up."""
    settings, ranks = OptimizerSettings(lr=0.0, max_grad_norm=1e6), Ranks(0, 1, device)
    trainer = GrpoTrainer(policy, settings, ranks)
    backend = trainer.backend
    seen: list[torch.Tensor] = []

    def see(*_: object) -> None:
        gradients = [p.grad.detach().double().cpu().flatten() for p in backend.parameters if p.grad is not None]
        seen.append(torch.cat(gradients))

    backend.optimizer.register_step_pre_hook(see)
    seconds = 0.0
    for _ in range(2):
        started = perf_counter()
        trainer.run(batch, 0, "shared", BUDGET)
        seconds = perf_counter() - started
    return Step(seen[-1], seconds)


def distance(found: torch.Tensor, reference: torch.Tensor) -> float:
    """Length of the difference, as a share of the reference's; far too much where a number is none."""
    apart = float((found - reference).norm() / reference.norm())
    return apart if np.isfinite(apart) else float(np.finfo(np.float64).max)


def compare(path: Path, device: torch.device, precisions: Sequence[str]) -> tuple[Step, dict[str, Step]]:
    """
    Return the step on the CPU in float32, and on `device` in each precision. Raises TrainerError for a base that cannot
    be loaded.
    """
    base = load_base(path, sha256_file(path))
    policy = random_policy(base)
    batch = random_batch(policy, base.vocab_size)
    found = {precision: step(random_policy(base.on(device, precision)), batch, device) for precision in precisions}
    return step(policy, batch, torch.device("cpu")), found


def main() -> None:
    parser = argparse.ArgumentParser(prog="prove_trainer.device_check", description=(__doc__ or "").strip())
    parser.add_argument("--base", type=Path, required=True)
    path = parser.parse_args().base
    if not torch.cuda.is_available():
        print(json.dumps({"lacks": f"torch {torch.__version__} sees no CUDA device"}))
        return
    cpu, found = compare(path, torch.device("cuda", 0), tuple(BOUNDS))
    steps = [
        {
            "precision": precision,
            "distance": distance(there.gradient, cpu.gradient),
            "bound": BOUNDS[precision],
            "seconds": there.seconds,
        }
        for precision, there in found.items()
    ]
    report = {
        "device": torch.cuda.get_device_name(0),
        "torch": torch.__version__,
        "cpuSeconds": cpu.seconds,
        "steps": steps,
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()

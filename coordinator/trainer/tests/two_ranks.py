"""Run by test_process under torchrun: the same steps on however many ranks; rank 0 writes what came out."""

import json
import os
import sys
from pathlib import Path

import fixtures
import torch
from prove_trainer.config import OptimizerSettings
from prove_trainer.distributed import join_ranks
from prove_trainer.gguf_base import load_base
from prove_trainer.grpo import GrpoTrainer
from prove_trainer.spool import sha256_file


def run(ranks, base) -> dict:
    """Three steps on three batches, then one where only the last rank finds a number that is not finite."""
    policy = fixtures.with_random_adapter(base)
    # One group more than an even split: the ranks get different numbers of packs.
    batches = [
        fixtures.as_batch(fixtures.sampled(policy, fixtures.make_rollouts(groups=5, seed=seed)), kl_coefficient=0.01)
        for seed in range(3)
    ]
    trainer = GrpoTrainer(policy, OptimizerSettings(lr=1e-3), ranks)
    losses, gradients = [], {}
    handle = trainer.optimizer.register_step_pre_hook(
        lambda *_: gradients.update({name: p.grad.tolist() for name, p in trainer.named})
    )
    first = None
    for step, batch in enumerate(batches):
        losses.append(trainer.run(batch, step, "shared", 1).stats["loss"])
        first = first or dict(gradients)
    handle.remove()
    before = trainer.snapshot()
    if ranks.rank == ranks.world - 1:
        # Not a gradient hook: the reduction would spread its NaN, and every rank would see it without agreeing on
        # anything. An infinite loss behind a clamp has a zero gradient and stays on its rank.
        accumulate = trainer._accumulate
        trainer._accumulate = lambda *args: accumulate(*args) and False
    skipped = trainer.run(batches[0], 3, "shared", 1).skipped
    after = trainer.snapshot()
    untouched = all(torch.equal(before[name], after[name]) for name in before)
    adapter = {name: after[f"adapter/{name}"].tolist() for name, _ in trainer.named}
    verdicts = ranks.gather([skipped, untouched])
    return {"losses": losses, "gradients": first, "adapter": adapter, "verdicts": verdicts}


if __name__ == "__main__":
    torch.set_num_threads(1)
    joined = join_ranks("cpu")
    path = Path(sys.argv[1])
    result = run(joined, load_base(path, sha256_file(path)))
    if joined.rank == 0:
        Path(sys.argv[2]).write_text(json.dumps(result))
    joined.all_agree(True)
    os._exit(0)

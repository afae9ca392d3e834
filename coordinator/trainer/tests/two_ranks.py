"""Run by test_process under torchrun: the same steps on however many ranks; rank 0 writes what came out."""

import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import fixtures
import torch
from prove_trainer.config import OptimizerSettings
from prove_trainer.distributed import join_ranks
from prove_trainer.examination import Examination
from prove_trainer.gguf_base import load_base
from prove_trainer.grpo import GrpoTrainer
from prove_trainer.jobs import sha256_file
from prove_trainer.sharding import shard
from prove_trainer.shards import whole


def run(ranks, base, sharded=False) -> dict:
    """Three steps on three batches, then one where only the last rank finds a number that is not finite."""
    policy = fixtures.with_random_adapter(base)
    if sharded:
        shard(policy, ranks)
    # One group more than an even split: the ranks get different numbers of packs.
    batches = [
        fixtures.as_batch(fixtures.sampled(policy, fixtures.make_rollouts(groups=5, seed=seed)), kl_coefficient=0.01)
        for seed in range(3)
    ]
    trainer = GrpoTrainer(policy, OptimizerSettings(lr=1e-3), ranks)
    losses, gradients = [], {}
    handle = trainer.backend.optimizer.register_step_pre_hook(
        lambda *_: gradients.update({name: whole(p.grad).tolist() for name, p in trainer.named})
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
    examined = examine(ranks, base, sharded)
    return {"losses": losses, "gradients": first, "adapter": adapter, "verdicts": verdicts, "examined": examined}


def examine(ranks, base, sharded) -> dict:
    """A step that is examined: two groups of an older policy, and one of the five is left out."""
    policy = fixtures.with_random_adapter(base)
    older = dict(fixtures.with_random_adapter(base, seed=8).adapter_parameters())
    rollouts = fixtures.sampled(policy, fixtures.make_rollouts(groups=5))
    rollouts = [
        replace(rollout, draws=draws, policy_version=0 if rollout.group in ("group-0", "group-3") else 1)
        for rollout, draws in zip(rollouts, fixtures.random_draws(rollouts), strict=True)
    ]
    found: list = []

    def verify(scores: dict) -> frozenset[str]:
        found.append({str(index): part["logp"].tolist() for index, part in sorted(scores.items())})
        return frozenset({"group-1"})

    if sharded:
        shard(policy, ranks)
    trainer = GrpoTrainer(policy, OptimizerSettings(lr=1e-3), ranks)
    batch = fixtures.as_batch(rollouts)
    outcome = trainer.run(batch, 1, "shared", 1, examination=Examination(batch.unaudited, {0: older}, verify))
    return {"found": ranks.gather(found), "stats": outcome.stats["rejected"], "loss": outcome.stats["loss"]}


def held(ranks, base) -> dict:
    """Which share of a policy's bytes each rank has when nothing is computed."""
    policy = fixtures.with_random_adapter(base)
    before = sum(parameter.nbytes for parameter in policy.parameters())
    shard(policy, ranks)
    after = sum(parameter.to_local().nbytes for parameter in policy.parameters())
    return {"held": ranks.gather(after / before)}


if __name__ == "__main__":
    torch.set_num_threads(1)
    joined = join_ranks("cpu")
    path = Path(sys.argv[1])
    base = load_base(path, sha256_file(path))
    result = run(joined, base)
    result["sharded"] = run(joined, base.on(torch.device("cpu"), "float32"), sharded=True) | held(joined, base)
    if joined.rank == 0:
        Path(sys.argv[2]).write_text(json.dumps(result))
    joined.all_agree(True)
    os._exit(0)

"""
Writes, for the test of a trainer on several machines, what it works on, and what a single rank makes of it:
`python cluster_jobs.py FOLDER`, which gets `base.gguf`, `trainer.json`, and two batches in `jobs` and in
`one/jobs`. On the first batch of `jobs` findings are waited for; `one` has them, and the steps.
"""

import json
import sys
from pathlib import Path

import fixtures
import torch
from prove_trainer.gguf_base import load_base
from prove_trainer.jobs import sha256_file
from test_examination import unaudited
from test_process import alone_until_idle


def main(root: Path) -> None:
    torch.set_num_threads(1)
    path = fixtures.write_base(root / "base.gguf")
    base = load_base(path, sha256_file(path))
    fixtures.write_config(root / "trainer.json", base.sha256)
    policy = fixtures.new_policy(base, fixtures.LoraSettings(rank=4, alpha=8), 0, None, None)
    one = root / "one"
    for number in (1, 2):
        rollouts = fixtures.sampled(policy, fixtures.make_rollouts(groups=6, seed=number))
        for jobs in (root / "jobs", one / "jobs"):
            name = f"batch-{number}"
            fixtures.write_batch(jobs, name, unaudited(rollouts) if number == 1 else rollouts, base.sha256, number - 1)
    findings = {"schema": 1, "batchId": "batch-1", "leftOut": []}
    (one / "jobs" / "batches" / "batch-1" / "findings.json").write_text(json.dumps(findings))
    fixtures.write_config(one / "trainer.json", base.sha256)
    if alone_until_idle(one, base).step != 2:
        raise SystemExit("a single rank did not get through")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""Supervised start: teaches a placed induction circuit the dialogues, while copying documents keep it alive."""

import argparse
import json
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

import checkpoint
import cpu
from copy_documents import DIGIT_IDS, Difficulty, batch
from copying import copy_loss
from dialogues import Rows, batches, read_shard
from evaluate import teacher_forced
from model import Qwen3
from optimizer import Optimizer

# Copying documents join this share of the steps, one batch each.
COPY_SHARE = 0.1
COPY_DIFFICULTY = Difficulty(256, 40, 10)
COPY_KINDS = {'repeats': 0.2, 'spans': 0.1, 'lookups': 0.35, 'tables': 0.35}
# Weight of a token the assistant did not write: texts of users and tools teach the environments' vocabulary.
CONTEXT_WEIGHT = 0.1
LOWEST_RATE = 0.02
LOG_EVERY_S, EVALUATE_EVERY_S, SAVE_EVERY_S = 30, 300, 120


@dataclass
class Progress:
    """The progress of a run, saved with every checkpoint, so that a resumed run continues with the same batches."""

    steps: int = 0
    tokens: int = 0  # of dialogues; copying documents do not count
    seconds: float = 0.0


def dialogue_loss(model: Qwen3, rows: Rows) -> tuple[Tensor, float]:
    """
    Weighted mean loss of one batch of dialogues.
    @returns  loss, the unweighted mean over assistant tokens (nats)
    """
    ids = torch.from_numpy(rows.ids)
    chosen = torch.from_numpy(rows.present[:, 1:])
    own = torch.from_numpy(rows.assistant[:, 1:])[chosen]
    with torch.autocast('cpu', torch.bfloat16):
        logits = model.logits(model.hidden(ids[:, :-1])[chosen])
    losses = F.cross_entropy(logits.float(), ids[:, 1:][chosen], reduction='none')
    weights = torch.where(own, 1.0, CONTEXT_WEIGHT)
    return (losses * weights).sum() / weights.sum(), float(losses.detach()[own].mean())


def rate_scale(done: float, warm_up: float, decay: float) -> float:
    """
    Learning rate, as a share of its peak, when the share `done` of the budget is spent. It rises over the first
    `warm_up` of the budget and falls over the last `decay` of it; a share of 0 leaves that part out.
    """
    rising = done / warm_up if warm_up > 0 else 1.0
    falling = (1 - done) / decay if decay > 0 else 1.0
    return max(LOWEST_RATE, min(1.0, rising, falling))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--start', type=Path, required=True, help='checkpoint of induction_init.py or of this script')
    parser.add_argument('--shards', type=Path, required=True, help='folder with *.safetensors shards, at any depth')
    parser.add_argument('--held-out', type=Path, required=True, help='one shard that is not in the folder')
    parser.add_argument('--out', type=Path, required=True, help='checkpoint; an existing one is resumed')
    parser.add_argument('--tokens', type=int, required=True, help='budget, in tokens of dialogues')
    parser.add_argument('--lr', type=float, default=2e-3)
    parser.add_argument('--warm-up', type=float, default=0.01, help='share of the budget over which the rate rises')
    parser.add_argument('--decay', type=float, default=0.4, help='share of the budget over which the rate falls')
    parser.add_argument('--new-optimizer', action='store_true', help='start without the state of the optimizer')
    parser.add_argument('--batch-tokens', type=int, default=6144)
    parser.add_argument('--max-length', type=int, default=1024, help='longer dialogues are left out')
    parser.add_argument('--held-out-count', type=int, default=100, help='dialogues of the evaluations under way')
    parser.add_argument('--threads', type=int, default=1)
    parser.add_argument('--seed', type=int, default=0)
    arguments = parser.parse_args()
    cpu.prepare(arguments.threads)

    resumed = arguments.out.exists()
    model, state, saved_progress = checkpoint.load(arguments.out if resumed else arguments.start)
    progress = Progress(**saved_progress) if resumed else Progress()
    optimizer = Optimizer(model, arguments.lr)
    if state and (resumed or not arguments.new_optimizer):
        optimizer.load(state)
    table = model.config.vocab_size
    shards = sorted(arguments.shards.rglob('*.safetensors'))
    if any(path.samefile(arguments.held_out) for path in shards):
        raise SystemExit('the held-out shard is one of the training shards: name another one')
    if not shards:
        raise SystemExit(f'no shards in {arguments.shards}')
    held_out = read_shard(arguments.held_out, table)
    source = batches(shards, table, arguments.batch_tokens, arguments.seed, arguments.max_length)
    for _ in range(progress.steps):
        next(source)

    def log(**values: object) -> None:
        where = {'steps': progress.steps, 'tokens': progress.tokens, 'seconds': round(progress.seconds)}
        print(json.dumps(where | values), flush=True)

    copy_rows = max(1, arguments.batch_tokens // COPY_DIFFICULTY.length)
    last = shown = evaluated = saved = time.monotonic()
    since = padding = cells = 0
    seen: dict[str, list[float]] = {'loss': [], 'assistant': [], 'copy_loss': [], 'copy_accuracy': []}
    while progress.tokens < arguments.tokens:
        rng = np.random.default_rng([arguments.seed, progress.steps])
        rows = next(source)
        loss, own_loss = dialogue_loss(model, rows)
        loss.backward()
        if rng.random() < COPY_SHARE:
            ids, weights = batch(rng, COPY_KINDS, copy_rows, table, COPY_DIFFICULTY)
            copied, right = copy_loss(model, torch.from_numpy(ids), torch.from_numpy(weights))
            copied.backward()
            seen['copy_loss'].append(float(copied.detach()))
            seen['copy_accuracy'].append(float(right.float().mean()))
        optimizer.step(rate_scale(progress.tokens / arguments.tokens, arguments.warm_up, arguments.decay))
        seen['loss'].append(float(loss.detach()))
        seen['assistant'].append(own_loss)

        now = time.monotonic()
        trained = int(rows.present.sum())
        progress = Progress(progress.steps + 1, progress.tokens + trained, progress.seconds + now - last)
        last = now
        since, padding, cells = since + trained, padding + int((~rows.present).sum()), cells + rows.ids.size
        if now - shown > LOG_EVERY_S:
            means = {name: round(float(np.mean(values)), 4) for name, values in seen.items() if values}
            log(**means, tokens_per_second=round(since / (now - shown)), padding=round(padding / cells, 3))
            seen = {name: [] for name in seen}
            since = padding = cells = 0
            shown = time.monotonic()
        if now - evaluated > EVALUATE_EVERY_S:
            log(held_out=teacher_forced(model, held_out[: arguments.held_out_count], DIGIT_IDS))
            evaluated = time.monotonic()
        if now - saved > SAVE_EVERY_S:
            checkpoint.save(arguments.out, model, optimizer, vars(progress))
            saved = time.monotonic()

    checkpoint.save(arguments.out, model, optimizer, vars(progress))
    log(final=teacher_forced(model, held_out, DIGIT_IDS))


if __name__ == '__main__':
    main()

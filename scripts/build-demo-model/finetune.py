"""Supervised start: teaches a pretrained checkpoint the dialogues, while copying documents keep the circuit alive."""

import argparse
import json
import math
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
from dialogues import Rows, batches, read_shard
from evaluate import teacher_forced
from model import Qwen3
from optimizer import Optimizer
from pretrain import copy_loss

COPY_DIFFICULTY = Difficulty(384, 40, 10)
COPY_SHARES = {'repeats': 2, 'spans': 1, 'lookups': 3, 'tables': 4}
# Weight of a token the assistant did not write, and the share of those tokens that a step draws (each then weighs
# CONTEXT_WEIGHT / CONTEXT_RATE): the mean is the same and most of the head's work is saved.
CONTEXT_WEIGHT = 0.1
CONTEXT_RATE = 0.25
WARMUP_TOKENS = 200_000
DECAY_SHARE = 0.3
LOG_EVERY_S, EVALUATE_EVERY_S, SAVE_EVERY_S = 30, 300, 120


@dataclass
class Progress:
    """Where a run stands; saved with every checkpoint, so that a resumed run goes on with the same batches."""

    steps: int = 0
    tokens: int = 0
    seconds: float = 0.0


def dialogue_loss(model: Qwen3, rows: Rows, rng: np.random.Generator) -> tuple[Tensor, float, int]:
    """
    Weighted mean loss of one batch of dialogues.
    @returns  loss, the unweighted mean over assistant tokens (nats), the number of assistant tokens
    """
    ids = torch.from_numpy(rows.ids)
    assistant, present = rows.assistant[:, 1:], rows.present[:, 1:]
    drawn = present & ~assistant & (rng.random(present.shape) < CONTEXT_RATE)
    chosen = torch.from_numpy(assistant | drawn)
    own = torch.from_numpy(assistant)[chosen]
    with torch.autocast('cpu', torch.bfloat16):
        logits = model.logits(model.hidden(ids[:, :-1])[chosen])
    losses = F.cross_entropy(logits.float(), ids[:, 1:][chosen], reduction='none')
    weights = torch.where(own, 1.0, CONTEXT_WEIGHT / CONTEXT_RATE)
    count = int(own.sum())
    # The denominator is the expected weight, not the drawn one, so that the draw does not change the step's size.
    total = count + CONTEXT_WEIGHT * int((present & ~assistant).sum())
    return (losses * weights).sum() / total, float(losses.detach()[own].mean()), count


def rate_scale(progress: Progress, seconds: float | None, tokens: int | None) -> float:
    """Warm-up, plateau, then a cosine fall to 2 % over the last DECAY_SHARE of the budget."""
    warm = min(1.0, 0.05 + progress.tokens / WARMUP_TOKENS)
    left = max(0.0, 1.0 - share_done(progress, seconds, tokens)) / DECAY_SHARE
    return warm * (1.0 if left >= 1 else 0.02 + 0.98 * 0.5 * (1 - math.cos(math.pi * left)))


def share_done(progress: Progress, seconds: float | None, tokens: int | None) -> float:
    done = [progress.seconds / seconds if seconds else 0.0, progress.tokens / tokens if tokens else 0.0]
    return max(done)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--start', type=Path, required=True, help='checkpoint of pretrain.py')
    parser.add_argument('--shards', type=Path, required=True, help='folder of *.safetensors shards')
    parser.add_argument('--held-out', type=Path, required=True, help='one shard that is not in the folder')
    parser.add_argument('--out', type=Path, required=True, help='checkpoint; an existing one is resumed')
    budget = parser.add_mutually_exclusive_group(required=True)
    budget.add_argument('--seconds', type=float)
    budget.add_argument('--tokens', type=int)
    parser.add_argument('--vocabulary', type=int, help='ids the tokenizer fills; copying documents use only these')
    parser.add_argument('--lr', type=float, default=5e-3)
    parser.add_argument('--batch-tokens', type=int, default=4096)
    parser.add_argument('--copy-share', type=float, default=0.15, help='copying documents, share of all tokens')
    parser.add_argument('--max-length', type=int, default=1024)
    parser.add_argument('--held-out-count', type=int, default=100)
    parser.add_argument('--threads', type=int, default=2)
    parser.add_argument('--seed', type=int, default=0)
    arguments = parser.parse_args()
    cpu.prepare(arguments.threads)

    resumed = arguments.out.exists()
    model, state, saved_progress = checkpoint.load(arguments.out if resumed else arguments.start)
    progress = Progress(**saved_progress) if resumed else Progress()
    optimizer = Optimizer(model, arguments.lr, arguments.lr)
    if resumed and state:
        optimizer.load(state)
    table = model.config.vocab_size
    vocabulary = arguments.vocabulary or table
    shards = sorted(arguments.shards.glob('*.safetensors'))
    if any(path.samefile(arguments.held_out) for path in shards):
        raise SystemExit('the held-out shard lies among the training shards')
    if not shards:
        raise SystemExit(f'no shards in {arguments.shards}')
    judged = read_shard(arguments.held_out, table)[: arguments.held_out_count]
    source = batches(shards, table, arguments.batch_tokens, arguments.seed, arguments.max_length)
    for _ in range(progress.steps):
        next(source)

    def log(**values: object) -> None:
        where = {'steps': progress.steps, 'tokens': progress.tokens, 'seconds': round(progress.seconds)}
        print(json.dumps(where | values), flush=True)

    copy_tokens = arguments.batch_tokens * arguments.copy_share / (1 - arguments.copy_share)
    copy_rows = round(copy_tokens / COPY_DIFFICULTY.length)
    last = shown = evaluated = saved = time.monotonic()
    since = padding = cells = 0
    seen: dict[str, list[float]] = {'loss': [], 'assistant': [], 'copy_loss': [], 'copy_accuracy': []}
    while share_done(progress, arguments.seconds, arguments.tokens) < 1:
        rng = np.random.default_rng([arguments.seed, progress.steps])
        rows = next(source)
        loss, own_loss, _ = dialogue_loss(model, rows, rng)
        loss.backward()
        trained = int(rows.present.sum())
        if copy_rows:
            ids, weights = batch(rng, COPY_SHARES, copy_rows, vocabulary, COPY_DIFFICULTY)
            copied, right = copy_loss(model, torch.from_numpy(ids), torch.from_numpy(weights))
            (arguments.copy_share * copied).backward()
            trained += ids.size
            seen['copy_loss'].append(float(copied.detach()))
            seen['copy_accuracy'].append(float(right.float().mean()))
        optimizer.step(rate_scale(progress, arguments.seconds, arguments.tokens))
        seen['loss'].append(float(loss.detach()))
        seen['assistant'].append(own_loss)

        now = time.monotonic()
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
            log(held_out=teacher_forced(model, judged, DIGIT_IDS))
            evaluated = time.monotonic()
        if now - saved > SAVE_EVERY_S:
            checkpoint.save(arguments.out, model, optimizer, vars(progress))
            saved = time.monotonic()

    checkpoint.save(arguments.out, model, optimizer, vars(progress))
    log(final=teacher_forced(model, read_shard(arguments.held_out, table), DIGIT_IDS))


if __name__ == '__main__':
    main()

"""Forms the copying circuit: trains a fresh model on random documents whose only regularity is copying."""

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
from copy_documents import KINDS, Difficulty, batch, document
from induction_init import place_induction
from model import ModelConfig, Qwen3
from optimizer import Optimizer


@dataclass(frozen=True)
class Stage:
    """What is trained on, and the running accuracy at which the next stage begins."""

    difficulty: Difficulty
    shares: dict[str, float]
    batch_tokens: int
    rate: float  # multiplies the learning rate
    enough: float


# Short first: what a wrong pairing of heads costs grows with the number of candidates.
STAGES = [
    Stage(
        Difficulty(96, 20, 4),
        {'echoes': 1, 'repeats': 2, 'spans': 2, 'lookups': 3, 'tables': 2},
        batch_tokens=3072,
        rate=1.0,
        enough=0.85,
    ),
    Stage(
        Difficulty(192, 30, 6),
        {'repeats': 2, 'spans': 2, 'lookups': 3, 'reversed': 1, 'tables': 3},
        batch_tokens=4096,
        rate=0.8,
        enough=0.85,
    ),
    Stage(
        Difficulty(384, 40, 10),
        {'repeats': 2, 'spans': 1, 'lookups': 3, 'reversed': 1, 'tables': 4},
        batch_tokens=4608,
        rate=0.6,
        enough=math.inf,
    ),
]
# Weight of one batch in the running accuracy.
SMOOTHING = 0.05
GATES = {'repeats': 0.95, 'lookups': 0.85}
GATE_DIFFICULTY = Difficulty(256, 40, 8)


def copy_loss(model: Qwen3, ids: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Mean loss over the predictable tokens, and which of them greedy decoding gets right."""
    with torch.autocast('cpu', torch.bfloat16):
        hidden = model.hidden(ids[:, :-1])
        chosen = weights[:, 1:] > 0
        logits = model.logits(hidden[chosen])
    targets = ids[:, 1:][chosen]
    return F.cross_entropy(logits.float(), targets), logits.argmax(-1) == targets


@torch.no_grad()
def accuracies(model: Qwen3, difficulty: Difficulty = GATE_DIFFICULTY, rows: int = 8) -> dict[str, float]:
    """Teacher-forced accuracy on the predictable tokens of fixed held-out documents, by kind."""
    result = {}
    for kind in KINDS:
        rng = np.random.default_rng(10_000_019)
        made = [document(rng, kind, model.config.vocab_size, difficulty) for _ in range(rows)]
        ids, weights = (torch.from_numpy(np.stack(part)) for part in zip(*made))
        result[kind] = round(float(copy_loss(model, ids, weights)[1].float().mean()), 4)
    return result


def learning_rate_scale(tokens: int, total: int) -> float:
    """Warm up over 100k tokens, hold, then fall linearly to a tenth over the last fifth."""
    return min(1.0, tokens / 100_000 + 0.02, max(0.1, (total - tokens) / (0.2 * total)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--out', type=Path, required=True, help='checkpoint, replaced every two minutes')
    parser.add_argument('--tokens', type=int, default=2_500_000)
    parser.add_argument('--lr', type=float, default=5e-3)
    parser.add_argument('--optimizer', choices=['muon', 'adamw'], default='muon')
    parser.add_argument('--heads', type=int, default=8, help='half as many key-value heads; head size 256 / heads')
    parser.add_argument('--threads', type=int, default=2)
    parser.add_argument('--seed', type=int, default=0)
    arguments = parser.parse_args()
    cpu.prepare(arguments.threads)

    heads = arguments.heads
    config = ModelConfig(num_heads=heads, num_kv_heads=heads // 2, head_dim=256 // heads)
    tokens, steps, stage, running = 0, 0, 0, 0.0
    if arguments.out.exists():
        model, state, progress = checkpoint.load(arguments.out)
        tokens, steps, stage, running = (progress[key] for key in ('tokens', 'steps', 'stage', 'running'))
    else:
        model, state = Qwen3(config, arguments.seed), None
        place_induction(model, seed=arguments.seed)
    optimizer = Optimizer(model, arguments.lr, arguments.lr, muon=arguments.optimizer == 'muon')
    if state:
        optimizer.load(state)

    started = saved = shown = time.monotonic()
    losses, hits, since = [], [], 0
    while tokens < arguments.tokens:
        now_stage = STAGES[stage]
        rng = np.random.default_rng([arguments.seed, steps])
        rows = now_stage.batch_tokens // now_stage.difficulty.length
        ids, weights = batch(rng, now_stage.shares, rows, config.vocab_size, now_stage.difficulty)
        loss, right = copy_loss(model, torch.from_numpy(ids), torch.from_numpy(weights))
        loss.backward()
        optimizer.step(now_stage.rate * learning_rate_scale(tokens, arguments.tokens))
        tokens, steps, since = tokens + ids.size, steps + 1, since + ids.size
        losses.append(float(loss.detach()))
        hits.append(float(right.float().mean()))
        running += SMOOTHING * (hits[-1] - running)
        if running >= now_stage.enough:
            stage, running = stage + 1, 0.0
        now = time.monotonic()
        if now - shown > 30 or tokens >= arguments.tokens:
            line = {
                'steps': steps,
                'tokens': tokens,
                'seconds': round(now - started),
                'tokens_per_second': round(since / (now - shown)),
                'stage': stage,
                'loss': round(float(np.mean(losses)), 4),
                'accuracy': round(float(np.mean(hits)), 4),
                'held_out': accuracies(model),
            }
            print(json.dumps(line), flush=True)
            losses, hits, since, shown = [], [], 0, time.monotonic()
        if now - saved > 120 or tokens >= arguments.tokens:
            progress = {'tokens': tokens, 'steps': steps, 'stage': stage, 'running': running}
            checkpoint.save(arguments.out, model, optimizer, progress)
            saved = now

    final = accuracies(model, rows=64)
    print(json.dumps({'final': final, 'gates': GATES}), flush=True)
    if any(final[kind] < gate for kind, gate in GATES.items()):
        raise SystemExit('the copying gates are not met: train longer')


if __name__ == '__main__':
    main()

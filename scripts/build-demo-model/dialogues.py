"""Tokenised dialogues: reading shards, and cutting them into batches of rows that do not see each other."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

# Batches are made of dialogues of similar length: padding then stays at a few percent without any packing, and the mask
# stays plain causal. Measured faster here than packed rows, whose masked scores a CPU computes all the same.
WINDOW = 512


class BadShard(Exception):
    """A shard whose content does not fit its format."""


@dataclass(frozen=True)
class Dialogue:
    """`ids` int32 [length]; `assistant` bool [length], true on tokens the assistant wrote."""

    ids: np.ndarray
    assistant: np.ndarray


def read_shard(path: Path, vocab_size: int) -> list[Dialogue]:
    """Dialogues of one safetensors shard: `ids` int32, `loss_mask` uint8, `cu_seqlens` int32 with the total last."""
    arrays = load_file(path)
    if arrays.keys() != {'ids', 'loss_mask', 'cu_seqlens'}:
        raise BadShard(f'{path} holds {sorted(arrays)}')
    ids, mask, starts = arrays['ids'], arrays['loss_mask'], arrays['cu_seqlens']
    if ids.shape != mask.shape or starts[0] != 0 or starts[-1] != len(ids) or (np.diff(starts) < 2).any():
        raise BadShard(f'{path}: offsets do not cut {len(ids)} tokens into dialogues of two or more')
    if ids.min() < 0 or ids.max() >= vocab_size or mask.max() > 1:
        raise BadShard(f'{path}: ids or mask out of range')
    return [Dialogue(ids[a:b], mask[a:b] == 1) for a, b in pairwise(starts)]


def write_shard(path: Path, dialogues: list[Dialogue]) -> None:
    save_file(
        {
            'ids': np.concatenate([d.ids for d in dialogues]).astype(np.int32),
            'loss_mask': np.concatenate([d.assistant for d in dialogues]).astype(np.uint8),
            'cu_seqlens': np.cumsum([0] + [len(d.ids) for d in dialogues]).astype(np.int32),
        },
        path,
    )


@dataclass(frozen=True)
class Rows:
    """Padded rows: `ids` int64 [rows, length], 0 behind the end; `assistant` and `present` bool, same shape."""

    ids: np.ndarray
    assistant: np.ndarray
    present: np.ndarray


def pad(dialogues: list[Dialogue]) -> Rows:
    length = max(len(d.ids) for d in dialogues)
    ids = np.zeros((len(dialogues), length), np.int64)
    assistant, present = np.zeros(ids.shape, bool), np.zeros(ids.shape, bool)
    for row, dialogue in enumerate(dialogues):
        ids[row, : len(dialogue.ids)] = dialogue.ids
        assistant[row, : len(dialogue.ids)] = dialogue.assistant
        present[row, : len(dialogue.ids)] = True
    return Rows(ids, assistant, present)


def cut(dialogues: list[Dialogue], batch_tokens: int) -> Iterator[list[Dialogue]]:
    """Consecutive runs whose padded size stays within `batch_tokens`; a longer dialogue gets its own batch."""
    run: list[Dialogue] = []
    longest = 0
    for dialogue in dialogues:
        longest = max(longest, len(dialogue.ids))
        if run and longest * (len(run) + 1) > batch_tokens:
            yield run
            run, longest = [], len(dialogue.ids)
        run.append(dialogue)
    if run:
        yield run


def batches(shards: list[Path], vocab_size: int, batch_tokens: int, seed: int, max_length: int) -> Iterator[Rows]:
    """
    Endless batches, epoch after epoch, in an order that `seed` fixes. Dialogues of all shards are mixed. Those above
    `max_length` tokens are left out: cutting one would train on a call without its answer.
    """
    dialogues = [d for shard in shards for d in read_shard(shard, vocab_size) if len(d.ids) <= max_length]
    epoch = 0
    while True:
        rng = np.random.default_rng([seed, epoch])
        order = rng.permutation(len(dialogues))
        for start in range(0, len(order), WINDOW):
            window = sorted((dialogues[i] for i in order[start : start + WINDOW]), key=lambda d: len(d.ids))
            runs = list(cut(window, batch_tokens))
            for run in rng.permutation(len(runs)):
                yield pad(runs[run])
        epoch += 1

"""
Random documents that can only be predicted by copying, over token ids without meaning.

They keep the placed circuit (`induction_init.py`) at its work while the dialogues are learnt, and measure it. Lengths
and offsets are drawn at random on purpose: with a fixed set of lengths a model learns the offsets instead of the
content.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

# Ids 0..8 are the special and added tokens; the byte "0" is the 16th symbol of the byte alphabet that follows.
FIRST_FREE_ID = 9
DIGIT_IDS = np.arange(FIRST_FREE_ID + 15, FIRST_FREE_ID + 25)


@dataclass(frozen=True)
class Difficulty:
    """Upper bounds of a document."""

    length: int  # tokens of one document
    repeat_max: int  # tokens of a repeated string
    records_max: int  # records of a look-up table


@dataclass
class Draft:
    """A document under construction: ids, and 1 where earlier tokens determine a token."""

    ids: list[int]
    predictable: list[int]

    def add(self, ids: list[int], predictable: int = 0) -> None:
        self.ids.extend(ids)
        self.predictable.extend([predictable] * len(ids))

    def copy(self, ids: list[int], unknown: int) -> None:
        """Adds a copy whose first `unknown` tokens nothing announces."""
        self.add(ids[:unknown])
        self.add(ids[unknown:], 1)


class Symbols:
    """The ids one document uses: the whole table, or a small alphabet in which single tokens recur by chance."""

    def __init__(self, rng: np.random.Generator, vocab_size: int) -> None:
        self.rng, self.vocab_size = rng, vocab_size
        kind = rng.random()
        if kind < 0.7:
            self.small = None
        elif kind < 0.85:
            self.small = DIGIT_IDS
        else:
            self.small = rng.integers(FIRST_FREE_ID, vocab_size, int(rng.integers(8, 64)))

    def wide(self, count: int) -> list[int]:
        return self.rng.integers(FIRST_FREE_ID, self.vocab_size, count).tolist()

    def draw(self, count: int) -> list[int]:
        if self.small is None:
            return self.wide(count)
        return self.small[self.rng.integers(0, len(self.small), count)].tolist()


def between(rng: np.random.Generator, low: int, high: int) -> int:
    """Uniform integer, both ends included."""
    return int(rng.integers(low, max(low, high) + 1))


def repeats(rng: np.random.Generator, vocab_size: int, d: Difficulty) -> Draft:
    """Strings that come again, at once or after a gap, once or several times."""
    draft = Draft([], [])
    symbols = Symbols(rng, vocab_size)
    unknown = 1 if symbols.small is None else 3
    while len(draft.ids) < d.length:
        string = symbols.draw(between(rng, 3 + unknown - 1, d.repeat_max))
        draft.add(string)
        for _ in range(between(rng, 1, 2)):
            if rng.random() < 0.5:
                draft.add(symbols.wide(between(rng, 1, 12)))
            draft.copy(string, unknown)
    return draft


def spans(rng: np.random.Generator, vocab_size: int, d: Difficulty) -> Draft:
    """Strings between two markers inside filler; the opening marker alone then asks for the string."""
    draft = Draft([], [])
    symbols = Symbols(rng, vocab_size)
    while len(draft.ids) < d.length:
        marked = []
        for _ in range(between(rng, 1, 4)):
            opening, closing = symbols.wide(between(rng, 1, 2)), symbols.wide(1)
            string = symbols.draw(between(rng, 1, min(d.repeat_max, 12)))
            draft.add(symbols.wide(between(rng, 0, 15)) + opening + string + closing)
            marked.append((opening, string + closing))
        for index in rng.permutation(len(marked)):
            opening, answer = marked[index]
            draft.add(symbols.wide(between(rng, 0, 6)) + opening)
            draft.add(answer, 1)
    return draft


def lookups(rng: np.random.Generator, vocab_size: int, d: Difficulty) -> Draft:
    """Records of a key, then its value in a fixed syntax, then queries by key."""
    draft = Draft([], [])
    symbols = Symbols(rng, vocab_size)
    while len(draft.ids) < d.length:
        opening, middle, closing, asking = (symbols.wide(between(rng, 1, 2)) for _ in range(4))
        pairs, seen = [], set()
        for _ in range(between(rng, 2, d.records_max)):
            key = symbols.wide(between(rng, 1, 4))
            if key[0] in seen:
                continue
            seen.add(key[0])
            value = symbols.draw(between(rng, 1, 5))
            draft.add(opening + key + middle + value + closing)
            pairs.append((key, value))
        for index in rng.permutation(len(pairs))[: between(rng, 2, 12)]:
            key, value = pairs[index]
            draft.add(asking + key + middle)
            draft.add(value + closing, 1)
    return draft


def tables(rng: np.random.Generator, vocab_size: int, d: Difficulty) -> Draft:
    """Objects with named fields, as in a JSON list; a query names a label and a field and wants the value."""
    draft = Draft([], [])
    symbols = Symbols(rng, vocab_size)
    while len(draft.ids) < d.length:
        opening, colon, comma, closing, asking = (symbols.wide(between(rng, 1, 2)) for _ in range(5))
        names = [symbols.wide(between(rng, 1, 2)) for _ in range(between(rng, 2, 4))]
        # Results mostly name a thing first and tell about it afterwards.
        label = 0 if rng.random() < 0.75 else int(rng.integers(len(names)))
        rows = []
        for _ in range(between(rng, 2, max(2, d.records_max // 2))):
            values = [
                symbols.wide(between(rng, 1, 3)) if i == label else symbols.draw(between(rng, 1, 4))
                for i in range(len(names))
            ]
            draft.add(opening)
            for index, (name, value) in enumerate(zip(names, values, strict=True)):
                draft.add((comma if index else []) + name + colon + value)
            draft.add(closing)
            rows.append(values)
        for index in rng.permutation(len(rows))[: between(rng, 2, 12)]:
            wanted = int(rng.integers(len(names)))
            if wanted == label:
                wanted = (label + 1) % len(names)
            draft.add(asking + rows[index][label] + symbols.wide(between(rng, 0, 3)) + names[wanted])
            draft.add(colon, 1)
            draft.add(rows[index][wanted], 1)
    return draft


KINDS: dict[str, Callable[[np.random.Generator, int, Difficulty], Draft]] = {
    'repeats': repeats,
    'spans': spans,
    'lookups': lookups,
    'tables': tables,
}


def document(rng: np.random.Generator, kind: str, vocab_size: int, d: Difficulty) -> tuple[np.ndarray, np.ndarray]:
    """
    One document of exactly `d.length` tokens.
    @returns  ids int64 [length] and weight float32 [length], 1 on tokens that copying predicts, else 0
    """
    draft = KINDS[kind](rng, vocab_size, d)
    return np.array(draft.ids[: d.length], np.int64), np.array(draft.predictable[: d.length], np.float32)


def batch(
    rng: np.random.Generator, shares: dict[str, float], rows: int, vocab_size: int, d: Difficulty
) -> tuple[np.ndarray, np.ndarray]:
    """`rows` documents of kinds drawn by `shares`: ids and weights, each [rows, length]."""
    kinds = rng.choice(list(shares), rows, p=np.array(list(shares.values())) / sum(shares.values()))
    made = [document(rng, kind, vocab_size, d) for kind in kinds]
    return np.stack([ids for ids, _ in made]), np.stack([weights for _, weights in made])

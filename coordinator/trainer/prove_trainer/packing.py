"""From rollouts to forward passes.

The rollouts of a group share their prompt, so it is computed once: a *tree* is a prompt followed by its continuations.
Each continuation attends to the prompt and to itself, with positions that continue after the prompt. A *pack* is one
forward pass over one or more trees, laid out flat. If a group is too large for one pack, the prompt is computed apart,
and the packs of its continuations share it (prompts.py).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, replace

import numpy as np
import torch
from torch.nn.attention.bias import causal_lower_right

from .batch import Rollout

# The keys, values and gradients that are kept of a prompt token apart take no more memory than this many tokens of a
# forward pass with checkpointing.
APART_TOKENS = 2

# Queries at a time of an attention on a CPU, and the longest attention that is computed in such blocks. Forward and
# backward of 390 tokens after 130 take 7.8 ms in blocks, and 9.6 ms at once.
BLOCK = 128
LONGEST_IN_BLOCKS = 2048

# With fewer units, some ranks would wait for others half of the time.
UNITS_PER_RANK = 2


@dataclass(frozen=True)
class Branch:
    """
    A rollout's part after the shared prefix: `ids` without its last loss token, which is only predicted.
    """

    rollout: Rollout
    ids: np.ndarray
    targets: np.ndarray  # positions in the rollout of its loss tokens, ascending


@dataclass(frozen=True)
class Tree:
    prefix: np.ndarray
    branches: tuple[Branch, ...]
    apart: torch.Tensor | None = None  # [1, len(prefix)]: the prefix, where it is computed apart; one for all its trees

    @property
    def tokens(self) -> int:
        """The tokens of a forward pass over this tree."""
        own = len(self.prefix) if self.apart is None else 0
        return own + sum(len(branch.ids) for branch in self.branches)


@dataclass(frozen=True)
class Segment:
    """
    The place of one tree in the flat pack: the prefix at [start, start + prefix), then branches of these lengths. They
    follow `apart` tokens that are not in the pack.
    """

    start: int
    prefix: int
    branches: tuple[int, ...]
    apart: int = 0
    _masks: dict[tuple[int, int], torch.Tensor] = field(default_factory=dict, repr=False, compare=False)

    @property
    def before(self) -> int:
        """The tokens that all branches see."""
        return self.prefix + self.apart

    def blocks(self, length: int, device: torch.device) -> list[tuple[int, int]]:
        """
        Return the queries of one attention of `length` tokens, as ranges. A CPU's kernel also computes what a mask
        hides, which short ranges avoid.
        """
        rows = length if device.type != "cpu" or self.before + length > LONGEST_IN_BLOCKS else BLOCK
        return [(top, min(top + rows, length)) for top in range(0, length, rows)]

    def mask(self, rows: int, columns: int, device: torch.device) -> torch.Tensor | None:
        """
        Return the attention mask of the last `rows` of `columns` tokens, [rows, columns]; None for plain causal
        attention. All layers share it.
        """
        if rows == columns:
            return None
        in_blocks = device.type == "cpu" and rows <= BLOCK
        shape = (BLOCK, self.before + max(self.branches)) if in_blocks else (rows, columns)
        mask = self._masks.get(shape)
        if mask is None:
            mask = self._masks[shape] = _lower_right(*shape, device)
        # The last rows and columns of a mask are the mask of so many.
        return mask if shape == (rows, columns) else mask[-rows:, -columns:]


def _lower_right(rows: int, columns: int, device: torch.device) -> torch.Tensor:
    """
    Return a causal mask whose last row sees all columns. A GPU gets it as a rule that its fused kernels know, without
    memory. A CPU's kernel adds numbers, and would convert a boolean mask again for every layer.
    """
    if device.type == "cuda":
        return causal_lower_right(rows, columns)
    seen = torch.ones(rows, columns, dtype=torch.bool, device=device).tril(columns - rows)
    return torch.zeros(rows, columns, device=device).masked_fill_(~seen, -torch.inf)


@dataclass(frozen=True)
class Pack:
    """One forward pass. Flat arrays over input tokens [L], then over loss tokens [T] in rollout order."""

    ids: torch.Tensor  # [1, L] int64
    positions: torch.Tensor  # [1, L] int64
    segments: tuple[Segment, ...]
    rows: torch.Tensor  # [T] int64: input token whose output predicts the loss token
    read: torch.Tensor  # [R] int64: the same without repetition
    targets: torch.Tensor  # [T] int64: token ids to score
    sampler_logp: torch.Tensor  # [T] float32, as claimed
    advantage: torch.Tensor  # [T] float32
    owner: torch.Tensor  # [T] int64: index into `rollouts`
    rollouts: tuple[Rollout, ...]
    prompt: torch.Tensor | None = None  # [1, P] int64: computed apart, the same object in all packs that share it

    @property
    def tokens(self) -> int:
        return self.ids.shape[1]

    def to(self, device: torch.device) -> "Pack":
        """Return the pack on `device`, with separate masks, which are freed together with it."""
        segments = tuple(Segment(s.start, s.prefix, s.branches, s.apart) for s in self.segments)
        tensors = {
            part.name: getattr(self, part.name).to(device)
            for part in fields(self)
            if part.name not in ("segments", "rollouts", "prompt")
        }
        return replace(self, segments=segments, **tensors)


def shared_prefix(members: Sequence[Rollout]) -> int:
    """Return the number of leading tokens that are equal in all members and sampled in none."""
    limit = min(int(np.argmax(member.mask)) for member in members)
    first = members[0].ids[:limit]
    for member in members[1:]:
        differ = np.nonzero(member.ids[: len(first)] != first)[0]
        if len(differ):
            first = first[: int(differ[0])]
    return len(first)


def _branch(rollout: Rollout, prefix: int) -> Branch:
    targets = np.nonzero(rollout.mask)[0]
    # Tokens after the last loss token, and that token itself as an input, change no loss term.
    return Branch(rollout, rollout.ids[prefix : int(targets[-1])], targets)


def make_trees(rollouts: Iterable[Rollout], share: bool, budget: int, apart: bool = False) -> list[Tree]:
    """
    Make one tree per group when `share`, else one per rollout. A group of more than `budget` tokens is cut into several
    trees that repeat its prompt or, with `apart`, share it. Every rollout must have a loss token, and its first token
    must not be one.
    """
    groups: dict[object, list[Rollout]] = {}
    for rollout in rollouts:
        groups.setdefault(rollout.group if share else rollout.index, []).append(rollout)
    trees: list[Tree] = []
    for members in groups.values():
        prefix = shared_prefix(members) if len(members) > 1 else 0
        repeating = _trees_of(members, prefix, budget)
        pays = apart and prefix > 1 and _pays_apart(repeating, prefix)
        trees.extend(_trees_apart(members, prefix, budget) if pays else repeating)
    return trees


def _trees_of(members: Sequence[Rollout], prefix: int, budget: int) -> list[Tree]:
    """Make the trees of a group, each with the prompt."""
    head = members[0].ids[:prefix]
    parts = _in_parts([_branch(member, prefix) for member in members], budget - prefix)
    return [Tree(head, part) for part in parts]


def _in_parts(branches: Iterable[Branch], capacity: int) -> list[tuple[Branch, ...]]:
    """Split branches in order into parts of at most `capacity` tokens, with at least one branch each."""
    parts: list[list[Branch]] = []
    used = 0
    for branch in branches:
        if parts and used + len(branch.ids) <= capacity:
            parts[-1].append(branch)
            used += len(branch.ids)
        else:
            parts.append([branch])
            used = len(branch.ids)
    return [tuple(part) for part in parts]


def _pays_apart(repeating: Sequence[Tree], prefix: int) -> bool:
    """
    Return whether computing the prompt apart saves an eighth of the work. It passes twice forward; other tokens pass
    once forward and once backward, for twice as much. Small forward passes and copies have a price, too.
    """
    repeated = sum(tree.tokens for tree in repeating)
    once = repeated - len(repeating) * prefix + prefix * 4 / 3
    return once <= repeated * 7 / 8


def _trees_apart(members: Sequence[Rollout], prefix: int, budget: int) -> list[Tree]:
    """
    Make the trees of a group whose prompt is computed apart. Each continuation begins with the last token of the
    prompt, whose prediction each of them scores.
    """
    head = members[0].ids[: prefix - 1]
    ids = torch.from_numpy(head).to(torch.int64)[None]
    capacity = max(budget - APART_TOKENS * len(head), budget // 2)
    parts = _in_parts([_branch(member, len(head)) for member in members], capacity)
    return [Tree(head, part, ids) for part in parts]


def pack_trees(trees: Sequence[Tree], budget: int) -> list[list[Tree]]:
    """
    Put trees in order into packs of at most `budget` tokens, with at least one tree each. A tree whose prompt is
    computed apart gets its own pack.
    """
    packs: list[list[Tree]] = []
    used = 0
    for tree in trees:
        alone = tree.apart is not None or (packs and packs[-1][0].apart is not None)
        if packs and not alone and used + tree.tokens <= budget:
            packs[-1].append(tree)
            used += tree.tokens
        else:
            packs.append([tree])
            used = tree.tokens
    return packs


def build_pack(trees: Sequence[Tree]) -> Pack:
    """
    Lay trees out flat. The last token of the prefix predicts the first token of a branch; each other token is predicted
    by its predecessor.
    """
    ids: list[np.ndarray] = []
    positions: list[np.ndarray] = []
    segments: list[Segment] = []
    rows: list[np.ndarray] = []
    targets, logps, advantages, owners = [], [], [], []
    rollouts: list[Rollout] = []
    at = 0
    for tree in trees:
        prefix = len(tree.prefix)
        lengths = tuple(len(branch.ids) for branch in tree.branches)
        start = at
        if tree.apart is None:
            segments.append(Segment(at, prefix, lengths))
            ids.append(tree.prefix)
            positions.append(np.arange(prefix))
            at += prefix
        else:
            segments.append(Segment(at, 0, lengths, apart=prefix))
        for branch in tree.branches:
            rollout, previous = branch.rollout, branch.targets - 1
            ids.append(branch.ids)
            positions.append(np.arange(prefix, prefix + len(branch.ids)))
            rows.append(np.where(previous < prefix, start + previous, at + previous - prefix))
            targets.append(rollout.ids[branch.targets])
            logps.append(rollout.sampler_logp[branch.targets])
            advantages.append(np.full(len(branch.targets), rollout.advantage))
            owners.append(np.full(len(branch.targets), len(rollouts)))
            rollouts.append(rollout)
            at += len(branch.ids)

    def flat(parts: list[np.ndarray], kind: torch.dtype) -> torch.Tensor:
        return torch.from_numpy(np.concatenate(parts)).to(kind)

    all_rows = flat(rows, torch.int64)

    return Pack(
        ids=flat(ids, torch.int64)[None],
        positions=flat(positions, torch.int64)[None],
        segments=tuple(segments),
        rows=all_rows,
        read=all_rows.unique(),
        targets=flat(targets, torch.int64),
        sampler_logp=flat(logps, torch.float32),
        advantage=flat(advantages, torch.float32),
        owner=flat(owners, torch.int64),
        rollouts=tuple(rollouts),
        prompt=trees[0].apart,
    )


def make_packs(rollouts: Sequence[Rollout], packing: str, budget: int, apart: bool = False) -> list[Pack]:
    """
    Make the packs of rollouts. `packing` 'shared': prompts once per group; 'packed': every rollout whole, several per
    forward; 'single': one rollout per forward. Packs have up to `budget` input tokens (more only when a single rollout
    needs it). `apart`: the packs of a larger group share its prompt and follow one another; otherwise each repeats it.
    """
    trees = make_trees(rollouts, packing == "shared", budget, apart)
    parts = [[tree] for tree in trees] if packing == "single" else pack_trees(trees, budget)
    return [build_pack(part) for part in parts]


def filler() -> Pack:
    """Return a pack of two tokens without loss: for a rank that has no pack left while its peers still compute."""
    ids, none = torch.zeros(1, 2, dtype=torch.int64), torch.zeros(0)
    nothing = none.long()
    places = torch.arange(2)[None]
    return Pack(ids, places, (Segment(0, 0, (2,)),), nothing, nothing, nothing, none, none, nothing, ())


def _in_units(packs: Sequence[Pack]) -> list[list[Pack]]:
    """Group packs that share a prompt; each other pack is a unit."""
    units: list[list[Pack]] = []
    for pack in packs:
        if units and pack.prompt is not None and units[-1][-1].prompt is pack.prompt:
            units[-1].append(pack)
        else:
            units.append([pack])
    return units


def share_out(packs: Sequence[Pack], rank: int, world: int, in_step: bool = False) -> list[Pack]:
    """
    Return this rank's packs. The largest unit goes first, to the least loaded rank; packs of one prompt stay together.
    If there are too few units, packs are assigned one by one, and each rank computes the prompts it needs. The result
    depends on the batch only. `in_step`: fillers give every rank as many packs, for forward passes that all ranks make
    together.
    """
    units = _in_units(packs)
    if len(units) < UNITS_PER_RANK * world:
        units = [[pack] for pack in packs]
    weights = [sum(pack.tokens for pack in unit) for unit in units]
    loads = [0] * world
    mine: list[list[int]] = [[] for _ in range(world)]
    for i in sorted(range(len(units)), key=lambda i: (-weights[i], i)):
        target = min(range(world), key=lambda r: (loads[r], r))
        loads[target] += weights[i]
        mine[target].append(i)
    missing = max(map(len, mine)) - len(mine[rank]) if in_step else 0
    return [pack for i in sorted(mine[rank]) for pack in units[i]] + [filler() for _ in range(missing)]

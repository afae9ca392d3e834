"""From rollouts to forward passes.

The rollouts of a group share their prompt, so it is computed once: a *tree* is a prompt followed by its
continuations, each of which attends to the prompt and to itself, with positions that go on where the prompt ends. A
*pack* is one forward pass over one or more trees, laid out flat. Of a group that is too large for one, the prompt
stands apart, and the packs of its continuations share it (prompts.py).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch.nn.attention.bias import causal_lower_right

from .batch import Rollout

# What is kept of a token that stands apart, its keys, its values and their slopes, is no more than so many tokens of a
# forward pass take that keeps the input of each layer.
APART_TOKENS = 2

# With fewer, some ranks would wait for others for half of the time.
UNITS_PER_RANK = 2


@dataclass(frozen=True)
class Branch:
    """
    A rollout's own part: `ids` after the shared prefix, up to but not including its last loss token, which is only
    predicted.
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
        """Of a forward pass."""
        own = len(self.prefix) if self.apart is None else 0
        return own + sum(len(branch.ids) for branch in self.branches)


@dataclass(frozen=True)
class Segment:
    """
    Where one tree lies in the flat pack: the prefix at [start, start + prefix), then branches of these lengths. `apart`
    tokens come before them that are not in the pack.
    """

    start: int
    prefix: int
    branches: tuple[int, ...]
    apart: int = 0
    _masks: dict[int, torch.Tensor] = field(default_factory=dict, repr=False, compare=False)

    def mask(self, length: int, device: torch.device) -> torch.Tensor | None:
        """
        For a branch of this length, what it may see of the prefix, or of what is apart, and of itself, [length, prefix
        + apart + length]; None where plain causal attention does. The same for all layers.
        """
        before = self.prefix + self.apart
        if before == 0:
            return None
        mask = self._masks.get(length)
        if mask is None:
            mask = self._masks[length] = _lower_right(length, before + length, device)
        return mask


def _lower_right(rows: int, columns: int, device: torch.device) -> torch.Tensor:
    """
    Causal, the last row seeing all columns. A GPU gets it as a rule that its fused kernels know, without a number in
    memory; a CPU's kernel takes numbers to add, and would make its own for every layer from a mask of truth values.
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
        """On `device`, with masks of its own: they go when this pack does."""
        segments = tuple(Segment(s.start, s.prefix, s.branches, s.apart) for s in self.segments)
        moved = (self.ids, self.positions, self.rows, self.targets, self.sampler_logp, self.advantage, self.owner)
        ids, positions, rows, targets, sampler_logp, advantage, owner = (tensor.to(device) for tensor in moved)
        return Pack(ids, positions, segments, rows, targets, sampler_logp, advantage, owner, self.rollouts, self.prompt)


def shared_prefix(members: Sequence[Rollout]) -> int:
    """Number of leading tokens that are equal in all members and were sampled in none."""
    limit = min(int(np.argmax(member.mask)) for member in members)
    first = members[0].ids[:limit]
    for member in members[1:]:
        differ = np.nonzero(member.ids[: len(first)] != first)[0]
        if len(differ):
            first = first[: int(differ[0])]
    return len(first)


def _branch(rollout: Rollout, prefix: int) -> Branch:
    targets = np.nonzero(rollout.mask)[0]
    # Tokens after the last loss token, and that token itself as an input, can change no loss term.
    return Branch(rollout, rollout.ids[prefix : int(targets[-1])], targets)


def make_trees(rollouts: Iterable[Rollout], share: bool, budget: int, apart: bool = False) -> list[Tree]:
    """
    One tree per group when `share`, else one per rollout; a group of more than `budget` tokens is cut into several
    trees that repeat its prompt, or, if it may stand `apart`, share it. Every rollout must have a loss token and a
    first token that is not one.
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
    """Of a group; with its prompt in each of them."""
    head = members[0].ids[:prefix]
    parts = _in_parts([_branch(member, prefix) for member in members], budget - prefix)
    return [Tree(head, part) for part in parts]


def _in_parts(branches: Iterable[Branch], room: int) -> list[tuple[Branch, ...]]:
    """In order, as many together as have `room`, at least one."""
    parts: list[list[Branch]] = []
    used = 0
    for branch in branches:
        if parts and used + len(branch.ids) <= room:
            parts[-1].append(branch)
            used += len(branch.ids)
        else:
            parts.append([branch])
            used = len(branch.ids)
    return [tuple(part) for part in parts]


def _pays_apart(repeating: Sequence[Tree], prefix: int) -> bool:
    """
    Whether an eighth less is computed when the prompt stands apart: twice forward, where other tokens pass once forward
    and once, for twice as much, backward. Small forward passes and copies have their price, too.
    """
    repeated = sum(tree.tokens for tree in repeating)
    once = repeated - len(repeating) * prefix + prefix * 4 / 3
    return once <= repeated * 7 / 8


def _trees_apart(members: Sequence[Rollout], prefix: int, budget: int) -> list[Tree]:
    """
    Each continuation begins with the last token of the prompt: what that predicts is asked of each of them, and nothing
    of what stands apart.
    """
    head = members[0].ids[: prefix - 1]
    ids = torch.from_numpy(head).to(torch.int64)[None]
    room = max(budget - APART_TOKENS * len(head), budget // 2)
    parts = _in_parts([_branch(member, len(head)) for member in members], room)
    return [Tree(head, part, ids) for part in parts]


def pack_trees(trees: Sequence[Tree], budget: int) -> list[list[Tree]]:
    """Trees in order, as many per pack as fit the budget, at least one; one whose prompt stands apart by itself."""
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
    Lays trees out flat. The first token of a branch is predicted by the last token of the prefix, the others by their
    predecessor.
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

    return Pack(
        ids=flat(ids, torch.int64)[None],
        positions=flat(positions, torch.int64)[None],
        segments=tuple(segments),
        rows=flat(rows, torch.int64),
        targets=flat(targets, torch.int64),
        sampler_logp=flat(logps, torch.float32),
        advantage=flat(advantages, torch.float32),
        owner=flat(owners, torch.int64),
        rollouts=tuple(rollouts),
        prompt=trees[0].apart,
    )


def make_packs(rollouts: Sequence[Rollout], packing: str, budget: int, apart: bool = False) -> list[Pack]:
    """
    `packing` 'shared': prompts once per group; 'packed': every rollout whole, several per forward; 'single': one
    rollout per forward. Packs hold up to `budget` input tokens (more only when a single rollout needs it). `apart`: a
    group of more than that shares its prompt over its packs, which then come one after the other; otherwise it is
    repeated.
    """
    trees = make_trees(rollouts, packing == "shared", budget, apart)
    parts = [[tree] for tree in trees] if packing == "single" else pack_trees(trees, budget)
    return [build_pack(part) for part in parts]


def filler() -> Pack:
    """Two tokens that nothing is asked about: for a rank whose peers still compute while it has no pack left."""
    ids, none = torch.zeros(1, 2, dtype=torch.int64), torch.zeros(0)
    nothing = none.long()
    return Pack(ids, torch.arange(2)[None], (Segment(0, 0, (2,)),), nothing, nothing, none, none, nothing, ())


def _in_units(packs: Sequence[Pack]) -> list[list[Pack]]:
    """Packs that share a prompt, together; others alone."""
    units: list[list[Pack]] = []
    for pack in packs:
        if units and pack.prompt is not None and units[-1][-1].prompt is pack.prompt:
            units[-1].append(pack)
        else:
            units.append([pack])
    return units


def share_out(packs: Sequence[Pack], rank: int, world: int, in_step: bool = False) -> list[Pack]:
    """
    This rank's packs: largest first to the least loaded rank, those of one prompt together, unless there are so few
    that ranks would have nothing to do: then each computes the prompts of what it has. Depends on the batch only.
    `in_step`: every rank gets as many, the last of them fillers, for forward passes that all ranks make together.
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

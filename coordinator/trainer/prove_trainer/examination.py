"""The audit of a batch by the forward pass that trains on it."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import torch

from .batch import Rollout
from .token_scores import TokenScores

Adapter = Mapping[str, torch.Tensor]  # by the names of `Policy.adapter_parameters`


@dataclass(frozen=True)
class Examination:
    """How the groups of a batch are verified between its first pass and its update."""

    unaudited: tuple[Rollout, ...]
    older: Mapping[int, Adapter]  # adapters of their policy versions other than the current policy
    # Maps the token scores of each rollout, by index, to the groups to leave out. Called on all ranks with equal input.
    verify: Callable[[dict[int, TokenScores]], frozenset[str]]

    def shown(self, kept: Collection[Rollout]) -> dict[int, np.ndarray]:
        """Return the draws of the rollouts in `kept` that the current policy sampled: the training pass scores them."""
        trained = {rollout.index for rollout in kept if rollout.policy_version not in self.older}
        return {index: draws for index, draws in self._draws().items() if index in trained}

    def hidden(
        self, kept: Collection[Rollout]
    ) -> Iterator[tuple[Adapter | None, list[Rollout], dict[int, np.ndarray]]]:
        """Yield the other rollouts with their draws, by the adapter to recompute them under; None: the current one."""
        shown, draws = self.shown(kept), self._draws()
        rest = [rollout for rollout in self.unaudited if rollout.index in draws and rollout.index not in shown]
        for version in sorted({rollout.policy_version for rollout in rest}):
            rollouts = [rollout for rollout in rest if rollout.policy_version == version]
            yield self.older.get(version), rollouts, {rollout.index: draws[rollout.index] for rollout in rollouts}

    def _draws(self) -> dict[int, np.ndarray]:
        """Return the draws by rollout. A rollout in which nothing was sampled has none, and no token scores."""
        return {r.index: r.draws for r in self.unaudited if r.draws is not None and r.mask.any()}

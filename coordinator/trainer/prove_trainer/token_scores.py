"""
Scores of tokens that a node claims to have sampled from the policy, for the verification checks 5 to 7. They are
computed by a forward pass over the packs of training: that of the update itself, or one without a gradient. The claims
are not used here.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import torch

from .batch import Rollout
from .draws import join_draws
from .gumbel_max import LARGEST_NOISE, draw_states, exceeds, noise, noise_words
from .head import head_logits
from .limits import AUDIT_CHUNK_ELEMENTS, ROUNDING
from .packing import Pack, make_packs, share_out
from .policy import Policy
from .prompts import SharedPrompts

# Per sampled token, in the order of the rollouts. Probabilities are those of the full softmax at the run's temperature.
TOKEN_SCORES = {
    "logp": np.float64,  # nats, of the token
    "expected_mismatch": np.float64,  # 1 - sum p^2: the probability that an unrelated draw selects another token
    "logit_error": np.float64,  # nats, see `logit_error`; 0 where the draw selects the token
}

TokenScores = dict[str, np.ndarray]  # by the names of TOKEN_SCORES


# A token is the sample by a likely logit or by a rare noise. Noise above this is rare: one token in 22,000 has it.
RARE_NOISE = 10.0
# This is more than the rounding of a bound in float32.
_ROUNDED = 1e-3


def logit_error(logits: torch.Tensor, targets: torch.Tensor, draws: torch.Tensor) -> torch.Tensor:
    """
    Return the minimal error (nats) of any logit with which each draw selects its token: half of the distance from the
    token's logit + noise to the largest one. 0 when the draw selects the token.

    `logits` [T, V], `targets` [T] int64, `draws` [T, 2] int64: seed and position; returns [T] float64.
    """
    states = draw_states(draws)
    rows = torch.arange(len(targets), device=logits.device)

    def scores(rows: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        return logits[rows, tokens].double() + noise(states[rows], tokens)

    own = scores(rows, targets)
    best = torch.maximum(own, scores(rows, logits.argmax(1)))
    # Only tokens that may have a better score are examined, so the noise of most is not computed.
    needed = (best - _ROUNDED).to(logits.dtype)[:, None]
    words = noise_words(states[:, None], torch.arange(logits.shape[1], device=logits.device)[None])
    likely = logits > needed - RARE_NOISE
    rare = exceeds(words, RARE_NOISE).logical_and_(logits > needed - LARGEST_NOISE)
    rows, tokens = likely.logical_or_(rare).nonzero(as_tuple=True)
    best = best.scatter_reduce(0, rows, scores(rows, tokens), "amax")
    behind = best - own
    return torch.where(behind > ROUNDING, behind / 2, torch.zeros_like(own))


def _chunk_scores(logits: torch.Tensor, targets: torch.Tensor, draws: torch.Tensor) -> dict[str, torch.Tensor]:
    """`logits` [T, V] float32. Sums over the vocabulary are in float64."""
    most = logits.amax(1, keepdim=True)
    own = (logits.gather(1, targets[:, None]) - most)[:, 0].double()
    weights = (logits - most).exp_()
    total = weights.sum(1, dtype=torch.float64)
    squares = weights.square_().sum(1, dtype=torch.float64)
    return {
        "logp": own - total.log(),
        "expected_mismatch": 1 - squares / total.square(),
        "logit_error": logit_error(logits, targets, draws),
    }


@torch.no_grad()
def token_scores(
    states: torch.Tensor, weight: torch.Tensor, targets: torch.Tensor, draws: torch.Tensor, temperature: float
) -> dict[str, torch.Tensor]:
    """
    Score T tokens. `states` [T, hidden] float32 is the input of the LM head, `weight` [V, hidden] the head, `targets`
    [T] int64, `draws` the result of `join_draws`.
    """
    chunk = max(1, AUDIT_CHUNK_ELEMENTS // weight.shape[0])
    parts = [
        _chunk_scores(
            head_logits(states[i : i + chunk], weight) / temperature,
            targets[i : i + chunk],
            draws[i : i + chunk],
        )
        for i in range(0, len(targets), chunk)
    ]
    return {name: torch.cat([part[name] for part in parts]) for name in TOKEN_SCORES}


class Witness:
    """
    Collects the token scores of some rollouts from forward passes over them. `draws` has the draws of each, by index;
    other rollouts of a pack are ignored.
    """

    def __init__(self, draws: Mapping[int, np.ndarray], temperature: float) -> None:
        self.draws = draws
        self.temperature = temperature
        self.found: dict[int, TokenScores] = {}  # by rollout, the scores of its loss tokens

    def see(self, pack: Pack, states: torch.Tensor, weight: torch.Tensor) -> None:
        """Score the pack. `states` and `weight` are the result of `Policy.states` for it."""
        own = [place for place, rollout in enumerate(pack.rollouts) if rollout.index in self.draws]
        if not own:
            return
        rows = torch.isin(pack.owner, torch.tensor(own, device=pack.owner.device))
        indices = [pack.rollouts[place].index for place in own]
        draws = join_draws([self.draws[index] for index in indices], pack.owner.device)
        part = token_scores(states.detach()[rows], weight, pack.targets[rows], draws, self.temperature)
        counts = [len(self.draws[index]) for index in indices]
        pieces = {name: values.cpu().split(counts) for name, values in part.items()}
        for place, index in enumerate(indices):
            self.found[index] = {name: piece[place].numpy() for name, piece in pieces.items()}

    def look(self, policy: Policy, pack: Pack, prompts: SharedPrompts) -> None:
        """Run the forward pass without a gradient. `prompts` are the shared prompts of such passes."""
        kept = prompts.of(pack, learns=False)
        policy.show(pack.to(policy.device), self.see, kept)


def all_finite(found: Mapping[int, TokenScores]) -> bool:
    return all(bool(np.isfinite(values).all()) for scores in found.values() for values in scores.values())


def in_order(found: Mapping[int, TokenScores], indices: Iterable[int]) -> TokenScores:
    """Return the tensors of `TOKEN_SCORES` over the loss tokens of these rollouts, one after the other."""
    parts = [found[index] for index in indices]
    return {name: np.concatenate([part[name] for part in parts]).astype(kind) for name, kind in TOKEN_SCORES.items()}


def find_token_scores(
    policy: Policy,
    rollouts: Sequence[Rollout],
    draws: Sequence[np.ndarray],
    packing: str,
    budget: int,
    temperature: float,
    share: tuple[int, int] = (0, 1),
    should_stop: Callable[[], None] = lambda: None,
) -> dict[int, TokenScores]:
    """
    Return the tensors of `TOKEN_SCORES` over the loss tokens of each rollout, by its index.

    `draws[i]` are the draws of `rollouts[i]`. `share` is (rank, number of ranks): each rank makes its part of the
    forward passes, and returns scores only of its own rollouts. `should_stop` is called between passes and may raise.
    """
    witness = Witness({r.index: own for r, own in zip(rollouts, draws, strict=True)}, temperature)
    prompts = SharedPrompts(policy.pass_over, budget, policy.device)
    for pack in share_out(make_packs(rollouts, packing, budget, apart=True), *share):
        should_stop()
        witness.look(policy, pack, prompts)
    return witness.found


def audit_rollouts(
    policy: Policy,
    rollouts: Sequence[Rollout],
    draws: Sequence[np.ndarray],
    packing: str,
    budget: int,
    temperature: float,
) -> TokenScores:
    """Return the result of `find_token_scores` as tensors over the loss tokens of all rollouts, in order."""
    found = find_token_scores(policy, rollouts, draws, packing, budget, temperature)
    return in_order(found, [rollout.index for rollout in rollouts])

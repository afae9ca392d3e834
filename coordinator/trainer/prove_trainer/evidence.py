"""
What the policy says about tokens that somebody claims to have sampled from it: the evidence for judging stages 5 to
7. One forward pass over the packs that training uses, no gradient. The claims themselves never come here.
"""

from collections.abc import Callable, Sequence

import numpy as np
import torch

from .batch import Rollout
from .draw import LARGEST_NOISE, draw_states, noise
from .limits import AUDIT_CHUNK_ELEMENTS, ROUNDING
from .packing import Pack, make_packs
from .policy import Policy

# Per sampled token, in the order of the rollouts. Probabilities are those of the full softmax at the run's temperature.
EVIDENCE = {
    "logp": np.float64,  # nats, of the token
    "evidence": np.float64,  # 1 - sum p^2: how probably an unrelated draw selects another token
    "repair": np.float64,  # nats, see `repair`; 0 where the draw selects the token
}


def repair(logits: torch.Tensor, targets: torch.Tensor, draws: torch.Tensor) -> torch.Tensor:
    """
    By how much (nats) the logits would have to be off for each draw to select its token, as a bound on every one of
    them: half of what the token's logit + noise is behind the largest. 0 when the draw selects it as it is.

    `logits` [T, V] float64, `targets` [T] int64, `draws` [T, 2] int64: seed and position; returns [T] float64.
    """
    states = draw_states(draws)
    rows = torch.arange(len(targets), device=logits.device)

    def scores(rows: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        return logits[rows, tokens] + noise(states[rows], tokens)

    own = scores(rows, targets)
    best = torch.maximum(own, scores(rows, logits.argmax(1)))
    # Few tokens are likely enough to be the best under any noise.
    rows, tokens = (logits + LARGEST_NOISE > best[:, None]).nonzero(as_tuple=True)
    best = best.scatter_reduce(0, rows, scores(rows, tokens), "amax")
    behind = best - own
    return torch.where(behind > ROUNDING, behind / 2, torch.zeros_like(own))


def _chunk_evidence(logits: torch.Tensor, targets: torch.Tensor, draws: torch.Tensor) -> dict[str, torch.Tensor]:
    logits = logits.double()
    logp = logits.log_softmax(1)
    return {
        "logp": logp.gather(1, targets[:, None])[:, 0],
        "evidence": 1 - (2 * logp).exp().sum(1),
        "repair": repair(logits, targets, draws),
    }


@torch.no_grad()
def pack_evidence(policy: Policy, pack: Pack, draws: torch.Tensor, temperature: float) -> dict[str, torch.Tensor]:
    """Evidence on a pack's loss tokens, in its order. `draws` [T, 2] int64: seed and position of each."""
    states, weight = policy.states(pack)
    chunk = max(1, AUDIT_CHUNK_ELEMENTS // weight.shape[0])
    parts = [
        _chunk_evidence(
            states[i : i + chunk] @ weight.T.to(states.dtype) / temperature,
            pack.targets[i : i + chunk],
            draws[i : i + chunk],
        )
        for i in range(0, len(pack.rows), chunk)
    ]
    return {name: torch.cat([part[name] for part in parts]) for name in EVIDENCE}


def audit_rollouts(
    policy: Policy,
    rollouts: Sequence[Rollout],
    draws: Sequence[np.ndarray],
    packing: str,
    budget: int,
    temperature: float,
    device: torch.device,
    should_stop: Callable[[], None] = lambda: None,
) -> dict[str, np.ndarray]:
    """
    The tensors of `EVIDENCE`, over the loss tokens of all rollouts in order.

    `rollouts[i].index` must be i; `draws[i]` [T, 2] int64 holds seed and position of each loss token of rollout i.
    `should_stop` is called between forward passes and may raise.
    """
    starts = np.cumsum([0] + [int(rollout.mask.sum()) for rollout in rollouts])
    found = {name: np.zeros(starts[-1], dtype=kind) for name, kind in EVIDENCE.items()}
    for pack in make_packs(rollouts, packing, budget):
        should_stop()
        places = np.concatenate([np.arange(starts[r.index], starts[r.index + 1]) for r in pack.rollouts])
        own = torch.from_numpy(np.concatenate([draws[r.index] for r in pack.rollouts]))
        part = pack_evidence(policy, pack.to(device), own.to(device), temperature)
        for name, values in part.items():
            found[name][places] = values.cpu().numpy()
    return found

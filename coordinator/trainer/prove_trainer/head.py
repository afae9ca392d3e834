"""
The LM head over the tokens that a loss or an audit scores, a chunk at a time: the float32 logits of a whole pack over a
vocabulary of 152k tokens would take more memory than everything else.
"""

from typing import Any, cast

import torch
from torch.autograd import Function

from .limits import HEAD_CHUNK_ELEMENTS


def head_logits(states: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """
    Return logits [T, V] float32 from `states` [T, hidden] float32 and the head's `weight` [V, hidden]. A weight of 16
    bits is widened a block at a time, so that sums and states stay float32 without a second head in memory.
    """
    if weight.dtype == states.dtype:
        return states @ weight.T
    return torch.cat([states @ block.T.to(states.dtype) for block in _blocks(weight)], 1)


def log_probabilities(
    states: torch.Tensor, weight: torch.Tensor, targets: torch.Tensor, temperature: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """
    Return the log-probabilities (nats, at `temperature`) of `targets` [T] under a frozen head, [T] float32, and the
    entropy of each distribution, detached.
    """
    rows = rows_at_once(weight)
    if len(targets) > rows or weight.dtype != states.dtype:
        logp, entropy = cast("tuple[torch.Tensor, torch.Tensor]", _Fused.apply(states, weight, targets, temperature))
        return logp, entropy
    # Autograd handles logits that fit into memory at once.
    logp = _normalised(states, weight, temperature)
    with torch.no_grad():
        entropy = -(logp.exp() * logp).sum(-1)
    return logp.gather(1, targets[:, None])[:, 0], entropy


def rows_at_once(weight: torch.Tensor) -> int:
    return max(1, HEAD_CHUNK_ELEMENTS // weight.shape[0])


def _blocks(weight: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return weight.split(max(1, HEAD_CHUNK_ELEMENTS // weight.shape[1]))


def _normalised(states: torch.Tensor, weight: torch.Tensor, temperature: float) -> torch.Tensor:
    scaled = head_logits(states, weight) / temperature
    return scaled - scaled.logsumexp(-1, keepdim=True)


class _Fused(Function):
    """
    Log-probabilities in chunks. The head is frozen, so the gradient of a log-probability by its state, (W[target] -
    E_p[W]) / temperature, is known as soon as the logits are. The graph keeps [T, hidden] numbers instead of [T, V],
    and no logits are computed twice.
    """

    @staticmethod
    def forward(
        ctx: Any, states: torch.Tensor, weight: torch.Tensor, targets: torch.Tensor, temperature: float
    ) -> tuple[torch.Tensor, torch.Tensor]:
        logp, entropy = states.new_empty(len(targets)), states.new_empty(len(targets))
        slopes = torch.empty_like(states) if ctx.needs_input_grad[0] else None
        rows = rows_at_once(weight)
        for at in range(0, len(targets), rows):
            part = slice(at, at + rows)
            logps = _normalised(states[part], weight, temperature)
            logp[part] = logps.gather(1, targets[part, None])[:, 0]
            p = logps.exp()
            entropy[part] = -(p * logps).sum(-1)
            if slopes is not None:
                mean = torch.zeros_like(states[part])
                start = 0
                for block in _blocks(weight):
                    mean.addmm_(p[:, start : start + len(block)], block.to(states.dtype))
                    start += len(block)
                slopes[part] = (weight[targets[part]].to(states.dtype) - mean) / temperature
        ctx.mark_non_differentiable(entropy)
        if slopes is not None:
            ctx.save_for_backward(slopes)
        return logp, entropy

    @staticmethod
    def backward(ctx: Any, *grad_outputs: torch.Tensor) -> tuple[torch.Tensor, None, None, None]:
        (slopes,) = ctx.saved_tensors
        return grad_outputs[0][:, None] * slopes, None, None, None

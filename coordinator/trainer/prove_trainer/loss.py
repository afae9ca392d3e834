"""The loss: decoupled three-policy GRPO. mu = sampler, pi_old = trainer before the step, pi = trainer now."""

from collections.abc import Sequence

import numpy as np
import torch

from .limits import FLAT_REWARD, LOG_RATIO_CLAMP, STD_EPS


def group_advantages(rewards: Sequence[float], scale: str) -> np.ndarray:
    """
    Return group-relative advantages, float64, in the order of `rewards`.

    `scale` 'none': R - mean (Dr. GRPO, arXiv 2503.20783). 'group': also divided by the unbiased standard deviation +
    1e-4 (GRPO, arXiv 2402.03300). All zeros for a group of one or when the rewards do not differ.
    """
    values = np.asarray(rewards, dtype=np.float64)
    if len(values) < 2 or values.max() - values.min() < FLAT_REWARD:
        return np.zeros(len(values))
    centred = values - values.mean()
    return centred if scale == "none" else centred / (values.std(ddof=1) + STD_EPS)


def _ratio(keep: torch.Tensor, upper: torch.Tensor, lower: torch.Tensor) -> torch.Tensor:
    # where() before exp(): entries that are not kept may be non-finite, and 0 * inf is NaN.
    return torch.where(keep, upper - lower, torch.zeros_like(upper)).clamp(-LOG_RATIO_CLAMP, LOG_RATIO_CLAMP).exp()


def importance_weights(logp_old: torch.Tensor, logp_sampler: torch.Tensor, keep: torch.Tensor) -> torch.Tensor:
    """Return exp(log pi_old - log mu), untruncated, 1 where not kept; detached."""
    return _ratio(keep, logp_old, logp_sampler).detach()


def token_terms(
    logp: torch.Tensor,
    logp_old: torch.Tensor,
    logp_sampler: torch.Tensor,
    advantage: torch.Tensor,
    keep: torch.Tensor,
    *,
    clip_low: float = 0.2,
    clip_high: float = 0.28,
    dual_clip: float = 0.0,
    tis_cap: float = 2.0,
    logp_ref: torch.Tensor | None = None,
    kl_coefficient: float = 0.0,
) -> torch.Tensor:
    """
    Return the per-token GRPO loss. The caller sums and divides by the number of kept tokens of the whole optimizer
    step.

    All inputs [T] float32 (log-probabilities in nats), `keep` [T] bool; returns [T], zero where not kept. PPO clip
    with clip-higher (DAPO, arXiv 2503.14476), multiplied by the truncated importance weight of pi_old against the
    sampler (decoupling: Hilton et al., arXiv 2110.00641). With `dual_clip` a token of negative advantage counts with
    that ratio at most (arXiv 1912.09729). The KL term exp(d) - d - 1 is not weighted.
    """
    step = _ratio(keep, logp, logp_old.detach())
    surrogate = torch.minimum(step * advantage, step.clamp(1 - clip_low, 1 + clip_high) * advantage)
    if dual_clip > 0:
        surrogate = torch.where(advantage < 0, torch.maximum(surrogate, dual_clip * advantage), surrogate)
    out = -importance_weights(logp_old, logp_sampler, keep).clamp(max=tis_cap) * surrogate
    if kl_coefficient > 0:
        if logp_ref is None:
            raise ValueError("a KL term needs the reference log-probabilities")
        distance = torch.where(keep, logp_ref - logp, torch.zeros_like(logp))
        out = out + kl_coefficient * (distance.exp() - distance - 1)
    return torch.where(keep, out, torch.zeros_like(out))


def clipped(
    logp: torch.Tensor,
    logp_old: torch.Tensor,
    advantage: torch.Tensor,
    keep: torch.Tensor,
    clip_low: float,
    clip_high: float,
    dual_clip: float = 0.0,
) -> torch.Tensor:
    """Return [T] bool: kept tokens whose gradient the PPO clip, or the dual clip, removed."""
    step = _ratio(keep, logp.detach(), logp_old)
    out = ((step > 1 + clip_high) & (advantage > 0)) | ((step < 1 - clip_low) & (advantage < 0))
    if dual_clip > 0:
        out |= (step > dual_clip) & (advantage < 0)
    return keep & out

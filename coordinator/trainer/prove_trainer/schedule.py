"""The learning rate schedule of a run."""

import math

from .config import OptimizerSettings


def share_of_rate(settings: OptimizerSettings, updates: int) -> float:
    """
    Return the share of the learning rate for the next update, after `updates` updates: linear up to 1 over
    `warmup_steps`, then by `schedule` (linear and cosine equal transformers' schedulers of these names).
    """
    warmup, decay = settings.warmup_steps, settings.decay_steps
    if updates < warmup:
        return (updates + 1) / warmup
    if settings.schedule == "constant" or decay <= warmup:
        return 1.0
    progress = min(1.0, (updates - warmup) / (decay - warmup))
    left = 1 - progress if settings.schedule == "linear" else (1 + math.cos(math.pi * progress)) / 2
    return settings.final_share + (1 - settings.final_share) * left

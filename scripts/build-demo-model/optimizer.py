"""Muon for hidden matrices, AdamW for the embedding table and the norms, under one learning-rate schedule."""

import torch

from model import Qwen3


class Optimizer:
    """
    Both optimizers stepped together; `scale` in [0, 1] multiplies the learning rate.

    Muon's rate is in AdamW's units ("match_rms_adamw", arXiv 2502.16982), so one rate serves both.
    """

    def __init__(self, model: Qwen3, lr: float, weight_decay: float = 0.01) -> None:
        table = [model.model.embed_tokens.weight]
        matrices = [p for p in model.model.layers.parameters() if p.ndim == 2]
        norms = [p for p in model.parameters() if p.ndim == 1]
        adam_groups = [{'params': table, 'weight_decay': weight_decay}, {'params': norms, 'weight_decay': 0.0}]
        self.parts: list[torch.optim.Optimizer] = [
            torch.optim.AdamW(adam_groups, lr=lr, betas=(0.9, 0.98), eps=1e-8, fused=True),
            torch.optim.Muon(matrices, lr=lr, weight_decay=weight_decay, adjust_lr_fn='match_rms_adamw'),
        ]
        self.lr = lr
        self.parameters = list(model.parameters())

    def step(self, scale: float, clip: float = 1.0) -> float:
        """Clips, steps and clears the gradients; returns the gradient norm before clipping."""
        norm = torch.nn.utils.clip_grad_norm_(self.parameters, clip)
        for part in self.parts:
            for group in part.param_groups:
                group['lr'] = self.lr * scale
            part.step()
            part.zero_grad(set_to_none=True)
        return float(norm)

    def state(self) -> list[dict]:
        return [part.state_dict() for part in self.parts]

    def load(self, state: list[dict]) -> None:
        for part, saved in zip(self.parts, state, strict=True):
            part.load_state_dict(saved)

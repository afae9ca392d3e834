"""Muon for hidden matrices, AdamW for the embedding table and the norms, under one learning-rate schedule."""

import torch

from model import Qwen3


class Optimizer:
    """
    Both optimizers stepped together; `scale` in [0, 1] multiplies every learning rate.

    Muon's rates are in AdamW's units ("match_rms_adamw", arXiv 2502.16982), so the two may be equal.
    """

    def __init__(
        self, model: Qwen3, matrix_lr: float, table_lr: float, muon: bool = True, weight_decay: float = 0.01
    ) -> None:
        table = [model.model.embed_tokens.weight]
        matrices = [p for p in model.model.layers.parameters() if p.ndim == 2]
        norms = [p for p in model.parameters() if p.ndim == 1]
        adam_groups = [
            {'params': table, 'lr': table_lr, 'weight_decay': weight_decay},
            {'params': norms, 'lr': table_lr, 'weight_decay': 0.0},
        ]
        if not muon:
            adam_groups.append({'params': matrices, 'lr': matrix_lr, 'weight_decay': weight_decay})
        adamw = torch.optim.AdamW(adam_groups, betas=(0.9, 0.98), eps=1e-8, fused=True)
        self.parts: list[torch.optim.Optimizer] = [adamw]
        if muon:
            settings = {'weight_decay': weight_decay, 'momentum': 0.95, 'adjust_lr_fn': 'match_rms_adamw'}
            self.parts.append(torch.optim.Muon(matrices, lr=matrix_lr, **settings))
        self.base = [[group['lr'] for group in part.param_groups] for part in self.parts]
        self.parameters = list(model.parameters())

    def step(self, scale: float, clip: float = 1.0) -> float:
        """Clips, steps and clears the gradients; returns the gradient norm before clipping."""
        norm = torch.nn.utils.clip_grad_norm_(self.parameters, clip)
        for part, rates in zip(self.parts, self.base):
            for group, rate in zip(part.param_groups, rates):
                group['lr'] = rate * scale
            part.step()
            part.zero_grad(set_to_none=True)
        return float(norm)

    def state(self) -> list[dict]:
        return [part.state_dict() for part in self.parts]

    def load(self, state: list[dict]) -> None:
        for part, saved in zip(self.parts, state, strict=True):
            part.load_state_dict(saved)

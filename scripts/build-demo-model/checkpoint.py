"""Checkpoints of the training steps: one torch file, replaced atomically."""

import os
from pathlib import Path

import torch

from model import ModelConfig, Qwen3
from optimizer import Optimizer


def save(path: Path, model: Qwen3, optimizer: Optimizer | None, progress: dict) -> None:
    """Writes weights (transformers' names), config, optimizer state and whatever `progress` a resume needs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix('.tmp')
    torch.save(
        {
            'config': model.config.as_dict(),
            'weights': model.state_dict(),
            'optimizer': optimizer.state() if optimizer else None,
            'progress': progress,
        },
        temporary,
    )
    os.replace(temporary, path)


def load(path: Path) -> tuple[Qwen3, list[dict] | None, dict]:
    """Model, optimizer state and progress. Only plain tensors are unpickled."""
    saved = torch.load(path, map_location='cpu', weights_only=True)
    model = Qwen3(ModelConfig(**saved['config']))
    model.load_state_dict(saved['weights'])
    return model, saved['optimizer'], saved['progress']

"""
Export of the adapter: a PEFT directory and a GGUF file, both read back and checked before they become visible.
"""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import numpy as np
import torch
from peft import LoraConfig, PeftModel
from safetensors.numpy import load_file

from .architectures import ARCHITECTURES, RowOrder
from .canary import default_canary, largest_gap, score_canaries
from .config import Canary, LoraSettings, TrainerConfig
from .errors import TrainerError
from .gguf_base import Base
from .gguf_lora import effective_alpha, gguf_name, read_gguf_lora, write_gguf_lora
from .limits import RELOAD_SLACK
from .policy import Policy, frozen_model
from .reference import CanaryScores, Reference, StoredAdapter
from .shards import whole

_README = """---
{base}library_name: peft
pipeline_tag: text-generation
tags:
- lora
- grpo
- tool-use
---

# Adapter of training step {step}

LoRA (rank {rank}, alpha {alpha:g}) trained with GRPO against the base model whose GGUF has SHA-256
`{sha256}`.
"""


class DeltaTooLarge(TrainerError):
    """The adapter exceeds `maxDeltaNorm`: the update is undone and recorded as skipped."""


def live_adapter(policy: Policy) -> dict[str, torch.Tensor]:
    """
    Return the whole adapter by its file names, on the CPU. All ranks of a policy in shards must call it together.
    """
    return {name: whole(parameter).cpu() for name, parameter in policy.adapter_parameters()}


def _canaries(base: Base, config: TrainerConfig) -> list[Canary]:
    return list(config.canaries) or [default_canary(base.vocab_size, base.context_length)]


def score_trained(policy: Policy, base: Base, config: TrainerConfig) -> CanaryScores:
    """Score the canaries as training computes them. All ranks of a policy in shards must call it together."""
    return score_canaries(policy, _canaries(base, config), config.loss.temperature)


def write_adapter(
    directory: Path,
    policy: Policy,
    base: Base,
    config: TrainerConfig,
    step: int,
    live: Mapping[str, torch.Tensor] | None = None,
) -> None:
    """
    Write `adapter/` and `adapter.gguf` into `directory`. The bytes depend on the adapter only. `live` is the policy's
    adapter if it was gathered already.
    """
    adapter = directory / "adapter"
    live = live or live_adapter(policy)
    named = {name.replace(".weight", ".default.weight"): values for name, values in live.items()}
    # 'auto' would look the base model up on the Hub to see whether the embedding was resized; it is frozen here.
    policy.model.save_pretrained(str(adapter), state_dict=named, safe_serialization=True, save_embedding_layers=False)
    path = adapter / "adapter_config.json"
    settings = json.loads(path.read_text(encoding="utf-8"))
    settings["base_model_name_or_path"] = config.base_name
    settings["revision"] = config.base_revision
    settings["target_modules"] = sorted(
        settings["target_modules"]
    )  # PEFT keeps a set: its order, and so the hash, varies
    path.write_text(json.dumps(settings, indent=2, sort_keys=True, allow_nan=False) + "\n", encoding="utf-8")
    front = f"base_model: {json.dumps(config.base_name)}\nbase_model_relation: adapter\n" if config.base_name else ""
    readme = _README.format(base=front, step=step, rank=config.lora.rank, alpha=config.lora.alpha, sha256=base.sha256)
    (adapter / "README.md").write_text(readme, encoding="utf-8")
    tensors = load_file(adapter / "adapter_model.safetensors")
    write_gguf_lora(directory / "adapter.gguf", tensors, config.lora, base.row_order)


def write_base_config(path: Path, base: Base) -> None:
    """
    Write the base model's `config.json` for transformers, which reads a Qwen3's GGUF without its head length and would
    build heads of another size.
    """
    settings = {**base.config.to_dict(), "architectures": [ARCHITECTURES[base.architecture].model.__name__]}
    path.parent.mkdir()
    path.write_text(json.dumps(settings, indent=2, sort_keys=True, allow_nan=False) + "\n", encoding="utf-8")


def delta_norms(tensors: dict[str, np.ndarray], lora: LoraSettings, base: Base) -> dict[str, float]:
    """Return ||scale B A|| / ||W|| (Frobenius) by module, without forming B A: ||BA||^2 = tr(B'B AA')."""
    scale = effective_alpha(lora) / lora.rank
    norms = {}
    for name, half in tensors.items():
        if not name.endswith(".lora_A.weight"):
            continue
        stem = name.removesuffix(".lora_A.weight")
        a, b = half.astype(np.float64), tensors[f"{stem}.lora_B.weight"].astype(np.float64)
        module = stem.removeprefix("base_model.model.")
        weight = base.norm(f"{module}.weight")
        norms[module] = (
            scale * math.sqrt(max(0.0, float(np.sum((b.T @ b) * (a @ a.T))))) / weight if weight else math.inf
        )
    return norms


def _check_gguf(path: Path, tensors: dict[str, np.ndarray], lora: LoraSettings, order: RowOrder) -> None:
    stored, alpha = read_gguf_lora(path)
    if abs(alpha - effective_alpha(lora)) > 1e-6 * abs(alpha):
        raise TrainerError("export_check_failed", f"GGUF alpha is {alpha}")
    if set(stored) != {gguf_name(name) for name in tensors}:
        raise TrainerError("export_check_failed", "GGUF and safetensors hold different tensors")
    for name, values in tensors.items():
        half = order.read(gguf_name(name), stored[gguf_name(name)])
        if half.dtype != np.float16 or not np.array_equal(half, values.astype(np.float16)):
            raise TrainerError("export_check_failed", f"{name} differs between GGUF and safetensors")
        if not np.isfinite(half).all():
            raise TrainerError("export_check_failed", f"{name} does not fit float16")


def _reload(directory: Path, base: Base) -> Policy:
    """What is on disk, over a fresh module around the same frozen weights."""
    # PEFT draws an initial adapter first: a check must not move the run's random state.
    with torch.random.fork_rng(devices=[]):
        model = PeftModel.from_pretrained(frozen_model(base), str(directory))
    return Policy(model.eval().to(base.device), base.precision)


def _reload_gap(directory: Path, policy: Policy, base: Base, config: TrainerConfig) -> tuple[CanaryScores, float]:
    """Return the policy's scores, and how far those of the files over a fresh module are from them."""
    trained = score_trained(policy, base, config)
    gap = largest_gap(trained, score_trained(_reload(directory / "adapter", base), base, config))
    if not gap <= RELOAD_SLACK:
        raise TrainerError("export_check_failed", f"the reloaded adapter scores canaries {gap:.3g} nats differently")
    return trained, gap


def _check_settings(directory: Path, lora: LoraSettings) -> None:
    """What PEFT would make of the adapter's numbers, where none is made of them here."""
    stored = cast("LoraConfig", LoraConfig.from_pretrained(str(directory / "adapter")))
    found = (stored.r, stored.lora_alpha, stored.use_rslora, sorted(stored.target_modules or []))
    if found != (lora.rank, lora.alpha, lora.rs_lora, sorted(lora.target_modules)):
        raise TrainerError("export_check_failed", f"adapter_config.json says {found}")


def check_adapter(
    directory: Path,
    policy: Policy,
    base: Base,
    config: TrainerConfig,
    live: Mapping[str, torch.Tensor] | None = None,
    trained: CanaryScores | None = None,
    reference: Reference | None = None,
) -> dict:
    """
    Reads the written adapter back. Returns `canaries` (reference scores of the stored base and of base + adapter.gguf,
    which is what volunteers load) and `checks` (the measured differences). `live` as of `write_adapter`; `trained` as
    of `score_trained`, where the policy is in shards and all ranks have made them.

    Raises DeltaTooLarge, or TrainerError `export_check_failed` when what was written is not what was trained.
    """
    tensors = load_file(directory / "adapter" / "adapter_model.safetensors")
    live = live or live_adapter(policy)
    if set(tensors) != set(live):
        raise TrainerError("export_check_failed", "safetensors and the live adapter hold different tensors")
    for name, values in tensors.items():
        good = values.dtype == np.float32 and np.isfinite(values).all()
        if not good or not np.array_equal(values, live[name].numpy()):
            raise TrainerError("export_check_failed", f"{name} differs from the live adapter or is not finite")
    norms = delta_norms(tensors, config.lora, base)
    worst = max(norms, key=norms.__getitem__)
    if not norms[worst] <= config.max_delta_norm:
        raise DeltaTooLarge("delta_norm", f"{worst}: {norms[worst]:.4g} > {config.max_delta_norm:g}")
    _check_gguf(directory / "adapter.gguf", tensors, config.lora, base.row_order)

    gap = None
    if trained is None:
        trained, gap = _reload_gap(directory, policy, base, config)
    else:
        _check_settings(directory, config.lora)
    reference = reference or Reference(base)
    canaries, temperature = _canaries(base, config), config.loss.temperature
    bare = reference.score(canaries, temperature)
    adapted = reference.score(canaries, temperature, StoredAdapter.read(directory / "adapter.gguf"))
    expected = [
        {
            "prompt": list(canary.prompt),
            "continuation": list(canary.continuation),
            "base": bare[i],
            "adapter": adapted[i],
        }
        for i, canary in enumerate(canaries)
    ]
    checks = {
        "reloadGap": gap,
        "publishedGap": largest_gap(trained, adapted),
        "adapterGap": largest_gap(bare, adapted),
        "maxDeltaNorm": norms[worst],
    }
    return {"canaries": expected if config.canaries else [], "checks": checks}

"""A tiny random Qwen3 as GGUF, and batches sampled for it."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import gguf
import numpy as np
import torch
from prove_trainer.architectures import RowOrder
from prove_trainer.batch import Batch, Rollout
from prove_trainer.config import LoraSettings, LossSettings
from prove_trainer.distributed import Ranks
from prove_trainer.draws import DRAW_TENSORS
from prove_trainer.gguf_base import BLOCK_NAMES, Base
from prove_trainer.lifetime import Stopped
from prove_trainer.loss import group_advantages
from prove_trainer.packing import make_packs
from prove_trainer.policy import Policy, new_policy
from safetensors.numpy import save as save_safetensors
from transformers import Qwen3Config, Qwen3ForCausalLM

VOCAB = 128
# head_dim is not hidden_size / heads, so a loader that ignores attention.key_length fails.
SHAPE = dict(
    hidden_size=64, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, head_dim=32
)

ROW_ORDER = RowOrder("qwen3", 4, 2)


def random_model(seed: int = 0, tied: bool = True) -> Qwen3ForCausalLM:
    """Random weights large enough that the next-token distribution is far from uniform."""
    torch.manual_seed(seed)
    config = Qwen3Config(
        vocab_size=VOCAB,
        tie_word_embeddings=tied,
        max_position_embeddings=256,
        rms_norm_eps=1e-6,
        rope_parameters={"rope_type": "default", "rope_theta": 10_000.0},
        **SHAPE,
    )
    model = Qwen3ForCausalLM(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(
                torch.randn_like(parameter) * 0.15 if parameter.dim() == 2 else 1 + 0.1 * torch.randn_like(parameter)
            )
    return model


def write_base(
    path: Path,
    quantisation: gguf.GGMLQuantizationType = gguf.GGMLQuantizationType.F16,
    architecture: str = "qwen3",
    model: Qwen3ForCausalLM | None = None,
    extra: dict[str, np.ndarray] | None = None,
    leave_out: str | None = None,
    key_length: int = SHAPE["head_dim"],
) -> Path:
    model = model or random_model()
    config = model.config
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_key_length(key_length)
    writer.add_value_length(key_length)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    to_gguf = {module: name for name, module in BLOCK_NAMES.items()}
    outer = {
        "model.embed_tokens.weight": "token_embd.weight",
        "model.norm.weight": "output_norm.weight",
        "lm_head.weight": "output.weight",
    }
    for name, tensor in model.state_dict().items():
        if name == "lm_head.weight" and config.tie_word_embeddings:
            continue
        if name in outer:
            target = outer[name]
        else:
            _, _, layer, module = name.removesuffix(".weight").split(".", 3)
            target = f"blk.{layer}.{to_gguf[module]}.weight"
        if target == leave_out:
            continue
        values = tensor.numpy()
        kind = quantisation if values.ndim == 2 else gguf.GGMLQuantizationType.F32
        writer.add_tensor(target, gguf.quants.quantize(values, kind), raw_dtype=kind)
    for name, values in (extra or {}).items():
        writer.add_tensor(name, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def with_random_adapter(base: Base, seed: int = 7, size: float = 0.05) -> Policy:
    """A policy whose adapter does something: fresh ones have B = 0."""
    policy = new_policy(base, LoraSettings(rank=4, alpha=8), seed, None, None)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for _, parameter in policy.adapter_parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * size)
    return policy


def make_rollouts(groups: int = 3, size: int = 4, prompt: int = 12, seed: int = 0, versions: int = 0) -> list[Rollout]:
    """Two-turn rollouts of random tokens; sampler logprobs are still zero."""
    rng = np.random.default_rng(seed)
    rollouts = []
    for g in range(groups):
        head = rng.integers(0, VOCAB, prompt + g)
        for _ in range(size):
            turns = rng.integers(3, 9, 3)  # sampled, environment, sampled
            tail = rng.integers(0, VOCAB, int(turns.sum()))
            ids = np.concatenate([head, tail, rng.integers(0, VOCAB, 2)]).astype(np.int32)
            mask = np.zeros(len(ids), dtype=bool)
            mask[len(head) : len(head) + turns[0]] = True
            mask[len(head) + turns[0] + turns[1] : len(head) + int(turns.sum())] = True
            reward = float(rng.integers(0, 5)) / 4
            rollouts.append(
                Rollout(
                    len(rollouts),
                    f"group-{g}",
                    reward,
                    0.0,
                    versions,
                    "cpu-f16",
                    ids,
                    mask,
                    np.zeros(len(ids), dtype=np.float32),
                )
            )
    return rollouts


def sampled(policy: Policy, rollouts: list[Rollout], noise: float = 0.02, seed: int = 1) -> list[Rollout]:
    """The rollouts with the policy's own logprobs, disturbed as another engine would."""
    rng = np.random.default_rng(seed)
    found = []
    for rollout in rollouts:
        with torch.no_grad():
            (pack,) = make_packs([rollout], "single", 4096)
            logp = policy(pack)[0].numpy()
        claimed = np.zeros(len(rollout.ids), dtype=np.float32)
        claimed[rollout.mask] = np.minimum(logp + rng.normal(0, noise, len(logp)), 0)
        found.append(replace(rollout, sampler_logp=claimed))
    return found


def turn_draws(rng: np.random.Generator, count: int) -> np.ndarray:
    """As of one turn: positions from 0 on under one seed."""
    return np.stack([np.full(count, rng.integers(2**32)), np.arange(count)], axis=1)


def random_draws(rollouts: Sequence[Rollout], seed: int = 3) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [turn_draws(rng, int(rollout.mask.sum())) for rollout in rollouts]


def flat_draws(rollouts: Sequence[Rollout], draws: Sequence[np.ndarray | None]) -> dict[str, np.ndarray]:
    """The tensors of `DRAW_TENSORS`; None: of no interest."""
    flat = np.zeros((sum(len(rollout.ids) for rollout in rollouts), 2), dtype=np.uint32)
    none = [np.zeros((int(rollout.mask.sum()), 2)) for rollout in rollouts]
    known = [nothing if own is None else own for nothing, own in zip(none, draws, strict=True)]
    flat[np.concatenate([rollout.mask for rollout in rollouts])] = np.concatenate(known)
    return {name: flat[:, i].copy() for i, name in enumerate(DRAW_TENSORS)}


def write_batch(
    root: Path,
    name: str,
    rollouts: list[Rollout],
    base_sha256: str,
    parent_step: int,
    manifest: dict | None = None,
    arrays: dict | None = None,
) -> Path:
    """
    A batch directory as the coordinator writes it; `manifest` and `arrays` override what an attacker would change.
    """
    directory = root / "batches" / name
    draft = directory.with_name(name + ".tmp")
    draft.mkdir(parents=True)
    data = {
        "ids": np.concatenate([r.ids for r in rollouts]).astype(np.int32),
        "loss_mask": np.concatenate([r.mask for r in rollouts]).astype(np.uint8),
        "sampler_logp": np.concatenate([r.sampler_logp for r in rollouts]).astype(np.float32),
        "cu_seqlens": np.cumsum([0] + [len(r.ids) for r in rollouts]).astype(np.int32),
        **flat_draws(rollouts, [r.draws for r in rollouts]),
        **(arrays or {}),
    }
    blob = save_safetensors(data)
    (draft / "tokens.safetensors").write_bytes(blob)
    content = {
        "schema": 1,
        "batchId": name,
        "roundId": "round-1",
        "baseSha256": base_sha256,
        "parentStep": parent_step,
        "tokensSha256": hashlib.sha256(blob).hexdigest(),
        "rollouts": [
            {
                "group": r.group,
                "reward": r.reward,
                "policyVersion": r.policy_version,
                "length": len(r.ids),
                "sampler": r.sampler,
                "supplier": r.supplier,
                **({} if r.draws is None else {"audit": True}),
            }
            for r in rollouts
        ],
        **(manifest or {}),
    }
    (draft / "manifest.json").write_text(json.dumps(content))
    draft.rename(directory)
    return directory


def write_config(path: Path, base_sha256: str, **settings: object) -> Path:
    content = {
        "schema": 1,
        "baseSha256": base_sha256,
        "lora": {"rank": 4, "alpha": 8},
        "optimizer": {"lr": 0.01},
        "loss": {"guard": 5.0},
        "pollMs": 20,
        **settings,
    }
    path.write_text(json.dumps(content))
    return path


def alone() -> Ranks:
    return Ranks(0, 1, torch.device("cpu"))


def as_batch(rollouts: list[Rollout], **loss: object) -> Batch:
    """A checked batch in memory, with advantages from its rewards."""
    settings = LossSettings(**{"guard": 5.0, **loss})
    advantage: dict[int, float] = {}
    for group in {rollout.group for rollout in rollouts}:
        members = [rollout for rollout in rollouts if rollout.group == group]
        values = group_advantages([member.reward for member in members], settings.advantage)
        advantage |= {member.index: float(value) for member, value in zip(members, values, strict=True)}
    ready = tuple(replace(rollout, advantage=advantage[rollout.index]) for rollout in rollouts)
    return Batch("batch-1", "round-1", 0, settings, "0" * 64, "0" * 64, ready)


class UntilIdle:
    """Ends the worker at the first poll that finds nothing to do."""

    def check(self) -> None:
        pass

    def pause(self, _: float) -> None:
        raise Stopped("idle")

"""Settings of a run: `trainer.json`, parsed once into frozen dataclasses."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .errors import TrainerError
from .fields import Fields, read_json
from .limits import (
    MAX_ALPHA,
    MAX_CANARIES,
    MAX_CANARY_TOKENS,
    MAX_MEMORY_GIB,
    MAX_NAME,
    MAX_RANK,
    MAX_STALENESS,
    MAX_TOKENS_PER_FORWARD,
    SCHEMA,
)

PRECISIONS = ("float32", "bfloat16", "float16")
SHARDINGS = ("none", "layers")
SCHEDULES = ("constant", "linear", "cosine")
PROJECTIONS = ("down_proj", "gate_proj", "k_proj", "o_proj", "q_proj", "up_proj", "v_proj")


@dataclass(frozen=True)
class LossSettings:
    """Settings of the loss, recorded in step.json."""

    advantage: str = (
        "none"  # 'none': R - mean (Dr. GRPO, arXiv 2503.20783); 'group': also / std (GRPO, arXiv 2402.03300)
    )
    clip_low: float = 0.2
    clip_high: float = 0.28  # clip-higher, DAPO, arXiv 2503.14476
    dual_clip: float = 0.0  # largest ratio that a negative advantage counts with, arXiv 1912.09729; 0: any
    tis_cap: float = 2.0  # truncated importance sampling against the sampler
    kl_coefficient: float = 0.0
    max_staleness: int = 4  # trainer steps between a rollout's policy and now
    guard: float = 0.1  # nats; largest |mean log(pi_old / mu)| of a rollout
    # Largest and smallest pi_old / mu of a whole rollout, TRL's `sequence_mask`; 0: any.
    sequence_ratio_max: float = 0.0
    sequence_ratio_min: float = 0.0
    # Nats; largest mean log(mu / pi_old) of a rollout with a negative advantage, DeepSeek-V3.2 (arXiv 2512.02556,
    # equation 9); 0: any.
    off_policy_max: float = 0.0
    drift: float = 0.05  # nats; largest median of |mean log(pi_old / mu)| over a batch's rollouts
    temperature: float = 1.0  # of the sampler


@dataclass(frozen=True)
class LoraSettings:
    rank: int = 16
    alpha: float = 32.0
    target_modules: tuple[str, ...] = PROJECTIONS
    rs_lora: bool = False


@dataclass(frozen=True)
class OptimizerSettings:
    lr: float = 1e-3
    beta1: float = 0.9
    beta2: float = 0.99
    eps: float = 1e-8
    weight_decay: float = 0.0
    max_grad_norm: float = 1.0
    warmup_steps: int = 2  # updates, linear
    schedule: str = "constant"  # after the warm-up: constant, or down to `final_share` at update `decay_steps`
    decay_steps: int = 0
    final_share: float = 0.0  # of lr
    passes: int = 1  # optimizer steps per batch; above 1 the PPO clip becomes active


@dataclass(frozen=True)
class Canary:
    """`continuation` is scored token by token after `prompt`."""

    prompt: tuple[int, ...]
    continuation: tuple[int, ...]


@dataclass(frozen=True)
class TrainerConfig:
    base_sha256: str
    base_name: str | None = None  # Hub id of the original model, written into adapter_config.json
    base_revision: str | None = None
    loss: LossSettings = LossSettings()
    lora: LoraSettings = LoraSettings()
    optimizer: OptimizerSettings = OptimizerSettings()
    seed: int = 0
    device: str = "cpu"
    precision: str = "float32"
    threads: int = 1  # torch threads per rank
    packing: str = "shared"
    checkpointing: str = "auto"  # 'layer' keeps only the input of each layer for the backward pass
    sharding: str = "none"  # over the ranks: 'none': each has the whole base; 'layers': a part of every tensor
    memory_gib: float = 0.0  # of the device that a step is planned for; 0: all that a GPU has, no plan on a CPU
    # 0: as many as fit. 1536 was the best of 800, 1300, 2048 and 4096 for a 6 x 256 model on one core.
    max_tokens_per_forward: int = 1536
    max_delta_norm: float = 1.0  # largest ||scale B A|| / ||W|| (Frobenius) of any module in an exported adapter
    keep_last: int = 0  # 0 keeps every step
    keep_every: int = 0  # with keep_last, also keeps every M-th step; 0: none of them
    poll_ms: int = 100
    canaries: tuple[Canary, ...] = ()


def _parse_loss(fields: Fields) -> LossSettings:
    usual = LossSettings()
    settings = LossSettings(
        advantage=fields.choice("advantage", ("none", "group"), usual.advantage),
        clip_low=fields.number("clipLow", 0.0, 1.0, usual.clip_low),
        clip_high=fields.number("clipHigh", 0.0, 10.0, usual.clip_high),
        dual_clip=fields.number("dualClip", 0.0, 100.0, usual.dual_clip),
        tis_cap=fields.number("tisCap", 0.01, 100.0, usual.tis_cap),
        kl_coefficient=fields.number("klCoefficient", 0.0, 10.0, usual.kl_coefficient),
        max_staleness=fields.integer("maxStaleness", 0, MAX_STALENESS, usual.max_staleness),
        guard=fields.number("guard", 1e-6, 20.0, usual.guard),
        sequence_ratio_max=fields.number("sequenceRatioMax", 0.0, 1e6, usual.sequence_ratio_max),
        sequence_ratio_min=fields.number("sequenceRatioMin", 0.0, 1.0, usual.sequence_ratio_min),
        off_policy_max=fields.number("offPolicyMax", 0.0, 20.0, usual.off_policy_max),
        drift=fields.number("drift", 1e-6, 20.0, usual.drift),
        temperature=fields.number("temperature", 0.05, 10.0, usual.temperature),
    )
    fields.done()
    return settings


def json_names(settings: Any) -> dict[str, Any]:
    """Return the settings under their names in `trainer.json`."""
    return {
        "".join([part if i == 0 else part.capitalize() for i, part in enumerate(key.split("_"))]): (
            list(value) if isinstance(value, tuple) else value
        )
        for key, value in asdict(settings).items()
    }


def training_record(config: TrainerConfig) -> dict[str, Any]:
    """Return all settings that an update depends on, defaults included, in the form of `trainer.json`."""
    return {
        "lora": json_names(config.lora),
        "optimizer": json_names(config.optimizer),
        "loss": json_names(config.loss),
        "seed": config.seed,
        "device": config.device,
        "precision": config.precision,
        "threads": config.threads,
        "packing": config.packing,
        "checkpointing": config.checkpointing,
        "sharding": config.sharding,
        "memoryGiB": config.memory_gib,
        "maxTokensPerForward": config.max_tokens_per_forward,
        "maxDeltaNorm": config.max_delta_norm,
    }


def _parse_lora(fields: Fields) -> LoraSettings:
    usual = LoraSettings()
    lora = LoraSettings(
        rank=fields.integer("rank", 1, MAX_RANK, usual.rank),
        alpha=fields.number("alpha", 1e-3, MAX_ALPHA, usual.alpha),
        target_modules=tuple(sorted(fields.choices("targetModules", PROJECTIONS, list(usual.target_modules)))),
        rs_lora=fields.flag("rsLora", usual.rs_lora),
    )
    fields.done()
    return lora


def _parse_optimizer(fields: Fields) -> OptimizerSettings:
    usual = OptimizerSettings()
    optimizer = OptimizerSettings(
        lr=fields.number("lr", 0.0, 10.0, usual.lr),
        beta1=fields.number("beta1", 0.0, 0.99999, usual.beta1),
        beta2=fields.number("beta2", 0.0, 0.999999, usual.beta2),
        eps=fields.number("eps", 1e-16, 1e-2, usual.eps),
        weight_decay=fields.number("weightDecay", 0.0, 10.0, usual.weight_decay),
        max_grad_norm=fields.number("maxGradNorm", 1e-6, 1e6, usual.max_grad_norm),
        warmup_steps=fields.integer("warmupSteps", 0, 1_000_000, usual.warmup_steps),
        schedule=fields.choice("schedule", SCHEDULES, usual.schedule),
        decay_steps=fields.integer("decaySteps", 0, 1_000_000, usual.decay_steps),
        final_share=fields.number("finalShare", 0.0, 1.0, usual.final_share),
        passes=fields.integer("passes", 1, 16, usual.passes),
    )
    fields.done()
    return optimizer


def parse_canary(fields: Fields) -> Canary:
    """Parse a canary. Raises the error of `fields`."""
    prompt = fields.token_ids("prompt", MAX_CANARY_TOKENS)
    continuation = fields.token_ids("continuation", MAX_CANARY_TOKENS)
    fields.done()
    return Canary(tuple(prompt), tuple(continuation))


def parse_config(fields: Fields) -> TrainerConfig:
    """Parse the settings of a run. Raises the error of `fields`."""
    fields.integer("schema", SCHEMA, SCHEMA)
    keep = fields.child("keepSteps", {})
    base = fields.child("baseModel", {})
    config = TrainerConfig(
        base_sha256=fields.sha256("baseSha256"),
        base_name=base.text("name", MAX_NAME, None),
        base_revision=base.text("revision", MAX_NAME, None),
        loss=_parse_loss(fields.child("loss", {})),
        lora=_parse_lora(fields.child("lora", {})),
        optimizer=_parse_optimizer(fields.child("optimizer", {})),
        seed=fields.integer("seed", 0, 2**32 - 1, TrainerConfig.seed),
        device=fields.choice("device", ("cpu", "cuda"), TrainerConfig.device),
        precision=fields.choice("precision", PRECISIONS, TrainerConfig.precision),
        threads=fields.integer("threads", 1, 1024, TrainerConfig.threads),
        packing=fields.choice("packing", ("shared", "packed", "single"), TrainerConfig.packing),
        checkpointing=fields.choice("checkpointing", ("none", "layer", "auto"), TrainerConfig.checkpointing),
        sharding=fields.choice("sharding", SHARDINGS, TrainerConfig.sharding),
        memory_gib=fields.number("memoryGiB", 0.0, MAX_MEMORY_GIB, TrainerConfig.memory_gib),
        max_tokens_per_forward=fields.integer(
            "maxTokensPerForward", 0, MAX_TOKENS_PER_FORWARD, TrainerConfig.max_tokens_per_forward
        ),
        max_delta_norm=fields.number("maxDeltaNorm", 1e-6, 1e6, TrainerConfig.max_delta_norm),
        keep_last=keep.integer("last", 0, 1_000_000, TrainerConfig.keep_last),
        keep_every=keep.integer("every", 0, 1_000_000, TrainerConfig.keep_every),
        poll_ms=fields.integer("pollMs", 10, 60_000, TrainerConfig.poll_ms),
        canaries=tuple(parse_canary(canary) for canary in fields.children("canaries", MAX_CANARIES, [])),
    )
    keep.done()
    base.done()
    fields.done()
    return config


def load_config(path: Path) -> TrainerConfig:
    """Read `trainer.json`. Raises TrainerError `config_invalid`, which names the field."""

    def fail(detail: str) -> TrainerError:
        return TrainerError("config_invalid", detail)

    fields, _ = read_json(path, "config", fail)
    return parse_config(fields)

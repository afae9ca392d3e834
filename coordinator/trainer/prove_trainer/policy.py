"""The trainable policy: frozen base, LoRA adapter, and one forward that returns log-probabilities of given tokens."""

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import cast

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from torch import nn
from torch.nn.functional import scaled_dot_product_attention
from transformers import Qwen3ForCausalLM
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from .config import LoraSettings
from .fused import fuse
from .gguf_base import HALVES, Base, build_model
from .head import log_probabilities
from .packing import Pack, Segment
from .prompts import KeptPrompt, SharedPrompts
from .shards import put

ATTENTION = "prove_segments"


def segment_attention(
    module: nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: None,
    *,
    segments: tuple[Segment, ...],
    kept: KeptPrompt | None = None,
    scaling: float | None = None,
    dropout: float = 0.0,
    **_: object,
) -> tuple[torch.Tensor, None]:
    """
    Compute attention over a flat pack, tree by tree, in the shapes of transformers: inputs [1, heads, L, D], output [1,
    L, heads, D].

    `segments` are the pack's; `kept` is a prompt outside the pack that its branches see. A loop over branches costs
    less than one dense L x L mask: on one core, 8 branches of 250 tokens after 200, forward and backward of a 6 x 256
    model took 0.85 s with the loop, 1.87 s dense, 0.93 s with padded branches.
    """
    parts = []
    before = kept.before(cast("int", module.layer_idx)) if kept else []

    def attend(segment: Segment, at: int, end: int, keys: torch.Tensor, values: torch.Tensor) -> None:
        # Autocast would convert the types, but a mask that is a rule needs equal types before autocast applies.
        kind = values.dtype
        earlier = keys.shape[2] - (end - at)
        for top, bottom in segment.blocks(end - at, query.device):
            seen = earlier + bottom
            mask = segment.mask(bottom - top, seen, query.device)
            parts.append(
                scaled_dot_product_attention(
                    query[:, :, at + top : at + bottom].to(kind),
                    keys[:, :, :seen].to(kind),
                    values[:, :, :seen],
                    attn_mask=mask,
                    is_causal=mask is None,
                    scale=scaling,
                    enable_gqa=True,
                )
            )

    for segment in segments:
        at, end = segment.start, segment.start + segment.prefix
        prefix_key, prefix_value = [key[:, :, at:end]], [value[:, :, at:end]]
        if segment.apart:
            prefix_key, prefix_value = [pair[0] for pair in before], [pair[1] for pair in before]
        if segment.prefix:
            attend(segment, at, end, prefix_key[0], prefix_value[0])
        for length in segment.branches:
            at, end = end, end + length
            if length == 0:
                continue
            own_key, own_value = key[:, :, at:end], value[:, :, at:end]
            if segment.before:
                own_key, own_value = torch.cat([*prefix_key, own_key], 2), torch.cat([*prefix_value, own_value], 2)
            attend(segment, at, end, own_key, own_value)
    if kept:
        kept.note(cast("int", module.layer_idx), key, value)
    return torch.cat(parts, 2).transpose(1, 2), None


def lora_config(settings: LoraSettings, base_name: str | None, revision: str | None) -> LoraConfig:
    """Return PEFT's settings of plain LoRA: a GGUF adapter has no DoRA, biases, saved modules or per-module ranks."""
    alpha = int(settings.alpha) if settings.alpha == int(settings.alpha) else settings.alpha
    return LoraConfig(
        r=settings.rank,
        lora_alpha=cast("int", alpha),  # PEFT's annotation; any number works
        target_modules=list(settings.target_modules),
        lora_dropout=0.0,
        bias="none",
        use_rslora=settings.rs_lora,
        task_type="CAUSAL_LM",
        base_model_name_or_path=base_name,
        revision=revision,
    )


class Policy(nn.Module):
    """A PEFT model that maps the tokens of a pack to log-probabilities."""

    def __init__(self, model: PeftModel, precision: str) -> None:
        super().__init__()
        fuse(model.get_base_model())
        self.model = model
        self.precision = precision
        self._checkpointing = False

    @property
    def checkpointing(self) -> bool:
        """
        Whether only the input of each layer is kept for the backward pass, which computes the layer again: a third more
        time for a fraction of the memory, with equal results.
        """
        return self._checkpointing

    @checkpointing.setter
    def checkpointing(self, wanted: bool) -> None:
        causal = cast("Qwen3ForCausalLM", self.model.get_base_model())
        if wanted:
            # Nothing here is random.
            causal.gradient_checkpointing_enable({"use_reentrant": False, "preserve_rng_state": False})
        else:
            causal.gradient_checkpointing_disable()
        causal.train(wanted)  # transformers asks for it; without dropout it changes nothing else
        self._checkpointing = wanted

    @property
    def device(self) -> torch.device:
        return self.model.device

    def adapter_parameters(self) -> list[tuple[str, nn.Parameter]]:
        """
        Return the trainable parameters by name, sorted: those of an adapter by their PEFT file name, those of a whole
        model as transformers names them.
        """
        named = [
            (name.removeprefix("causal.").replace(".default.", "."), p)
            for name, p in self.model.named_parameters()
            if p.requires_grad
        ]
        return sorted(named, key=lambda item: item[0])

    def forward(
        self,
        pack: Pack,
        temperature: float = 1.0,
        watch: Callable[[Pack, torch.Tensor, torch.Tensor], None] | None = None,
        kept: KeptPrompt | None = None,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """
        Return the log-probabilities (nats, at `temperature`) of the pack's loss tokens, [T] float32, and the policy's
        entropy there, detached. `watch` is called with the pack, its `states` and the head's weight, and must keep no
        graph of them. `kept` is the prompt of a pack whose prompt is computed apart.
        """
        states, weight = self.states(pack, kept)
        if watch:
            watch(pack, states, weight)
        return log_probabilities(states, weight, pack.targets, temperature)

    def states(self, pack: Pack, kept: KeptPrompt | None = None) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the LM head's input for each loss token, [T, hidden] float32, and the head's weight."""
        causal = cast("Qwen3ForCausalLM", self.model.get_base_model())
        states = self.pass_over(pack, kept)[0].index_select(0, pack.rows).float()
        scaling = getattr(causal.config, "logits_scaling", 1.0)
        return states if scaling == 1.0 else states / scaling, causal.lm_head.weight

    def pass_over(self, pack: Pack, kept: KeptPrompt | None = None) -> torch.Tensor:
        """Return the last layer's output, [1, L, hidden]. Only the rows that the pack reads have a meaning."""
        causal = cast("Qwen3ForCausalLM", self.model.get_base_model())
        half = HALVES.get(self.precision)
        with torch.autocast(pack.ids.device.type, dtype=half, enabled=half is not None):
            return causal.model(
                # The residual stream stays float32, also over a base of 16 bits.
                inputs_embeds=causal.model.embed_tokens(pack.ids).float(),
                position_ids=pack.positions,
                segments=pack.segments,
                kept=kept,
                read=pack.read,
                use_cache=False,
            ).last_hidden_state

    @contextmanager
    def under(self, adapter: Mapping[str, torch.Tensor]) -> Generator[None, None, None]:
        """
        Use another adapter, by the names of `adapter_parameters`, and restore the policy's own afterwards, bit for bit.
        """
        named = self.adapter_parameters()
        own = [parameter.detach().clone() for _, parameter in named]
        put(named, adapter)
        try:
            yield
        finally:
            with torch.no_grad():
                for (_, parameter), kept in zip(named, own, strict=True):
                    parameter.copy_(kept)

    @torch.no_grad()
    def show(
        self, pack: Pack, watch: Callable[[Pack, torch.Tensor, torch.Tensor], None], kept: KeptPrompt | None = None
    ) -> None:
        """Run a forward pass only to call `watch` with its states."""
        watch(pack, *self.states(pack, kept))

    @torch.no_grad()
    def reference(
        self,
        pack: Pack,
        temperature: float,
        prompts: SharedPrompts | None = None,
        adapter: Mapping[str, torch.Tensor] | None = None,
    ) -> torch.Tensor:
        """
        Return the log-probabilities (nats) under a fixed policy, [T]: the base with `adapter`, or the base alone.
        `prompts` are the shared prompts of such passes; None: the pack contains its prompt.
        """
        with self.under(adapter) if adapter is not None else self.model.disable_adapter():
            return self(pack, temperature, kept=prompts.of(pack, learns=False) if prompts else None)[0]


def frozen_model(base: Base):
    """Build the base model with segment attention, over the only copy of the weights, in `base`."""
    ALL_ATTENTION_FUNCTIONS.register(ATTENTION, segment_attention)
    return build_model(base, ATTENTION)


class _WholeModel(nn.Module):
    """A model without an adapter, in the place of a PEFT model."""

    def __init__(self, causal: Qwen3ForCausalLM) -> None:
        super().__init__()
        self.causal = causal

    def get_base_model(self) -> Qwen3ForCausalLM:
        return self.causal

    @property
    def device(self) -> torch.device:
        return self.causal.device


def whole_policy(base: Base, precision: str) -> Policy:
    """
    Create a policy whose own matrices learn: those of all layers, not the table and the norms. They change in place,
    and must be stored in float32. `precision` is that of the products.
    """
    causal = frozen_model(base)
    for name, parameter in causal.named_parameters():
        parameter.requires_grad_(name.startswith("model.layers.") and parameter.dim() == 2)
    return Policy(cast("PeftModel", _WholeModel(causal).eval()), precision)


def new_policy(
    base: Base,
    settings: LoraSettings,
    seed: int,
    base_name: str | None,
    revision: str | None,
) -> Policy:
    """Create a policy with a new adapter: A random from `seed`, B zero, so it equals the base model."""
    model = frozen_model(base)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        peft_model = get_peft_model(model, lora_config(settings, base_name, revision))
    # PEFT fills both fields from the model object, which does not know its name.
    peft_model.peft_config["default"].base_model_name_or_path = base_name
    peft_model.peft_config["default"].revision = revision
    return Policy(peft_model.eval().to(base.device), base.precision)

"""
Reference scores of the canaries: log-probabilities in float32 under the weights that volunteers have, the stored base
and the adapter of `adapter.gguf`. They do not depend on the precision, the sharding or the device of training.

    python -m prove_trainer.reference

reads one JSON object on stdin and writes the scores as JSON to stdout. `prove-lab calibrate` compares an engine with
them.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch

from .canary import check_canaries
from .config import Canary, parse_canary
from .errors import TrainerError
from .fields import Fields
from .gguf_base import Base, build_model, load_base
from .gguf_lora import read_gguf_lora
from .jobs import sha256_file
from .limits import HEAD_CHUNK_ELEMENTS, MAX_PATH, MAX_RANK

MAX_ADAPTERS = 64
MAX_REFERENCE_CANARIES = 1024
MAX_INPUT = 64 * 2**20  # bytes on stdin

CanaryScores = list[list[float]]  # by canary: nats of each token of its continuation


@dataclass(frozen=True)
class StoredAdapter:
    """The content of an `adapter.gguf`: tensors by their names there, and the factor of B A."""

    tensors: dict[str, np.ndarray]
    scale: float

    @staticmethod
    def read(path: Path) -> "StoredAdapter":
        """Read an adapter. Raises TrainerError `export_check_failed`."""
        tensors, alpha = read_gguf_lora(path)
        ranks = {values.shape[0] for name, values in tensors.items() if name.endswith(".lora_a")}
        if len(ranks) != 1 or not 1 <= (rank := ranks.pop()) <= MAX_RANK:
            raise TrainerError("export_check_failed", f"{path.name} is not plain LoRA of one rank up to {MAX_RANK}")
        return StoredAdapter(tensors, alpha / rank)


class Reference:
    """
    Scores canaries layer by layer. Only one layer is in memory in float32, and a block of the head, unless the base is
    in float32 anyway.
    """

    def __init__(self, base: Base) -> None:
        self._base = base
        self._model = build_model(base.shapes())
        self._device = base.device if base.is_whole_in_float32 else torch.device("cpu")
        self._rotary = self._model.model.rotary_emb.to(self._device)
        self._bare: dict[tuple[Canary, float], list[float]] = {}

    @torch.no_grad()
    def score(
        self, canaries: Sequence[Canary], temperature: float, adapter: StoredAdapter | None = None
    ) -> CanaryScores:
        """
        Return the log-probabilities of each canary's continuation. The bare base's are computed once.

        Raises TrainerError `export_check_failed` for an adapter of another base.
        """
        if adapter is not None:
            return self._scores(canaries, temperature, adapter)
        missing = [canary for canary in dict.fromkeys(canaries) if (canary, temperature) not in self._bare]
        found = self._scores(missing, temperature, None) if missing else []
        self._bare |= {(canary, temperature): scores for canary, scores in zip(missing, found, strict=True)}
        return [list(self._bare[canary, temperature]) for canary in canaries]

    def _scores(self, canaries: Sequence[Canary], temperature: float, adapter: StoredAdapter | None) -> CanaryScores:
        config: Any = self._model.config
        scale = float(getattr(config, "embedding_multiplier", 1.0))
        states = [self._embedded(canary) * scale for canary in canaries]
        places = [torch.arange(state.shape[1], device=self._device)[None] for state in states]
        turns = [self._rotary(state, position_ids=at) for state, at in zip(states, places, strict=True)]
        for i, layer in enumerate(self._model.model.layers):
            weights = {name: self._weight(f"model.layers.{i}.{name}", adapter) for name in layer.state_dict()}
            layer.load_state_dict(weights, strict=True, assign=True)
            states = [
                cast("torch.Tensor", layer(state, position_ids=at, position_embeddings=turn))
                for state, at, turn in zip(states, places, turns, strict=True)
            ]
            layer.to("meta")
        norm = self._model.model.norm
        norm.load_state_dict({"weight": self._weight("model.norm.weight", None)}, assign=True)
        divisor = float(getattr(config, "logits_scaling", 1.0)) * temperature
        outputs = [
            norm(state)[0, len(canary.prompt) - 1 : -1] / divisor
            for canary, state in zip(canaries, states, strict=True)
        ]
        targets = [torch.tensor(canary.continuation, device=self._device) for canary in canaries]
        logp = self._log_probabilities(torch.cat(outputs), torch.cat(targets))
        return [part.tolist() for part in logp.split([len(canary.continuation) for canary in canaries])]

    def _embedded(self, canary: Canary) -> torch.Tensor:
        ids = torch.tensor(canary.prompt + canary.continuation)
        return self._base.float32_rows("model.embed_tokens.weight", ids).to(self._device)[None]

    def _weight(self, name: str, adapter: StoredAdapter | None) -> torch.Tensor:
        weight = self._base.float32(name)
        if adapter is None:
            return weight
        stored = self._base.stored[name].name
        a, b = (adapter.tensors.get(f"{stored}.lora_{half}") for half in "ab")
        if a is None or b is None:
            return weight
        b = self._base.row_order.read(f"{stored}.lora_b", b.astype(np.float32))
        halves = [torch.from_numpy(np.ascontiguousarray(half, np.float32)).to(self._device) for half in (b, a)]
        try:
            return torch.addmm(weight, *halves, alpha=adapter.scale)
        except RuntimeError as error:
            raise TrainerError("export_check_failed", f"{stored} has another shape than its adapter") from error

    def _log_probabilities(self, states: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Return the log-probabilities of `targets` [T] after `states` [T, hidden], by blocks of the head's rows."""
        own = torch.full(targets.shape, -torch.inf, device=self._device)
        total = own.clone()
        for start, block in self._head():
            logits = states @ block.T
            total = torch.logaddexp(total, logits.logsumexp(1))
            here = (targets >= start) & (targets < start + len(block))
            own[here] = logits[here, targets[here] - start]
        # Rounding may be above zero, which no log-probability is.
        return (own - total).clamp(max=0)

    def _head(self) -> Iterator[tuple[int, torch.Tensor]]:
        tied = self._base.config.tie_word_embeddings
        name = "model.embed_tokens.weight" if tied else "lm_head.weight"
        at_once = max(1, HEAD_CHUNK_ELEMENTS // self._base.config.hidden_size)
        for start in range(0, self._base.vocab_size, at_once):
            yield start, self._base.float32_rows(name, slice(start, start + at_once)).to(self._device)


@dataclass(frozen=True)
class _Request:
    base: Path
    base_sha256: str
    adapters: tuple[Path, ...]
    canaries: tuple[Canary, ...]
    temperature: float
    threads: int


def _invalid(detail: str) -> TrainerError:
    return TrainerError("config_invalid", detail)


def _parse(fields: Fields) -> _Request:
    request = _Request(
        Path(fields.text("base", MAX_PATH)),
        fields.sha256("baseSha256"),
        tuple(Path(adapter.text("path", MAX_PATH)) for adapter in fields.children("adapters", MAX_ADAPTERS)),
        tuple(parse_canary(canary) for canary in fields.children("canaries", MAX_REFERENCE_CANARIES)),
        fields.number("temperature", 0.05, 10.0, 1.0),
        fields.integer("threads", 1, 1024, 1),
    )
    fields.done()
    return request


def main() -> int:
    try:
        request = _parse(Fields(json.loads(sys.stdin.read(MAX_INPUT)), "request", _invalid))
        torch.set_num_threads(request.threads)
        # The scores are in float32 all the same. This precision only halves the memory.
        base = load_base(request.base, request.base_sha256, precision="bfloat16")
        check_canaries(request.canaries, base.vocab_size, base.context_length)
        reference = Reference(base)
        policies = [None, *(StoredAdapter.read(path) for path in request.adapters)]
        scores = [reference.score(request.canaries, request.temperature, policy) for policy in policies]
    except (TrainerError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    print(json.dumps({"scores": scores, "adapters": [sha256_file(path) for path in request.adapters]}))
    return 0


if __name__ == "__main__":
    sys.exit(main())

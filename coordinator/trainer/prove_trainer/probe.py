"""
Canaries: token sequences whose log-probabilities tell whether a node has the right base and has really applied the
adapter.
"""

from collections.abc import Sequence

import numpy as np
import torch

from .batch import Rollout
from .config import Probe
from .errors import TrainerError
from .packing import build_pack, make_trees
from .policy import Policy


def default_probe(vocab_size: int, context_length: int) -> Probe:
    """A fixed sequence for the export checks of a run that configures no probes."""
    length = min(48, context_length)
    ids = tuple((i * i * 7919 + i * 104_729 + 13) % vocab_size for i in range(length))
    return Probe(ids[: length // 2], ids[length // 2 :])


def check_probes(probes: Sequence[Probe], vocab_size: int, context_length: int) -> None:
    """Raises TrainerError `config_invalid` for a probe this model cannot score."""
    for i, probe in enumerate(probes):
        ids = probe.prompt + probe.continuation
        if max(ids) >= vocab_size or len(ids) > context_length:
            raise TrainerError(
                "config_invalid", f"config.probes[{i}] has an id outside the vocabulary or more tokens than the context"
            )


@torch.no_grad()
def score_probes(
    policy: Policy, probes: Sequence[Probe], temperature: float, device: torch.device, reference: bool = False
) -> list[list[float]]:
    """Teacher-forced log-probabilities (nats) of each probe's continuation; under the bare base with `reference`."""
    found = []
    for probe in probes:
        ids = np.array(probe.prompt + probe.continuation, dtype=np.int32)
        mask = np.arange(len(ids)) >= len(probe.prompt)
        rollout = Rollout(0, "probe", 0.0, 0.0, 0, "probe", ids, mask, np.zeros(len(ids), dtype=np.float32))
        pack = build_pack(make_trees([rollout], share=False, budget=len(ids))).to(device)
        logp = policy.reference(pack, temperature) if reference else policy(pack, temperature)[0]
        found.append(logp.float().cpu().tolist())
    return found


def largest_gap(left: list[list[float]], right: list[list[float]]) -> float:
    """Largest |difference| in nats; NaN counts as infinite."""
    gaps = [abs(a - b) for one, two in zip(left, right, strict=True) for a, b in zip(one, two, strict=True)]
    return max((gap if gap == gap else float("inf") for gap in gaps), default=0.0)

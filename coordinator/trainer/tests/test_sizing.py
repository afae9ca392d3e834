"""
The tables of docs/operate/sizing.md: what machines of a few classes can do with real models, by arithmetic.

    PYTHONPATH=coordinator/trainer python coordinator/trainer/tests/test_sizing.py

writes them.
"""

import math
import re
from dataclasses import dataclass
from pathlib import Path

from prove_trainer.gguf_base import Base
from test_memory_table import GIB, MODELS, shapes

DOCS = Path(__file__).parents[3] / "docs" / "operate" / "sizing.md"

GROUPS, SIZE = 16, 16
H100 = 989e12  # operations a second in bfloat16 without sparsity, NVIDIA's data sheet
STEP_SHARE = 0.195  # of the peak, in a training step: measured at Qwen3-4B's shape (test/bench/trainer_gpu.py)
GPU_SHARE = 0.4  # of the peak, in a prefill: assumed
STEPS = {"4k + 4k": (4096, 4096), "4k + 12k": (4096, 12_288)}  # prompt, and what follows it in each rollout

CONTEXT = 12_288  # of a slot, as its cache is allocated
FILLED = 6_144  # of it on average
SAMPLED, READ = 1_500, 68_000  # tokens a slot samples, and tokens a group reads: prompt once, and tool results
MEMORY_SHARE = 0.9
BUFFERS = 1.0 * GIB  # of the engine's graph, and logits: assumed
BANDWIDTH_SHARE = 0.6  # of the peak while decoding: assumed
F16, Q4_K_M = 2.0, 4.85 / 8  # bytes a weight; of q4_K_M on average over a model
CACHE_F16, CACHE_Q8 = 2.0, 34 / 32  # bytes a number

LEASE_MINUTES = 3  # leases.durationMs, by default
LONGEST_DURATIONS = 4  # a lease is renewed up to so many


@dataclass(frozen=True)
class Machine:
    name: str
    memory: float  # bytes that a model may take
    bandwidth: float  # bytes a second
    speed: float  # operations a second that are reached


MACHINES = (
    Machine("8 GB laptop GPU (RTX 4060)", 8 * GIB, 256e9, GPU_SHARE * 60e12),
    Machine("24 GB GPU (RTX 4090)", 24 * GIB, 1008e9, GPU_SHARE * 165e12),
    Machine("64 GB Apple (M3 Max)", 0.75 * 64 * GIB, 400e9, GPU_SHARE * 28e12),
    Machine("CPU of 64 GB (DDR5)", 64 * GIB, 80e9, 0.2e12),
)


def parameters(base: Base) -> int:
    return sum(weight.numel() for weight in base.tensors.values())


def attention_width(base: Base) -> int:
    config = base.config
    return config.num_attention_heads * head_length(base)


def head_length(base: Base) -> int:
    return getattr(base.config, "head_dim", None) or base.config.hidden_size // base.config.num_attention_heads


def cache_numbers(base: Base) -> int:
    """Of one token: keys and values of all layers."""
    return 2 * base.config.num_hidden_layers * base.config.num_key_value_heads * head_length(base)


def step_seconds(base: Base, prompt: int, rest: int, gpus: int) -> float:
    """
    A frozen base is multiplied in the forward pass, in that of the reference, once more for the layers computed anew,
    and once for the slopes of its inputs; attention costs twice in the backward pass.
    """
    tokens = GROUPS * (prompt + SIZE * rest)
    products = 4 * 2 * parameters(base) * tokens
    seen = GROUPS * (prompt**2 / 2 + SIZE * (rest * prompt + rest**2 / 2))  # pairs of tokens
    attention = (3 + 2) * 4 * base.config.num_hidden_layers * attention_width(base) * seen
    return (products + attention) / (STEP_SHARE * H100 * gpus)


@dataclass(frozen=True)
class Fit:
    slots: int  # 0: the weights alone do not fit
    tokens_per_second: float = 0.0
    minutes: float = 0.0  # for a group

    def cell(self) -> str:
        if self.slots == 0:
            return "no"
        slots = "1 slot" if self.slots == 1 else f"{self.slots} slots"
        return f"{slots}, {self.tokens_per_second:.0f} tokens/s, {self.minutes:.1f} min"


def fit(base: Base, machine: Machine, weight_bytes: float, cache_bytes: float) -> Fit:
    weights, numbers = parameters(base) * weight_bytes, cache_numbers(base)
    capacity = machine.memory * MEMORY_SHARE - weights - BUFFERS
    slots = min(SIZE, math.floor(capacity / (CONTEXT * numbers * cache_bytes)))
    if slots < 1:
        return Fit(0)
    read = weights + slots * FILLED * numbers * cache_bytes
    per_slot = min(BANDWIDTH_SHARE * machine.bandwidth / read, machine.speed / (2 * parameters(base) * slots))
    rounds = math.ceil(SIZE / slots)
    reading = READ * 2 * parameters(base) / machine.speed
    return Fit(slots, slots * per_slot, (rounds * SAMPLED / per_slot + reading) / 60)


def operator_table(bases: dict[str, Base]) -> str:
    cases = [(name, gpus) for name in STEPS for gpus in (1, 8)]
    lines = ["| model | " + " | ".join(f"{name}, {gpus} x H100" for name, gpus in cases) + " |", "| --- " * 5 + "|"]
    for model, base in bases.items():
        cells = [f"{step_seconds(base, *STEPS[name], gpus):.0f} s" for name, gpus in cases]
        lines.append(f"| {model} | {' | '.join(cells)} |")
    return "\n".join(lines)


def volunteer_table(bases: dict[str, Base], weight_bytes: float, cache_bytes: float) -> str:
    lines = ["| model | " + " | ".join(machine.name for machine in MACHINES) + " |", "| --- " * 5 + "|"]
    for model, base in bases.items():
        cells = [fit(base, machine, weight_bytes, cache_bytes).cell() for machine in MACHINES]
        lines.append(f"| {model} | {' | '.join(cells)} |")
    return "\n".join(lines)


def part_in(minutes: float, slots: int) -> str:
    """Of a machine in a run with leases of the default duration, by the rules of coordinator/leases/lease-fit.ts."""
    if slots == 0:
        return "does not fit"
    if minutes > LONGEST_DURATIONS * LEASE_MINUTES:
        return "too slow"
    return "one term" if minutes <= LEASE_MINUTES else "renewed"


def roles_table(bases: dict[str, Base]) -> str:
    lines = ["| model | " + " | ".join(machine.name for machine in MACHINES) + " |", "| --- " * 5 + "|"]
    for model, base in bases.items():
        cells = []
        for machine in MACHINES:
            fits = (fit(base, machine, F16, CACHE_F16), fit(base, machine, Q4_K_M, CACHE_Q8))
            cells.append(" / ".join(part_in(one.minutes, one.slots) for one in fits))
        lines.append(f"| {model} | {' | '.join(cells)} |")
    return "\n".join(lines)


def tables() -> dict[str, str]:
    """By the names that they have in the document."""
    bases = {name: shapes(*MODELS[name]) for name in MODELS}
    return {
        "operator": operator_table(bases),
        "f16": volunteer_table(bases, F16, CACHE_F16),
        "q4_K_M": volunteer_table(bases, Q4_K_M, CACHE_Q8),
        "roles": roles_table(bases),
    }


def with_tables(text: str) -> str:
    for name, table in tables().items():
        part = re.compile(rf"(<!-- {name} -->\n)(?:\|[^\n]*\n)*")
        text, found = part.subn(lambda match, table=table: f"{match.group(1)}{table}\n", text)
        assert found == 1, name
    return text


def test_the_tables_are_what_is_computed_now():
    """If not: the command above."""
    text = DOCS.read_text(encoding="utf-8")
    assert with_tables(text) == text


def test_what_a_slot_keeps_and_when_it_fits():
    qwen = shapes(*MODELS["Qwen3-4B-Instruct-2507"])
    assert cache_numbers(qwen) * CACHE_F16 == 144 * 1024
    machine = Machine("of two slots", (parameters(qwen) * F16 + BUFFERS + 2.5 * CONTEXT * 144 * 1024) / 0.9, 1e12, 1e13)
    two = fit(qwen, machine, F16, CACHE_F16)
    assert two.slots == 2
    none = Machine("of none", (parameters(qwen) * F16) / 0.9, 1e12, 1e13)
    assert fit(qwen, none, F16, CACHE_F16) == Fit(0)
    assert [part_in(minutes, 1) for minutes in (3, 3.1, 12, 12.1)] == ["one term", "renewed", "renewed", "too slow"]
    assert part_in(0, 0) == "does not fit"
    assert step_seconds(qwen, 4096, 4096, 1) == 8 * step_seconds(qwen, 4096, 4096, 8)


if __name__ == "__main__":
    DOCS.write_text(with_tables(DOCS.read_text(encoding="utf-8")), encoding="utf-8")

"""What a step keeps in memory, what it is planned to take, and what it does when there is not enough."""

from dataclasses import replace

import fixtures
import pytest
import torch
from prove_trainer import head
from prove_trainer.adapter import bare_policy
from prove_trainer.capacity import Capacity, plan, remember_capacity, remembered_capacity
from prove_trainer.config import LoraSettings, OptimizerSettings
from prove_trainer.errors import TrainerError
from prove_trainer.grpo import GrpoTrainer
from prove_trainer.memory import Costs, Forward, count
from prove_trainer.packing import Segment, _lower_right, make_packs
from prove_trainer.policy import Policy, segment_attention
from torch.nn.attention.bias import causal_lower_right
from torch.utils._python_dispatch import TorchDispatchMode

CPU = torch.device("cpu")


def storages(policy: Policy, frozen: bool) -> dict[int, int]:
    """Bytes by address of what is frozen, or of the adapter."""
    tensors = [p for p in policy.parameters() if p.requires_grad != frozen]
    return {tensor.data_ptr(): tensor.numel() * tensor.element_size() for tensor in tensors}


@pytest.mark.parametrize("precision", ["bfloat16", "float16"])
def test_policies_however_many_are_modules_over_one_base_of_16_bits(base, precision):
    half = base.on(CPU, precision)
    policies = [fixtures.with_random_adapter(half), bare_policy(half), fixtures.with_random_adapter(half, seed=8)]
    assert storages(policies[0], frozen=True) == storages(policies[1], frozen=True) == storages(policies[2], True)
    assert sum(storages(policies[0], frozen=True).values()) == half.bytes < 0.52 * base.bytes
    assert all(p.dtype == torch.float32 for _, p in policies[0].adapter_parameters())
    norms = [weight.dtype for weight in half.tensors.values() if weight.dim() == 1]
    assert set(norms) == {torch.float32}


def forward(policy: Policy, rollouts) -> tuple[torch.Tensor, list[torch.Tensor], int]:
    """Log-probabilities, gradients, and the bytes that were kept for the backward pass."""
    (pack,) = make_packs(rollouts, "shared", 4096)
    known = storages(policy, True) | storages(policy, False)
    kept: dict[int, tuple[int, torch.Tensor]] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in known:
            kept[storage.data_ptr()] = storage.nbytes(), tensor
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        logp, _ = policy(pack)
    (logp * torch.linspace(-1, 1, len(logp))).sum().backward()
    gradients = [parameter.grad.clone() for _, parameter in policy.adapter_parameters()]
    policy.zero_grad()
    return logp.detach(), gradients, sum(size for size, _ in kept.values())


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_checkpointing_keeps_a_fraction_and_changes_not_one_bit(base, precision):
    policy, rollouts = fixtures.with_random_adapter(base.on(CPU, precision)), fixtures.make_rollouts()
    plain = forward(policy, rollouts)
    policy.checkpointing = True
    kept = forward(policy, rollouts)
    policy.checkpointing = False
    again = forward(policy, rollouts)
    for logp, gradients, _ in (kept, again):
        assert torch.equal(logp, plain[0])
        assert all(torch.equal(one, other) for one, other in zip(gradients, plain[1], strict=True))
    assert kept[2] < min(plain[2], again[2]) / 4


def test_float16_is_nearer_to_float32_than_bfloat16_and_both_give_its_gradients(base):
    rollouts = fixtures.make_rollouts()
    exact = forward(fixtures.with_random_adapter(base), rollouts)
    gaps = {}
    for precision in ("bfloat16", "float16"):
        logp, gradients, _ = forward(fixtures.with_random_adapter(base.on(CPU, precision)), rollouts)
        gaps[precision] = float((logp - exact[0]).abs().mean())
        for own, other in zip(gradients, exact[1], strict=True):
            assert torch.cosine_similarity(own.flatten(), other.flatten(), 0) > 0.98
    assert 0 < gaps["float16"] < gaps["bfloat16"] / 4


class Largest(TorchDispatchMode):
    """Elements of the largest tensor that any operation gave."""

    most = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        parts = out if isinstance(out, (tuple, list)) else [out]
        self.most = max([self.most, *(part.numel() for part in parts if isinstance(part, torch.Tensor))])
        return out


@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("temperature", [1.0, 0.7])
def test_the_head_in_chunks_is_the_softmax_and_its_gradient_without_all_logits_at_once(monkeypatch, kind, temperature):
    generator = torch.Generator().manual_seed(0)
    states = torch.randn(50, 4, generator=generator, requires_grad=True)
    weight = torch.randn(300, 4, generator=generator).to(kind)
    targets = torch.randint(300, (50,), generator=generator)
    slope = torch.randn(50, generator=generator)
    monkeypatch.setattr(head, "HEAD_CHUNK_ELEMENTS", 7 * 300)
    with Largest() as largest:
        logp, entropy = head.log_probabilities(states, weight, targets, temperature)
        (logp * slope).sum().backward()
    found, states.grad = states.grad, None
    naive = torch.log_softmax(states @ weight.float().T / temperature, 1)
    (naive[torch.arange(50), targets] * slope).sum().backward()
    assert (logp - naive[torch.arange(50), targets]).abs().max() < 1e-5
    assert (entropy + (naive.exp() * naive).sum(1)).abs().max() < 1e-5
    assert (found - states.grad).abs().max() < 1e-5 * states.grad.abs().max()
    assert largest.most <= 7 * 300 < 50 * 300


def test_the_rule_that_a_gpu_is_given_is_the_mask_that_a_cpu_adds():
    rule = causal_lower_right(5, 12)._materialize()
    mask = _lower_right(5, 12, CPU)
    assert torch.equal(rule, mask == 0) and torch.equal(~rule, mask == -torch.inf)
    segment = Segment(0, 7, (5, 5))
    for rows, columns in ((5, 12), (2, 9), (3, 12), (2, 7)):
        mask = segment.mask(rows, columns, CPU)
        assert torch.equal(mask, _lower_right(rows, columns, CPU))
        assert mask.untyped_storage().data_ptr() == segment.mask(5, 12, CPU).untyped_storage().data_ptr()
    assert Segment(0, 0, (5,)).mask(5, 5, CPU) is None


class ByRule(Segment):
    """Has the masks that a GPU gets."""

    def mask(self, rows, columns, device):
        return None if rows == columns else causal_lower_right(rows, columns)


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16])
def test_in_16_bits_the_rule_gives_what_the_mask_gives(kind):
    """Norms of queries and keys are float32, values are not: a rule takes only what is of one type."""
    generator = torch.Generator().manual_seed(0)
    query, key = torch.randn(1, 4, 12, 8, generator=generator), torch.randn(1, 2, 12, 8, generator=generator)
    value = torch.randn(1, 2, 12, 8, generator=generator).to(kind)
    layer = torch.nn.Identity()
    layer.layer_idx = 0
    by_mask, by_rule = Segment(0, 7, (5,)), ByRule(0, 7, (5,))
    with torch.autocast("cpu", dtype=kind):
        expected, found = (
            segment_attention(layer, query, key, value, None, segments=(segment,))[0] for segment in (by_mask, by_rule)
        )
    assert found.dtype == kind
    assert torch.equal(found, expected)


class OutOfMemory:
    """Lets no forward of more than `most` tokens through, as a device that is full."""

    def __init__(self, policy: Policy, most: int) -> None:
        self.most, self.sizes = most, []
        policy.model.get_base_model().model.layers[-1].mlp.register_forward_pre_hook(self._check)

    def _check(self, _, args) -> None:
        tokens = args[0].shape[1]
        self.sizes.append(tokens)
        if tokens > self.most:
            raise torch.OutOfMemoryError(f"{tokens} tokens")


def trainer(base, capacity: Capacity, reports: list | None = None, **settings) -> GrpoTrainer:
    policy = fixtures.with_random_adapter(base)
    tell = (lambda *args: reports.append(args)) if reports is not None else (lambda *_: None)
    return GrpoTrainer(policy, OptimizerSettings(lr=1e-3, **settings), fixtures.alone(), capacity, tell)


@pytest.fixture(scope="module")
def rollouts(base):
    return fixtures.sampled(fixtures.with_random_adapter(base), fixtures.make_rollouts())


@pytest.mark.parametrize("passes", [1, 2])
def test_a_step_that_runs_out_of_memory_goes_on_with_less_and_comes_out_as_if_it_had_begun_so(base, rollouts, passes):
    reports: list = []
    one = trainer(base, Capacity(4096, False, True), reports, passes=passes)
    watch = OutOfMemory(one.policy, 70)
    outcome = one.run(fixtures.as_batch(rollouts), 0, "shared", 4096)
    assert outcome.skipped is None and outcome.rejected == {}
    capacities = [capacity for capacity, _ in reports]
    assert capacities[0] == Capacity(4096, True, True), "first the layers are computed anew"
    assert [capacity.budget for capacity in capacities[1:]] == sorted(
        {capacity.budget for capacity in capacities[1:]}, reverse=True
    )
    assert capacities[-1].budget <= 70 and one.capacity == capacities[-1]
    other = trainer(base, capacities[-1], passes=passes)
    other.run(fixtures.as_batch(rollouts), 0, "shared", 4096)
    left, right = one.snapshot(), other.snapshot()
    assert all(torch.equal(left[name], right[name]) for name in right)
    # The next step begins with what was learnt.
    watch.sizes.clear()
    one.run(fixtures.as_batch(rollouts), 0, "shared", 4096)
    assert max(watch.sizes) <= 70


def test_a_later_pass_that_runs_out_of_memory_takes_the_earlier_one_back(base, rollouts):
    one = trainer(base, Capacity(4096, True, True), passes=2)
    calls: list = []

    def fail(*_) -> None:
        calls.append(1)
        if len(calls) == 3:  # a forward, its layer anew for the backward pass, and the second pass
            raise torch.OutOfMemoryError("full")

    one.policy.model.get_base_model().model.layers[-1].mlp.register_forward_pre_hook(fail)
    one.run(fixtures.as_batch(rollouts), 0, "shared", 4096)
    other = trainer(base, one.capacity, passes=2)
    other.run(fixtures.as_batch(rollouts), 0, "shared", 4096)
    assert one.updates == 2 and len(calls) > 3
    assert all(torch.equal(one.snapshot()[name], value) for name, value in other.snapshot().items())


def test_a_rollout_that_fits_in_no_way_ends_the_trainer_with_a_reason(base, rollouts):
    one = trainer(base, Capacity(4096, False, True))
    OutOfMemory(one.policy, 5)
    with pytest.raises(TrainerError, match="a single rollout of") as caught:
        one.run(fixtures.as_batch(rollouts), 0, "shared", 4096)
    assert caught.value.code == "device_memory"


COSTS = Costs(base=1000, adapter=100, plain=Forward(50, 10), checkpointed=Forward(50, 1))


@pytest.mark.parametrize(
    ("usable", "wanted", "checkpointing", "capacity"),
    [
        (2150, 0, "none", Capacity(100, False, False)),
        (2150, 0, "layer", Capacity(1000, True, False)),
        (2150, 0, "auto", Capacity(1000, True, True)),  # rollouts may have 500 tokens
        (12_150, 0, "auto", Capacity(1100, False, True)),
        (2150, 64, "auto", Capacity(64, False, True)),
        (2150, 200, "auto", Capacity(200, True, True)),
        (2150, 5000, "auto", Capacity(1000, True, True)),
    ],
)
def test_a_plan_takes_what_fits_and_checkpoints_only_where_it_must(usable, wanted, checkpointing, capacity):
    assert plan(COSTS, usable, wanted, checkpointing, longest=500) == capacity


def test_a_device_that_cannot_hold_the_base_is_refused_before_the_first_batch():
    with pytest.raises(TrainerError, match="base and adapter take") as caught:
        plan(COSTS, 1140, 0, "auto", longest=500)
    assert caught.value.code == "device_memory"


def test_what_is_counted_is_what_a_step_really_keeps(base):
    """The kept bytes of one rollout by autograd's own hooks, against the peak that was counted on sizes alone."""
    costs = count(base, LoraSettings(rank=4, alpha=8))
    policy = fixtures.with_random_adapter(base)
    assert costs.base == base.bytes == sum(storages(policy, True).values())
    assert costs.adapter == 5 * sum(storages(policy, False).values())
    (rollout,) = fixtures.make_rollouts(groups=1, size=1, prompt=200)
    kept = {}
    for checkpointing in (False, True):
        policy.checkpointing = checkpointing
        (pack,) = make_packs([replace(rollout)], "single", 4096)
        kept[checkpointing] = forward(policy, [rollout])[2] / pack.tokens
    assert kept[False] < costs.plain.token < 2 * kept[False]
    assert kept[True] < costs.checkpointed.token < costs.plain.token


def test_a_rank_with_shards_that_runs_out_of_memory_ends_and_the_next_start_goes_by_what_it_left(
    base, rollouts, tmp_path
):
    reports: list = []
    one = trainer(base, Capacity(4096, True, True), reports)
    one.in_shards = True
    OutOfMemory(one.policy, 70)
    with pytest.raises(TrainerError) as caught:
        one.run(fixtures.as_batch(rollouts), 0, "shared", 4096)
    assert caught.value.code == "ran_out_of_memory"
    ((less, _),) = reports
    assert less.budget < 4096
    remember_capacity(tmp_path / "rooms", 0, Capacity(4096, False, True))
    remember_capacity(tmp_path / "rooms", 1, less)
    assert remembered_capacity(tmp_path / "rooms", Capacity(5000, False, True)) == less
    assert remembered_capacity(tmp_path / "none", Capacity(5000, False, True)) == Capacity(5000, False, True)


def test_a_rank_with_shards_is_planned_for_its_part_and_for_the_layers_at_work(base):
    whole = Costs(base.bytes, 1000, Forward(50, 10), Forward(50, 1))
    embedding = base.tensors["model.embed_tokens.weight"].nbytes + base.tensors["model.norm.weight"].nbytes
    layer = (base.bytes - embedding + 200) // 2
    part = whole.in_shards(base, 4)
    assert (part.base, part.adapter) == (base.bytes // 4 + embedding + 3 * layer, 250)
    assert (part.plain, part.checkpointed) == (whole.plain, whole.checkpointed)

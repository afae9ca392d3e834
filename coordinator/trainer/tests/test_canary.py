"""Draws of a canary: which are published, and what makes them safe to compare."""

import fixtures
import numpy as np
import pytest
import torch
from peft import PeftModel
from prove_trainer.canary import CanaryDraws, draw_tokens, telling_draws
from prove_trainer.config import Canary, Draw, LoraSettings, TrainerConfig
from prove_trainer.export import write_adapter
from prove_trainer.gguf_base import build_model
from prove_trainer.limits import CANARY_DRAWS, CERTAIN, DRAW_MARGIN, RARE

TEMPERATURE = 0.05  # the tiny model hardly prefers any token at 1
CPU = torch.device("cpu")
DRAWS = tuple(Draw(seed, float(u)) for seed, u in enumerate(np.random.default_rng(5).random(600)))


def selected(logits: np.ndarray, u: float) -> int:
    """As llama.cpp does it: from the likeliest token down, in float32, until the draw is passed."""
    order = np.argsort(-logits, kind="stable")
    weights = np.exp((logits - logits.max()).astype(np.float32))
    edges = np.cumsum((weights / weights.sum())[order])
    return int(order[min(np.searchsorted(edges, u, side="right"), len(order) - 1)])


@pytest.mark.parametrize(("spread", "draws"), [(0.1, 0), (2.0, 40), (6.0, 60)])
def test_published_draws_survive_any_error_within_the_margin(spread, draws):
    rng = np.random.default_rng(11)
    found = 0
    for _ in range(10):
        logits = rng.normal(0, spread, 40)
        drawn = telling_draws(torch.from_numpy(logits), 3, DRAWS)
        found += len(drawn.tokens)
        for _ in range(20):
            errors = rng.choice([-DRAW_MARGIN, DRAW_MARGIN], 40)
            for seed, token in drawn.tokens:
                assert selected(logits, DRAWS[seed].u) == token
                assert selected(logits + errors, DRAWS[seed].u) == token
    # Where forty tokens are near ties, nothing is safe to compare.
    assert found >= draws and (spread > 1 or found == 0)


def test_a_draw_near_a_boundary_or_within_a_near_tie_is_left_out():
    boundary = torch.tensor([1.0, 0.0], dtype=torch.float64)  # 0.73 and 0.27
    drawn = telling_draws(boundary, 0, [Draw(0, 0.2), Draw(1, 0.72), Draw(2, 0.74), Draw(3, 0.99)])
    assert drawn.tokens == ((0, 0), (3, 1))
    tie = torch.tensor([0.5, 0.0], dtype=torch.float64)
    assert telling_draws(tie, 0, DRAWS).tokens == ()


def test_the_least_likely_tokens_are_published_and_no_certain_ones():
    p = np.array([0.85, 0.11, 0.035, 0.005])
    drawn = telling_draws(torch.from_numpy(np.log(p)), 0, DRAWS)
    assert len(drawn.tokens) == CANARY_DRAWS
    assert {token for _, token in drawn.tokens} <= {1, 2}
    assert drawn.evidence == pytest.approx(sum(1 - p[token] for _, token in drawn.tokens))
    assert RARE < 0.035 and CERTAIN < 0.95
    certain = torch.from_numpy(np.log([0.95, 0.045, 0.005]))
    assert {token for _, token in telling_draws(certain, 0, DRAWS).tokens} == {1}
    assert telling_draws(torch.tensor([30.0, 0.0]).double(), 0, DRAWS) == CanaryDraws()


def test_draws_are_tried_where_they_tell_most_under_the_adapter(base, tmp_path):
    policy = fixtures.with_random_adapter(base, size=0.3)
    lora = LoraSettings(rank=4, alpha=8)
    write_adapter(tmp_path, policy, base, TrainerConfig(base_sha256=base.sha256, base_name="tiny", lora=lora), 0)
    canary = Canary((5, 6, 7, 8), (9, 10, 11), DRAWS)
    silent = Canary((5, 6), (7,))
    drawn, nothing = draw_tokens(policy, [canary, silent], TEMPERATURE, CPU)
    assert nothing == CanaryDraws()
    ids = torch.tensor([canary.prompt + canary.continuation])
    with torch.no_grad():
        bare = build_model(base)(input_ids=ids).logits[0].double() / TEMPERATURE
        adapted = PeftModel.from_pretrained(build_model(base), str(tmp_path / "adapter"))
        logits = adapted(input_ids=ids).logits[0].double() / TEMPERATURE
    own = [telling_draws(logits[3 + k], k, DRAWS) for k in range(3)]
    assert drawn.after == max(own, key=lambda one: one.evidence).after
    assert drawn.tokens == own[drawn.after].tokens and len(drawn.tokens) > 0
    others = [selected(bare[3 + drawn.after].numpy(), DRAWS[seed].u) for seed, _ in drawn.tokens]
    assert others != [token for _, token in drawn.tokens]

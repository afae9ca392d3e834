"""Audits: what the policy says about tokens, how they are asked for, and the process that answers."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import fixtures
import numpy as np
import pytest
import torch
from prove_trainer.adapter import bare_policy, published_policy
from prove_trainer.audit_folder import load_job
from prove_trainer.config import LoraSettings
from prove_trainer.errors import BatchRefused
from prove_trainer.gguf_base import build_model
from prove_trainer.gguf_lora import write_gguf_lora
from prove_trainer.gumbel_max import draw_states, noise
from prove_trainer.jobs import sha256_file
from prove_trainer.token_scores import RARE_NOISE, TOKEN_SCORES, audit_rollouts, logit_error
from safetensors.numpy import load_file
from safetensors.numpy import save as save_safetensors
from test_process import DEADLINE, Process


def scores(logits: torch.Tensor, draws: np.ndarray | torch.Tensor) -> torch.Tensor:
    """Logit and noise of every token, [T, V] float64."""
    rows, vocab = logits.shape
    states = draw_states(torch.as_tensor(draws)).repeat_interleave(vocab)
    return logits + noise(states, torch.arange(vocab).repeat(rows)).view(rows, vocab)


def audit(policy, rollouts, draws, packing="shared", budget=4096):
    return audit_rollouts(policy, rollouts, draws, packing, budget, 1.0)


def plain_logits(base, rollout) -> torch.Tensor:
    """Logits that predict each sampled token, through transformers' own forward in one whole rollout."""
    with torch.no_grad():
        ids = torch.from_numpy(rollout.ids.astype(np.int64))
        return build_model(base)(input_ids=ids[None]).logits[0].double()[np.nonzero(rollout.mask)[0] - 1]


def save_adapter(path: Path, policy, alpha: float = 8) -> str:
    tensors = {name: parameter.detach().numpy() for name, parameter in policy.adapter_parameters()}
    write_gguf_lora(path, tensors, LoraSettings(rank=4, alpha=alpha), fixtures.ROW_ORDER)
    return sha256_file(path)


@pytest.mark.parametrize(("packing", "budget"), [("shared", 4096), ("shared", 60), ("packed", 100), ("single", 1)])
def test_token_scores_are_those_of_a_plain_forward_in_any_packing(base, packing, budget):
    rollouts = fixtures.make_rollouts()
    draws = fixtures.random_draws(rollouts)
    found = audit(bare_policy(base), rollouts, draws, packing, budget)
    expected = {name: [] for name in TOKEN_SCORES}
    for rollout, own in zip(rollouts, draws, strict=True):
        logits = plain_logits(base, rollout)
        p = logits.softmax(1).numpy()
        drawn = scores(logits, own).numpy()
        for row, token in enumerate(rollout.ids[rollout.mask]):
            expected["logp"].append(np.log(p[row, token]))
            expected["expected_mismatch"].append(1 - float((p[row] ** 2).sum()))
            expected["logit_error"].append((drawn[row].max() - drawn[row, token]) / 2)
    for name, values in expected.items():
        assert np.abs(found[name] - np.array(values)).max() < 1e-4, name


def drawn(base, rollouts, draws) -> list:
    """The rollouts with the tokens that these draws select from the base."""
    explained = []
    for rollout, own in zip(rollouts, draws, strict=True):
        ids = rollout.ids.copy()
        # Sampled one by one: every choice changes what comes after it.
        for k, place in enumerate(np.nonzero(rollout.mask)[0]):
            logits = plain_logits(base, replace(rollout, ids=ids))[k]
            ids[place] = int(scores(logits[None], own[k : k + 1]).argmax())
        explained.append(replace(rollout, ids=ids))
    return explained


def test_a_token_that_its_draw_selects_needs_no_repair_and_an_unrelated_draw_does(base):
    rollouts = fixtures.make_rollouts()
    draws = fixtures.random_draws(rollouts)
    explained = drawn(base, rollouts, draws)
    policy = bare_policy(base)
    assert audit(policy, explained, draws)["logit_error"].max() < 1e-4
    unrelated = audit(policy, explained, fixtures.random_draws(rollouts, 0))["logit_error"]
    assert (unrelated > 0.05).mean() > 0.5


def sample_with_error(rng, size: float, rows: int = 400, vocab: int = 60):
    """Tokens drawn from logits that carry an error of at most `size`, and the logits without it."""
    logits = torch.from_numpy(rng.normal(0, rng.choice([0.5, 2, 6]), (rows, vocab)))
    wrong = logits + torch.from_numpy(rng.uniform(-size, size, logits.shape))
    draws = torch.from_numpy(fixtures.turn_draws(rng, rows))
    return logits, scores(wrong, draws).argmax(1), draws


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("size", [0.0, 0.003, 0.1])
def test_an_error_of_the_logits_never_needs_a_larger_repair_than_itself(size, seed):
    found = logit_error(*sample_with_error(np.random.default_rng(seed), size))
    assert (found >= 0).all()
    assert found.max() <= size
    assert size > 0 or found.max() == 0


def test_a_repair_is_the_least_error_of_the_logits_that_explains_the_token():
    rng = np.random.default_rng(8)
    logits, _, draws = sample_with_error(rng, 0)
    tokens = torch.from_numpy(rng.integers(0, logits.shape[1], len(logits)))
    found = logit_error(logits, tokens, draws)[:, None]

    def selects(error: torch.Tensor) -> torch.Tensor:
        """With the token's logit raised by as much as all others are lowered."""
        moved = logits - error
        moved.scatter_add_(1, tokens[:, None], 2 * error)
        return scores(moved, draws).argmax(1) == tokens

    assert selects(found + 1e-6).all()
    assert not selects(found - 1e-6)[found[:, 0] > 0].any()


def test_a_repair_forgives_near_ties_and_nothing_where_the_policy_was_sure():
    draws = torch.tensor([[7, 0]])
    even = torch.zeros(1, 3, dtype=torch.float64)
    tie = even - scores(even, draws) + torch.tensor([0.0, 0.001, -4.0])
    first, second = torch.tensor([0]), torch.tensor([1])
    assert logit_error(tie, first, draws).item() == pytest.approx(0.0005)
    assert logit_error(tie, second, draws).item() == 0
    sure = torch.tensor([[90.0, 0.0, 0.0]], dtype=torch.float64)
    assert logit_error(sure, second, draws).item() > 30
    assert logit_error(sure, first, draws).item() == 0


def test_a_sample_by_rare_noise_of_an_unlikely_token_is_found():
    """Noise above 10 selects a token against one whose logit is much larger."""
    rng = np.random.default_rng(4)
    draws = torch.from_numpy(fixtures.turn_draws(rng, 4_000))
    logits = torch.full((len(draws), 60), -6.0)
    logits[:, 0] = 0
    every = scores(logits.double(), draws)
    samples = every.argmax(1)
    rare = (every - logits).amax(1) > RARE_NOISE
    assert (rare & (samples > 0)).sum() > 3
    assert logit_error(logits, samples, draws).max() == 0
    likeliest = torch.zeros_like(samples)
    expected = (every.amax(1) - every[:, 0]) / 2
    assert torch.equal(logit_error(logits, likeliest, draws), expected.where(expected > 1e-9, 0))


def test_near_ties_are_as_dense_as_the_expected_mismatch():
    """For small errors, misses and logit errors grow with 1 - sum p^2 alone (docs/explain/verification.md)."""
    rng = np.random.default_rng(21)
    error, rows = 0.05, 40_000
    for spread in (0.5, 2.0):
        logits = torch.from_numpy(rng.normal(0, spread, 20)).expand(rows, 20)
        draws = torch.from_numpy(fixtures.turn_draws(rng, rows))
        wrong = logits + torch.from_numpy(rng.normal(0, error, logits.shape))
        found = logit_error(logits, scores(wrong, draws).argmax(1), draws)
        mismatch = rows * float(1 - logits[0].softmax(0).square().sum())
        assert (found > 0).sum().item() == pytest.approx(mismatch * error / np.sqrt(np.pi), rel=0.1)
        assert found.sum().item() == pytest.approx(mismatch * error**2 / 4, rel=0.1)


def test_the_policy_of_an_adapter_file_scores_like_the_adapter_that_was_written(tmp_path, base):
    trained = fixtures.with_random_adapter(base)
    path = tmp_path / "adapter.gguf"
    sha256 = save_adapter(path, trained)
    rollouts = fixtures.make_rollouts()
    draws = fixtures.random_draws(rollouts)
    loaded = audit(published_policy(base, path, sha256), rollouts, draws)["logp"]
    assert np.abs(loaded - audit(trained, rollouts, draws)["logp"]).max() < 5e-3  # float16 in the file
    assert np.abs(loaded - audit(bare_policy(base), rollouts, draws)["logp"]).max() > 0.1


def test_an_adapter_file_that_is_not_plain_lora_over_this_base_is_refused(tmp_path, base):
    path = tmp_path / "adapter.gguf"
    trained = fixtures.with_random_adapter(base)
    sha256 = save_adapter(path, trained)

    def refused(code: str, expected: str = sha256) -> None:
        with pytest.raises(BatchRefused) as failure:
            published_policy(base, path, expected)
        assert failure.value.code == code

    refused("adapter_hash_mismatch", "0" * 64)
    tensors = {name: parameter.detach().numpy() for name, parameter in trained.adapter_parameters()}
    last = max(tensors)
    rest = {name: values for name, values in tensors.items() if name != last}
    write_gguf_lora(path, rest, LoraSettings(rank=4, alpha=8), fixtures.ROW_ORDER)
    refused("adapter_unsupported", sha256_file(path))
    path.write_bytes(b"GGUF, but not really")
    refused("adapter_invalid", sha256_file(path))
    path.unlink()
    refused("adapter_unreadable")


def write_audit(jobs: Path, name: str, rollouts, draws, base, manifest=None, arrays=None, adapter=None) -> Path:
    """An audit as the coordinator writes it; `manifest` and `arrays` override what it would not write."""
    blob = save_safetensors(
        {
            "ids": np.concatenate([r.ids for r in rollouts]).astype(np.int32),
            "loss_mask": np.concatenate([r.mask for r in rollouts]).astype(np.uint8),
            **fixtures.flat_draws(rollouts, draws),
            "cu_seqlens": np.cumsum([0] + [len(r.ids) for r in rollouts]).astype(np.int32),
            **(arrays or {}),
        }
    )
    content = {
        "schema": 1,
        "auditId": name,
        "baseSha256": base.sha256,
        "tokensSha256": hashlib.sha256(blob).hexdigest(),
        "rollouts": [{"group": r.group, "length": len(r.ids)} for r in rollouts],
        **({"adapterSha256": adapter} if adapter else {}),
        **(manifest or {}),
    }
    directory = jobs / "audits" / name
    draft = directory.with_name(name + ".tmp")
    draft.mkdir(parents=True)
    (draft / "tokens.safetensors").write_bytes(blob)
    (draft / "manifest.json").write_text(json.dumps(content))
    draft.rename(directory)
    return directory


NONE = fixtures.make_rollouts(groups=1, size=2)
LENGTH = sum(len(rollout.ids) for rollout in NONE)
WRONG = {
    "manifest_invalid": dict(manifest={"reward": 1}),
    "base_mismatch": dict(manifest={"baseSha256": "0" * 64}),
    "tokens_hash_mismatch": dict(manifest={"tokensSha256": "0" * 64}),
    "length_mismatch": dict(manifest={"rollouts": [{"group": "a", "length": 5}, {"group": "a", "length": 5}]}),
    "tokens_invalid": dict(arrays={"draw_seed": np.zeros(LENGTH)}),
    "draws_invalid": dict(arrays={"draw_position": np.ones(LENGTH, dtype=np.uint32)}),
    "mask_invalid": dict(
        arrays={"loss_mask": np.zeros(LENGTH, dtype=np.uint8), **fixtures.flat_draws(NONE, [None] * len(NONE))}
    ),
    "token_out_of_range": dict(arrays={"ids": np.full(LENGTH, 10**6, dtype=np.int32)}),
}


@pytest.mark.parametrize("code", WRONG)
def test_a_job_that_is_not_what_it_should_be_is_refused_by_code(tmp_path, base, code):
    directory = write_audit(tmp_path, "audit-1", NONE, fixtures.random_draws(NONE), base, **WRONG[code])
    with pytest.raises(BatchRefused) as failure:
        load_job(directory, base)
    assert failure.value.code == code


def answer(jobs: Path, name: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (jobs / "token-scores" / name).iterdir()}


def test_a_killed_audit_process_is_started_again_and_answers_in_the_very_same_bytes(tmp_path, base, base_path):
    rollouts = fixtures.make_rollouts(groups=40)
    draws = fixtures.random_draws(rollouts)
    answers = []
    for name in ("smooth", "rough"):
        root = tmp_path / name
        jobs = root / "jobs"
        (jobs / "adapters").mkdir(parents=True)
        fixtures.write_config(root / "trainer.json", base.sha256, maxTokensPerForward=64)
        draft = jobs / "draft.gguf"
        sha256 = save_adapter(draft, fixtures.with_random_adapter(base))
        draft.rename(jobs / "adapters" / f"{sha256}.gguf")
        write_audit(jobs, "a", rollouts, draws, base, adapter=sha256)
        write_audit(jobs, "b", rollouts[:4], draws[:4], base)
        write_audit(jobs, "c", rollouts[:4], draws[:4], base, adapter="0" * 64)
        if name == "rough":
            with Process(root, base_path, "--audits", last_draft="a.tmp") as worker:
                worker.until_killed()
            assert not (jobs / "token-scores" / "a").exists()
            assert (jobs / "token-scores" / "a.tmp" / "token-scores.safetensors").exists()
        with Process(root, base_path, "--audits") as worker:
            if name == "rough":
                assert worker.until("cleaned")["drafts"] == ["a.tmp"]
            worker.until("audited", auditId="a")
            worker.until("audited", auditId="b")
            assert worker.until("rejected", auditId="c")["code"] == "adapter_unreadable"
            (jobs / "stop-audits").touch()
            assert worker.until("stopped")["reason"] == "stop_file"
            assert worker.child.wait(DEADLINE) == 0
        assert json.loads((jobs / "audits" / "c" / "refused.json").read_text())["auditId"] == "c"
        assert not (jobs / "steps" / "step-0").exists()  # nothing is trained here
        answers.append([answer(jobs, "a"), answer(jobs, "b")])
    assert answers[0] == answers[1]
    tensors = load_file(tmp_path / "smooth" / "jobs" / "token-scores" / "a" / "token-scores.safetensors")
    assert {len(values) for values in tensors.values()} == {sum(int(r.mask.sum()) for r in rollouts)}


def test_two_ranks_share_an_audit_and_answer_what_one_would(tmp_path, base, base_path):
    jobs = tmp_path / "jobs"
    (jobs / "adapters").mkdir(parents=True)
    fixtures.write_config(tmp_path / "trainer.json", base.sha256, maxTokensPerForward=64)
    policy = fixtures.with_random_adapter(base)
    draft = jobs / "draft.gguf"
    sha256 = save_adapter(draft, policy)
    published = draft.rename(jobs / "adapters" / f"{sha256}.gguf")
    rollouts = fixtures.make_rollouts(groups=5)
    draws = fixtures.random_draws(rollouts)
    write_audit(jobs, "a", rollouts, draws, base, adapter="0" * 64)
    write_audit(jobs, "b", rollouts, draws, base, adapter=sha256)
    write_audit(jobs, "c", NONE, fixtures.random_draws(NONE), base, manifest={"baseSha256": "0" * 64})
    # Fewer forward passes than ranks: one of them has nothing to do.
    write_audit(jobs, "d", rollouts[:1], draws[:1], base)
    with Process(tmp_path, base_path, "--audits", ranks=2) as worker:
        assert worker.until("ready")["worldSize"] == 2
        assert worker.until("rejected", auditId="a")["code"] == "adapter_unreadable"
        worker.until("audited", auditId="b")
        assert worker.until("rejected", auditId="c")["code"] == "base_mismatch"
        worker.until("audited", auditId="d")
        (jobs / "stop-audits").touch()
        assert worker.until("stopped")["reason"] == "stop_file"
        assert worker.child.wait(DEADLINE) == 0
    for name, by, count in (("b", published_policy(base, published, sha256), None), ("d", bare_policy(base), 1)):
        found = load_file(jobs / "token-scores" / name / "token-scores.safetensors")
        expected = audit(by, rollouts[:count], draws[:count], budget=64)
        assert found.keys() == expected.keys()
        for tensor, values in expected.items():
            assert np.array_equal(found[tensor], values), (name, tensor)

import hashlib
import json
from dataclasses import replace

import fixtures
import numpy as np
import pytest
from prove_trainer.batch import load_batch, read_manifest
from prove_trainer.config import LossSettings, load_config
from prove_trainer.errors import BatchRefused, TrainerError
from prove_trainer.selection import select

ROLLOUTS = fixtures.make_rollouts()
FLAT = np.concatenate([rollout.ids for rollout in ROLLOUTS])
BASE = "ab" * 32


def read(tmp_path, rollouts=ROLLOUTS, **overrides):
    directory = fixtures.write_batch(tmp_path, "batch-1", rollouts, BASE, 0, **overrides)
    return load_batch(directory, read_manifest(directory), LossSettings(), BASE, fixtures.VOCAB, 256)


def refusal(tmp_path, **overrides) -> str:
    with pytest.raises(BatchRefused) as caught:
        read(tmp_path, **overrides)
    return caught.value.code


def test_an_honest_batch_comes_back_as_it_was_written(tmp_path):
    batch = read(tmp_path)
    assert batch.loss == LossSettings()
    assert [rollout.group for rollout in batch.rollouts] == [rollout.group for rollout in ROLLOUTS]
    for got, sent in zip(batch.rollouts, ROLLOUTS, strict=True):
        assert np.array_equal(got.ids, sent.ids) and np.array_equal(got.mask, sent.mask)
    for members in batch.groups().values():
        assert sum(member.advantage for member in members) == pytest.approx(0)


def entry(**changes):
    entries = [{"group": r.group, "reward": r.reward, "policyVersion": 0, "length": len(r.ids)} for r in ROLLOUTS]
    entries[0] |= changes
    return {"manifest": {"rollouts": entries}}


OFFSETS = np.cumsum([0] + [len(r.ids) for r in ROLLOUTS]).astype(np.int32)


def swapped(offsets):
    offsets = offsets.copy()
    offsets[[2, 3]] = offsets[[3, 2]]
    return offsets


@pytest.mark.parametrize(
    ("code", "overrides"),
    [
        ("tokens_hash_mismatch", {"manifest": {"tokensSha256": "0" * 64}}),
        ("base_mismatch", {"manifest": {"baseSha256": "cd" * 32}}),
        ("manifest_invalid", {"manifest": {"schema": 2}}),
        ("manifest_invalid", {"manifest": {"batchId": "another"}}),
        ("manifest_invalid", {"manifest": {"rollouts": []}}),
        ("manifest_invalid", {"manifest": {"parentStep": -1}}),
        ("manifest_invalid", {"manifest": {"parentStep": True}}),
        ("manifest_invalid", {"manifest": {"surprise": 1}}),
        ("manifest_invalid", {"manifest": {"loss": {"tisCap": 2}}}),
        ("manifest_invalid", entry(reward="1")),
        ("manifest_invalid", entry(reward=1e300)),
        ("manifest_invalid", entry(policyVersion=-1)),
        ("manifest_invalid", entry(group="")),
        ("length_mismatch", entry(length=len(ROLLOUTS[0].ids) + 1)),
        ("advantage_mismatch", entry(advantage=3.0)),
        ("cu_seqlens_invalid", {"arrays": {"cu_seqlens": swapped(OFFSETS)}}),
        ("cu_seqlens_invalid", {"arrays": {"cu_seqlens": OFFSETS[:-1]}}),
        ("cu_seqlens_invalid", {"arrays": {"cu_seqlens": OFFSETS + 1}}),
        (
            "cu_seqlens_invalid",
            {"arrays": {"cu_seqlens": np.where(OFFSETS[1] == OFFSETS, -(2**31), OFFSETS).astype(np.int32)}},
        ),
        (
            "token_out_of_range",
            {"arrays": {"ids": np.where(np.arange(len(FLAT)) == 7, fixtures.VOCAB, FLAT).astype(np.int32)}},
        ),
        ("token_out_of_range", {"arrays": {"ids": np.where(np.arange(len(FLAT)) == 7, -1, FLAT).astype(np.int32)}}),
        ("tokens_invalid", {"arrays": {"ids": FLAT.astype(np.int64)}}),
        ("tokens_invalid", {"arrays": {"ids": FLAT[:-1].astype(np.int32)}}),
        ("tokens_invalid", {"arrays": {"ids": FLAT.astype(np.int32).reshape(1, -1)}}),
        ("tokens_invalid", {"arrays": {"extra": np.zeros(1, dtype=np.int32)}}),
        ("mask_invalid", {"arrays": {"loss_mask": np.full(len(FLAT), 2, dtype=np.uint8)}}),
        ("mask_invalid", {"arrays": {"loss_mask": np.ones(len(FLAT), dtype=np.uint8)}}),
        ("logp_invalid", {"arrays": {"sampler_logp": np.full(len(FLAT), -1, dtype=np.float32)}}),
        ("logp_invalid", {"arrays": {"sampler_logp": np.full(len(FLAT), np.nan, dtype=np.float32)}}),
        ("draws_invalid", {"arrays": {"draw_seed": np.ones(len(FLAT), dtype=np.uint32)}}),
    ],
)
def test_a_hostile_batch_is_refused_with_its_code(tmp_path, code, overrides):
    assert refusal(tmp_path, **overrides) == code


def test_a_rollout_longer_than_the_context_is_refused(tmp_path):
    assert refusal(tmp_path, rollouts=fixtures.make_rollouts(prompt=300)) == "too_long"


@pytest.mark.parametrize("text", ["", "[]", "{", '{"schema": NaN}', "[" * 100_000, "\xff"])
def test_a_manifest_that_is_not_json_is_refused(tmp_path, text):
    directory = fixtures.write_batch(tmp_path, "batch-1", ROLLOUTS, BASE, 0)
    (directory / "manifest.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(BatchRefused) as caught:
        read_manifest(directory)
    assert caught.value.code == "manifest_invalid"


def test_a_token_file_that_is_not_safetensors_is_refused(tmp_path):
    data = b"\xff" * 64
    directory = fixtures.write_batch(
        tmp_path, "batch-1", ROLLOUTS, BASE, 0, manifest={"tokensSha256": hashlib.sha256(data).hexdigest()}
    )
    (directory / "tokens.safetensors").write_bytes(data)
    with pytest.raises(BatchRefused) as caught:
        load_batch(directory, read_manifest(directory), LossSettings(), BASE, fixtures.VOCAB, 256)
    assert caught.value.code == "tokens_invalid"


def test_an_advantage_that_agrees_with_the_rewards_is_accepted(tmp_path):
    own = fixtures.as_batch(ROLLOUTS).rollouts[0].advantage
    assert read(tmp_path, **entry(advantage=own)).rollouts[0].advantage == pytest.approx(own)


def claims(rollout, values):
    logp = np.zeros(len(rollout.ids), dtype=np.float32)
    logp[rollout.mask] = values
    return replace(rollout, sampler_logp=logp)


def test_claims_no_sampler_can_make_cost_the_rollout_and_not_the_batch(tmp_path):
    sent = [claims(rollout, -1.0) for rollout in ROLLOUTS]
    sent[0] = claims(sent[0], np.nan)
    sent[1] = claims(sent[1], 0.5)
    sent[2] = claims(sent[2], -np.inf)
    sent[3] = replace(
        sent[3], mask=np.zeros(len(sent[3].ids), dtype=bool), sampler_logp=np.zeros(len(sent[3].ids), dtype=np.float32)
    )
    selection = select(read(tmp_path, rollouts=sent), 0)
    assert {i: selection.rejected[i] for i in range(4)} == {
        0: "logp_nonfinite",
        1: "logp_positive",
        2: "logp_nonfinite",
        3: "no_loss_tokens",
    }
    assert [rollout.index for rollout in selection.kept] == list(range(4, 12))


def test_flat_groups_groups_of_one_and_stale_rollouts_are_left_out():
    rollouts = [claims(rollout, -1.0) for rollout in fixtures.make_rollouts(groups=4, size=3)]
    rewards = [0.5, 0.5, 0.5] + [0.0, 1.0, 0.5] * 3
    versions = [6] * 6 + [1, 2, 6] + [6] * 3
    rollouts = [replace(r, reward=rewards[i], policy_version=versions[i]) for i, r in enumerate(rollouts)][:10]
    selection = select(fixtures.as_batch(rollouts), 6)
    assert selection.rejected == {0: "flat", 1: "flat", 2: "flat", 6: "stale", 9: "singleton"}
    assert selection.staleness == {0: 8, 4: 1, 5: 1}


def test_a_stale_members_reward_stays_in_its_groups_mean():
    rollouts = [claims(rollout, -1.0) for rollout in fixtures.make_rollouts(groups=1, size=2)]
    rollouts = [replace(rollouts[0], reward=1.0, policy_version=0), replace(rollouts[1], reward=0.0, policy_version=9)]
    (kept,) = select(fixtures.as_batch(rollouts), 9).kept
    assert kept.advantage == -0.5


def test_a_policy_from_the_future_is_refused():
    with pytest.raises(BatchRefused, match="future_policy"):
        select(fixtures.as_batch(fixtures.make_rollouts(versions=4)), 3)


@pytest.mark.parametrize(
    "change",
    [
        {"baseSha256": "x"},
        {"optimizer": {"lr": -1}},
        {"lora": {"targetModules": ["lm_head"]}},
        {"lora": {"rank": 0}},
        {"typo": 1},
        {"canaries": [{"prompt": []}]},
        {"canaries": [{"prompt": [1], "continuation": [2], "draws": []}]},
    ],
)
def test_a_wrong_setting_is_named(tmp_path, change):
    path = fixtures.write_config(tmp_path / "trainer.json", BASE, **change)
    with pytest.raises(TrainerError) as caught:
        load_config(path)
    assert caught.value.code == "config_invalid" and next(iter(change)) in caught.value.detail


def test_settings_that_are_left_out_have_their_documented_defaults(tmp_path):
    path = tmp_path / "trainer.json"
    path.write_text(json.dumps({"schema": 1, "baseSha256": BASE}))
    config = load_config(path)
    assert (config.lora.rank, config.lora.alpha, len(config.lora.target_modules)) == (16, 32.0, 7)
    assert (config.loss.max_staleness, config.loss.guard, config.packing) == (4, 0.1, "shared")

"""Hostile files against every reader of the trainer: a value in order, or the typed error, and nothing else."""

import hashlib
import json
import struct
from pathlib import Path
from types import SimpleNamespace

import fixtures
import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from prove_trainer.audit_folder import load_job
from prove_trainer.batch import load_batch, read_manifest
from prove_trainer.config import LoraSettings, LossSettings, load_config
from prove_trainer.errors import BatchRefused, TrainerError
from prove_trainer.gguf_base import load_base
from prove_trainer.gguf_lora import read_gguf_lora
from prove_trainer.jobs import JobDirectory, sha256_file
from prove_trainer.step_folder import read_step

BOUNDED = settings(
    max_examples=150, deadline=None, database=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
FEW = settings(BOUNDED, max_examples=60)
ROLLOUTS = fixtures.make_rollouts()
BASE = "ab" * 32

# What JSON can say that Python stumbles over: integers beyond every float, lone surrogates, keys given twice, depth.
RAW = st.sampled_from(
    [
        "1" + "0" * 400,
        "-1" + "0" * 400,
        "1" + "0" * 5000,
        "1e999",
        "-0.0",
        "NaN",
        "Infinity",
        "true",
        "null",
        '""',
        '"\\ud800"',
        '"\\u0000"',
        '"' + "x" * 300 + '"',
        "[]",
        "{}",
        "[[1]]",
        '{"__class__": 1}',
        "[" * 2000 + "]" * 2000,
        "[" * 100_000,
        '"unterminated',
        "1 2",
        "0x10",
    ]
)


def manifest_content() -> dict:
    entries = [
        {
            "group": r.group,
            "reward": r.reward,
            "policyVersion": 0,
            "length": len(r.ids),
            "sampler": "cpu",
            "advantage": 0.0,
        }
        for r in ROLLOUTS[:3]
    ]
    return {
        "schema": 1,
        "batchId": "batch-1",
        "roundId": "round-1",
        "baseSha256": BASE,
        "parentStep": 0,
        "tokensSha256": "0" * 64,
        "rollouts": entries,
    }


def audit_content() -> dict:
    return {
        "schema": 1,
        "auditId": "audit-1",
        "baseSha256": BASE,
        "adapterSha256": "cd" * 32,
        "tokensSha256": "0" * 64,
        "rollouts": [{"group": r.group, "length": len(r.ids)} for r in ROLLOUTS[:3]],
    }


def config_content() -> dict:
    return {
        "schema": 1,
        "baseSha256": BASE,
        "baseModel": {"name": "demo"},
        "loss": {"guard": 0.5, "advantage": "none", "maxStaleness": 4},
        "lora": {"rank": 4, "alpha": 8, "targetModules": ["q_proj"], "rsLora": False},
        "optimizer": {"lr": 0.01, "passes": 2},
        "keepSteps": {"last": 3, "every": 10},
        "canaries": [{"prompt": [1, 2], "continuation": [3]}],
        "device": "cpu",
        "pollMs": 20,
    }


def places(value: object, path: tuple = ()) -> list[tuple]:
    """The paths to everything in a JSON value."""
    found = [path]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        found += places(item, (*path, key))
    return found


def with_raw(value: object, path: tuple, raw: str) -> str:
    """The value as JSON text, with `raw` in place of what is at `path`."""
    if not path:
        return raw
    key, *rest = path
    if isinstance(value, dict):
        return (
            "{"
            + ",".join(
                f"{json.dumps(k)}:{with_raw(v, tuple(rest), raw) if k == key else json.dumps(v)}"
                for k, v in value.items()
            )
            + "}"
        )
    return (
        "[" + ",".join(with_raw(v, tuple(rest), raw) if i == key else json.dumps(v) for i, v in enumerate(value)) + "]"
    )


def bent_text(content: dict):
    """Strategies for texts that were such a file once: anything in any place, a key doubled, bytes changed or cut."""
    text = json.dumps(content)
    whole = st.builds(lambda path, raw: with_raw(content, path, raw).encode(), st.sampled_from(places(content)), RAW)
    cut = st.builds(
        lambda a, b, junk: text.encode()[: min(a, b)] + junk + text.encode()[max(a, b) :],
        st.integers(0, len(text)),
        st.integers(0, len(text)),
        st.binary(max_size=6),
    )
    return st.one_of(whole, cut, st.binary(max_size=60))


def read_manifest_bytes(root: Path, data: bytes) -> str:
    directory = root / "batch-1"
    directory.mkdir(exist_ok=True)
    (directory / "manifest.json").write_bytes(data)
    try:
        manifest = read_manifest(directory)
    except BatchRefused as error:
        assert error.code == "manifest_invalid" and len(error.detail) <= 400
        json.dumps(error.detail)
        return error.code
    assert all(np.isfinite(entry.reward) and abs(entry.reward) <= 1e6 for entry in manifest.entries)
    return "accepted"


@seed(1)
@BOUNDED
@given(data=bent_text(manifest_content()))
def test_any_manifest_is_refused_with_its_code_or_in_order(tmp_path, data):
    read_manifest_bytes(tmp_path, data)


@seed(8)
@BOUNDED
@given(data=bent_text(audit_content()))
def test_any_audit_is_refused_with_its_code(tmp_path, data):
    """There are no tokens beside it, so that even a manifest in order is refused, as late as that."""
    directory = tmp_path / "audit-1"
    directory.mkdir(exist_ok=True)
    (directory / "manifest.json").write_bytes(data)
    base = SimpleNamespace(sha256=BASE, vocab_size=64, context_length=512)
    with pytest.raises(BatchRefused) as refusal:
        load_job(directory, base)
    assert len(refusal.value.detail) <= 400
    json.dumps([refusal.value.code, refusal.value.detail])


def test_the_unbent_audit_is_refused_for_its_tokens_alone(tmp_path):
    directory = tmp_path / "audit-1"
    directory.mkdir()
    (directory / "manifest.json").write_text(json.dumps(audit_content()))
    base = SimpleNamespace(sha256=BASE, vocab_size=64, context_length=512)
    with pytest.raises(BatchRefused) as refusal:
        load_job(directory, base)
    assert refusal.value.code != "manifest_invalid"


@pytest.mark.parametrize("field", ["reward", "advantage", "policyVersion", "length"])
def test_an_integer_beyond_every_float_is_refused(tmp_path, field):
    for raw in ("1" + "0" * 400, "-1" + "0" * 400):
        text = with_raw(manifest_content(), ("rollouts", 0, field), raw)
        assert read_manifest_bytes(tmp_path, text.encode()) == "manifest_invalid"


def test_a_key_that_is_given_twice_is_refused(tmp_path):
    text = json.dumps(manifest_content())
    assert read_manifest_bytes(tmp_path, text.encode()) == "accepted"
    assert read_manifest_bytes(tmp_path, ('{"parentStep": 7,' + text[1:]).encode()) == "manifest_invalid"


def read_config_bytes(path: Path, data: bytes) -> str:
    path.write_bytes(data)
    try:
        load_config(path)
    except TrainerError as error:
        assert error.code == "config_invalid"
        return error.code
    return "accepted"


@seed(2)
@BOUNDED
@given(data=bent_text(config_content()))
def test_any_configuration_is_refused_with_its_code_or_in_order(tmp_path, data):
    read_config_bytes(tmp_path / "trainer.json", data)


def test_the_unbent_configuration_is_accepted(tmp_path):
    assert read_config_bytes(tmp_path / "trainer.json", json.dumps(config_content()).encode()) == "accepted"


def load_tokens(root: Path, data: bytes) -> str:
    directory = fixtures.write_batch(
        root, "batch-1", ROLLOUTS, BASE, 0, manifest={"tokensSha256": hashlib.sha256(data).hexdigest()}
    )
    (directory / "tokens.safetensors").write_bytes(data)
    try:
        batch = load_batch(directory, read_manifest(directory), LossSettings(), BASE, fixtures.VOCAB, 256)
    except BatchRefused as error:
        json.dumps(error.detail)
        return error.code
    for rollout in batch.rollouts:
        assert len(rollout.ids) == len(rollout.mask) == len(rollout.sampler_logp)
        assert rollout.ids.min() >= 0 and rollout.ids.max() < fixtures.VOCAB
    return "accepted"


def honest_tokens(root: Path) -> bytes:
    return (fixtures.write_batch(root, "honest", ROLLOUTS, BASE, 0) / "tokens.safetensors").read_bytes()


HEADER_KEYS = ["dtype", "shape", "data_offsets"]
HEADER_JUNK = st.sampled_from(
    [
        "F8_E4M3",
        "BF16",
        "U64",
        "BOOL",
        "C64",
        "X",
        None,
        [],
        [0],
        [-1],
        [2**63],
        [2**31, 2**31],
        [2**64],
        [0, 0],
        [8, 4],
        [0, 2**63],
        [0.5],
        "1",
        {},
        True,
        [[1]],
        [1] * 1000,
    ]
)


@seed(3)
@FEW
@given(
    name=st.sampled_from(["ids", "loss_mask", "sampler_logp", "cu_seqlens", "__metadata__", "ids2"]),
    key=st.sampled_from(HEADER_KEYS),
    value=HEADER_JUNK,
)
def test_a_token_file_with_a_lying_header_is_refused(tmp_path_factory, name, key, value):
    root = tmp_path_factory.mktemp("tokens")
    whole = honest_tokens(root)
    (length,) = struct.unpack("<Q", whole[:8])
    header = json.loads(whole[8 : 8 + length])
    header.setdefault(name, dict(header["ids"]))[key] = value
    text = json.dumps(header).encode()
    assert load_tokens(root, struct.pack("<Q", len(text)) + text + whole[8 + length :]) != "accepted"


@seed(4)
@FEW
@given(
    at=st.integers(0, 400),
    junk=st.binary(max_size=12),
    drop=st.integers(0, 40),
    length=st.none() | st.integers(0, 2**64 - 1),
)
def test_a_bent_token_file_is_refused_or_in_order(tmp_path_factory, at, junk, drop, length):
    root = tmp_path_factory.mktemp("tokens")
    whole = honest_tokens(root)
    bent = whole[:at] + junk + whole[at + drop :]
    load_tokens(root, bent if length is None else struct.pack("<Q", length) + bent[8:])


@seed(5)
@FEW
@given(
    values=st.lists(st.sampled_from([np.nan, np.inf, -np.inf, -0.0, 1e-45, 3e38, -1e30, 0.0]), min_size=1, max_size=4)
)
def test_any_log_probability_is_carried_or_refused_and_never_lost_on_the_way(tmp_path_factory, values):
    rollouts = fixtures.make_rollouts(groups=1, size=2)
    claimed = rollouts[0].sampler_logp.copy()
    claimed[rollouts[0].mask.nonzero()[0][: len(values)]] = values[: int(rollouts[0].mask.sum())]
    rollouts[0] = fixtures.replace(rollouts[0], sampler_logp=claimed)
    root = tmp_path_factory.mktemp("logp")
    directory = fixtures.write_batch(root, "batch-1", rollouts, BASE, 0)
    batch = load_batch(directory, read_manifest(directory), LossSettings(), BASE, fixtures.VOCAB, 256)
    assert np.array_equal(batch.rollouts[0].sampler_logp, claimed, equal_nan=True)


def test_names_in_the_job_directory_that_are_no_batches_are_not_read(tmp_path):
    jobs = JobDirectory(tmp_path)
    for name in ["batch-1", "ok.2", ".hidden", "a.tmp", "-x", "x" * 129, "naïve", "a b", "a\nb", "..."]:
        (jobs.batches / name).mkdir()
    (jobs.batches / "file").write_text("")
    (jobs.batches / "link").symlink_to(tmp_path)
    assert jobs.batch_ids() == ["batch-1", "ok.2"]
    for name in ["step-0", "step-12", "step-012", "step--1", "step-9999999999", "step-1x", "step-²"]:
        (jobs.steps / name).mkdir()
    assert jobs.step_numbers() == [0, 12]


def step_content() -> dict:
    names = ["adapter/README.md", "adapter/adapter_config.json", "adapter/adapter_model.safetensors"]
    empty = hashlib.sha256(b"").hexdigest()
    return {
        "schema": 1,
        "step": 0,
        "batchId": None,
        "skipped": None,
        "consecutiveSkips": 0,
        "adapterStep": 0,
        "consumed": {"batch-1": 1},
        "warmStart": None,
        "baseSha256": BASE,
        "lora": {"rank": 16, "alpha": 32.0, "targetModules": list(LoraSettings().target_modules), "rsLora": False},
        "files": dict.fromkeys([*names, "adapter.gguf", "optimizer.safetensors", "rng.json"], empty),
    }


def read_step_bytes(root: Path, data: bytes) -> str:
    jobs = JobDirectory(root)
    path = jobs.step_path(0)
    (path / "adapter").mkdir(parents=True, exist_ok=True)
    for name in step_content()["files"]:
        (path / name).write_bytes(b"")
    (path / "step.json").write_bytes(data)
    try:
        record = read_step(jobs, 0, SimpleNamespace(sha256=BASE), LoraSettings())
    except TrainerError as error:
        assert error.code in ("step_corrupt", "resume_mismatch")
        return error.code
    assert record.step == 0 and all(isinstance(step, int) for step in record.consumed.values())
    return "accepted"


@seed(6)
@BOUNDED
@given(data=bent_text(step_content()))
def test_any_step_record_is_refused_with_its_code_or_in_order(tmp_path, data):
    read_step_bytes(tmp_path, data)


def test_the_unbent_step_record_is_accepted(tmp_path):
    assert read_step_bytes(tmp_path, json.dumps(step_content()).encode()) == "accepted"


def load_base_bytes(path: Path, data: bytes) -> str:
    path.write_bytes(data)
    try:
        load_base(path, sha256_file(path))
    except TrainerError as error:
        return error.code
    return "accepted"


@seed(7)
@settings(BOUNDED, max_examples=80)
@given(
    at=st.integers(0, 900) | st.integers(0, 3000),
    junk=st.binary(max_size=9) | st.sampled_from([b"\xff" * 8, b"\0" * 8, b"\xff" * 4, struct.pack("<Q", 2**40)]),
    keep=st.booleans(),
)
def test_a_bent_base_model_is_refused_in_time_with_a_code(tmp_path, base_path, at, junk, keep):
    whole = base_path.read_bytes()
    code = load_base_bytes(tmp_path / "bent.gguf", whole[:at] + junk + whole[at + (0 if keep else len(junk)) :])
    assert code == "accepted" or code.startswith("base_")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("attention.head_count", 0),
        ("attention.head_count", 2**31),
        ("block_count", 2**31),
        ("block_count", 0),
        ("embedding_length", 0),
        ("context_length", 0),
        ("attention.head_count_kv", 0),
        ("feed_forward_length", 2**32 - 1),
    ],
)
def test_a_base_model_with_an_impossible_shape_is_refused(tmp_path, base_path, key, value):
    whole = base_path.read_bytes()
    name = f"qwen3.{key}".encode()
    at = whole.index(struct.pack("<Q", len(name)) + name) + 8 + len(name) + 4
    bent = whole[:at] + struct.pack("<I", value) + whole[at + 4 :]
    assert load_base_bytes(tmp_path / "bent.gguf", bent) == "base_invalid"


def test_a_list_that_claims_more_than_the_file_holds_is_refused_at_once(tmp_path):
    head = b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", 1) + b"k"
    for kind in (4, 8, 12):
        data = head + struct.pack("<IIQ", 9, kind, 2**60) + b"\0" * 64
        assert load_base_bytes(tmp_path / "bent.gguf", data) == "base_unreadable"
    assert load_base_bytes(tmp_path / "bent.gguf", b"GGUF" + struct.pack("<IQQ", 3, 2**60, 2**60)) == "base_unreadable"


def test_an_adapter_that_is_no_gguf_is_refused_by_the_check_of_the_export(tmp_path):
    for data in [b"", b"GGUF", b"\xff" * 200]:
        (tmp_path / "adapter.gguf").write_bytes(data)
        with pytest.raises(TrainerError) as caught:
            read_gguf_lora(tmp_path / "adapter.gguf")
        assert caught.value.code == "export_check_failed"

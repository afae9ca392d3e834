"""Copies of a GGUF as the base of a run: bytes, types, weights, templates, and what happens when copying fails."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import gguf
import numpy as np
import pytest
import torch
from prove_trainer import gguf_copy
from prove_trainer.errors import TrainerError
from prove_trainer.gguf_base import build_model, load_base
from prove_trainer.gguf_copy import write_gguf
from prove_trainer.jobs import sha256_file
from test_architectures import VOCAB
from test_architectures import write_gguf as write_model

TRAINER = Path(gguf_copy.__file__).parents[1]
Kind = gguf.GGMLQuantizationType
IDS = torch.arange(30)[None] * 11 % VOCAB


def published(path: Path) -> Path:
    """A quantised llama of Llama 3's scaling, with a template and a list."""

    def keys(writer):
        writer.add_name("Published")
        writer.add_chat_template("old")
        writer.add_array("general.languages", ["en"])
        writer.add_uint32("general.alignment", 64)
        writer.data_alignment = 64

    return write_model(path, "llama3", keys, quantised=True)


def logits(path: Path):
    with torch.no_grad():
        return build_model(load_base(path, sha256_file(path)))(input_ids=IDS).logits


def types(path: Path) -> set[Kind]:
    return {tensor.tensor_type for tensor in gguf.GGUFReader(path).tensors if len(tensor.shape) > 1}


def values(path: Path) -> dict:
    fields = gguf.GGUFReader(path).fields
    return {key: field.contents() for key, field in fields.items() if not key.startswith("GGUF.")}


def test_a_copy_in_float16_is_the_same_model_with_the_same_metadata(tmp_path):
    source = published(tmp_path / "in.gguf")
    write_gguf(source, tmp_path / "out.gguf")
    assert types(source) == {Kind.Q8_0} and types(tmp_path / "out.gguf") == {Kind.F16}
    # Scales of q8_0 times integers need more bits than float16 has.
    assert (logits(source) - logits(tmp_path / "out.gguf")).abs().max() < 0.05
    wanted = values(source) | {"general.file_type": int(gguf.LlamaFileType.MOSTLY_F16)}
    del wanted["general.alignment"]
    assert values(tmp_path / "out.gguf") == wanted


def test_equal_inputs_give_equal_bytes_in_any_process(tmp_path):
    source = published(tmp_path / "in.gguf")
    write_gguf(source, tmp_path / "one.gguf", template="new")
    code = "import sys; from pathlib import Path; from prove_trainer.gguf_copy import write_gguf; "
    code += "write_gguf(Path(sys.argv[1]), Path(sys.argv[2]), template='new')"
    command = [sys.executable, "-c", code, str(source), str(tmp_path / "two.gguf")]
    subprocess.run(command, cwd=TRAINER, check=True)
    assert (tmp_path / "one.gguf").read_bytes() == (tmp_path / "two.gguf").read_bytes()


def test_kept_types_and_another_template(tmp_path):
    source = published(tmp_path / "in.gguf")
    write_gguf(source, tmp_path / "out.gguf", "keep", "new")
    assert types(tmp_path / "out.gguf") == {Kind.Q8_0}
    assert values(tmp_path / "out.gguf")["tokenizer.chat_template"] == "new"
    assert torch.equal(logits(source), logits(tmp_path / "out.gguf"))


def test_replaced_weights_are_those_of_the_copy(tmp_path):
    source = published(tmp_path / "in.gguf")
    name = "blk.1.ffn_up.weight"
    other = np.full((96, 64), 0.125, np.float32)
    write_gguf(source, tmp_path / "out.gguf", replaced={name: other})
    found = {tensor.name: tensor.data for tensor in gguf.GGUFReader(tmp_path / "out.gguf").tensors}
    assert np.array_equal(found[name], other.astype(np.float16))


@pytest.mark.parametrize(
    ("kind", "replaced", "words"),
    [
        ("f16", {"blk.9.ffn_up.weight": np.zeros((96, 64))}, "no tensor blk.9"),
        ("f16", {"blk.1.ffn_up.weight": np.zeros((64, 96))}, "has the shape"),
        ("f16", {"blk.1.ffn_up.weight": np.full((96, 64), np.nan)}, "not finite"),
        ("f16", {"blk.1.ffn_up.weight": np.full((96, 64), 1e5)}, "beyond the range of float16"),
        ("keep", {"blk.1.ffn_up.weight": np.zeros((96, 64))}, "quantised again"),
    ],
)
def test_weights_that_cannot_be_written_are_refused_and_leave_nothing(tmp_path, kind, replaced, words):
    source = published(tmp_path / "in.gguf")
    with pytest.raises(TrainerError, match=words):
        write_gguf(source, tmp_path / "out.gguf", kind, replaced=replaced)
    assert os.listdir(tmp_path) == ["in.gguf"]


def test_a_stop_in_the_middle_leaves_nothing(tmp_path):
    source = published(tmp_path / "in.gguf")
    seen = []

    def check():
        if len(seen) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_gguf(source, tmp_path / "out.gguf", check=check, tell=lambda done, of: seen.append((done, of)))
    assert os.listdir(tmp_path) == ["in.gguf"] and seen[-1][0] == 3


def test_a_disk_without_room_is_refused_before_anything_is_written(tmp_path, monkeypatch):
    source = published(tmp_path / "in.gguf")
    monkeypatch.setattr(gguf_copy.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 100})())
    with pytest.raises(TrainerError, match="disk_full: the file needs"):
        write_gguf(source, tmp_path / "out.gguf")
    assert os.listdir(tmp_path) == ["in.gguf"]


def run(*arguments: object) -> tuple[int, list[dict]]:
    command = [sys.executable, "-m", "prove_trainer.prepare_base", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=TRAINER, check=False)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


def test_the_program_reports_the_hash_the_types_and_the_memory(tmp_path):
    source = published(tmp_path / "in.gguf")
    template = tmp_path / "t.jinja"
    template.write_text("ü", encoding="utf-8")
    out = tmp_path / "out.gguf"
    status, events = run("--source", source, "--out", out, "--draft", tmp_path / "draft", "--template", template)
    report = events[-1]
    assert status == 0 and report["event"] == "prepared"
    assert report["sha256"] == hashlib.sha256(out.read_bytes()).hexdigest()
    assert report["bytes"] == out.stat().st_size and set(report["types"]) == {"F16", "F32"}
    assert values(out)["tokenizer.chat_template"] == "ü"
    costs = report["memory"]
    assert costs["bfloat16"]["baseBytes"] < costs["float32"]["baseBytes"]
    assert all(value > 0 for value in costs["float32"].values())


def test_the_program_refuses_what_the_trainer_cannot_train(tmp_path):
    source = write_model(tmp_path / "in.gguf", "llama", lambda writer: writer.add_rope_scaling_attn_factors(2.0))
    status, events = run("--source", source, "--out", tmp_path / "out.gguf", "--draft", tmp_path / "draft")
    assert status == 1 and events[-1]["code"] == "base_unsupported"
    assert os.listdir(tmp_path) == ["in.gguf"]

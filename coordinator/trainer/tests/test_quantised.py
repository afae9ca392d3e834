"""
Bases as volunteers with little memory run them: quantised by llama.cpp itself, and dequantised by the trainer.

    PYTHONPATH=coordinator/trainer python coordinator/trainer/tests/test_quantised.py FOLDER

writes a random model in each of these types with a vocabulary, and what the trainer says of some tokens under it, for
test/proc/quantised.test.ts.
"""

import json
import subprocess
import sys
from pathlib import Path

import gguf
import numpy as np
import pytest
from engine_library import dequantised, quantise
from prove_trainer.canary import default_canary, score_canaries
from prove_trainer.config import LoraSettings
from prove_trainer.gguf_base import hugging_face_name, load_base
from prove_trainer.jobs import sha256_file
from prove_trainer.policy import new_policy

Kind = gguf.GGMLQuantizationType
FILE_TYPES = {"q8_0": gguf.LlamaFileType.MOSTLY_Q8_0, "q4_k_m": gguf.LlamaFileType.MOSTLY_Q4_K_M}
#: Of the matrices: q4_K_M keeps some of the layers in more bits.
KINDS = {"q8_0": {Kind.Q8_0}, "q4_k_m": {Kind.Q4_K, Kind.Q6_K}}
MAKER = Path(__file__).parents[3] / "test/fixtures/make_tiny_gguf.py"
#: K quants are blocks of 256 numbers, and heads of 32 fit a quantised cache.
SHAPE = ["--layers", "2", "--hidden", "256", "--heads", "8", "--kv-heads", "2", "--head-dim", "32", "--ffn", "256"]


def write_models(folder: Path) -> dict[str, Path]:
    subprocess.run([sys.executable, str(MAKER), str(folder), *SHAPE], check=True, stdout=subprocess.DEVNULL)
    plain = folder / "base.gguf"
    return {
        "f16": plain,
        **{name: quantise(plain, folder / f"{name}.gguf", kind) for name, kind in FILE_TYPES.items()},
    }


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    return write_models(tmp_path_factory.mktemp("models"))


@pytest.mark.parametrize("name", FILE_TYPES)
def test_the_trainers_weights_are_llama_cpps_own_of_the_same_file(models, name):
    base = load_base(models[name], sha256_file(models[name]))
    matrices = [tensor for tensor in gguf.GGUFReader(models[name]).tensors if len(tensor.shape) == 2]
    assert {tensor.tensor_type for tensor in matrices} == KINDS[name]
    for tensor in matrices:
        ours = base.tensors[hugging_face_name(tensor.name, "qwen3")].numpy()
        assert np.array_equal(ours.ravel(), dequantised(tensor)), tensor.name


def main(folder: Path) -> None:
    """One file per type, and scores.json: by type what the trainer says of the same tokens under it."""
    canary = default_canary(352, 200)
    models = write_models(folder)
    scores = {}
    for name, path in models.items():
        policy = new_policy(load_base(path, sha256_file(path)), LoraSettings(rank=1), 0, None, None)
        scores[name] = score_canaries(policy, [canary], 1.0)[0]
    tokens = [*canary.prompt, *canary.continuation]
    (folder / "scores.json").write_text(json.dumps({"tokens": tokens, "from": len(canary.prompt), "scores": scores}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

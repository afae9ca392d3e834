import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from prove_trainer import device_check

CPU = torch.device("cpu")


def test_a_device_that_computes_as_the_cpu_does_has_its_gradient(base_path):
    reference, found = device_check.compare(base_path, CPU, ["float32"])
    assert reference.gradient.norm() > 0
    assert device_check.distance(found["float32"].gradient, reference.gradient) == 0


@pytest.mark.parametrize("precision", ["bfloat16", "float16"])
def test_one_that_rounds_to_16_bits_passes_for_these_and_not_for_float32(base_path, precision):
    reference, found = device_check.compare(base_path, CPU, [precision])
    apart = device_check.distance(found[precision].gradient, reference.gradient)
    assert device_check.BOUNDS["float32"] < apart < device_check.BOUNDS[precision]


def test_numbers_that_are_none_are_too_far_off_and_can_be_written_as_json():
    reference = torch.ones(3, dtype=torch.float64)
    assert device_check.BOUNDS["bfloat16"] < device_check.distance(reference * float("nan"), reference) < float("inf")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_it_says_so(base_path):
    done = subprocess.run(
        [sys.executable, "-m", "prove_trainer.device_check", "--base", str(base_path)],
        cwd=Path(device_check.__file__).parents[1],
        capture_output=True,
        check=True,
        timeout=300,
    )
    assert "no CUDA device" in json.loads(done.stdout)["lacks"]

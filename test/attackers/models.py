"""The models of dishonest nodes: the base with noise on its weights, and a small random adapter."""

import argparse
from pathlib import Path

import gguf
import numpy as np
import torch
from prove_trainer.config import LoraSettings, load_config
from prove_trainer.distributed import join_ranks
from prove_trainer.gguf_base import load_base
from prove_trainer.gguf_lora import write_gguf_lora
from prove_trainer.jobs import JobDirectory, sha256_file
from prove_trainer.policy import Policy, new_policy
from prove_trainer.warm_start import write_first_step


def noisy_copy(source: Path, target: Path, share: float) -> None:
    """Adds noise of `share` of each matrix's standard deviation, in place of the stored float16 numbers."""
    data = bytearray(source.read_bytes())
    rng = np.random.default_rng(0)
    for tensor in gguf.GGUFReader(source).tensors:
        if tensor.tensor_type != gguf.GGMLQuantizationType.F16:
            continue
        values = np.frombuffer(data, np.float16, tensor.n_elements, tensor.data_offset)
        wrong = values + rng.normal(0, share * values.astype(np.float32).std(), len(values))
        start = int(tensor.data_offset)
        data[start : start + 2 * len(values)] = wrong.astype(np.float16).tobytes()
    target.write_bytes(data)


def randomise(policy: Policy, size: float) -> None:
    """B's entries get the standard deviation `size`, instead of 0; A's stay as training begins with them."""
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for name, parameter in policy.adapter_parameters():
            if ".lora_B." in name:
                parameter.copy_(torch.randn(parameter.shape, generator=generator) * size)


def random_adapter(source: Path, target: Path, size: float) -> None:
    """Rank 8 on all projections."""
    base = load_base(source, sha256_file(source))
    lora = LoraSettings(rank=8, alpha=16)
    policy = new_policy(base, lora, 0, None, None)
    randomise(policy, size)
    tensors = {name: parameter.detach().numpy() for name, parameter in policy.adapter_parameters()}
    write_gguf_lora(target, tensors, lora, base.row_order)


def first_step(source: Path, jobs: Path, settings: Path, size: float) -> None:
    """
    Step 0 of a run whose first adapter is random: with the usual one, which changes nothing, leaving it out would be
    no cheat. Made by the trainer's own code, so that the trainer goes on from it.
    """
    config = load_config(settings)
    base = load_base(source, config.base_sha256)
    torch.manual_seed(config.seed)
    policy = new_policy(base, config.lora, config.seed, config.base_name, config.base_revision)
    randomise(policy, size)
    write_first_step(JobDirectory(jobs), policy, base, config, join_ranks(config.device), None)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("base", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--noise", type=float, required=True)
    parser.add_argument("--adapter-size", type=float, required=True)
    parser.add_argument("--jobs", type=Path, help="also write step 0 of a run there, for the settings of --config")
    parser.add_argument("--config", type=Path, help="trainer.json")
    args = parser.parse_args()
    noisy_copy(args.base, args.folder / "noisy.gguf", args.noise)
    if args.jobs:
        first_step(args.base, args.jobs, args.config, args.adapter_size)
    else:
        random_adapter(args.base, args.folder / "adapter.gguf", args.adapter_size)

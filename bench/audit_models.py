"""The models of dishonest nodes: the base with noise on its weights, and a small random adapter to leave out."""

import argparse
from pathlib import Path

import gguf
import numpy as np
import torch
from prove_trainer.config import LoraSettings
from prove_trainer.gguf_base import load_base
from prove_trainer.gguf_lora import write_gguf_lora
from prove_trainer.policy import new_policy
from prove_trainer.spool import sha256_file


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


def random_adapter(source: Path, target: Path, size: float) -> None:
    """Rank 8 on all projections. B's entries have the standard deviation `size`, A's are as training begins with them."""
    base = load_base(source, sha256_file(source))
    lora = LoraSettings(rank=8, alpha=16)
    policy = new_policy(base, lora, 0, None, None)
    generator = torch.Generator().manual_seed(0)
    tensors = {}
    for name, parameter in policy.adapter_parameters():
        values = parameter.detach()
        if ".lora_B." in name:
            values = torch.randn(values.shape, generator=generator) * size
        tensors[name] = values.numpy()
    write_gguf_lora(target, tensors, lora, base.architecture)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("base", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--noise", type=float, required=True)
    parser.add_argument("--adapter-size", type=float, required=True)
    args = parser.parse_args()
    noisy_copy(args.base, args.folder / "noisy.gguf", args.noise)
    random_adapter(args.base, args.folder / "adapter.gguf", args.adapter_size)

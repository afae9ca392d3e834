"""The policy as volunteers run it: the base with an adapter read from the GGUF file they loaded."""

from pathlib import Path

import numpy as np
import torch

from .architectures import RowOrder
from .config import PROJECTIONS, LoraSettings
from .errors import BatchRefused
from .gguf_base import Base
from .gguf_lora import gguf_name, read_gguf_lora
from .jobs import sha256_file
from .limits import MAX_RANK
from .policy import Policy, new_policy


def _read(path: Path, expected_sha256: str) -> tuple[dict[str, np.ndarray], float]:
    try:
        actual = sha256_file(path)
    except OSError as error:
        raise BatchRefused("adapter_unreadable", f"{path.name}: {error.strerror}") from error
    if actual != expected_sha256:
        raise BatchRefused("adapter_hash_mismatch", f"{path.name} is {actual}")
    try:
        return read_gguf_lora(path)
    except Exception as error:  # the reader raises whatever numpy or struct met first in a malformed file
        raise BatchRefused("adapter_invalid", f"{path.name}: {error}") from error


def bare_policy(base: Base) -> Policy:
    """Return the base model alone, as a policy whose adapter adds exactly zero."""
    return new_policy(base, LoraSettings(rank=1, alpha=1), 0, None, None)


def published_policy(base: Base, path: Path, expected_sha256: str) -> Policy:
    """
    Return base and the adapter in `path` as a policy. The tensors keep the stored precision: float16 for the trainer's.

    Raises BatchRefused `adapter_unreadable`, `adapter_hash_mismatch`, `adapter_invalid`, `adapter_unsupported`.
    """
    stored, alpha = _read(path, expected_sha256)
    ranks = {values.shape[0] for name, values in stored.items() if name.endswith(".lora_a") and values.ndim == 2}
    if len(ranks) != 1 or not 1 <= (rank := int(ranks.pop())) <= MAX_RANK or not 0 < alpha < 1e6:
        raise BatchRefused("adapter_unsupported", f"{path.name} is not plain LoRA of one rank up to {MAX_RANK}")
    # llama.cpp scales by alpha / rank whatever the adapter was trained with.
    modules = tuple(module for module in PROJECTIONS if any(f".{_stored_as(module)}." in name for name in stored))
    if not modules:
        raise BatchRefused("adapter_unsupported", f"{path.name} adapts no projection")
    policy = new_policy(base, LoraSettings(rank, alpha, modules), 0, None, None)
    tensors = _match(stored, policy, base.row_order, path.name)
    with torch.no_grad():
        for name, parameter in policy.adapter_parameters():
            parameter.copy_(tensors[name])
    return policy


def published_adapter(base: Base, policy: Policy, path: Path, expected_sha256: str) -> dict[str, torch.Tensor]:
    """
    Read the adapter in `path` as volunteers load it, for `Policy.under` of this policy.

    Raises the errors of `published_policy`.
    """
    return _match(_read(path, expected_sha256)[0], policy, base.row_order, path.name)


def _match(stored: dict[str, np.ndarray], policy: Policy, order: RowOrder, where: str) -> dict[str, torch.Tensor]:
    """Return the tensors by the policy's names and in its order of rows, float32."""
    parameters = {gguf_name(name): (name, parameter) for name, parameter in policy.adapter_parameters()}
    if set(parameters) != set(stored):
        raise BatchRefused("adapter_unsupported", f"{where} does not adapt the same modules in every layer")
    found = {}
    for name, (own, parameter) in parameters.items():
        values = stored[name]
        if values.dtype.type not in (np.float16, np.float32) or values.shape != tuple(parameter.shape):
            raise BatchRefused("adapter_unsupported", f"{name} is {values.dtype} {list(values.shape)}")
        if not np.isfinite(values).all():
            raise BatchRefused("adapter_invalid", f"{name} holds a non-finite weight")
        found[own] = torch.from_numpy(order.read(name, values.astype(np.float32)))
    return found


def _stored_as(module: str) -> str:
    owner = "self_attn" if module in ("q_proj", "k_proj", "v_proj", "o_proj") else "mlp"
    name = gguf_name(f"base_model.model.model.layers.0.{owner}.{module}.lora_A.weight")
    return name.split(".")[2]

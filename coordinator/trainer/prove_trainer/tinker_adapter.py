"""The adapter in a service's archive, which is hostile until it has been read: nothing of it is put on disk."""

import io
import json
import tarfile
import zlib
from collections.abc import Mapping
from pathlib import PurePosixPath

import torch
from safetensors import SafetensorError
from safetensors.torch import load

from .config import LoraSettings
from .errors import TrainerError
from .limits import SERVICE_ARCHIVE_FILES, SERVICE_ARCHIVE_SLACK

_WEIGHTS = "adapter_model.safetensors"
_CONFIG = "adapter_config.json"
_PREFIX = "base_model.model."  # of PEFT's names
_GZIP = b"\x1f\x8b"
_KINDS = (torch.float32, torch.float16, torch.bfloat16)


def _refused(detail: str) -> TrainerError:
    return TrainerError("service_adapter", f"the service's adapter is refused: {detail}")


def most_bytes(shapes: Mapping[str, torch.Size]) -> int:
    """Of an archive with tensors of these shapes."""
    return 4 * sum(shape.numel() for shape in shapes.values()) + SERVICE_ARCHIVE_SLACK


def _unpacked(archive: bytes, limit: int) -> bytes:
    if not archive.startswith(_GZIP):
        return archive
    # Before any of it is understood: a header, too, may be as long as it says.
    unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)  # of gzip
    try:
        unpacked = unpacker.decompress(archive, limit + 1)
    except zlib.error as error:
        raise _refused("no archive: it cannot be unpacked") from error
    if len(unpacked) > limit or not unpacker.eof:
        raise _refused(f"it is cut off, or unpacks to more than {limit} bytes")
    return unpacked


def _files(archive: bytes, limit: int) -> dict[str, bytes]:
    """
    The two files that count. Links, paths that lead elsewhere, and more than `limit` bytes are refused, packed or not.
    """
    found: dict[str, bytes] = {}
    left = limit
    try:
        with tarfile.open(fileobj=io.BytesIO(_unpacked(archive, limit)), mode="r:") as tar:
            for number, member in enumerate(tar):
                path = PurePosixPath(member.name)
                if path.is_absolute() or ".." in path.parts or not (member.isfile() or member.isdir()):
                    raise _refused("it has a link, a device or a path that leads out of it")
                left -= member.size
                if number >= SERVICE_ARCHIVE_FILES or left < 0:
                    raise _refused(f"it has more than {SERVICE_ARCHIVE_FILES} files or {limit} bytes")
                name = str(path)
                if member.isfile() and name in (_WEIGHTS, _CONFIG):
                    file = tar.extractfile(member)
                    if file is None or name in found:
                        raise _refused(f"{name} is twice in it")
                    found[name] = file.read()
    except (tarfile.TarError, OSError, EOFError, ValueError) as error:
        raise _refused(f"no archive: {type(error).__name__}") from error
    missing = {_WEIGHTS, _CONFIG} - set(found)
    if missing:
        raise _refused(f"without {', '.join(sorted(missing))}")
    return found


def _check_config(content: bytes, lora: LoraSettings) -> None:
    try:
        config = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise _refused(f"{_CONFIG} is no JSON") from error
    if not isinstance(config, dict):
        raise _refused(f"{_CONFIG} is no object")
    rank, alpha = config.get("r"), config.get("lora_alpha")
    if rank != lora.rank:
        raise _refused(f"rank {str(rank)[:20]}, config.lora.rank is {lora.rank}")
    if isinstance(alpha, bool) or not isinstance(alpha, (int, float)) or alpha != lora.alpha:
        raise _refused(f"alpha {str(alpha)[:20]}, config.lora.alpha is {lora.alpha:g}; a service chooses its own")
    modules = config.get("target_modules")
    if isinstance(modules, list) and sorted(map(str, modules)) != sorted(lora.target_modules):
        raise _refused("target_modules are not those of config.lora.targetModules")
    if any(config.get(name) for name in ("use_rslora", "use_dora", "rank_pattern", "alpha_pattern", "modules_to_save")):
        raise _refused("it is not plain LoRA of one rank")


def read_adapter(archive: bytes, shapes: Mapping[str, torch.Size], lora: LoraSettings) -> dict[str, torch.Tensor]:
    """
    The tensors of a service's archive under PEFT's names, float32, which may hold numbers that are not finite.
    `shapes` are those of the adapter that it has to be.

    Raises TrainerError `service_adapter`.
    """
    files = _files(archive, most_bytes(shapes))
    _check_config(files[_CONFIG], lora)
    try:
        tensors = load(files[_WEIGHTS])
    except (SafetensorError, ValueError, RuntimeError) as error:
        raise _refused(f"{_WEIGHTS} is no safetensors") from error
    named = {_PREFIX + name.removeprefix(_PREFIX): values for name, values in tensors.items()}
    if len(named) != len(tensors) or set(named) != set(shapes):
        odd = sorted(set(named) ^ set(shapes))[:1]
        raise _refused(f"it does not adapt what config.lora names; for one: {', '.join(odd)[:120]}")
    for name, values in named.items():
        if values.dtype not in _KINDS or values.shape != shapes[name]:
            raise _refused(f"{name} is {values.dtype} {list(values.shape)}, not {list(shapes[name])}")
    return {name: values.float() for name, values in named.items()}

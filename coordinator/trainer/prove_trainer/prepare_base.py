"""
Prepares a published GGUF as the base of a run. Prints events as JSON lines.

    python -m prove_trainer.prepare_base --source PUBLISHED.gguf --out BASE.gguf --draft BASE.gguf.tmp

Without `--out`, the file is only examined.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import torch

from .architectures import ARCHITECTURES
from .config import LoraSettings
from .errors import TrainerError
from .events import Events, claim_stdout
from .gguf_base import Base, BaseFile, open_base, placed
from .gguf_copy import KINDS, write_gguf
from .jobs import sha256_file
from .lifetime import Lifetime, Stopped
from .memory import count

PRECISIONS = ("float32", "bfloat16")
_META = torch.device("meta")


def memory_of(file: BaseFile) -> dict[str, Any]:
    """Return the bytes of a training step by precision, with a LoRA adapter of the default rank."""
    with torch.device("meta"):
        # The classes of all architectures take their configuration.
        state = ARCHITECTURES[file.architecture].model(file.config).state_dict()
    found = {}
    for precision in PRECISIONS:
        tensors = {name: placed(state[name], _META, precision) for name in file.names}
        costs = count(Base(file.architecture, "", file.config, tensors, precision), LoraSettings())
        found[precision] = {
            "baseBytes": costs.base,
            "adapterBytes": costs.adapter,
            "fixedBytes": round(costs.checkpointed.fixed),
            "bytesPerToken": round(costs.checkpointed.token),
        }
    return found


def prepare(arguments: argparse.Namespace, events: Events, lifetime: Lifetime) -> None:
    """Check the source as the trainer does, copy it if there is an `out`, and report what the result is."""
    source: Path = arguments.source
    file = open_base(source)
    if arguments.out is not None:
        template = None if arguments.template is None else arguments.template.read_text(encoding="utf-8")
        write_gguf(
            source,
            arguments.out,
            arguments.kind,
            template,
            draft=arguments.draft,
            check=lifetime.check,
            tell=lambda done, of: events.emit("progress", done=done, of=of),
        )
        source = arguments.out
        file = open_base(source)
    types = Counter(tensor.tensor_type.name for tensor in file.reader.tensors)
    events.emit(
        "prepared",
        sha256=sha256_file(source),
        bytes=source.stat().st_size,
        types=dict(types),
        memory=memory_of(file),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--draft", type=Path)
    parser.add_argument("--kind", choices=KINDS, default="f16")
    parser.add_argument("--template", type=Path)
    parser.add_argument("--parent-pid", type=int)
    arguments = parser.parse_args()
    events = claim_stdout(0)

    def orphaned() -> None:
        if arguments.draft is not None:
            arguments.draft.unlink(missing_ok=True)

    lifetime = Lifetime(arguments.parent_pid, orphaned)
    try:
        prepare(arguments, events, lifetime)
    except Stopped as stopped:
        events.emit("stopped", reason=stopped.reason)
        sys.exit(1)
    except TrainerError as error:
        events.emit("error", code=error.code, message=error.detail)
        sys.exit(1)


if __name__ == "__main__":
    main()

"""The weights of a base model in its GGUF file, dequantised one tensor, or some rows, at a time."""

from collections.abc import Mapping
from dataclasses import dataclass

import gguf
import torch

from .architectures import RowOrder


@dataclass(frozen=True)
class StoredWeights:
    """Tensors of an open GGUF file by their Hugging Face names. The file is mapped, so it takes no memory itself."""

    tensors: Mapping[str, gguf.ReaderTensor]
    order: RowOrder

    def name(self, name: str) -> str:
        """Return the name of a tensor in the file."""
        return self.tensors[name].name

    def weight(self, name: str) -> torch.Tensor:
        """Return a whole weight, float32, with its rows in the order of transformers."""
        return self.order.read(self.name(name), self._dequantised(name, slice(None)))

    def rows(self, name: str, rows: torch.Tensor | slice) -> torch.Tensor:
        """Return some rows of the embedding or the head, float32."""
        return self._dequantised(name, rows if isinstance(rows, slice) else rows.numpy())

    def _dequantised(self, name: str, rows: object) -> torch.Tensor:
        tensor = self.tensors[name]
        values = gguf.quants.dequantize(tensor.data[rows], tensor.tensor_type)
        return torch.from_numpy(values.astype("float32", copy=True))

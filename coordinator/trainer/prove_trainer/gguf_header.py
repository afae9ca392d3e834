"""
Check of a GGUF header before gguf-py reads it: that reader would walk a list of 2^60 entries to its end, whatever the
size of the file.
"""

import struct
from pathlib import Path
from typing import BinaryIO

MAX_KEYS = 4_096
MAX_TENSORS = 65_536
MAX_LIST = 4 * 2**20
MAX_STRING = 2**20
MAX_DIMENSIONS = 4
_STRING, _LIST = 8, 9
_WIDTH = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}


class _Cursor:
    def __init__(self, file: BinaryIO, size: int) -> None:
        self.file = file
        self.left = size

    def take(self, count: int) -> bytes:
        if count > self.left:
            raise ValueError("the file ends within its header")
        self.left -= count
        return self.file.read(count)

    def skip(self, count: int) -> None:
        if count > self.left:
            raise ValueError("the file ends within its header")
        self.left -= count
        self.file.seek(count, 1)

    def u32(self) -> int:
        return struct.unpack("<I", self.take(4))[0]

    def count(self, most: int, what: str) -> int:
        value = struct.unpack("<Q", self.take(8))[0]
        if value > most:
            raise ValueError(f"{what}: {value}, at most {most}")
        return value

    def value(self, kind: int) -> None:
        if kind == _STRING:
            self.skip(self.count(MAX_STRING, "a text"))
        elif kind in _WIDTH:
            self.skip(_WIDTH[kind])
        else:
            raise ValueError(f"a value of the unknown type {kind}")


def check_header(path: Path) -> None:
    """
    Check metadata and tensor table within bounds. Raises ValueError that names the fault, and OSError.
    """
    with path.open("rb") as file:
        cursor = _Cursor(file, path.stat().st_size)
        if cursor.take(4) != b"GGUF":
            raise ValueError("the file is not a GGUF file")
        if cursor.u32() not in (2, 3):
            raise ValueError("only GGUF versions 2 and 3 are read")
        tensors = cursor.count(MAX_TENSORS, "tensors")
        for _ in range(cursor.count(MAX_KEYS, "metadata keys")):
            cursor.skip(cursor.count(MAX_STRING, "a key"))
            kind = cursor.u32()
            if kind != _LIST:
                cursor.value(kind)
                continue
            element = cursor.u32()
            entries = cursor.count(MAX_LIST, "entries of a list")
            if element in _WIDTH:
                cursor.skip(entries * _WIDTH[element])
            else:
                for _ in range(entries):
                    cursor.value(element)
        for _ in range(tensors):
            cursor.skip(cursor.count(MAX_STRING, "a tensor's name"))
            dimensions = cursor.u32()
            if not 1 <= dimensions <= MAX_DIMENSIONS:
                raise ValueError(f"a tensor of {dimensions} dimensions")
            cursor.skip(8 * dimensions + 4 + 8)

"""What an Arrow file unpacks to, by what it says of itself, before anything is unpacked.

A file ends in a footer that names its batches; each batch lists its buffers, and a packed buffer
begins with the length that it unpacks to. All of it is written as flatbuffers, of which only the
few fields that are needed here are followed (Arrow's ``File.fbs`` and ``Message.fbs``).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

_MAGIC = b"ARROW1"
_DICTIONARY = 2  # kind of a message whose batch lies one table deeper


def unpacked(held: bytes) -> int | None:
    """Return how many bytes the buffers of a file take in memory; None if it cannot be told."""
    try:
        return sum(_batch(held, start) for start in _batches(held))
    except (struct.error, ValueError, IndexError):
        return None  # damaged: whoever reads it says what is wrong with it


def _batches(held: bytes) -> Iterator[int]:
    """Yield where the batches begin, those of dictionaries too."""
    if held[-len(_MAGIC) :] != _MAGIC:
        raise ValueError
    tail = len(held) - len(_MAGIC) - 4
    footer = _table(held, tail - _number(held, "<i", tail))
    for field in (2, 3):
        offset = _field(held, footer, field)
        if offset is not None:
            vector = _table(held, offset)
            for i in range(_number(held, "<I", vector)):
                yield _number(held, "<q", vector + 4 + 24 * i)


def _batch(held: bytes, start: int) -> int:
    """Return what the buffers of one batch unpack to."""
    begin = start + 8 if _number(held, "<I", start) == 0xFFFFFFFF else start + 4
    body = begin + _number(held, "<i", begin - 4)
    message = _table(held, begin)
    kind, header = _field(held, message, 1), _field(held, message, 2)
    if kind is None or header is None:
        raise ValueError
    batch = _table(held, header)
    if held[kind] == _DICTIONARY:
        deeper = _field(held, batch, 1)
        if deeper is None:
            raise ValueError
        batch = _table(held, deeper)
    listed, packed = _field(held, batch, 2), _field(held, batch, 3) is not None
    if listed is None:
        return 0
    vector, total = _table(held, listed), 0
    for i in range(_number(held, "<I", vector)):
        offset, length = struct.unpack_from("<qq", held, vector + 4 + 16 * i)
        # A length below zero says that packing did not help, and the buffer was left as it was.
        size = _number(held, "<q", body + offset) if packed and length else -1
        total += max(size, length) if size < 0 else size
    return total


def _number(held: bytes, form: str, offset: int) -> int:
    if offset < 0:
        raise ValueError
    (number,) = struct.unpack_from(form, held, offset)
    return int(number)


def _table(held: bytes, offset: int) -> int:
    """Follow an offset to a table or vector."""
    return offset + _number(held, "<I", offset)


def _field(held: bytes, table: int, number: int) -> int | None:
    """Return where a field of a table lies, None if it is left out."""
    layout = table - _number(held, "<i", table)
    if 4 + 2 * number >= _number(held, "<H", layout):
        return None
    inside = _number(held, "<H", layout + 4 + 2 * number)
    return table + inside if inside else None

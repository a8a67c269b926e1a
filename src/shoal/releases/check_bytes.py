"""Check that the memory of a release holds nothing but its cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl

from shoal.base.partition import Bools

_INLINE = 12  # bytes of a text that stand in its view


def foreign_bytes(tables: Mapping[str, pl.DataFrame]) -> tuple[str, ...]:
    """Name the columns whose memory holds what no cell says, or in an order of its own."""
    return tuple(
        f"Column {column.name!r} holds {what} in its memory: writing it to a file would "
        "publish that."
        for frame in tables.values()
        for column in frame
        for what in dict.fromkeys(_held(column))
    )


def _held(column: pl.Series) -> Iterator[str]:
    if isinstance(column.dtype, pl.Enum):
        if column.drop_nulls().n_unique() < len(column.dtype.categories):
            yield "categories that no cell has"
        return
    if column.dtype in (pl.Categorical, pl.Object):
        return
    table: Any = column.to_frame().to_arrow(compat_level=pl.CompatLevel.newest())
    for array in table.column(0).chunks:
        yield from _inside(array)


def _inside(array: Any) -> Iterator[str]:
    """Look into an Arrow array and what is nested in it."""
    import pyarrow as pa

    kind = array.type
    gaps = _gaps(array)
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        yield from _texts(array, gaps)
    elif pa.types.is_large_list(kind):
        inner = array.values
        ends = np.frombuffer(array.buffers()[1], np.int64)[array.offset :][: gaps.size + 1]
        if len(inner) != int(np.diff(ends)[~gaps].sum()):
            yield "elements that no cell has"
        yield from _inside(inner)
    elif pa.types.is_struct(kind):
        for place in range(kind.num_fields):
            yield from _inside(array.field(place))
    elif pa.types.is_primitive(kind) and kind.bit_width % 8 == 0 and gaps.any():
        width = kind.bit_width // 8
        cells = np.frombuffer(array.buffers()[1], np.uint8)[array.offset * width :]
        if cells[: gaps.size * width].reshape(-1, width)[gaps].any():
            yield "values under nulls"


def _gaps(array: Any) -> Bools:
    """Return which cells are null, from the bits that say so.

    Arrow's own answer loads all of its functions, and pandas where there is one.
    """
    if array.null_count in (0, len(array)):
        return np.full(len(array), array.null_count > 0)
    known = np.unpackbits(np.frombuffer(array.buffers()[0], np.uint8), bitorder="little")
    gaps: Bools = known[array.offset :][: len(array)] == 0
    return gaps


def _texts(array: Any, gaps: Bools) -> Iterator[str]:
    """Check that the texts stand one after the other, as the rows do, and nothing else."""
    _, views, *buffers = array.buffers()
    words = np.frombuffer(views, np.uint32).reshape(-1, 4)[array.offset :][: gaps.size]
    if words[gaps].any():
        yield "texts under nulls"
    lengths = np.where(gaps, 0, words[:, 0]).astype(np.int64)
    if sum(buffer.size for buffer in buffers) > lengths.sum():
        yield "texts that no cell has"
    long = lengths > _INLINE
    places = words[long, 2].astype(np.int64) * 2**32 + words[long, 3]
    if (np.diff(places) < lengths[long][:-1]).any():
        yield "its texts in another order than the rows"

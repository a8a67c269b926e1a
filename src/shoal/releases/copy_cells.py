"""Copy a release into new memory, so that nothing of the original goes along.

Taking rows out of a frame copies no text. A column of texts points into buffers, a column of an
enumeration carries all of its categories, and a null may stand upon a value that is only masked.
Whoever writes or pickles such a frame writes all of that too: texts of rows that were left out, and
in the places of the texts the order that the rows once had. So every table that is handed over is
built anew from its cells alone, row after row in the order of the release.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

_PLAIN = pl.CompatLevel.oldest()  # texts one after the other, not as views


def copy_cells(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the same cells in memory of their own, with no category that no cell has."""
    return pl.DataFrame([_fresh(column) for column in frame])


def _fresh(column: pl.Series) -> pl.Series:
    if column.dtype == pl.Null:
        return column
    filled = column.is_not_null().to_numpy()
    known = _copied(column.drop_nulls())
    # Every null is a copy of one that stands upon nothing.
    void = pl.Series([None], dtype=known.dtype)
    places = np.where(filled, np.cumsum(filled) - 1, len(known))
    return pl.concat([known.alias(""), void], rechunk=True).gather(places).alias(column.name)


def _copied(known: pl.Series) -> pl.Series:
    """Copy the cells of a column without nulls."""
    dtype = known.dtype
    if isinstance(dtype, pl.Enum):
        used = known.unique().cast(pl.String)
        shown = dtype.categories.filter(dtype.categories.is_in(used.implode()))
        return _texts(known.cast(pl.String)).cast(pl.Enum(shown))
    if isinstance(dtype, pl.Categorical):
        return _texts(known.cast(pl.String)).cast(dtype)
    if dtype in (pl.String, pl.Binary):
        return _texts(known)
    if isinstance(dtype, pl.Array):
        return _lists(known.arr.to_list()).list.to_array(dtype.size)
    if isinstance(dtype, pl.List):
        return _lists(known)
    if isinstance(dtype, pl.Struct) and dtype.fields:
        return pl.DataFrame([_fresh(field) for field in known.struct.unnest()]).to_struct()
    return known


def _texts(known: pl.Series) -> pl.Series:
    return _from_arrow(known.to_arrow(compat_level=_PLAIN))


def _lists(known: pl.Series) -> pl.Series:
    import pyarrow as pa

    cells = _fresh(known.list.explode(empty_as_null=False, keep_nulls=False))
    ends = np.concatenate(([0], np.cumsum(known.list.len().to_numpy(), dtype=np.int64)))
    values = cells.to_arrow(compat_level=_PLAIN)
    return _from_arrow(pa.LargeListArray.from_arrays(ends, values)).cast(pl.List(cells.dtype))


def _from_arrow(array: Any) -> pl.Series:
    import pyarrow as pa

    # As a table of one column: for an array by itself polars loads all of Arrow's functions.
    frame = pl.from_arrow(pa.Table.from_arrays([array], [""]))
    assert isinstance(frame, pl.DataFrame)
    return frame.to_series()

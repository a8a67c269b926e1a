"""Frames of other libraries: what comes in as pandas goes out as pandas."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import polars as pl

from shoal.base.errors import InputError, listed
from shoal.base.names import check_names, check_unicode, twice
from shoal.tables.cells import blank


def from_native(frame: Any, missing: Sequence[str] = ()) -> pl.DataFrame:
    """Return a polars copy of a pandas, polars or pyarrow frame; the frame itself is untouched.

    Rows keep their order and nothing else: an index is ignored. NaN and the texts of ``missing``
    become null; names of columns become texts.
    """
    columns = frame.get_columns() if isinstance(frame, pl.DataFrame) else _foreign(frame)
    names = [column.name for column in columns]
    check_names(names, "The frame")
    result = pl.DataFrame([blank(column, missing) for column in columns])
    if result.height == 0:
        raise InputError(
            f"The frame has column names ({listed(names)}) but no rows. "
            "A table needs at least one row."
        )
    return result


def _foreign(frame: Any) -> list[pl.Series]:
    """Return the columns of a frame of another library."""
    import narwhals as nw

    try:
        wrapped = nw.from_native(frame)
    except TypeError:
        raise InputError(
            f"Cannot read a table from {type(frame).__module__}.{type(frame).__qualname__}. "
            "Give a pandas, polars or pyarrow frame, or the path of a file."
        ) from None
    except nw.exceptions.DuplicateError:
        raise InputError(
            f"The frame has duplicate column names: {listed(twice(_names(frame)))}. "
            "Every column needs a name of its own: rename them."
        ) from None
    if isinstance(wrapped, nw.LazyFrame):
        wrapped = wrapped.collect("polars")
    if not isinstance(wrapped, nw.DataFrame):
        raise InputError(
            f"Cannot read a table from a {type(frame).__name__}. Give a whole frame, not a column."
        )
    names = [str(name) for name in wrapped.columns]
    if double := twice(names):
        raise InputError(
            f"The frame has duplicate column names: {listed(double)}. "
            "Every column needs a name of its own: rename them."
        )
    check_unicode(names, "A column name")
    return [_column(wrapped, position).rename(name) for position, name in enumerate(names)]


def _names(frame: Any) -> list[str]:
    # pyarrow's `columns` are the columns themselves.
    return list(getattr(frame, "column_names", None) or frame.columns)


def _column(frame: Any, position: int) -> pl.Series:
    import narwhals as nw

    series = frame[:, position]
    if series.dtype != nw.Unknown:  # pandas' periods and intervals mean nothing elsewhere
        # Which error a column of mixed objects raises differs from library to library.
        with contextlib.suppress(Exception):
            return series.to_polars()  # type: ignore[no-any-return]
    # Objects of several types (1, 'a', None): say each as text, keep what is missing.
    gaps = series.is_null()
    texts = [None if gap else str(cell) for cell, gap in zip(series, gaps, strict=True)]
    check_unicode((text for text in texts if text is not None), f"Column {series.name!r}")
    return pl.Series(texts, dtype=pl.String)


def to_native(frame: pl.DataFrame, like: Any) -> Any:
    """Return ``frame`` as the kind of frame that ``like`` is."""
    if isinstance(like, pl.DataFrame):
        return frame
    import narwhals as nw

    if isinstance(like, pl.LazyFrame):
        return frame.lazy()
    backend = nw.from_native(like).implementation
    if backend.is_pandas():
        return _to_pandas(frame, like)
    if backend.is_pyarrow():
        return frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    return nw.from_native(frame).lazy().collect(backend).to_native()


def _to_pandas(frame: pl.DataFrame, like: Any) -> Any:
    """Give pandas back its own names (they need not be texts) and its nullable types."""
    result = frame.to_pandas()
    own = {str(name): name for name in like.columns}
    for name, dtype in frame.schema.items():
        wanted = like.dtypes[own[name]] if name in own else None
        # Whole numbers and booleans with gaps: 'Int64' came in, 'float64' must not go out.
        if wanted is not None and hasattr(wanted, "numpy_dtype") and dtype.is_numeric():
            result[name] = result[name].astype(wanted)
    result.columns = [own.get(name, name) for name in result.columns]
    return result

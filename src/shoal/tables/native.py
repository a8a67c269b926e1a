"""Accept frames of other libraries, and return results in the same kind."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from shoal.base.column_names import check_names, check_rows, check_twice, check_unicode
from shoal.base.errors import InputError
from shoal.tables.cells import missing_to_null, read_dates
from shoal.tables.local_formats import read_local_forms


def from_native(frame: Any, missing: Sequence[str] = (), **forms: str | None) -> pl.DataFrame:
    """Return a polars copy of a pandas, polars or pyarrow frame; the frame itself is untouched.

    Rows keep their order and nothing else: an index is ignored. NaN and the texts of ``missing``
    become null; names of columns become texts. ``forms``: how dates and decimals are written in
    texts of pandas, which has no type of its own for days; they are read as from a file then.
    """
    columns = frame.get_columns() if isinstance(frame, pl.DataFrame) else _foreign(frame)
    names = [column.name for column in columns]
    check_names(names, "The frame")
    columns = [missing_to_null(column, missing) for column in columns]
    if forms and type(frame).__module__.split(".")[0] == "pandas":
        columns = [read_local_forms(read_dates(column), **forms) for column in columns]
    result = pl.DataFrame(columns)
    check_rows(result.height, names, "The frame")
    return result


def is_spark_frame(data: Any) -> bool:
    """Tell a Spark frame by where its class lives, without importing Spark."""
    return any(
        base.__module__.startswith("pyspark.sql") and base.__name__ == "DataFrame"
        for base in type(data).__mro__
    )


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
        # pyarrow's `columns` are the columns themselves.
        check_twice(getattr(frame, "column_names", None) or frame.columns, "The frame")
        raise
    if isinstance(wrapped, nw.LazyFrame):
        wrapped = wrapped.collect("polars")
    if not isinstance(wrapped, nw.DataFrame):
        raise InputError(
            f"Cannot read a table from a {type(frame).__name__}. Give a whole frame, not a column."
        )
    names = [str(name) for name in wrapped.columns]
    check_twice(names, "The frame")
    check_unicode(names, "A column name")
    return [_column(wrapped, position).rename(name) for position, name in enumerate(names)]


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


@dataclass(frozen=True, eq=False)
class Native:
    """Which kind of frame came in; it knows names and types of columns and no cell.

    ``names``: columns by text (those of pandas need not be texts). ``nullable``: columns of whole
    numbers and booleans that pandas holds with gaps: 'Int64' came in, 'float64' must not go out.
    """

    backend: Any = None
    names: Mapping[str, Any] = field(default_factory=dict)
    nullable: Mapping[str, Any] = field(default_factory=dict)
    lazy: bool = False

    @classmethod
    def from_frame(cls, frame: Any) -> Native:
        """Take the kind of a frame."""
        if isinstance(frame, (pl.DataFrame, pl.LazyFrame)):
            return cls(lazy=isinstance(frame, pl.LazyFrame))
        import narwhals as nw

        backend = nw.from_native(frame).implementation
        if not backend.is_pandas():
            return cls(backend)
        names = {str(name): name for name in frame.columns}
        types = {name: frame.dtypes[own] for name, own in names.items()}
        gapped = {name: dtype for name, dtype in types.items() if hasattr(dtype, "numpy_dtype")}
        return cls(backend, names, gapped)

    def from_library(self, library: str) -> Native:
        """Return the kind of frame of another library, or this one if it is of that library."""
        import narwhals as nw

        backend = nw.Implementation.from_string(library)
        return self if self.backend is backend else Native(backend)

    def convert(self, frame: pl.DataFrame) -> Any:
        """Return a frame of ours as this kind."""
        if self.backend is None:
            return frame.lazy() if self.lazy else frame
        if self.backend.is_pandas():
            result = frame.to_pandas()
            for name, dtype in frame.schema.items():
                if name in self.nullable and dtype.is_numeric():
                    result[name] = result[name].astype(self.nullable[name])
            result.columns = [self.names.get(name, name) for name in result.columns]
            return result
        if self.backend.is_pyarrow():
            return frame.to_arrow(compat_level=pl.CompatLevel.oldest())
        import narwhals as nw

        return nw.from_native(frame).lazy().collect(self.backend).to_native()


def to_native(frame: pl.DataFrame, like: Any) -> Any:
    """Return ``frame`` as the kind of frame that ``like`` is."""
    return Native.from_frame(like).convert(frame)

"""What a published column says: how many rows, to the best estimate, have each of its values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.base.errors import InputError
from shoal.releases import notation
from shoal.releases.base import Query
from shoal.releases.categories import Field
from shoal.releases.generalized.view import Spread, spread
from shoal.show.figures.subject import COUNT, Subject
from shoal.tables.cells import as_text, blank, natural, typed
from shoal.tables.domain import STAR

Floats = npt.NDArray[np.float64]
_MOMENT = r"^\[?\d{4,}-\d\d-\d\d \d\d:"


@dataclass(frozen=True, eq=False)
class ColumnReading:
    """The values of a column, how many rows are expected to have each, and how that is known.

    Parameters
    ----------
    values
        Everything that the cells may stand for, in the column's own order.
    weight
        Expected number of rows by value.
    named
        Which of the values are published by name, and not only as part of something wider.
    exact, wide, silent
        Share of the cells that are one value, several, or ``*`` (also empty).
    readable
        False when cells are taken as they stand, because nobody said what they cover.
    at
        Where the values stand in the hierarchy of the column, if it has one.
    """

    values: pl.Series
    weight: Floats
    named: npt.NDArray[np.bool_]
    exact: float
    wide: float
    silent: float
    readable: bool = True
    at: npt.NDArray[np.int64] | None = None


def read_column(subject: Subject, name: str) -> ColumnReading:
    """Read a published column, whatever the shape of the release."""
    if name in subject.quasi and subject.shape == "generalized":
        return _generalized(subject, name)
    if name in subject.sets:
        release = subject.open(name)
        elements = pl.Series(release.values(name), dtype=pl.String)
        return _estimated(elements, release.expect(Query(name)), subject.silent(name))
    if subject.shape == "anatomized" and not subject.has(name):
        table = subject.tables["st"].group_by(name).agg(pl.col(COUNT).sum()).drop_nulls(name)
        values = natural(table[name])
        found = pl.DataFrame({name: values}).join(table, on=name, how="left", maintain_order="left")
        weight = found[COUNT].to_numpy().astype(np.float64)
        return _estimated(values, weight, subject.silent(name))
    column = Field.of(blank(subject.frame[name]))
    size = len(column.values)
    weight = np.bincount(column.codes, minlength=size + 1)[:size].astype(np.float64)
    silent = subject.silent(name)
    return ColumnReading(column.values, weight, np.ones(size, np.bool_), 1.0 - silent, 0.0, silent)


def _estimated(values: pl.Series, weight: Floats, silent: float) -> ColumnReading:
    named = np.ones(len(values), np.bool_)
    return ColumnReading(values, np.asarray(weight, np.float64), named, 0.0, 1.0 - silent, silent)


def _generalized(subject: Subject, name: str) -> ColumnReading:
    cells = _cells(subject, name)
    if cells is None:
        return _as_they_stand(subject, name)
    size = len(cells.values)
    rows = np.bincount(cells.cells, subject.published.sizes, minlength=cells.lo.size)
    share = rows / (cells.hi - cells.lo + 1)
    counts = np.zeros(cells.lo.size, np.int64) if cells.starts is None else np.diff(cells.starts)
    everything = _stars(subject, name, cells)
    plain = (counts == 0) & ~everything  # not a set with members: an interval or a node
    steps = np.zeros(size + 1)
    np.add.at(steps, cells.lo[plain], share[plain])
    np.add.at(steps, cells.hi[plain] + 1, -share[plain])
    weight = np.cumsum(steps)[:size]
    one = np.where(plain, cells.lo == cells.hi, counts == 1)
    named = np.zeros(size, np.bool_)
    if cells.starts is not None and cells.members is not None:
        each = np.repeat(rows / np.maximum(counts, 1), counts)
        weight = weight + np.bincount(cells.members, each, minlength=size)
        named[cells.members] = True
    named[cells.lo[one & plain]] = True
    silent = subject.silent(name)
    exact = float(rows[one & ~everything].sum()) / max(float(rows.sum()), 1.0)
    # What * may stand for is what any other cell does: a hierarchy can list values of nobody here.
    met = np.flatnonzero(weight > 1e-9)
    weight[met] += float(rows[everything].sum()) / max(met.size, 1)
    wide = max(1.0 - silent - exact, 0.0)
    return ColumnReading(
        cells.values.gather(met), weight[met], named[met], exact, wide, silent, at=met
    )


def _stars(subject: Subject, name: str, cells: Spread) -> npt.NDArray[np.bool_]:
    """Say which of the cells are ``*``."""
    published = subject.published.cells
    column = name if name in published.columns else f"{name}_lo"
    star = (as_text(published[column]).fill_null(STAR) == STAR).to_numpy()
    found = np.zeros(cells.lo.size, np.bool_)
    found[cells.cells] = star
    return found


def _cells(subject: Subject, name: str) -> Spread | None:
    column = subject.column(name)
    published = subject.published
    if name in subject.taxonomies:
        return spread(published, name, subject.taxonomies[name])
    try:
        if column.order or _moments(subject, name):
            return _ends(subject, name, column.order)
        return spread(published, name)
    except InputError:  # another program's notation
        return None


def _moments(subject: Subject, name: str) -> bool:
    known = subject.texts(name)
    known = known.filter(known != STAR).head(50)
    return len(known) > 0 and bool(known.str.contains(_MOMENT).all())


def _ends(subject: Subject, name: str, order: tuple[str, ...]) -> Spread:
    """Read intervals between listed texts, or between moments, which are counted by the day."""
    cells = subject.published.cells
    if name in cells.columns:
        texts = as_text(cells[name]).fill_null(STAR)
        dtype = pl.String() if order else pl.Datetime("us")
        ends = notation.read_ordered(texts, dtype)
    else:
        both = [as_text(cells[name + end]) for end in ("_lo", "_hi")]
        ends = pl.DataFrame({"lo": both[0], "hi": both[1]}).with_columns(
            star=pl.col("lo").is_null() & pl.col("hi").is_null()
        )
    star = ends["star"].fill_null(value=True).to_numpy()
    if order:
        values = pl.Series(list(dict.fromkeys(order)), dtype=pl.String)
        ranks = pl.Series(np.arange(len(values)))
        low, high = (
            ends[end].replace_strict(values, ranks, default=None, return_dtype=pl.Int64)
            for end in ("lo", "hi")
        )
    else:
        days = [ends[end].str.slice(0, 10).str.to_date("%Y-%m-%d") for end in ("lo", "hi")]
        numbers_of = [day.to_physical().cast(pl.Int64) for day in days]
        every = pl.concat(numbers_of).drop_nulls().to_numpy()
        first, last = (int(every.min()), int(every.max())) if every.size else (0, 0)
        low, high = (number - first for number in numbers_of)
        values = pl.Series(np.arange(first, last + 1, dtype=np.int32)).cast(pl.Date)
    lo, hi = (end.fill_null(-1).to_numpy().astype(np.int64) for end in (low, high))
    if ((lo < 0) | (hi < lo))[~star].any():
        raise InputError(f"Cells of {name!r} do not lie between the values that its order lists.")
    lo, hi = np.where(star, 0, lo), np.where(star, len(values) - 1, hi)
    return Spread(values, np.arange(lo.size), lo, hi)


def _as_they_stand(subject: Subject, name: str) -> ColumnReading:
    texts = subject.texts(name)
    known = texts.filter(texts != STAR)
    column = Field.of(known)
    weight = np.bincount(column.codes, minlength=len(column.values)).astype(np.float64)
    silent = subject.silent(name)
    named = np.ones(len(column.values), np.bool_)
    return ColumnReading(column.values, weight, named, 0.0, 1.0 - silent, silent, readable=False)


def numbers(values: pl.Series) -> pl.Series | None:
    """Return values as numbers or days when that is what they are, else None."""
    meant = typed(values) if values.dtype == pl.String else values
    if isinstance(meant.dtype, pl.Datetime):
        return meant.dt.date()
    known = meant.dtype.is_numeric() or meant.dtype == pl.Date
    return meant if known and not meant.null_count() else None


def extents(subject: Subject, name: str) -> tuple[npt.NDArray[np.int64], int] | None:
    """Return per class how many values its cell stands for, and how many there are in all."""
    cells = _cells(subject, name)
    if cells is None:
        return None
    wide = cells.hi - cells.lo + 1
    if cells.starts is not None:
        counts = np.diff(cells.starts)
        wide = np.where(counts > 0, counts, wide)
    return wide[cells.cells].astype(np.int64), len(cells.values)

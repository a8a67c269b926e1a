"""Estimate how many rows of a release have each value of a column."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import polars as pl

from shoal.base.errors import InputError
from shoal.base.partition import Bools, Floats, Ints
from shoal.releases.base import Query
from shoal.releases.categories import Coded
from shoal.releases.generalized.spread import spread
from shoal.releases.opened import Opened
from shoal.releases.readback import Sides
from shoal.tables.cells import as_text, infer_type, missing_to_null
from shoal.tables.domain import STAR

T = TypeVar("T")


def _once(read: Callable[[Opened, str], T]) -> Callable[[Opened, str], T]:
    """Read a column once for all figures and reports; it is forgotten with the release."""
    kept: WeakKeyDictionary[Opened, dict[str, T]] = WeakKeyDictionary()

    @wraps(read)
    def asked(opened: Opened, name: str) -> T:
        columns = kept.setdefault(opened, {})
        if name not in columns:
            columns[name] = read(opened, name)
        return columns[name]

    return asked


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
    named: Bools
    exact: float
    wide: float
    silent: float
    readable: bool = True
    at: Ints | None = None


@_once
def read_column(opened: Opened, name: str) -> ColumnReading:
    """Read a published column, whatever the shape of the release."""
    if name in opened.quasi and not opened.shape.exact:
        return _generalized(opened, name)
    if opened.shape.view.estimated(opened, name):
        view = opened.view(name)
        elements = pl.Series(view.values(name), dtype=pl.String)
        return _estimated(elements, view.expect(Query(name)), opened.silent(name))
    column = Coded.encode(missing_to_null(opened.frame[name]))
    size = len(column.values)
    weight = np.bincount(column.codes, minlength=size + 1)[:size].astype(np.float64)
    silent = opened.silent(name)
    return ColumnReading(column.values, weight, np.ones(size, np.bool_), 1.0 - silent, 0.0, silent)


def _estimated(values: pl.Series, weight: Floats, silent: float) -> ColumnReading:
    named = np.ones(len(values), np.bool_)
    return ColumnReading(values, np.asarray(weight, np.float64), named, 0.0, 1.0 - silent, silent)


def _generalized(opened: Opened, name: str) -> ColumnReading:
    cells = _cells(opened, name)
    if cells is None:
        return _as_they_stand(opened, name)
    size = len(cells.known)
    rows = np.bincount(cells.cells, opened.published.sizes, minlength=cells.lo.size)
    share = rows / (cells.hi - cells.lo + 1)
    counts = np.zeros(cells.lo.size, np.int64) if cells.starts is None else np.diff(cells.starts)
    everything = _stars(opened, name, cells)
    plain = (counts == 0) & ~everything  # not a set with members: an interval or a node
    steps = np.zeros(size + 1)
    np.add.at(steps, cells.lo[plain], share[plain])
    np.add.at(steps, cells.hi[plain] + 1, -share[plain])
    weight = np.cumsum(steps)[:size]
    one = np.where(plain, cells.lo == cells.hi, counts == 1)
    named = np.zeros(size, np.bool_)
    if cells.starts is not None and cells.members is not None:
        per_member = np.repeat(rows / np.maximum(counts, 1), counts)
        weight = weight + np.bincount(cells.members, per_member, minlength=size)
        named[cells.members] = True
    named[cells.lo[one & plain]] = True
    silent = opened.silent(name)
    exact = float(rows[one & ~everything].sum()) / max(float(rows.sum()), 1.0)
    # What * may stand for is what any other cell does: a hierarchy can list values of nobody here.
    met = np.flatnonzero(weight > 1e-9)
    weight[met] += float(rows[everything].sum()) / max(met.size, 1)
    wide = max(1.0 - silent - exact, 0.0)
    return ColumnReading(
        cells.known.gather(met), weight[met], named[met], exact, wide, silent, at=met
    )


def _stars(opened: Opened, name: str, cells: Sides) -> Bools:
    """Say which of the cells leave every value possible."""
    published = opened.published.cells
    column = name if name in published.columns else f"{name}_lo"
    star = as_text(published[column]).fill_null(STAR).is_in(opened.tops(name)).to_numpy()
    starred = np.zeros(cells.lo.size, np.bool_)
    starred[cells.cells] = star
    return starred


@_once
def _cells(opened: Opened, name: str) -> Sides | None:
    tree, order = opened.taxonomies.get(name), opened.column(name).order
    if tree is not None:
        return spread(opened.published, name, tree)
    try:
        return spread(opened.published, name, order=order)
    except InputError:  # another program's notation
        return None


def _as_they_stand(opened: Opened, name: str) -> ColumnReading:
    texts = opened.texts(name)
    known = texts.filter(texts != STAR)
    column = Coded.encode(known)
    weight = np.bincount(column.codes, minlength=len(column.values)).astype(np.float64)
    silent = opened.silent(name)
    named = np.ones(len(column.values), np.bool_)
    return ColumnReading(column.values, weight, named, 0.0, 1.0 - silent, silent, readable=False)


def numbers(values: pl.Series) -> pl.Series | None:
    """Return values as numbers or days when that is what they are, else None."""
    meant = infer_type(values) if values.dtype == pl.String else values
    if isinstance(meant.dtype, pl.Datetime):
        return meant.dt.date()
    ordered = meant.dtype.is_numeric() or meant.dtype == pl.Date
    return meant if ordered and not meant.null_count() else None


def extents(opened: Opened, name: str) -> tuple[Ints, int] | None:
    """Return per class how many values its cell stands for, and how many there are in all."""
    cells = _cells(opened, name)
    if cells is None:
        return None
    wide = cells.hi - cells.lo + 1
    if cells.starts is not None:
        counts = np.diff(cells.starts)
        wide = np.where(counts > 0, counts, wide)
    return wide[cells.cells].astype(np.int64), len(cells.known)

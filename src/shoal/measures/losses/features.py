"""Turn published cells into numeric features for a classifier.

A learner trained on a release meets intervals, tree nodes, sets and ``*``; tested on the original
it meets single values. Both become the same features: an ordered column one number (the middle of
the interval), any other column one feature per category (the share of the cell's values that fall
into it, so a single value is 1 in its own category). What says nothing (``*``, a gap) takes the
mean of the rows that do say something. A linear score of such features is the mean of the scores of
the values that the cell may stand for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.base.partition import Floats, Ints
from shoal.base.roles import Kind, Role
from shoal.measures.risks.matching import sides
from shoal.releases import notation
from shoal.releases.categories import Coded
from shoal.releases.opened import Opened
from shoal.releases.readback import Sides
from shoal.tables.cells import as_text, infer_type
from shoal.tables.domain import Taxonomy
from shoal.tables.original import Original
from shoal.tables.schema import Column, plain

MOST = 40  # categories of one column


@dataclass(frozen=True, eq=False)
class Features:
    """The features of some released rows, and of some rows of the original."""

    released: Floats
    original: Floats


def read_beside(opened: Opened, table: Original, *, raw: bool = False) -> Opened:
    """Return a release whose quasi-identifiers were read together with those of its original.

    ``raw``: they are values as they were, so that ``*`` is a text like any other.
    """
    names = table.schema.quasi
    columns = [table.schema[name] for name in names]
    asked: dict[str, Any] = {"raw": raw or opened.shape.exact, "gaps": "open"}
    both = sides(table.frame, opened.published.cells, columns, table.taxonomies, **asked)
    return opened.with_sides(dict(zip(names, both, strict=True)))


def features(
    reading: Opened,
    table: Original,
    *,
    rows: Ints | None = None,
    tested: Ints | None = None,
    without: Sequence[str] = (),
) -> Features:
    """Return the features of quasi-identifiers and passed-through columns, on both sides.

    Numbers are scaled to mean 0 and deviation 1 on the released rows; a column of which nothing is
    known gives no feature. ``rows`` and ``tested`` choose released and original rows, else all.
    """
    original, schema, taxonomies = table.frame, table.schema, table.taxonomies
    rows = np.arange(reading.frame.height) if rows is None else rows
    tested = np.arange(original.height) if tested is None else tested
    pairs: list[tuple[Floats, Floats]] = []
    for column in schema.columns:
        if column.name in without:
            continue
        if column.role is Role.QUASI:
            side = reading.sides[column.name]
            if side.span > 1:
                cells = side.cells[reading.published.labels[rows]]
                values = side.values[tested]
                pairs.append(_of_cells(side, column, taxonomies.get(column.name), cells, values))
        elif column.role is Role.KEEP and plain(original[column.name].dtype):
            released = reading.frame[column.name].gather(rows)
            pair = _of_values(released, original[column.name].gather(tested), column)
            pairs += [pair] if pair is not None else []
    if not pairs:
        empty = np.empty((0, 0))
        return Features(empty, empty)
    return Features(*(np.concatenate([pair[side] for pair in pairs], axis=1) for side in (0, 1)))


def _of_cells(
    side: Sides, column: Column, taxonomy: Taxonomy | None, cells: Ints, values: Ints
) -> tuple[Floats, Floats]:
    """Return the features of some cells and of some values, given by their numbers."""
    points = positions(side.known, column)
    silent = side.unknown()
    if taxonomy is not None:
        silent |= (side.shown == notation.top_label(taxonomy)).fill_null(value=False).to_numpy()
    if points is not None:
        first, last = (np.where(silent, 0, end) for end in (side.lo, side.hi))
        middle = (points[first] + points[last]) / 2
        middle[silent] = np.nan
        return _scaled(middle[cells], np.append(points, np.nan)[values])
    category, many = _categories(side, taxonomy)
    shares = replace(side.opened(), cells=np.arange(silent.size)).shares(category, many)
    shares[silent] = np.nan
    return _filled(shares[cells], _one_hot(np.append(category, -1)[values], many))


def _of_values(
    released: pl.Series, original: pl.Series, column: Column
) -> tuple[Floats, Floats] | None:
    """Return the features of a column that is published as it was."""
    sides = [column.clean(released), column.clean(original)]
    if sides[0].dtype != sides[1].dtype:
        sides = [as_text(side) for side in sides]
    field = Coded.encode(pl.concat(sides))
    rows = len(released)
    size = len(field.values)
    if not size:
        return None
    if field.values.dtype.is_numeric() or field.values.dtype.is_temporal():
        numbers = np.append(field.values.to_physical().cast(pl.Float64).to_numpy(), np.nan)
        return _scaled(*np.split(numbers[field.codes], [rows]))
    category, many = _commonest(np.bincount(field.codes, minlength=size + 1)[:size])
    codes = np.append(category, -1)[field.codes]
    return _filled(_one_hot(codes[:rows], many), _one_hot(codes[rows:], many))


def positions(values: pl.Series, column: Column) -> Floats | None:
    """Return the values of a column as numbers, None when they have no order to speak of.

    The leaves of a taxonomy count as numbers when they are, and stand in their order.
    """
    if column.kind is Kind.ORDERED:
        if column.order or not (values.dtype.is_numeric() or values.dtype.is_temporal()):
            return np.arange(len(values), dtype=np.float64)
        return values.to_physical().cast(pl.Float64).to_numpy()
    if column.kind is Kind.TAXONOMY:
        numbers = infer_type(values)
        if numbers.dtype.is_numeric() and (
            numbers.is_sorted() or numbers.is_sorted(descending=True)
        ):
            return numbers.cast(pl.Float64).to_numpy()
    return None


def _categories(side: Sides, taxonomy: Taxonomy | None) -> tuple[Ints, int]:
    """Return the category of every value: itself, its group in the hierarchy, or "all others"."""
    size = side.span - 1
    if size <= MOST:
        return np.arange(size), size
    if taxonomy is not None:
        for level in taxonomy.levels:
            nodes, category = np.unique(level, return_inverse=True)
            if 1 < nodes.size <= MOST:
                return category.reshape(-1).astype(np.int64), int(nodes.size)
    counts = np.bincount(side.values[side.values >= 0], minlength=size + 1)[:size]
    return _commonest(counts)


def _commonest(counts: Ints) -> tuple[Ints, int]:
    """Give the most frequent values a category each, and all others one together."""
    if counts.size <= MOST:
        return np.arange(counts.size), int(counts.size)
    category = np.full(counts.size, MOST - 1)
    category[np.argsort(-counts, kind="stable")[: MOST - 1]] = np.arange(MOST - 1)
    return category, MOST


def _one_hot(codes: npt.NDArray[np.integer], many: int) -> Floats:
    """Return 1 in the category of every row; a row without one is all NaN."""
    columns = np.zeros((codes.size, many))
    present = codes >= 0
    columns[np.flatnonzero(present), codes[present]] = 1.0
    columns[~present] = np.nan
    return columns


def _filled(released: Floats, original: Floats) -> tuple[Floats, Floats]:
    """Let rows that say nothing take the mean of the released rows that do."""
    said = ~np.isnan(released[:, 0])
    mean = released[said].mean(axis=0) if said.any() else np.zeros(released.shape[1])
    for side in (released, original):
        side[np.isnan(side[:, 0])] = mean
    return released, original


def _scaled(released: Floats, original: Floats) -> tuple[Floats, Floats]:
    said = released[~np.isnan(released)]
    mean = float(said.mean()) if said.size else 0.0
    deviation = float(said.std()) if said.size else 0.0
    scale = deviation if deviation > 0 else 1.0
    low, high = (
        np.nan_to_num((side - mean) / scale, nan=0.0)[:, None] for side in (released, original)
    )
    return low, high

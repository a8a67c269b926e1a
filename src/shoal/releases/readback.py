"""Published cells and original values of a column, both as positions that can be compared.

The one reader of cells, for checks, risks, features and estimates. The tree of a taxonomy is walked
afresh from its levels, so that a mistake in the joins that made a release does not repeat here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from shoal.base.errors import ParameterError, SchemaError
from shoal.base.partition import Bools, Floats, Ints, ragged_positions
from shoal.base.roles import Kind
from shoal.releases import notation
from shoal.tables.cells import as_text, find_positions, infer_type, missing_to_null, zoned
from shoal.tables.domain import STAR, Taxonomy
from shoal.tables.schema import Column

# What covers nothing: an interval that ends before it begins.
_NOTHING = (1, 0)
_TOO_MANY = 50_000_000  # numbers that a table of shares may have


@dataclass(frozen=True, eq=False)
class Sides:
    """One quasi-identifier on both sides.

    Parameters
    ----------
    values
        Position of every original value; the last one, ``span - 1``, is missing, and -1 a value
        that the taxonomy does not know.
    cells
        Number of the cell of every class.
    lo, hi
        A cell covers the positions ``lo .. hi``. ``*`` covers them all, and it alone covers
        missing.
    starts, members
        For sets also the positions ``members[starts[cell]:starts[cell + 1]]``; else None.
    span
        Number of positions.
    shown
        Every cell as published.
    known
        What the positions but the last stand for.
    ends
        The two ends of every cell as texts, where they are published apart.
    """

    values: Ints
    cells: Ints
    lo: Ints
    hi: Ints
    starts: Ints | None
    members: Ints | None
    span: int
    shown: pl.Series
    known: pl.Series
    ends: tuple[pl.Series, pl.Series] | None = None

    def covered(self, values: Ints, cells: Ints) -> Bools:
        """Say for pairs of a position and a cell whether the cell covers the position."""
        inside = (self.lo[cells] <= values) & (values <= self.hi[cells])
        if self.starts is not None and self.members is not None and self.members.size:
            owner = np.repeat(np.arange(self.starts.size - 1), np.diff(self.starts))
            keys = owner * self.span + self.members
            wanted = cells * self.span + values
            at = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
            inside |= keys[at] == wanted
        return np.asarray(inside)

    def table(self, values: Ints, cells: Ints) -> Bools:
        """Say for each of some positions (rows) which of some cells (columns) cover it."""
        inside = (self.lo[cells] <= values[:, None]) & (values[:, None] <= self.hi[cells])
        if self.starts is not None and self.members is not None:
            row_of = np.full(self.span, -1)
            row_of[values[values >= 0]] = np.flatnonzero(values >= 0)
            counts = np.diff(self.starts)[cells]
            rows = row_of[self.members[ragged_positions(self.starts[cells], counts)]]
            columns = np.repeat(np.arange(cells.size), counts)
            inside[rows[rows >= 0], columns[rows >= 0]] = True
        return np.asarray(inside)

    def unknown(self) -> Bools:
        """Say which cells leave every value possible: ``*``, and those published empty."""
        open_ = (self.lo < 0) | (self.hi >= self.span - 1) | (self.hi < self.lo)
        if self.starts is not None:
            open_ &= np.diff(self.starts) == 0
        return np.asarray(open_)

    def opened(self) -> Sides:
        """Return what each cell is spread evenly over: a cell that says nothing can be any value.

        Missing is none of them, and of a set only the members count, unless it has none.
        """
        whole = self.unknown() if self.starts is None else np.ones(self.lo.size, np.bool_)
        ends = np.where(whole, 0, self.lo), np.where(whole, self.span - 2, self.hi)
        return replace(self, lo=ends[0], hi=ends[1])

    def shares(self, category: Ints, many: int) -> Floats:
        """Return which part of every class falls into each category, ``[classes, many]``.

        Only of cells that are :meth:`opened`, which are taken for spread evenly.
        """
        size = len(self.known)
        if size * many > _TOO_MANY:
            raise ParameterError(
                f"The question has {many:,} categories over {size:,} values in one column, too "
                "many to share cells out. Use wider intervals (age:10)."
            )
        inside = category[:size]
        hits = np.zeros((size + 1, many))
        hits[1:][np.arange(size)[inside >= 0], inside[inside >= 0]] = 1.0
        upto = np.cumsum(hits, axis=0)
        share = (upto[self.hi + 1] - upto[self.lo]) / (self.hi - self.lo + 1)[:, None]
        if self.starts is not None and self.members is not None:
            counts = np.diff(self.starts)
            owner = np.repeat(np.arange(counts.size), counts)
            kind = inside[self.members]
            keys = owner[kind >= 0] * many + kind[kind >= 0]
            of_sets = np.bincount(keys, minlength=counts.size * many).reshape(-1, many)
            some = counts > 0
            share[some] = of_sets[some] / counts[some, None]
        shares: Floats = share[self.cells]
        return shares

    def senseless(self) -> str | None:
        """Return a cell that fits no value at all, so nobody knows what it stands for."""
        nothing = self.lo > self.hi
        if self.starts is not None:
            nothing &= np.diff(self.starts) == 0
        return str(self.shown[int(np.argmax(nothing))]) if nothing.any() else None


def match(
    source: pl.Series,
    cells: pl.DataFrame,
    column: Column,
    taxonomies: Mapping[str, Taxonomy],
) -> Sides:
    """Bring a column of the original and the cells of the published classes together.

    Parameters
    ----------
    source
        The column of the original table.
    cells
        One row per published class.
    column
        Its name, kind, order, and what means missing.
    taxonomies
        Taxonomies by column.
    """
    source = column.clean(source)
    if column.name not in cells.columns:
        if column.kind is Kind.TAXONOMY and not source.dtype.is_numeric():
            # Only labels that are numbers have ends; a text that is none is covered by no cell.
            source = as_text(source).cast(pl.Float64, strict=False)
        return _typed_pair(source, cells.select(f"{column.name}_lo", f"{column.name}_hi"), column)
    texts = as_text(cells[column.name])
    shown = texts.unique(maintain_order=True)
    numbers = find_positions(texts, shown)
    if column.kind is Kind.TAXONOMY:
        if column.name not in taxonomies:
            raise SchemaError(
                f"Column {column.name!r} is of kind taxonomy, but no hierarchy was given for it: "
                "nobody can tell what its cells cover. Give its file, or the directory."
            )
        return _taxonomy(source, numbers, shown, taxonomies[column.name])
    if column.kind is Kind.ORDERED:
        values, known = _ranks(source, column)
        ends = notation.read_ordered(shown, known.dtype)
        lo, hi = _place(known, ends["lo"], ends["hi"])
        return _starred(Sides(values, numbers, lo, hi, None, None, len(known) + 1, shown, known))
    return _sets(as_text(source), numbers, shown)


def _missing_last(values: Ints, source: pl.Series, size: int) -> Ints:
    if source.null_count():
        values[source.is_null().to_numpy()] = size
    return values


def _starred(sides: Sides) -> Sides:
    """Let ``*`` cover every position, those of missing and unknown values included."""
    star = (sides.shown == STAR).fill_null(value=False).to_numpy()
    sides.lo[star], sides.hi[star] = -1, sides.span - 1
    return sides


# Taxonomies


def _taxonomy(source: pl.Series, numbers: Ints, shown: pl.Series, taxonomy: Taxonomy) -> Sides:
    labels = pl.Series(taxonomy.labels, dtype=pl.String)
    node = find_positions(notation.read_labels(shown), labels)
    lowest, highest = _reach(taxonomy)
    # A label that the taxonomy does not know covers nothing.
    lo = np.where(node < 0, _NOTHING[0], lowest[node])
    hi = np.where(node < 0, _NOTHING[1], highest[node])
    leaves = labels[: taxonomy.size]
    values = _missing_last(_leaves(source, leaves), source, taxonomy.size)
    return _starred(Sides(values, numbers, lo, hi, None, None, taxonomy.size + 1, shown, leaves))


def _leaves(source: pl.Series, leaves: pl.Series) -> Ints:
    """Return the leaf of every value by its text, or else by what the text means."""
    values = find_positions(as_text(source), leaves)
    if source.dtype == pl.String or not (values < 0).any():
        return values
    # Numbers and booleans have several spellings: 2.50, True.
    meant = (
        leaves.str.strip_chars().cast(pl.Float64, strict=False)
        if source.dtype.is_numeric()
        else infer_type(leaves)
    )
    spelled = as_text(meant)
    if not spelled.drop_nulls().is_unique().all():
        return values
    return np.where(values < 0, find_positions(as_text(source), spelled), values)


def _reach(taxonomy: Taxonomy) -> tuple[Ints, Ints]:
    """Return the first and last leaf under each node, found from the levels."""
    nodes = len(taxonomy.labels)
    lo = np.full(nodes, _NOTHING[0], np.int64)
    hi = np.full(nodes, _NOTHING[1], np.int64)
    for level in taxonomy.levels[::-1]:
        node, first = np.unique(level, return_index=True)
        last = taxonomy.size - 1 - np.unique(level[::-1], return_index=True)[1]
        lo[node], hi[node] = first, last
    return lo, hi


# Ordered columns


def _ranks(source: pl.Series, column: Column) -> tuple[Ints, pl.Series]:
    """Return the rank of every value and the values by rank."""
    if column.order:
        known = pl.Series(list(dict.fromkeys(column.order)), dtype=pl.String)
        values = find_positions(as_text(source), known)
    else:
        known = source.drop_nulls().unique().sort()
        values = known.search_sorted(source).to_numpy().astype(np.int64)
    return _missing_last(values, source, len(known)), known


def _typed_pair(source: pl.Series, ends: pl.DataFrame, column: Column) -> Sides:
    low, high = (as_text(missing_to_null(ends[name])) for name in ends.columns)
    values, known = _ranks(source, column)
    lo, hi = _place(known, low, high)
    star = (low.is_null() & high.is_null()).to_numpy()
    lo[star], hi[star] = -1, len(known)
    said = pl.DataFrame({"low": low.fill_null(STAR), "high": high.fill_null(STAR)})
    shown = said.select(pl.format("{} to {}", "low", "high")).to_series()
    numbers = np.arange(ends.height)
    return Sides(values, numbers, lo, hi, None, None, len(known) + 1, shown, known, (low, high))


def _place(known: pl.Series, low: pl.Series, high: pl.Series) -> tuple[Ints, Ints]:
    """Return the ranks of the first and last value that lie between two ends, given as texts."""
    if known.dtype.is_integer():
        # Another maker's release may put the ends between the integers.
        whole = low.cast(known.dtype, strict=False).null_count() == low.null_count()
        whole &= high.cast(known.dtype, strict=False).null_count() == high.null_count()
        known = known if whole else known.cast(pl.Float64)
    if known.dtype.is_numeric() or known.dtype in (pl.Date, pl.Datetime):
        first, last = (_as_type(end, known.dtype) for end in (low, high))
        lo = known.search_sorted(first, side="left").to_numpy().astype(np.int64)
        hi = known.search_sorted(last, side="right").to_numpy().astype(np.int64) - 1
        broken = (first.is_null() | last.is_null()).to_numpy()
    else:
        names = as_text(known)
        lo, hi = find_positions(low, names), find_positions(high, names)
        broken = (lo < 0) | (hi < 0)
    # An end that is no value of the column's type makes a cell that covers nothing.
    return np.where(broken, _NOTHING[0], lo), np.where(broken, _NOTHING[1], hi)


def reached(side: Sides) -> tuple[Floats | None, Floats | None]:
    """Return the ends of every cell of an ordered column as numbers, None if they are ranks."""
    dtype = side.known.dtype
    if not (dtype.is_numeric() or dtype in (pl.Date, pl.Datetime)):
        return None, None
    if side.ends is None:
        read = notation.read_ordered(side.shown, dtype)
        low, high = read["lo"], read["hi"]
    else:
        low, high = side.ends
    kind = pl.Float64() if dtype.is_numeric() else dtype
    ends = (_as_type(end, kind).to_physical().cast(pl.Float64) for end in (low, high))
    first, last = (end.to_numpy() for end in ends)
    return first, last


def _as_type(texts: pl.Series, dtype: pl.DataType) -> pl.Series:
    if dtype.is_numeric():
        return texts.cast(dtype, strict=False)
    days = texts.str.to_date("%Y-%m-%d", strict=False)
    if not isinstance(dtype, pl.Datetime):
        return days
    unit, zone = dtype.time_unit, dtype.time_zone
    moments = texts.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", strict=False, time_unit=unit)
    read = zoned(moments.fill_null(days.cast(pl.Datetime(unit))), dtype, "earliest")
    if zone is None:
        return read
    # An offset that is written says which of two equal hours is meant.
    exact = texts.str.to_datetime("%Y-%m-%d %H:%M:%S%.f%:z", strict=False, time_unit=unit)
    return exact.dt.convert_time_zone(zone).fill_null(read)


# Sets


def _sets(texts: pl.Series, numbers: Ints, shown: pl.Series) -> Sides:
    known = texts.drop_nulls().unique().sort()
    values = _missing_last(find_positions(texts, known), texts, len(known))
    elements = notation.read_sets(shown)
    positions = find_positions(elements["element"], known)
    keys = elements["cell"].to_numpy().astype(np.int64) * (len(known) + 1) + positions
    keys = np.unique(keys[positions >= 0])
    starts = np.searchsorted(keys, np.arange(len(shown) + 1) * (len(known) + 1))
    lo, hi = (np.full(len(shown), end, np.int64) for end in _NOTHING)
    members = keys % (len(known) + 1)
    return _starred(Sides(values, numbers, lo, hi, starts, members, len(known) + 1, shown, known))

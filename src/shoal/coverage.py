"""Whether every released cell covers its source.

Cells are read back from their text (or from the two typed columns) and compared with the original
table. The tree of a taxonomy is walked afresh from its levels, so a mistake in the joins that made
the release shows here. What is reported speaks of published cells and counts only, never of an
original value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal import notation
from shoal.cells import as_text, blank
from shoal.domain import STAR, Taxonomy
from shoal.errors import SchemaError, ShoalError
from shoal.partition import Ints
from shoal.schema import Column, Schema

Bools = npt.NDArray[np.bool_]

# Comparisons of one original with one class that a check from files alone may make.
BUDGET = 300_000_000
_BLOCK = 4_000_000


@dataclass(frozen=True)
class Uncovered:
    """Released cells of one column that do not cover their source.

    ``cells`` counts them; ``example`` is one of them as published.
    """

    column: str
    cells: int
    example: str | None

    def describe(self) -> str:
        """Return the finding as a sentence."""
        shown = "" if self.example is None else f", for instance {self.example!r}"
        many = "cell does" if self.cells == 1 else "cells do"
        return (
            f"In column {self.column!r} {self.cells} released {many} not cover the source{shown}."
        )


@dataclass(frozen=True, eq=False)
class _Matched:
    """One quasi-identifier on both sides: positions of the originals, cells of the release.

    A cell covers the positions ``lo .. hi``; for sets instead the keys ``cell * span + position``
    in ``members``. Missing is the last position, covered by ``*`` alone; a value unknown to the
    taxonomy has position -1.
    """

    values: Ints
    cells: Ints
    lo: Ints
    hi: Ints
    span: int
    members: Ints | None
    shown: pl.Series

    def pairs(self, values: Ints, cells: Ints) -> Bools:
        """Say for pairs of a position and a cell whether the cell covers it."""
        inside = (self.lo[cells] <= values) & (values <= self.hi[cells])
        if self.members is None or not self.members.size:
            return np.asarray(inside)
        keys = cells * self.span + values
        at = np.minimum(np.searchsorted(self.members, keys), self.members.size - 1)
        return np.asarray(inside | (self.members[at] == keys))


def covers(
    original: pl.DataFrame,
    released: pl.DataFrame,
    order: npt.NDArray[np.integer],
    schema: Schema,
    taxonomies: Mapping[str, Taxonomy],
) -> tuple[Uncovered, ...]:
    """Compare cell by cell: released row ``i`` comes from the original's row ``order[i]``.

    A released cell covers its source when the source is that value, lies in the interval, is in the
    set or under the node; ``*`` covers everything, and nothing else covers a missing value.
    Sensitive and other columns must be unchanged.
    """
    rows = np.asarray(order, np.int64)
    if rows.shape != (released.height,):
        raise ShoalError(
            f"The release has {released.height} rows but the order of its sources has {rows.size}: "
            "give the input row of every released row."
        )
    if rows.size and (
        np.unique(rows).size != rows.size or rows.min() < 0 or rows.max() >= original.height
    ):
        raise ShoalError(
            "The order of the sources names a row twice, or one that the original does not have: "
            f"it must hold different row numbers from 0 to {original.height - 1}."
        )
    sources = original[rows]
    found = []
    for column in schema.columns:
        if column.role == "quasi":
            both = _match(sources[column.name], released, column, taxonomies)
            wrong = ~both.pairs(both.values, both.cells)
            shown = both.shown.gather(both.cells[wrong][:1])
        elif column.role in ("sensitive", "other") and column.name in released.columns:
            wrong = ~_same(sources[column.name], released[column.name])
            shown = pl.Series([], dtype=pl.String)
        else:
            continue
        if wrong.any():
            example = shown[0] if len(shown) else None
            found.append(Uncovered(column.name, int(wrong.sum()), example))
    return tuple(found)


def plausible(
    original: pl.DataFrame,
    released: pl.DataFrame,
    schema: Schema,
    taxonomies: Mapping[str, Taxonomy],
) -> tuple[tuple[Uncovered, ...], list[str]]:
    """Compare two files whose rows stand in unrelated orders.

    Checked is what must be true of every honest release, and can be decided without knowing which
    row became which:

    1. no more rows are released than there are;
    2. every combination of sensitive and other values occurs at most as often as in the original,
       and just as often when no row was left out;
    3. every class covers at least as many originals as it has rows;
    4. when no row was left out, every original is covered by some class.

    This is necessary, not sufficient: an assignment of originals to classes need not exist even
    when all four hold. For large tables 3 looks at evenly spaced classes within :data:`BUDGET`
    comparisons. Inside a run the row order is known and :func:`covers` decides exactly.
    """
    faults = []
    if released.height > original.height:
        faults.append(
            f"The release has {released.height} rows, its original only {original.height}."
        )
    faults.extend(_passed_through(original, released, schema))
    quasi = [column for column in schema.columns if column.role == "quasi"]
    both = [_match(original[column.name], released, column, taxonomies) for column in quasi]
    if both and released.height and original.height:
        faults.extend(_cover_counts(both, released.height, original.height))
    return (), faults


def _cover_counts(both: list[_Matched], rows: int, originals: int) -> list[str]:
    tuples, weight = _unique_rows([side.values for side in both])
    classes, sizes = _unique_rows([side.cells for side in both])
    every = max(1, -(-(tuples.shape[0] * classes.shape[0]) // BUDGET))
    checked = np.arange(0, classes.shape[0], every)
    step = max(1, _BLOCK // tuples.shape[0])
    short = 0
    for begin in range(0, checked.size, step):
        block = checked[begin : begin + step]
        covered = _cover_matrix(both, tuples, classes[block])
        short += int((weight @ covered < sizes[block]).sum())
    faults = []
    if short:
        faults.append(
            f"{short} of {checked.size} released classes looked at cover fewer rows of the "
            "original than they stand for."
        )
    if rows == originals:
        left = _never_covered(both, tuples, classes)
        if left.size:
            faults.append(
                f"{int(weight[left].sum())} rows of the original are covered by no released row."
            )
    return faults


def _never_covered(both: list[_Matched], tuples: Ints, classes: Ints) -> Ints:
    """Return the tuples that no class covers. Wide classes first: few tuples outlast them."""
    width = sum(np.log1p((side.hi - side.lo)[classes[:, j]].clip(0)) for j, side in enumerate(both))
    widest = classes[np.argsort(-np.asarray(width), kind="stable")]
    left = np.arange(tuples.shape[0])
    begin, step = 0, 16
    while begin < widest.shape[0] and left.size:
        covered = _cover_matrix(both, tuples[left], widest[begin : begin + step])
        left = left[~covered.any(axis=1)]
        begin += step
        step = int(np.clip(_BLOCK // max(left.size, 1), 16, 4096))
    return left


def _cover_matrix(both: list[_Matched], tuples: Ints, classes: Ints) -> Bools:
    """Say which class (columns) covers which tuple (rows)."""
    covered = np.ones((tuples.shape[0], classes.shape[0]), np.bool_)
    for j, side in enumerate(both):
        values, cells = tuples[:, j], classes[:, j]
        if side.members is None:
            covered &= values[:, None] >= side.lo[cells]
            covered &= values[:, None] <= side.hi[cells]
        else:
            which, at = np.unique(values, return_inverse=True)
            table = side.pairs(*np.broadcast_arrays(which[:, None], cells))
            covered &= table[at.reshape(-1)]
    return covered


def _unique_rows(columns: list[Ints]) -> tuple[Ints, Ints]:
    names = [str(j) for j in range(len(columns))]
    frame = pl.DataFrame(dict(zip(names, columns, strict=True)))
    counted = frame.group_by(names, maintain_order=True).agg(pl.len().cast(pl.Int64).alias("count"))
    return counted.select(names).to_numpy(), counted["count"].to_numpy()


def _passed_through(original: pl.DataFrame, released: pl.DataFrame, schema: Schema) -> list[str]:
    names = [
        column.name
        for column in schema.columns
        if column.role in ("sensitive", "other") and column.name in released.columns
    ]
    if not names:
        return []
    before, after = (
        frame.select(as_text(blank(frame[name])).alias(name) for name in names)
        .group_by(names)
        .agg(pl.len().cast(pl.Int64).alias("\x00count"))
        for frame in (original, released)
    )
    both = after.join(before, on=names, how="full", nulls_equal=True, suffix="\x00original")
    now, then = (pl.col(name).fill_null(0) for name in ("\x00count", "\x00count\x00original"))
    wrong = now != then if released.height == original.height else now > then
    count = both.filter(wrong).height
    if not count:
        return []
    listed = ", ".join(map(repr, names))
    return [
        f"{count} combinations of values of {listed} occur in the release in another number than "
        "in the original: these columns must be published as they are."
    ]


def _same(before: pl.Series, after: pl.Series) -> Bools:
    if before.dtype != after.dtype:
        before, after = as_text(blank(before)), as_text(blank(after))
    return before.eq_missing(after).to_numpy()


# Reading both sides of a column


def _match(
    source: pl.Series,
    released: pl.DataFrame,
    column: Column,
    taxonomies: Mapping[str, Taxonomy],
) -> _Matched:
    source = blank(source)
    name = column.name
    if name not in released.columns:
        ends = released.select(lo=f"{name}_lo", hi=f"{name}_hi")
        return _match_typed(source, ends)
    texts = as_text(released[name])
    shown = texts.unique(maintain_order=True)
    cells = _find(texts, shown)
    if column.kind == "taxonomy":
        if name not in taxonomies:
            raise SchemaError(
                f"Column {name!r} is of kind taxonomy, but no hierarchy was given for it: without "
                "one nobody can tell what its cells cover. Give its file, or the directory."
            )
        return _match_taxonomy(source, cells, shown, taxonomies[name])
    if column.kind == "ordered":
        return _match_ordered(source, cells, shown)
    return _match_sets(source, cells, shown)


def _match_taxonomy(
    source: pl.Series, cells: Ints, shown: pl.Series, taxonomy: Taxonomy
) -> _Matched:
    lo, hi = _reach(taxonomy)
    labels = pl.Series(taxonomy.labels[:-1], dtype=pl.String)
    node = _find(notation.read_labels(shown), labels)
    # A label that the taxonomy does not know covers nothing.
    low = np.where(node < 0, 1, lo[node])
    high = np.where(node < 0, 0, hi[node])
    values = as_text(source)
    position = _find(values, labels[: taxonomy.size])
    position[source.is_null().to_numpy()] = taxonomy.size
    return _starred(position, cells, low, high, taxonomy.size + 1, None, shown)


def _reach(taxonomy: Taxonomy) -> tuple[Ints, Ints]:
    """Return the leaf positions under each node, found from the levels."""
    nodes = len(taxonomy.labels)
    positions = np.arange(taxonomy.size)
    lo, hi = np.full(nodes, taxonomy.size, np.int64), np.full(nodes, -1, np.int64)
    for level in taxonomy.levels:
        np.minimum.at(lo, level, positions)
        np.maximum.at(hi, level, positions)
    return lo, hi


def _match_ordered(source: pl.Series, cells: Ints, shown: pl.Series) -> _Matched:
    known = source.drop_nulls().unique().sort()
    ends = notation.read_ordered(shown, source.dtype)
    low, high = _place(known, ends["lo"], ends["hi"])
    position = _position(source, known)
    return _starred(position, cells, low, high, len(known) + 1, None, shown)


def _match_typed(source: pl.Series, ends: pl.DataFrame) -> _Matched:
    pairs = ends.unique(maintain_order=True)
    number = pairs.with_row_index("\x00cell")
    cells = ends.join(number, on=["lo", "hi"], nulls_equal=True, how="left", maintain_order="left")
    known = source.drop_nulls().unique().sort()
    low, high = _place(known, as_text(pairs["lo"]), as_text(pairs["hi"]))
    position = _position(source, known)
    star = (pairs["lo"].is_null() & pairs["hi"].is_null()).to_numpy()
    low[star], high[star] = 0, len(known)
    shown = pairs.select(
        pl.format("{} .. {}", *(as_text(pairs[end]).fill_null(STAR) for end in ("lo", "hi")))
    ).to_series()
    index = cells["\x00cell"].to_numpy().astype(np.int64)
    return _Matched(position, index, low, high, len(known) + 1, None, shown)


def _match_sets(source: pl.Series, cells: Ints, shown: pl.Series) -> _Matched:
    values = as_text(source)
    known = values.drop_nulls().unique().sort()
    elements = notation.read_sets(shown)
    place = _find(elements["element"], known)
    keys = elements["cell"].to_numpy().astype(np.int64) * (len(known) + 1) + place
    none = np.ones(len(shown), np.int64), np.zeros(len(shown), np.int64)
    position = _find(values, known)
    position[source.is_null().to_numpy()] = len(known)
    return _starred(position, cells, *none, len(known) + 1, np.unique(keys[place >= 0]), shown)


def _starred(
    values: Ints, cells: Ints, lo: Ints, hi: Ints, span: int, members: Ints | None, shown: pl.Series
) -> _Matched:
    """Let ``*`` cover every position, unknown and missing values included."""
    star = (shown == STAR).fill_null(value=False).to_numpy()
    lo, hi = np.where(star, -1, lo), np.where(star, span - 1, hi)
    return _Matched(values, cells, lo, hi, span, members, shown)


def _place(known: pl.Series, lo: pl.Series, hi: pl.Series) -> tuple[Ints, Ints]:
    """Return the first and last known value that lie between the two ends."""
    ends = [_as_type(end, known.dtype) for end in (lo, hi)]
    if known.dtype.is_integer() and any(
        typed.null_count() > text.null_count() for typed, text in zip(ends, (lo, hi), strict=True)
    ):
        known = known.cast(pl.Float64)
        ends = [_as_type(end, known.dtype) for end in (lo, hi)]
    if ends[0].dtype == pl.String:
        texts = as_text(known)
        low, high = (_find(end, texts) for end in ends)
        broken = (low < 0) | (high < 0)
    else:
        low = known.search_sorted(ends[0], side="left").to_numpy().astype(np.int64)
        high = known.search_sorted(ends[1], side="right").to_numpy().astype(np.int64) - 1
        broken = (ends[0].is_null() | ends[1].is_null()).to_numpy()
    # An end that is no value of this type makes a cell that covers nothing.
    return np.where(broken, 1, low), np.where(broken, 0, high)


def _as_type(texts: pl.Series, dtype: pl.DataType) -> pl.Series:
    """Read texts as a number or a day; all else stays text and is looked up among the values."""
    if dtype.is_numeric():
        return texts.cast(dtype, strict=False)
    if dtype == pl.Date:
        return texts.str.to_date("%Y-%m-%d", strict=False)
    return texts


def _position(source: pl.Series, known: pl.Series) -> Ints:
    position = known.search_sorted(source).to_numpy().astype(np.int64)
    position[source.is_null().to_numpy()] = len(known)
    return position


def _find(texts: pl.Series, among: pl.Series) -> Ints:
    """Return where each text stands among others that are all different, -1 when nowhere."""
    index = pl.DataFrame({"text": among, "at": np.arange(len(among), dtype=np.int64)})
    wanted = pl.DataFrame({"text": texts})
    found = wanted.join(index, on="text", how="left", maintain_order="left", nulls_equal=True)
    return found["at"].fill_null(-1).to_numpy().copy()

"""Whether the cells of a release cover what they stand for.

What is reported speaks of columns, published cells and counts, never of an original value: the
report of a check may travel further than the original does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.base.errors import SchemaError, ShoalError, format_names
from shoal.base.partition import Bools, Ints
from shoal.base.roles import Role
from shoal.base.threads import share
from shoal.releases.published import Published, occurrences, published_columns, read
from shoal.releases.readback import Sides, match
from shoal.releases.verdict import Uncovered
from shoal.tables.cells import as_text, missing_to_null
from shoal.tables.original import Original
from shoal.tables.schema import Column, Schema

# Pairs of an original and a class that a check from files alone may compare in one direction.
BUDGET = 300_000_000
_CHUNK = 1 << 22  # and so many at once, which a processor holds close
_COUNT = "\x00count"


def covers(source: Original, published: Published) -> tuple[Uncovered, ...]:
    """Compare cell by cell: released row ``i`` comes from the original's row ``order[i]``.

    A cell covers its source when the source is that value, lies in the interval, is in the set or
    under the node; ``*`` covers everything, and nothing else covers a missing value. Sensitive and
    other columns must be unchanged.
    """
    original, schema = source.frame, source.schema
    rows = np.asarray(source.order, np.int64)
    published = _grouped(published, schema)
    _check_order(rows, published.frame.height, original.height)
    _check_columns(original, schema)

    def one(column: Column) -> Uncovered | None:
        if column.role is Role.QUASI:
            # Matched before it is put in order: distinct values are then met once, not by row.
            sides = match(original[column.name], published.cells, column, source.taxonomies)
            cells = sides.cells[published.labels]
            wrong = ~sides.covered(sides.values[rows], cells)
            if wrong.any():
                example = sides.shown[int(cells[np.argmax(wrong)])]
                return Uncovered(column.name, int(wrong.sum()), str(example))
        elif _passes(column, published.frame):
            wrong = ~_same(original[column.name].gather(rows), published.frame[column.name])
            if wrong.any():
                return Uncovered(column.name, int(wrong.sum()))
        return None

    return tuple(entry for entry in share(one, schema.columns) if entry is not None)


def _grouped(published: Published, schema: Schema) -> Published:
    """Return the classes by the quasi-identifiers of the original."""
    if published_columns(published.frame, schema.quasi) == published.columns:
        return published
    return read(published.frame, schema.quasi)


def plausible(source: Original, published: Published, false: Ints | int = 0) -> list[str]:
    """Compare two tables whose rows stand in unrelated orders, and return the faults found.

    Checked is what must be true of every honest release and can be decided without knowing which
    row became which:

    1. no more rows are released than there were;
    2. every combination of sensitive and other values occurs at most as often as in the original,
       and just as often when no row was left out;
    3. every class covers at least as many originals as it has rows;
    4. when no row was left out, every original is covered by some class.

    This is necessary, not sufficient: even when all four hold, there may be no way to give every
    released row an original of its own. When originals times classes exceed :data:`BUDGET`,
    3 looks at evenly spaced classes and 4 at evenly spaced originals. Inside a run the order of
    rows is known, and :func:`covers` decides exactly.

    ``false``: how many rows of every class are told to be counterfeits. They are left out of 1 and
    3; in 2 that many rows may have any values besides those of the original.
    """
    original, schema = source.frame, source.schema
    _check_columns(original, schema)
    published = _grouped(published, schema)
    faults = []
    sizes = published.sizes - false
    rows, more = int(sizes.sum()), int(np.sum(false))
    if rows > original.height:
        told = f" and {more:,} counterfeits" if more else ""
        faults.append(
            f"The release has {rows:,} rows{told}, its original only {original.height:,}."
        )
    faults.extend(_passed_through(original, published.frame, schema, more))
    quasi = [column for column in schema.columns if column.role is Role.QUASI]
    both = [match(original[c.name], published.cells, c, source.taxonomies) for c in quasi]
    if both and rows and original.height:
        faults.extend(_cover_counts(both, sizes, original.height))
    return faults


@dataclass(frozen=True, eq=False)
class _Originals:
    """The different originals: per column its different positions and which of them each has."""

    different: list[Ints]
    which: list[Ints]
    weight: Ints

    @classmethod
    def build(cls, columns: list[Ints], weight: Ints) -> _Originals:
        """Take originals given by their position in each column, and how often each occurs."""
        pairs = [np.unique(column, return_inverse=True) for column in columns]
        return cls([pair[0] for pair in pairs], [pair[1].reshape(-1) for pair in pairs], weight)


def _cover_counts(both: list[Sides], sizes: Ints, originals: int) -> list[str]:
    different = _different(both)
    classes = np.stack([side.cells for side in both], axis=1)
    every = max(1, -(-different.weight.size * classes.shape[0] // BUDGET))
    checked = np.arange(0, classes.shape[0], every)
    short = _covering_too_few(both, different, classes[checked], sizes[checked])
    faults = []
    if short:
        faults.append(
            f"{short:,} of {checked.size:,} released classes looked at cover fewer rows of the "
            "original than they stand for."
        )
    if sizes.sum() == originals:
        left = _covered_by_none(both, _every(different, every), classes)
        if left:
            faults.append(f"{left:,} rows of the original are covered by no released row.")
    return faults


def _different(both: list[Sides]) -> _Originals:
    names = [str(j) for j in range(len(both))]
    counted = (
        pl.DataFrame({name: side.values for name, side in zip(names, both, strict=True)})
        .group_by(names, maintain_order=True)
        .agg(pl.len().cast(pl.Int64).alias(_COUNT))
    )
    return _Originals.build(
        [counted[name].to_numpy() for name in names], counted[_COUNT].to_numpy()
    )


def _every(originals: _Originals, step: int) -> _Originals:
    """Return every ``step``-th original."""
    columns = zip(originals.different, originals.which, strict=True)
    return _Originals.build(
        [positions[at[::step]] for positions, at in columns], originals.weight[::step]
    )


def _covering_too_few(both: list[Sides], originals: _Originals, classes: Ints, sizes: Ints) -> int:
    """Count the classes that cover fewer originals than they have rows."""
    # float32 is twice as fast, and exact as long as no count reaches 2^24.
    weight = originals.weight.astype(np.float32 if originals.weight.sum() < 1 << 24 else np.float64)
    step = _step(originals)
    rows = max(1, _CHUNK // step)
    short = 0
    for begin in range(0, classes.shape[0], step):
        block = classes[begin : begin + step]
        tables = _tables(both, originals, block)
        covered = np.zeros(block.shape[0])
        for first in range(0, weight.size, rows):
            bits = _cover_bits(tables, [at[first : first + rows] for at in originals.which])
            ones = np.unpackbits(bits, axis=1, count=block.shape[0])
            covered += np.asarray(weight[first : first + rows] @ ones.astype(weight.dtype), float)
        short += int((covered < sizes[begin : begin + step]).sum())
    return short


def _covered_by_none(both: list[Sides], originals: _Originals, classes: Ints) -> int:
    """Count the originals that no class covers. Wide classes first: few originals outlast them."""
    width = np.zeros(classes.shape[0])
    for j, side in enumerate(both):
        reach = side.hi - side.lo
        if side.starts is not None:
            reach = np.maximum(reach, np.diff(side.starts))
        width += np.log1p(reach.clip(0))[classes[:, j]]
    widest = classes[np.argsort(-width, kind="stable")]
    left = np.arange(originals.weight.size)
    step = _step(originals)
    for begin in range(0, widest.shape[0], step):
        if not left.size:
            break
        tables = _tables(both, originals, widest[begin : begin + step])
        left = left[~_cover_bits(tables, [at[left] for at in originals.which]).any(axis=1)]
    return int(originals.weight[left].sum())


def _step(originals: _Originals) -> int:
    """Return how many classes to take at once: many, but with tables that fit in memory."""
    most = max(positions.size for positions in originals.different)
    return int(np.clip((1 << 26) // most // 64 * 64, 64, 1024))


def _tables(both: list[Sides], originals: _Originals, classes: Ints) -> list[npt.NDArray[np.uint8]]:
    """Say per column and different position (a row) which classes (bits) cover it."""
    return [
        np.packbits(side.table(positions, classes[:, j]), axis=1)
        for j, (side, positions) in enumerate(zip(both, originals.different, strict=True))
    ]


def _cover_bits(tables: list[npt.NDArray[np.uint8]], which: list[Ints]) -> npt.NDArray[np.uint8]:
    """Say which classes (bits) cover which originals (rows) in every column."""
    bits = tables[0][which[0]]
    for table, at in zip(tables[1:], which[1:], strict=True):
        bits &= table[at]
    return bits


def _passed_through(
    original: pl.DataFrame, released: pl.DataFrame, schema: Schema, more: int = 0
) -> list[str]:
    """Compare how often values occur; ``more``: rows that are told to be counterfeits."""
    names = [column.name for column in schema.columns if _passes(column, released)]
    if not names:
        return []
    then, now = occurrences(original, released, names)
    whole = released.height - more == original.height
    added = np.maximum(now - then, 0)
    wrong = (now < then) & whole
    if added.sum() > more:  # more than counterfeits can explain
        wrong |= added > 0
    count = int(wrong.sum())
    if not count:
        return []
    return [
        f"{count:,} combinations of values of {format_names(names)} do not occur as often in "
        "the release "
        "as in the original: these columns must be published as they are."
    ]


def _passes(column: Column, released: pl.DataFrame) -> bool:
    return column.role in (Role.SENSITIVE, Role.KEEP) and column.name in released.columns


def _same(before: pl.Series, after: pl.Series) -> Bools:
    if before.dtype != after.dtype:
        before, after = as_text(missing_to_null(before)), as_text(missing_to_null(after))
    return before.eq_missing(after).to_numpy()


def _check_order(rows: Ints, released: int, originals: int) -> None:
    if rows.shape != (released,):
        raise ShoalError(
            f"The release has {released:,} rows but the order of its sources has {rows.size:,}: "
            "give the input row of every released row."
        )
    inside = not rows.size or (rows.min() >= 0 and rows.max() < originals)
    if not inside or (np.bincount(rows, minlength=1) > 1).any():
        raise ShoalError(
            "The order of the sources names a row twice, or one that the original does not have: "
            f"it must hold different row numbers below {originals:,}."
        )


def _check_columns(original: pl.DataFrame, schema: Schema) -> None:
    lacking = [
        column.name
        for column in schema.columns
        if column.role.published and column.name not in original.columns
    ]
    if lacking:
        raise SchemaError(
            f"The original has no column {format_names(lacking)}; it has: "
            f"{format_names(original.columns)}. "
            "Give the table that the release was made from."
        )

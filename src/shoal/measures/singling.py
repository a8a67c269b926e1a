"""Find columns, and combinations of columns, that single out rows.

Notes
-----
Distinction and separation are those of Motwani and Xu, Efficient Algorithms for Masking and Finding
Quasi-Identifiers (VLDB 2007), section 2, which ARX reports too: distinct combinations of values
over rows, and pairs of rows that are told apart over all pairs. Minimal unique combinations and
their score are those of SUDA2 (Manning, Haglin, Keane: A recursive search algorithm for statistical
disclosure assessment, 2008): a set of columns by which a row is unique and by no part of which it
is. Departure: sets of more than three columns are not looked for, which shows in the score of a row
but never hides a smaller set. A missing value is a value like any other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from shoal.base.partition import Codes, Ints
from shoal.base.threads import share
from shoal.kernels.uniques import Bits, crowds, pair, triple
from shoal.tables.schema import plain

SIZE = 3  # columns that are put together at most
COLUMNS = 20  # columns of which all combinations are tried; more would take minutes
TOP = 5  # combinations of each size, and rows, that are told


@dataclass(frozen=True)
class Combination:
    """Some columns together: how far their values tell the rows of a table apart.

    Parameters
    ----------
    columns
        Their names.
    rows
        Rows of the table.
    distinct
        Different combinations of values.
    unique
        Rows that no other one equals in them.
    alike
        Pairs of rows that are equal in them.
    """

    columns: tuple[str, ...]
    rows: int
    distinct: int
    unique: int
    alike: int

    @property
    def distinction(self) -> float:
        """Distinct combinations of values over rows."""
        return self.distinct / max(self.rows, 1)

    @property
    def separation(self) -> float:
        """Share of the pairs of rows that are told apart."""
        pairs = self.rows * (self.rows - 1) // 2
        return 1 - self.alike / pairs if pairs else 0.0

    @property
    def alone(self) -> float:
        """Share of the rows that are unique."""
        return self.unique / max(self.rows, 1)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        return {
            "columns": list(self.columns),
            "distinct": self.distinct,
            "unique": self.unique,
            "distinction": self.distinction,
            "separation": self.separation,
        }


@dataclass(frozen=True)
class LonelyRow:
    """A row that many small combinations single out: its number, its score, the combinations."""

    row: int
    score: int
    minimal: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Singling:
    """What singles rows out.

    Parameters
    ----------
    rows
        Rows of the table.
    columns
        Every column alone, the most distinct first.
    together
        The pairs and triples of columns by which most rows are unique, pairs first.
    unique
        Rows that are unique by at most three of the columns that were put together.
    tried
        The columns that were put together: those that tell most rows apart, if there are many.
    worst
        The rows with the highest score, each with its minimal unique combinations.
    """

    rows: int
    columns: tuple[Combination, ...]
    together: tuple[Combination, ...]
    unique: int
    tried: tuple[str, ...]
    worst: tuple[LonelyRow, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data, without row numbers."""
        return {
            "columns": [combination.to_dict() for combination in self.columns],
            "together": [combination.to_dict() for combination in self.together],
            "unique": self.unique,
            "tried": list(self.tried),
            "minimal": [[list(names) for names in row.minimal] for row in self.worst],
        }


@dataclass(frozen=True, eq=False)
class _Table:
    """The columns as codes, the rows in the order of each, and who is alone by which column."""

    codes: list[Codes]
    spans: list[int]
    ordered: list[Codes]
    lonely: Bits

    @classmethod
    def encode(cls, frame: pl.DataFrame, names: Sequence[str]) -> _Table:
        codes = [_codes(frame[name]) for name in names]
        spans = [int(column.max(initial=-1)) + 1 for column in codes]
        ordered = [np.argsort(column, kind="stable").astype(np.int32) for column in codes]
        lonely = np.zeros(frame.height, np.uint32)
        for number, column in enumerate(codes):
            single = np.bincount(column, minlength=1)[column] == 1
            lonely |= single.astype(np.uint32) << np.uint32(number)
        return cls(codes, spans, ordered, lonely)

    @property
    def rows(self) -> int:
        return self.lonely.size

    def classes(self, first: int, second: int) -> tuple[Codes, Codes, int]:
        """Return the rows that others equal in two columns, where each class starts, how many."""
        rows, starts = np.empty(self.rows, np.int32), np.empty(self.rows + 1, np.int32)
        room = np.empty(self.spans[first] + 1, np.int32)
        columns = self.codes[first], self.codes[second]
        number = crowds(self.ordered[second], *columns, room, rows, starts)
        return rows, starts, number


def _codes(series: pl.Series) -> Codes:
    """Number the values of a column; missing is a value of its own."""
    return series.rank("dense").fill_null(0).cast(pl.Int32).to_numpy()


def singling_out(
    frame: pl.DataFrame, names: Sequence[str], *, together: Sequence[str] | None = None
) -> Singling:
    """Find what singles the rows of a table out.

    Parameters
    ----------
    frame
        The table.
    names
        Columns to look at, one by one; those whose cells are not single values are left aside.
    together
        Columns to put together, the same by default.
    """
    names = [name for name in names if plain(frame[name].dtype)]
    alone = {name: _single(frame[name]) for name in names}
    wanted = [name for name in names if together is None or name in together]
    # The columns that tell most apart come first: what they single out is never looked at again.
    tried = sorted(wanted, key=lambda name: alone[name].alike)[:COLUMNS]
    table = _Table.encode(frame, tried)
    scores, combinations = _count(table, tried, [alone[name] for name in tried])
    best = sorted(
        combinations,
        key=lambda combination: (len(combination.columns), -combination.unique, combination.alike),
    )
    told = [
        combination
        for size in range(2, SIZE + 1)
        for combination in [one for one in best if len(one.columns) == size][:TOP]
    ]
    lone = np.argsort(-scores, kind="stable")[:TOP]
    return Singling(
        rows=frame.height,
        columns=tuple(sorted(alone.values(), key=lambda combination: combination.alike)),
        together=tuple(told),
        unique=int((scores > 0).sum()),
        tried=tuple(tried),
        worst=tuple(
            LonelyRow(int(row), int(scores[row]), tuple(_minimal(table, tried, int(row))))
            for row in lone.tolist()
            if scores[row] > 0
        ),
    )


def _single(series: pl.Series) -> Combination:
    counts = series.value_counts(name="\x00rows")["\x00rows"].cast(pl.Int64)
    alike = int((counts * (counts - 1) // 2).sum())
    return Combination((series.name,), len(series), len(counts), int((counts == 1).sum()), alike)


def _weight(size: int, columns: int) -> int:
    """Return SUDA's weight of a minimal unique combination of so many columns."""
    factors = [columns - number for number in range(size, SIZE + 1)]
    return int(np.prod(np.maximum(factors, 1)))


def _count(
    table: _Table, names: Sequence[str], single: Sequence[Combination]
) -> tuple[Ints, list[Combination]]:
    """Return the score of every row, and the figures of all pairs and triples."""
    many = len(names)
    alone = [np.zeros(table.rows, np.uint32) for _ in names]
    columns = range(many)
    pairs = share(lambda first: _pairs(table, first, alone[first], names, single), columns)
    by_pair = {
        combination.columns: combination
        for _, combinations in pairs
        for combination in combinations
    }
    triples = share(lambda first: _triples(table, first, alone, names, by_pair), columns)
    scores = np.zeros(table.rows, np.int64)
    for number in columns:
        is_alone = (table.lonely >> np.uint32(number)) & np.uint32(1)
        scores += is_alone.astype(np.int64) * _weight(1, many)
    for own, _ in [*pairs, *triples]:
        scores += own
    return scores, [
        *by_pair.values(),
        *(combination for _, combinations in triples for combination in combinations),
    ]


def _pairs(
    table: _Table, first: int, alone: Bits, names: Sequence[str], single: Sequence[Combination]
) -> tuple[Ints, list[Combination]]:
    scores, sums = np.zeros(table.rows, np.int64), np.zeros(3, np.int64)
    classes, own = table.classes(first, first), np.empty(table.rows, np.int32)
    weight, combinations = _weight(2, len(names)), []
    for second in range(first + 1, len(names)):
        codes, counts = table.codes[second], np.zeros(table.spans[second], np.int32)
        pair(*classes, codes, counts, own, second, alone, table.lonely, weight, scores, sums)
        combinations.append(_combined((names[first], names[second]), single[first], sums))
    return scores, combinations


def _triples(
    table: _Table,
    first: int,
    alone: Sequence[Bits],
    names: Sequence[str],
    by_pair: dict[tuple[str, ...], Combination],
) -> tuple[Ints, list[Combination]]:
    scores, sums = np.zeros(table.rows, np.int64), np.zeros(3, np.int64)
    weight, combinations, own = _weight(3, len(names)), [], np.empty(table.rows, np.int32)
    for second in range(first + 1, len(names) - 1):
        classes = table.classes(first, second)
        both = by_pair[names[first], names[second]]
        bits = alone[first], alone[second], table.lonely
        for third in range(second + 1, len(names)):
            codes, counts = table.codes[third], np.zeros(table.spans[third], np.int32)
            triple(*classes, codes, counts, own, third, *bits, weight, scores, sums)
            combinations.append(_combined((*both.columns, names[third]), both, sums))
    return scores, combinations


def _combined(names: tuple[str, ...], fewer: Combination, sums: Ints) -> Combination:
    """Return the figures of a combination: who was unique before is so still."""
    distinct, unique, alike = (int(total) for total in sums)
    return Combination(names, fewer.rows, fewer.unique + distinct, fewer.unique + unique, alike)


def _minimal(table: _Table, names: Sequence[str], row: int) -> Iterator[tuple[str, ...]]:
    """Return the smallest sets of columns by which one row is unique.

    Every other row is the set of columns in which it equals this one, as bits.
    """
    shared = np.zeros(table.rows, np.uint32)
    for number, codes in enumerate(table.codes):
        shared |= (codes == codes[row]).astype(np.uint32) << np.uint32(number)
    others = np.unique(np.delete(shared, row))
    minimal: list[int] = []
    for size in range(1, SIZE + 1):
        for chosen in combinations(range(len(names)), size):
            bits = sum(1 << column for column in chosen)
            if any(smaller & bits == smaller for smaller in minimal):
                continue
            if not (others & np.uint32(bits) == bits).any():
                minimal.append(bits)
                yield tuple(names[column] for column in chosen)

"""Find which published cells fit which values, with one bit per pair.

A gap (a cell that is published empty) has two readings. *Open*: nobody can exclude the row by what
he knows, so it fits every value. *Own*: missing is a value of its own, and a gap fits only a value
that is missing too. ``*`` fits everything in both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.base.partition import Bools, Floats, Ints
from shoal.releases import notation
from shoal.releases.estimates.bayes import tally
from shoal.releases.readback import Sides, match
from shoal.tables.domain import Taxonomy
from shoal.tables.schema import Column

Bits = npt.NDArray[np.uint8]
ANY = -2  # a key that fits everything: nothing is known
_BLOCK = 1 << 26  # bits of a block of answers
_HELD = 1 << 30  # bits of answers kept per column
_CHUNK = 1 << 26  # truth values unpacked at once


def sides(
    values: pl.DataFrame | Mapping[str, pl.Series],
    cells: pl.DataFrame,
    columns: Sequence[Column],
    taxonomies: Mapping[str, Taxonomy],
    *,
    raw: bool = False,
    gaps: str = "own",
) -> list[Sides]:
    """Bring values and published cells together, column by column.

    Parameters
    ----------
    values
        Exact values by column.
    cells
        Published cells, one row per class.
    columns
        The columns to compare, with their kinds.
    taxonomies
        The hierarchies by column.
    raw
        The cells are values as they were, not our notation: ``*`` is a text like any other.
    gaps
        How an empty cell is read, ``"own"`` or ``"open"``.
    """
    if raw:
        cells = cells.with_columns(
            notation.exact(cells[column.name]) for column in columns if column.name in cells.columns
        )
    clipped = []
    for column in columns:
        side = match(values[column.name], cells, column, taxonomies)
        empty = side.shown.is_null().to_numpy()
        last = side.span - 1
        lo = np.where(empty, -1 if gaps == "open" else last, side.lo)
        clipped.append(replace(side, lo=lo, hi=np.where(empty, last, side.hi)))
    return clipped


@dataclass(frozen=True, eq=False)
class Items:
    """What is searched: items with a code in every column, and how much each weighs.

    ``held``: the different codes of each column; ``at``: which of them each item has.
    """

    held: tuple[Ints, ...]
    at: tuple[Ints, ...]
    weight: Floats

    @classmethod
    def from_codes(cls, codes: Ints, weight: Floats) -> Items:
        """Take items by their codes, ``[items, columns]``."""
        distinct = [np.unique(column, return_inverse=True) for column in codes.T]
        held, at = ([pair[half] for pair in distinct] for half in (0, 1))
        return cls(
            tuple(held), tuple(positions.reshape(-1).astype(np.int64) for positions in at), weight
        )

    @property
    def size(self) -> int:
        """Number of items."""
        return self.weight.size


def distinct(codes: Ints) -> tuple[Ints, Ints]:
    """Return the different rows, and which of them each row is."""
    key = np.zeros(codes.shape[0], np.int64)
    room = 1
    for column in codes.T:
        low = int(column.min(initial=0))
        size = int(column.max(initial=0)) - low + 1
        if room * size >= 1 << 62:  # the number of rows bounds what is left after renumbering
            seen, key = np.unique(key, return_inverse=True)
            key, room = key.reshape(-1).astype(np.int64), seen.size
        key = key * size + (column - low)
        room *= size
    _, first, which = np.unique(key, return_index=True, return_inverse=True)
    which = which.reshape(-1).astype(np.int64)
    return codes[first], which


def blocks(keys: int, items: int, most: int = _BLOCK) -> Iterator[tuple[int, int]]:
    """Cut a number of keys into runs whose answers fit in memory."""
    step = max(1, most // max(items, 1))
    for begin in range(0, keys, step):
        yield begin, min(begin + step, keys)


@dataclass(frozen=True, eq=False)
class Index:
    """Which items fit which keys, column by column.

    Parameters
    ----------
    both
        The columns.
    items
        What is searched.
    by_cell
        Keys are cells and items hold values; otherwise the other way round.
    wanted
        Per column the keys that will be asked for, ascending; ``ANY`` fits everything.
    found
        Per column a row of bits for each of them, one bit an item; None where that would be too
        much to hold, and rows are made when they are asked for.
    """

    both: Sequence[Sides]
    items: Items
    by_cell: bool
    wanted: tuple[Ints, ...]
    found: tuple[Bits | None, ...]

    @classmethod
    def build(
        cls, both: Sequence[Sides], keys: Ints, items: Items, *, by_cell: bool = False
    ) -> Index:
        """Prepare the answers for keys, ``[keys, columns]``."""
        wanted = tuple(np.unique(column) for column in keys.T)
        room = _HELD // max(items.size, 1)
        index = cls(both, items, by_cell, wanted, (None,) * len(wanted))
        fits = tuple(
            index._fits(j, values) if values.size <= room else None
            for j, values in enumerate(wanted)
        )
        return replace(index, found=fits)

    def column(self, j: int, keys: Ints) -> Bits:
        """Say which items (bits) fit each key in one column."""
        held = self.found[j]
        if held is not None:
            return np.asarray(held[np.searchsorted(self.wanted[j], keys)])
        wanted, row = np.unique(keys, return_inverse=True)
        return np.asarray(self._fits(j, wanted)[row.reshape(-1)])

    def joint(self, keys: Ints) -> Bits:
        """Say which items (bits) fit each key in every column.

        Keys that begin alike are met once as long as they do.
        """
        bits = np.empty(0, np.uint8)
        same = np.zeros(keys.shape[0], np.int64)
        for j, column in enumerate(keys.T):
            different, after = distinct(np.stack((same, column), axis=1))
            fits = self.column(j, different[:, 1])
            bits = bits[different[:, 0]] & fits if j else fits
            same = after
        return np.asarray(bits[same])

    def most(self, keys: Ints) -> Bits:
        """Say which items (bits) fit each key in most columns."""
        agree = np.zeros((keys.shape[0], self.items.size), np.uint8)
        for j, column in enumerate(keys.T):
            agree += np.unpackbits(self.column(j, column), axis=1, count=self.items.size)
        return _packed(agree == agree.max(axis=1, keepdims=True))

    def _fits(self, j: int, keys: Ints) -> Bits:
        side, held, at = self.both[j], self.items.held[j], self.items.at[j]
        if self.by_cell:
            fits = side.table(held, keys).T
        else:
            fits = side.table(keys, held)
            fits[keys == ANY] = True
        step = max(1, _CHUNK // max(at.size, 1))
        chunks = [_packed(fits[first : first + step][:, at]) for first in range(0, keys.size, step)]
        return np.concatenate(chunks)


def _packed(truths: Bools) -> Bits:
    """Pack truths into bits, row by row; rows are filled up to whole words of 64 bits."""
    bits = np.packbits(truths, axis=1)
    words = np.zeros((bits.shape[0], -(-bits.shape[1] // 8) * 8), np.uint8)
    words[:, : bits.shape[1]] = bits
    return words


def pairs(bits: Bits) -> tuple[Ints, Ints]:
    """Return row and place of every bit that is set, row by row."""
    words = np.ascontiguousarray(bits).view(np.uint64)
    row, word = np.nonzero(words)
    ones = np.unpackbits(words[row, word].view(np.uint8).reshape(-1, 8), axis=1)
    at, bit = np.nonzero(ones)
    return row[at], word[at] * 64 + bit


def total(bits: Bits, weight: Floats) -> Floats:
    """Add up the weights of the items that are set, row by row."""
    row, item = pairs(bits)
    return tally(row, weight[item], bits.shape[0])


def exact(both: Sequence[Sides]) -> Ints | None:
    """Return the one position that each cell of each class stands for, None if some has more."""
    columns = []
    for side in both:
        position = np.where(side.lo == side.hi, side.lo, ANY)
        if side.starts is not None and side.members is not None:
            one = np.diff(side.starts) == 1
            position[one] = side.members[side.starts[:-1][one]]
        columns.append(position[side.cells])
    codes = np.stack(columns, axis=1)
    return None if (codes == ANY).any() else codes


def covered(both: Sequence[Sides]) -> Floats:
    """Count for every class the values (rows of the source) that all its cells fit."""
    people, which = distinct(np.stack([side.values for side in both], axis=1))
    weight = tally(which, np.ones(which.size), people.shape[0])
    single = exact(both)
    if single is not None:
        return _equal(single, people, weight)
    cells, which = distinct(np.stack([side.cells for side in both], axis=1))
    counts = np.zeros(cells.shape[0])
    items = Items.from_codes(people, weight)
    index = Index.build(both, cells, items, by_cell=True)
    for begin, end in blocks(cells.shape[0], items.size):
        counts[begin:end] = total(index.joint(cells[begin:end]), weight)
    return np.asarray(counts[which])


def _equal(codes: Ints, people: Ints, weight: Floats) -> Floats:
    """Count the people equal to each row of codes."""
    _, which = distinct(np.concatenate((people, codes)))
    counts = tally(which[: weight.size], weight, int(which.max(initial=0)) + 1)
    return np.asarray(counts[which[weight.size :]])


def widths(side: Sides) -> Floats:
    """Return how many values each cell fits."""
    fits = np.maximum(np.minimum(side.hi, side.span - 1) - np.maximum(side.lo, 0) + 1, 0)
    if side.starts is not None:
        fits = np.maximum(fits, np.diff(side.starts))
    return np.asarray(np.maximum(fits, 1), np.float64)

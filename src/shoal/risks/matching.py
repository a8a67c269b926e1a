"""Which published cells fit which values, for many at once: one bit for every pair.

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

from shoal import notation
from shoal.domain import Taxonomy
from shoal.estimates import tally
from shoal.partition import Ints
from shoal.readback import Sides, match
from shoal.schema import Column

Bits = npt.NDArray[np.uint8]
ANY = -2  # a key that fits everything: nothing is known
_BLOCK = 1 << 29  # bits of a block of answers
_CHUNK = 1 << 26  # truth values unpacked at once


def sides(
    values: pl.DataFrame,
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
        Exact values, a row each.
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
    found = []
    for column in columns:
        side = match(values[column.name], cells, column, taxonomies)
        empty = side.shown.is_null().to_numpy()
        last = side.span - 1
        lo = np.where(empty, -1 if gaps == "open" else last, side.lo)
        found.append(replace(side, lo=lo, hi=np.where(empty, last, side.hi)))
    return found


@dataclass(frozen=True, eq=False)
class Items:
    """What is searched: items with a code in every column, and how much each weighs."""

    codes: Ints
    weight: npt.NDArray[np.float64]

    @classmethod
    def collapse(cls, codes: Ints, weight: npt.NDArray[np.float64] | None = None) -> Items:
        """Make items of rows: equal rows become one, which weighs as much as they do together."""
        each = np.ones(codes.shape[0]) if weight is None else weight
        different, which = distinct(codes)
        return cls(different, tally(which, each, different.shape[0]))


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


def search(
    both: Sequence[Sides], keys: Ints, items: Items, *, by_cell: bool
) -> Iterator[tuple[int, int, list[Bits]]]:
    """Yield blocks of keys, and per column which items (bits) fit each key of the block.

    ``by_cell``: keys are cells and items hold values; otherwise the other way round.
    """
    step = max(1, _BLOCK // max(items.weight.size, 1))
    for begin in range(0, keys.shape[0], step):
        end = min(begin + step, keys.shape[0])
        yield (
            begin,
            end,
            [
                _fits(side, keys[begin:end, j], items.codes[:, j], by_cell)
                for j, side in enumerate(both)
            ],
        )


def _fits(side: Sides, keys: Ints, codes: Ints, by_cell: bool) -> Bits:
    """Say for each key which items (bits) fit it in one column."""
    wanted, row = np.unique(keys, return_inverse=True)
    held, at = np.unique(codes, return_inverse=True)
    if by_cell:
        fits = side.table(held, wanted).T
    else:
        fits = side.table(wanted, held)
        fits[wanted == ANY] = True
    step = max(1, _CHUNK // max(codes.size, 1))
    at = at.reshape(-1)
    packed = [
        np.packbits(fits[first : first + step][:, at], axis=1)
        for first in range(0, wanted.size, step)
    ]
    return np.concatenate(packed)[row.reshape(-1)]


def joint(columns: Sequence[Bits]) -> Bits:
    """Say which items fit in every column."""
    bits = columns[0].copy()
    for more in columns[1:]:
        bits &= more
    return bits


def pairs(bits: Bits) -> tuple[Ints, Ints]:
    """Return row and place of every bit that is set."""
    row, byte = np.nonzero(bits)
    ones = np.unpackbits(bits[row, byte][:, None], axis=1)
    at, place = np.nonzero(ones)
    return row[at], byte[at] * 8 + place


def total(bits: Bits, weight: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Add up the weights of the items that are set, row by row."""
    row, item = pairs(bits)
    return tally(row, weight[item], bits.shape[0])


def exact(both: Sequence[Sides]) -> Ints | None:
    """Return the one position that each cell of each class stands for, None if some has more."""
    found = []
    for side in both:
        place = np.where(side.lo == side.hi, side.lo, ANY)
        if side.starts is not None and side.members is not None:
            one = np.diff(side.starts) == 1
            place[one] = side.members[side.starts[:-1][one]]
        found.append(place[side.cells])
    codes = np.stack(found, axis=1)
    return None if (codes == ANY).any() else codes


def covered(both: Sequence[Sides]) -> npt.NDArray[np.float64]:
    """Count for every class the values (rows of the source) that all its cells fit."""
    values = Items.collapse(np.stack([side.values for side in both], axis=1))
    cells = np.stack([side.cells for side in both], axis=1)
    single = exact(both)
    if single is not None:
        return _equal(single, values)
    different, which = distinct(cells)
    counts = np.zeros(different.shape[0])
    for begin, end, columns in search(both, different, values, by_cell=True):
        counts[begin:end] = total(joint(columns), values.weight)
    return counts[which]


def _equal(codes: Ints, values: Items) -> npt.NDArray[np.float64]:
    """Count the values equal to each row of codes."""
    names = [str(j) for j in range(codes.shape[1])]
    left, right = (
        pl.DataFrame({name: each[:, j] for j, name in enumerate(names)})
        for each in (codes, values.codes)
    )
    right = right.with_columns(pl.Series("weight", values.weight))
    found = left.join(right, on=names, how="left", maintain_order="left")["weight"]
    return found.fill_null(0.0).to_numpy()

"""Assign signatures: the set of values among which a record hides in all releases.

Rows with the same signature make up a *bucket*, and a bucket is *balanced* when it has as many rows
of each value of its signature as of any other. Then it can be cut into groups that have every value
equally often, in which nobody can tell one value of the signature from another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from shoal.base.partition import Bools, Ints, ragged_positions

Signature = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Signed:
    """A signature for every row, and what the buckets lack.

    Parameters
    ----------
    bucket
        The number of every row's signature.
    signatures
        The values of each signature, ascending; those given first.
    lacking
        Signature and value of every counterfeit that a bucket needs to be balanced, ``[c, 2]``.
    """

    bucket: Ints
    signatures: tuple[Signature, ...]
    lacking: Ints


class Near(Protocol):
    """What knows which rows lie close to each other."""

    def pairs(self, rows: Ints, places: Ints, many: int) -> tuple[Ints, Ints]:
        """Return so many pairs of a row and a place (rows too), by number, the closest first."""
        ...

    def groups(self, rows: Ints) -> Ints:
        """Return a group for each of the rows, of close ones, no value more than 1 / m of any."""
        ...


def assign_signatures(
    values: Ints,
    m: int,
    rng: np.random.Generator,
    kept: Ints | None = None,
    signatures: Sequence[Signature] = (),
    *,
    gap: int = -1,
    near: Near | None = None,
) -> Signed:
    """Give every row a signature, such that all buckets are balanced, with few counterfeits.

    Parameters
    ----------
    values
        The value of every row, from 0 on.
    m
        How many values a signature has at least, ``gap`` not counted.
    kept, signatures
        The signature that each row has already, -1 for none, and what those are.
    gap
        The value that stands for missing: it is hidden like any other, and hides nobody.
    near
        Which rows lie close to each other: such rows get one signature, and a bucket that lacks a
        value gets the closest new row that has it. None: any row will do, as in the paper.

    Notes
    -----
    Xiao, Tao 2007, section 5: *division* (rows that have a signature go to its bucket), *balancing*
    (new rows fill what a bucket lacks, as long as those left over can still be divided;
    counterfeits do the rest), *assignment* (new rows with the most frequent values make up new
    buckets). Departure with ``near``: new rows are grouped first, and make up buckets within their
    group. It has many more signatures and a fraction of the loss.
    """
    held = np.full(values.size, -1, np.int64) if kept is None else kept.astype(np.int64)
    span = int(max(values.max(initial=0), max((max(s) for s in signatures), default=0), gap)) + 1
    bucket = held.copy()
    known = np.arange(span) != gap
    lacking = _balance(bucket, values, signatures, m, known, rng, near)
    table = {signature: number for number, signature in enumerate(signatures)}
    pools = _Pools(values, np.flatnonzero(bucket < 0), span, rng)
    for chosen, many in _assignment(pools, m, gap, known):
        if near is not None and gap not in chosen and _neighbours(bucket, values, table, m, near):
            break
        number = table.setdefault(tuple(sorted(chosen)), len(table))
        for value in chosen:
            rows = pools.take(value, many)
            bucket[rows] = number
            lacking += [(number, value)] * (many - rows.size)
    return Signed(bucket, tuple(table), np.array(lacking, np.int64).reshape(-1, 2))


class _Pools:
    """Rows without a signature, by value, in random order."""

    def __init__(self, values: Ints, rows: Ints, span: int, rng: np.random.Generator) -> None:
        rows = rng.permutation(rows)
        self._rows = rows[np.argsort(values[rows], kind="stable")]
        self.left = np.bincount(values[rows], minlength=span).astype(np.int64)
        self._next = np.cumsum(self.left) - self.left

    def take(self, value: int, many: int) -> Ints:
        """Return so many rows of a value, or as many as there are."""
        many = min(many, int(self.left[value]))
        begin = int(self._next[value])
        self._next[value] += many
        self.left[value] -= many
        return self._rows[begin : begin + many]


def _balance(
    bucket: Ints,
    values: Ints,
    signatures: Sequence[Signature],
    m: int,
    known: Bools,
    rng: np.random.Generator,
    near: Near | None,
) -> list[tuple[int, int]]:
    """Fill up buckets with new rows, and return the counterfeits that are needed besides."""
    if not signatures:
        return []
    width = np.array([len(signature) for signature in signatures])
    first = np.cumsum(width) - width
    owner = np.repeat(np.arange(width.size), width)
    value = np.concatenate([np.array(signature, np.int64) for signature in signatures])
    span, fresh = known.size, np.flatnonzero(bucket < 0)
    held = rng.permutation(np.flatnonzero(bucket >= 0))
    runs = np.searchsorted(owner * span + value, bucket[held] * span + values[held])
    have = np.bincount(runs, minlength=owner.size).astype(np.int64)
    most = np.maximum.reduceat(have, first)
    lack = most[owner] - have
    supply = np.bincount(values[fresh], minlength=span).astype(np.int64)
    wanted = np.bincount(value, lack, minlength=span).astype(np.int64)
    filled = fills(supply, wanted, m, known)
    # Rows of a value that the bucket has most of: each of them needs a row of every other value.
    full = np.flatnonzero(have == most[owner])
    full = full[np.searchsorted(owner[full], np.arange(width.size))]
    rows = held[np.argsort(runs, kind="stable")]
    begin = (np.cumsum(have) - have)[full]
    counterfeits: list[tuple[int, int]] = []
    for each in np.flatnonzero(wanted):
        run = np.flatnonzero((value == each) & (lack > 0))
        places = np.repeat(owner[run], lack[run])
        turn = ragged_positions(np.zeros_like(run), lack[run])
        beside = rows[begin[places] + turn]
        own, many = rng.permutation(fresh[values[fresh] == each]), int(filled[each])
        if near is None:
            taken, at = np.arange(many), rng.permutation(places.size)[:many]
        else:
            taken, at = near.pairs(own, beside, many)
        bucket[own[taken]] = places[at]
        counterfeits += [(int(number), int(each)) for number in np.delete(places, at)]
    return counterfeits


def _neighbours(
    bucket: Ints, values: Ints, table: dict[Signature, int], m: int, near: Near
) -> bool:
    """Give all rows that have none signatures within groups of close ones, if that can be."""
    some = np.flatnonzero(bucket < 0)
    if np.bincount(values[some]).max() * m > some.size:
        return False  # what is too frequent needs counterfeits first
    labels = near.groups(some)
    order = np.lexsort((values[some], labels))
    some, labels = some[order], labels[order]
    ends = np.append(np.flatnonzero(np.diff(labels, prepend=-1)), labels.size)
    again = np.zeros(ends.size - 1, np.bool_)
    twice = (np.diff(labels) == 0) & (np.diff(values[some]) == 0)
    again[np.searchsorted(ends, np.flatnonzero(twice), side="right") - 1] = True
    left = []
    for begin, end, repeats in zip(ends[:-1].tolist(), ends[1:].tolist(), again, strict=True):
        own = some[begin:end]
        if not repeats:
            number = table.setdefault(tuple(values[own].tolist()), len(table))
            bucket[own] = number
        else:
            left.append(own)
    for own in left:
        _within(bucket, values, own, table, m)
    return True


def _within(bucket: Ints, values: Ints, rows: Ints, table: dict[Signature, int], m: int) -> None:
    """Give the rows of a group signatures, with no value more than 1 / m of it."""
    codes, small = np.unique(values[rows], return_inverse=True)
    pools = _Pools(small.reshape(-1), np.arange(rows.size), codes.size, np.random.default_rng(0))
    for chosen, many in _assignment(pools, m, -1, np.ones(codes.size, np.bool_)):
        number = table.setdefault(tuple(sorted(codes[chosen].tolist())), len(table))
        for value in chosen:
            bucket[rows[pools.take(value, many)]] = number


def fills(supply: Ints, wanted: Ints, m: int, known: Bools) -> Ints:
    """Return how many new rows of each value go into gaps, as many as can be spared.

    What is left must be divisible into groups of m different values: no known value may have more
    than 1 / m of it. With ``top`` rows left of the most frequent value, all but ``top`` of every
    value must go, and ``top * m`` rows must stay; every ``top`` is tried.
    """
    able = np.minimum(supply, wanted)
    gone = np.where(known, able, 0)
    rows = int(supply[known].sum())
    best, most = None, -1
    for top in range(int(supply[known].max(initial=0)), -1, -1):
        least = np.where(known, np.maximum(supply - top, 0), 0)
        if (least > gone).any():
            break  # fewer rows can only be left of it if more go than buckets lack
        many = min(int(gone.sum()), rows - m * top)
        if many >= least.sum() and many > most:
            best, most = least, many
    if best is None:  # the new rows cannot be divided anyway: counterfeits are needed for them
        return able
    more = most - int(best.sum())
    for value in np.argsort(-supply, kind="stable"):
        step = min(more, int(gone[value] - best[value]))
        best[value] += step
        more -= step
    filled: Ints = np.where(known, best, able)
    return filled


def _assignment(pools: _Pools, m: int, gap: int, known: Bools) -> Iterator[tuple[list[int], int]]:
    """Yield the values of a signature and how many rows of each it gets, until no row is left.

    Rows without a value come first: they need others to hide among.
    """
    while (gap >= 0 and pools.left[gap] > 0) or pools.left[known].any():
        gaps = int(pools.left[gap]) if gap >= 0 else 0
        chosen, many = _most_frequent(np.where(known, pools.left, -1), m, gaps)
        yield [*chosen, *([gap] if gaps else [])], many


def _most_frequent(left: Ints, m: int, gaps: int) -> tuple[list[int], int]:
    """Return the m most frequent values, or a few more, and how many rows of each may go."""
    order = np.argsort(-left, kind="stable")  # what is not known has -1 left: it comes last
    count = np.maximum(left[order], 0)
    rows = int(count.sum())
    for width in range(m, int(np.count_nonzero(count)) + 1):
        many = int(count[width - 1])
        if width < count.size:
            many = min(many, (rows - m * int(count[width])) // width)
        if width > m:
            many = min(many, (rows - m * int(count[0])) // (width - m))
        many = min(many, gaps) if gaps else many
        if many > 0 and rows >= m * int(count[0]):
            return [int(value) for value in order[:width]], many
    # One value is too frequent: its rows that are too many get counterfeits beside them.
    excess = max(-(-(m * int(count[0]) - rows) // max(m - 1, 1)), 1)
    return [int(value) for value in order[:m]], min(excess, gaps) if gaps else excess

"""Guess the original rows behind generalized cells (downcoding, Cohen 2022).

A model of rows is fitted to the release: how common each value of a column is, by expectation and
maximization over what the cells cover, the columns taken for independent. Every class is then
filled with the likeliest values that its cells allow. A join allows less than what it covers: both
ends of an interval occur, or on a grid a value of its first and of its last step; every member of a
set; values under two children of a node. Whoever knows that cells are as narrow as they can be
guesses better by it, and by how much is what is measured.

Notes
-----
Departures from Cohen, Attacks on Deidentification's Defenses (USENIX Security 2022): there the
generalized table is made finer, here rows are guessed whole, so that they can be compared with the
original; and the distribution of the rows is not known beforehand but fitted. The guesser knows
which values each column has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from shoal.base.partition import Bools, Floats, Ints, ragged_positions
from shoal.base.roles import Kind
from shoal.measures.deduced_values import tight
from shoal.measures.risks.matching import Index, blocks, distinct
from shoal.measures.risks.scores import Pairs, Target
from shoal.releases import notation
from shoal.releases.estimates.bayes import tally
from shoal.releases.opened import Opened
from shoal.releases.readback import Sides
from shoal.tables.domain import Taxonomy
from shoal.tables.grid import OFF, interval_ends, step_of
from shoal.tables.schema import Column

Group = tuple[int, int]
"""Positions from the first to the last, one of which occurs."""

ROUNDS = 30  # of expectation and maximization; more change no guess that matters


@dataclass(frozen=True, eq=False)
class Downcoded:
    """What the guesses are worth; every figure is a share.

    Parameters
    ----------
    rows
        Number of rows in classes with a wide cell: so many are guessed.
    right
        Guessed rows that the original has, each of its rows met once.
    unique
        Rows that are unique in the original, and not published exactly, that are guessed.
    outside
        People outside the table whose rows are guessed all the same; None without any.
    cells
        Wide cells of a person guessed right, the guesses of a class given to its rows at random.
    """

    rows: int
    right: float
    unique: float
    outside: float | None
    cells: float


def downcode(
    release: Target, told: Sequence[Sequence[Fact]], people: int, chosen: Ints
) -> Downcoded:
    """Guess the rows of a release, and judge the guesses by the people that it was made from.

    Parameters
    ----------
    release
        The release; ``values`` of its sides are the people, then those who are not in it.
    told
        Per column and cell what must occur (:func:`facts`); :func:`nothing`, for the model alone.
    people
        How many of the values belong to people of the table.
    chosen
        People on whom single cells are judged.
    """
    sizes = release.classes.weight.astype(np.int64)
    guesses = [Guesses.fill(side, own, sizes) for side, own in zip(release.both, told, strict=True)]
    wide = np.stack([guess.wide for guess in guesses])
    rows = _deal([guess.dealt for guess in guesses], sizes)
    open_ = np.repeat(wide.any(axis=0), sizes)
    truth = np.stack([side.values for side in release.both], axis=1)
    met = _met(rows[open_], rows[~open_], truth, people)
    cells = _cells(release, guesses, wide, truth[chosen])
    return Downcoded(int(open_.sum()), *met, cells)


@dataclass(frozen=True)
class Fact:
    """What must occur behind a cell: values of so many of the groups."""

    groups: tuple[Group, ...] = ()
    least: int = 0


def facts(opened: Opened, columns: Sequence[Column], both: Sequence[Sides]) -> list[list[Fact]]:
    """Return per column and cell what must occur in a class that is published with its join.

    With slack it need not, but it is likely still, and so it is taken for true.
    """
    return [
        _of_column(opened, column, side) if tight(opened, column.name) else nothing(side)
        for column, side in zip(columns, both, strict=True)
    ]


def nothing(side: Sides) -> list[Fact]:
    """Return that nothing is known to occur."""
    return [Fact()] * len(side.shown)


def _of_column(opened: Opened, column: Column, side: Sides) -> list[Fact]:
    if side.starts is not None and side.members is not None:
        sets = np.split(side.members, side.starts[1:-1])
        return [Fact(tuple((at, at) for at in own.tolist()), own.size) for own in sets]
    if column.kind is Kind.TAXONOMY:
        taxonomy = opened.taxonomies[column.name]
        return [_of_node(taxonomy, label) for label in notation.read_labels(side.shown)]
    settings = opened.plan.columns.get(column.name)
    first, last = _steps(side.known, OFF if settings is None else settings.grid or OFF, column.name)
    wide = (side.lo >= 0) & (side.lo < side.hi) & (side.hi < side.span - 1)
    return [
        Fact(((low, int(last[low])), (int(first[high]), high)), 2) if is_wide else Fact()
        for low, high, is_wide in zip(side.lo.tolist(), side.hi.tolist(), wide, strict=True)
    ]


def _of_node(taxonomy: Taxonomy, label: str | None) -> Fact:
    """Return that two children of a node occur; nothing of ``*``, which a gap explains."""
    if label not in taxonomy.labels[taxonomy.size : -1]:
        return Fact()
    below = np.flatnonzero(taxonomy.up == taxonomy.labels.index(label))
    return Fact(tuple((int(taxonomy.lo[at]), int(taxonomy.hi[at])) for at in below), 2)


def _steps(known: pl.Series, grid: str | float, name: str) -> tuple[Ints, Ints]:
    """Return for each value the first one that shares its upper end, and the last its lower."""
    step = step_of(known, grid, name)
    if step is None:
        return np.arange(len(known)), np.arange(len(known))
    low, high = interval_ends(known, step)
    return (
        high.search_sorted(high, side="left").to_numpy().astype(np.int64),
        low.search_sorted(low, side="right").to_numpy().astype(np.int64) - 1,
    )


# The model


def fit(side: Sides, weight: Floats) -> Floats:
    """Return how common each value is, when a cell weighs so many rows: the likeliest shares."""
    size = side.span - 1
    lo, hi = np.maximum(side.lo, 0), np.minimum(side.hi, size - 1)
    owner, members = _members(side)
    share = np.full(size, 1 / max(size, 1))
    for _ in range(ROUNDS if size else 0):
        upto = np.concatenate(([0.0], np.cumsum(share)))
        mass = upto[hi + 1] - upto[lo] + tally(owner, share[members], weight.size)
        rate = np.where(mass > 0, weight / np.where(mass > 0, mass, 1.0), 0.0)
        edges = tally(lo, rate, size + 1) - tally(hi + 1, rate, size + 1)
        share = share * np.maximum(np.cumsum(edges)[:size] + tally(members, rate[owner], size), 0.0)
        share /= max(float(share.sum()), 1e-300)
    return share


def _members(side: Sides) -> tuple[Ints, Ints]:
    if side.starts is None or side.members is None:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    return np.repeat(np.arange(side.starts.size - 1), np.diff(side.starts)), side.members


@dataclass(frozen=True, eq=False)
class Guesses:
    """What a column of every class is filled with.

    ``dealt``: the values of all rows, class by class, each class in the order in which they are
    handed out. ``wide``: which classes have more than one value to choose from.
    """

    dealt: Ints
    wide: Bools

    @classmethod
    def fill(cls, side: Sides, told: Sequence[Fact], sizes: Ints) -> Guesses:
        """Fill every class with the likeliest values that its cell and what is known allow."""
        share = fit(side, tally(side.cells, sizes.astype(np.float64), len(side.shown)))
        pairs, which = distinct(np.stack((side.cells, sizes), axis=1))
        filled = []
        wide = np.zeros(pairs.shape[0], np.bool_)
        for number, (cell, size) in enumerate(pairs.tolist()):
            allowed = _allowed(side, cell)
            wide[number] = allowed.size > 1
            filled.append(_even(*_fill(share, allowed, told[cell], size), size))
        starts = np.cumsum([0, *pairs[:-1, 1]])
        return cls(np.concatenate(filled)[ragged_positions(starts[which], sizes)], wide[which])


def _allowed(side: Sides, cell: int) -> Ints:
    """Return the positions that a cell covers, without that of a missing value."""
    if side.starts is not None and side.members is not None:
        members = side.members[side.starts[cell] : side.starts[cell + 1]]
        if members.size:
            return members
    return np.arange(max(side.lo[cell], 0), min(side.hi[cell], side.span - 2) + 1)


def _fill(share: Floats, allowed: Ints, fact: Fact, size: int) -> tuple[Ints, Ints]:
    """Return the likeliest values of so many independent rows, and how often each.

    The likeliest counts come from adding the value next whose share, divided by its count and one,
    is largest; what is known to occur is there from the start.
    """
    if not allowed.size:
        return np.array([-1]), np.array([size])
    chance = share[allowed]
    chance = chance / chance.sum() if chance.sum() > 0 else np.full(allowed.size, 1 / allowed.size)
    counts = np.zeros(allowed.size, np.int64)
    for at in _occurring(chance, allowed, fact, size):
        counts[at] = 1
    # Of independent draws no likeliest count lies further below its mean than that.
    sure = np.ceil((size - counts.sum()) * chance).astype(np.int64) - 1
    counts = np.maximum(counts, sure)
    for _ in range(size - int(counts.sum())):
        counts[np.argmax(chance / (counts + 1))] += 1
    return allowed[counts > 0], counts[counts > 0]


def _occurring(chance: Floats, allowed: Ints, fact: Fact, size: int) -> list[int]:
    """Return the likeliest values that a fact asks for; none when a class has too few rows."""
    best: list[int] = []
    for first, last in fact.groups:
        inside = np.flatnonzero((allowed >= first) & (allowed <= last))
        inside = inside[~np.isin(inside, best)]
        if inside.size:
            best.append(int(inside[np.argmax(chance[inside])]))
    best.sort(key=lambda at: -chance[at])
    return best[: fact.least] if fact.least <= size else []


def _even(values: Ints, counts: Ints, size: int) -> Ints:
    """Lay values out evenly, rare ones first."""
    which = np.repeat(np.arange(values.size), counts)
    rank = ragged_positions(np.zeros_like(counts), counts)
    return values[which[np.lexsort((counts[which], rank / counts[which]))]]


def _deal(columns: Sequence[Ints], sizes: Ints) -> Ints:
    """Make rows of the values of each column: as different as can be, which is likeliest."""
    rows = np.empty((int(sizes.sum()), len(columns)), np.int64)
    classes = np.repeat(np.arange(sizes.size), sizes)
    alike = classes
    for j, dealt in enumerate(columns):
        crowd = np.bincount(alike)[alike]
        rows[np.lexsort((alike, -crowd, classes)), j] = dealt
        alike = distinct(np.stack((alike, rows[:, j]), axis=1))[1]
    return rows


# What the guesses are worth


def _met(guessed: Ints, exact: Ints, truth: Ints, people: int) -> tuple[float, float, float | None]:
    """Return shares: of guesses that people have, of unique people and of outsiders guessed.

    Who is published exactly need not be guessed.
    """
    _, which = distinct(np.concatenate((guessed, exact, truth)))
    many = int(which.max(initial=-1)) + 1
    parts = np.split(which, np.cumsum([len(guessed), len(exact), people]))
    tried, said, inside, outside = (np.bincount(ids, minlength=many) for ids in parts)
    hits = int(np.minimum(tried, np.maximum(inside - said, 0)).sum())
    alone = (inside == 1) & (said == 0)
    unique = float((tried[alone] > 0).mean()) if alone.any() else 0.0
    outside = np.where(said > 0, 0, outside)
    strangers = float(np.minimum(tried, outside).sum() / outside.sum()) if outside.any() else None
    return hits / max(len(guessed), 1), unique, strangers


def _cells(release: Target, guesses: Sequence[Guesses], wide: Bools, truth: Ints) -> float:
    """Return the share of their wide cells that are guessed right for some people.

    A person is in one of the classes that fit, the likelier the fewer values its cells fit, as
    linkage takes it.
    """
    sizes = release.classes.weight
    owner = np.repeat(np.arange(sizes.size), sizes.astype(np.int64))
    held = [
        np.unique(owner * side.span + guess.dealt, return_counts=True)
        for side, guess in zip(release.both, guesses, strict=True)
    ]
    right = total = 0.0
    index = Index.build(release.both, truth, release.classes)
    for begin, end in blocks(truth.shape[0], sizes.size):
        own = Pairs.from_bits(release, index.joint(truth[begin:end]), truth[begin:end])
        weight = own.size * own.weight
        weight /= tally(own.row, weight, end - begin)[own.row]
        for j, (side, (keys, counts)) in enumerate(zip(release.both, held, strict=True)):
            value = truth[begin:end, j][own.row]
            asked = wide[j, own.item] & (value < side.span - 1)
            wanted = own.item * side.span + value
            at = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
            chance = np.where(keys[at] == wanted, counts[at] / own.size, 0.0)
            right += float((weight * chance)[asked].sum())
            total += float(weight[asked].sum())
    return right / total if total else 0.0

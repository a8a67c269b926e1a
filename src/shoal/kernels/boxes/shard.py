"""What the trials of one shard work on: rows that are refined together, and room to do it in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels import inner
from shoal.kernels.boxes.classes import Classes
from shoal.kernels.boxes.covered import Covered, Hidden
from shoal.kernels.boxes.geometry import Boxes, Codes, Extents, Floats, Ints, Words
from shoal.kernels.boxes.groups import SeenValues, State, new_seen

KEEP = 4
"""Candidates remembered per entry (of equal rows): one of them may be the row's own group."""
WIDEN = 2
"""Columns that a candidate may widen in, at most."""
WINDOW = 24
"""How far on either side a class is looked through for neighbours."""
TOUCH = 256
"""Groups that one trial may touch."""
TRIES = 8
"""How often groups that take a row at little cost are drawn, less two, to find neighbours."""
LIFE = 30
"""Rounds for which candidates are remembered."""
TRIAL, ATTEMPT, STEP, LOOKED = range(4)
"""What is counted: trials, attempts to make some moves, steps of growth, groups and rows seen."""


class Pool(NamedTuple):
    """The rows of one trial: those that are freed, then those that other groups can spare."""

    row: Ints
    codes: Ints
    """``[m, rows]``"""
    into: Ints
    """Number of the new group that has the row, -1 for none."""
    away: Ints
    """The group that takes a freed row at the least cost, -1 for none."""
    credit: Floats
    """What the row costs elsewhere."""
    part: Floats
    """``[m, rows]``: width of each column once the row has joined the group that grows."""
    wide: Floats
    """The sum of those widths; infinite for a row that some new group has."""
    elsewhere: Floats
    """What counts of the credit while the group grows."""
    mark: Ints
    """Per group: the number of the last trial that took it apart."""
    given: Ints
    """How many rows each other group has given."""
    low: Ints
    """By column, the box that grows,"""
    high: Ints
    miss: Ints
    """and its missing cells."""
    gaps: Ints
    """The columns where rows of the pool miss a value."""


class Moves(NamedTuple):
    """Rows that change groups."""

    row: Ints
    to: Ints
    back: Ints
    """Where each row was before."""


def new_moves(rows: int) -> Moves:
    """Return room for so many moves."""
    return Moves(*(np.empty(rows, np.int64) for _ in range(3)))


class Touched(NamedTuple):
    """The groups that some moves touch, and what these make of them."""

    group: Ints
    size: Ints
    cost: Floats
    extents: Extents
    mark: Ints
    """Per group: the number of the last attempt that touched it."""


class Work(NamedTuple):
    """Room for trials, made once for many of them."""

    seed: Words
    """The state of the random numbers."""
    counters: Ints
    """How many there were of what :data:`TRIAL` and its like count."""
    pool: Pool
    moves: Moves
    touched: Touched
    ruined: Ints
    """The groups that a trial takes apart."""
    candidates: Ints
    """``[entries, KEEP]``: the cheapest groups for rows that are equal."""
    born: Ints
    """The round in which an entry's candidates were looked up."""
    price: Floats
    words: Words
    seen: SeenValues
    hist: Ints
    asked: Ints
    """Per combination of sensitive values: the last step in which it was asked about, and what the
    answer was."""


def new_work(
    boxes: Boxes, most: int, entries: int, groups: int, hist: Ints, tags: int, seed: int
) -> Work:
    """Return room for trials.

    Parameters
    ----------
    most
        Rows of a group that a trial may take apart.
    entries, groups
        Number of distinct rows and of group numbers.
    hist
        An empty histogram.
    tags
        Number of combinations of sensitive values.
    """
    m = boxes.size.size
    room = 3 * most + 2 * WINDOW + 8  # rows in one trial: three groups, and what others spare

    def ints(*shape: int) -> Ints:
        return np.empty(shape, np.int64)

    pool = Pool(
        *(ints(room), ints(m, room), ints(room), ints(room)),
        *(np.empty(room), np.empty((m, room)), np.empty(room), np.empty(room)),
        *(np.full(groups, -1), ints(groups)),
        *(ints(m), ints(m), ints(m), ints(m)),
    )
    extents = Extents(ints(TOUCH, m), ints(TOUCH, m), ints(TOUCH, m))
    return Work(
        seed=np.array([seed], np.uint64),
        counters=np.zeros(4, np.int64),
        pool=pool,
        moves=new_moves(room),
        touched=Touched(ints(TOUCH), ints(TOUCH), np.empty(TOUCH), extents, np.full(groups, -1)),
        ruined=ints(3),
        candidates=np.full((entries, KEEP), -1),
        born=np.full(entries, -1 - LIFE),
        price=np.empty(KEEP),
        words=np.empty((WIDEN + 1, (groups + 63) // 64), np.uint64),
        seen=new_seen(boxes),
        hist=hist,
        asked=np.full(tags, -1),
    )


class Shard(NamedTuple):
    """Rows that are refined together."""

    boxes: Boxes
    codes: Codes
    entry: Ints
    """Which rows are equal, sensitive values included: the number of what each row is."""
    hidden: Hidden
    k: int
    most: int
    """Rows of a group that a trial may take apart or add to."""
    state: State
    covered: Covered
    classes: Classes
    work: Work


@inner
def draw(seed: Words, n: int) -> int:
    """Next random integer below n (xorshift; the state is ours, so runs repeat)."""
    x = seed[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    seed[0] = x
    return int((x >> np.uint64(11)) % np.uint64(n))


@inner
def allowance(seed: Words, heat: float) -> float:
    """Return how much a step may make the loss larger, at random; below 0 without heat."""
    return -heat * np.log((1 + draw(seed, 1 << 30)) / (1 << 30)) if heat > 0.0 else -1e-9

"""Greedy growth of groups from seeds, exact: every row added is the cheapest one left.

Rows with equal quasi-identifiers are one *entry*. The rows of an entry stand in the order of a
random permutation; a seed takes the first of them, the search takes the last, so both stay fair and
cheap.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.kernels import inlined, inner, kernel
from shoal.kernels.limits import Limits, Tally, ban, clear, note
from shoal.kernels.space.costs import Group, Space, add, cost, start
from shoal.kernels.space.search import Search, furthest, nearest
from shoal.kernels.space.tree import take

FREE, TAKEN, SPILLED = 0, 1, 2
"""States of a row: may still be taken; in a group; was in a group that could not be finished."""


class Stock(NamedTuple):
    """The rows of each entry that are not yet taken: ``left[e]`` rows of entry ``e``."""

    head: npt.NDArray[np.int64]
    tail: npt.NDArray[np.int64]
    left: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int64]
    entry_of: npt.NDArray[np.int64]
    """Entry of each row."""


@inlined
def take_row(search: Search, stock: Stock, e: int, fresh: bool) -> int:
    """Take a row of an entry, the first one of a group if it is a fresh one, and return it."""
    if fresh:
        row = stock.rows[stock.head[e]]
        stock.head[e] += 1
    else:
        stock.tail[e] -= 1
        row = stock.rows[stock.tail[e]]
        add(search.space, search.group, search.tree.codes[e])
    stock.left[e] -= 1
    take(search.tree, stock.left, e)
    return row


@kernel
def grow(
    search: Search,
    limits: Limits,
    tally: Tally,
    stock: Stock,
    seeds: npt.NDArray[np.int64],
    state: npt.NDArray[np.int8],
    spread_seeds: bool | None,
    members: npt.NDArray[np.int64],
) -> int:
    """Fill the rows of ``members`` with one group each; return how many groups there are.

    A group that cannot reach its target within the limits is given up and its rows are spilled.

    Parameters
    ----------
    seeds, state
        All rows in random order; a seed is the first one still free.
    spread_seeds
        True: take as next seed the row furthest from the last seed instead. None leaves the search
        for it out of what is compiled.
    """
    space, group, tree, codes = search.space, search.group, search.tree, search.tree.codes
    target, left, limited = limits.target, stock.left, tally.known.size > 0
    at, seed, groups = 0, -1, 0
    while groups < members.shape[0]:
        if spread_seeds is not None and seed >= 0:
            start(space, group, codes[seed])
            seed = furthest(search, left)
        else:
            while at < seeds.size and state[seeds[at]] != FREE:
                at += 1
            seed = stock.entry_of[seeds[at]] if at < seeds.size else -1
        if seed < 0:
            break
        start(space, group, codes[seed])
        clear(tally)
        e, pure, size = seed, True, 0
        while size < target:
            if limited and size > 0:
                ban(limits, tally, size)
                pure = pure and not tally.banned[tree.tag[seed]]
            if size > 0 and not (pure and left[seed] > 0):
                # A group of equal rows takes its equals first: nothing else is free of cost.
                e, _ = nearest(search, left, tally.banned)
                pure = pure and e == seed
            if e < 0:
                break
            row = take_row(search, stock, e, size == 0)
            members[groups, size] = row
            state[row] = TAKEN
            note(limits, tally, tree.tag[e])
            size += 1
        if size == target:
            groups += 1
        else:
            for i in range(size):
                state[members[groups, i]] = SPILLED
    return groups


@inner
def load(
    space: Space, group: Group, codes: npt.NDArray[np.int32], rows: npt.NDArray[np.int64]
) -> None:
    """Make ``rows`` the members of the group."""
    start(space, group, codes[rows[0]])
    for i in range(1, rows.size):
        add(space, group, codes[rows[i]])


@kernel
def place_leftovers(
    space: Space,
    group: Group,
    codes: npt.NDArray[np.int32],
    members: npt.NDArray[np.int64],
    rest: npt.NDArray[np.int64],
    price: npt.NDArray[np.float64],
    joins: npt.NDArray[np.int64],
) -> None:
    """Find for each row of ``rest``, in order, the group that is cheapest to join: ``joins``.

    Ties go to the smaller group number. A row placed counts for the rows after it; ``price`` is
    room for the cost of every row in every group.
    """
    groups = members.shape[0]
    for g in range(groups):
        load(space, group, codes, members[g])
        for i in range(rest.size):
            price[i, g] = cost(space, group, codes[rest[i]])
    for i in range(rest.size):
        best = 0
        for g in range(1, groups):
            if price[i, g] < price[i, best]:
                best = g
        joins[i] = best
        load(space, group, codes, members[best])
        for earlier in range(i + 1):
            if joins[earlier] == best:
                add(space, group, codes[rest[earlier]])
        for later in range(i + 1, rest.size):
            price[later, best] = cost(space, group, codes[rest[later]])

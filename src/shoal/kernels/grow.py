"""Greedy growth of groups from seeds, exact: every row added is the cheapest one left.

Rows with equal quasi-identifiers are one *entry*. The rows of an entry stand in the order of a
random permutation; a seed takes the first of them, the search takes the last, so both stay fair and
cheap.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from shoal.kernels.space import Group, Space, add, cost, start
from shoal.kernels.tree import Tree, bag_of, furthest, nearest, take


@njit(cache=True)
def grow(
    space: Space,
    group: Group,
    tree: Tree,
    head: npt.NDArray[np.int64],
    tail: npt.NDArray[np.int64],
    left: npt.NDArray[np.int64],
    rows: npt.NDArray[np.int64],
    entry_of: npt.NDArray[np.int64],
    seeds: npt.NDArray[np.int64],
    free: npt.NDArray[np.bool_],
    spread_seeds: bool,
    members: npt.NDArray[np.int64],
    stack: npt.NDArray[np.int64],
    bounds: npt.NDArray[np.float64],
    visits: npt.NDArray[np.int64],
) -> None:
    """Fill every row of ``members`` with the rows of one group.

    Parameters
    ----------
    head, tail, left, rows
        Entry ``e`` has ``left[e]`` rows not yet taken, ``rows[head[e]:tail[e]]``.
    entry_of
        Entry of each row.
    seeds, free
        All rows in random order; a seed is the first one still free.
    spread_seeds
        Take as next seed the row furthest from the last seed instead.
    visits
        One number, to which the tree nodes and entries looked at are added.
    """
    codes, banned = tree.codes, np.zeros(1, np.bool_)
    bags = np.zeros(codes.shape[1], np.uint64)
    at, seed = 0, -1
    for g in range(members.shape[0]):
        if spread_seeds and seed >= 0:
            start(space, group, codes[seed])
            seed = furthest(space, group, tree, left, stack, bounds)
        else:
            while not free[seeds[at]]:
                at += 1
            seed = entry_of[seeds[at]]
        start(space, group, codes[seed])
        for j in range(bags.size):
            bags[j] = 0
        e, pure, size = seed, True, 0
        while size < members.shape[1]:
            if size > 0 and not (pure and left[seed] > 0):
                # A group of equal rows takes its equals first: nothing else is free of cost.
                e, _ = nearest(space, group, bags, tree, left, banned, stack, bounds, visits)
                pure = False
            if size == 0:
                row = rows[head[e]]
                head[e] += 1
            else:
                tail[e] -= 1
                row = rows[tail[e]]
                add(space, group, codes[e])
            members[g, size] = row
            free[row] = False
            left[e] -= 1
            take(tree, e)
            bag_of(space, codes[e], bags)
            size += 1


@njit(cache=True)
def load(
    space: Space,
    group: Group,
    codes: npt.NDArray[np.int32],
    rows: npt.NDArray[np.int64],
    begin: int,
    end: int,
) -> None:
    """Make ``rows[begin:end]`` the members of the group."""
    start(space, group, codes[rows[begin]])
    for i in range(begin + 1, end):
        add(space, group, codes[rows[i]])


@njit(cache=True)
def place(
    space: Space,
    group: Group,
    codes: npt.NDArray[np.int32],
    members: npt.NDArray[np.int64],
    starts: npt.NDArray[np.int64],
    rest: npt.NDArray[np.int64],
    price: npt.NDArray[np.float64],
    home: npt.NDArray[np.int64],
) -> None:
    """Find for each row of ``rest``, in order, the group it is cheapest to join: ``home``.

    Ties go to the smaller group number. A row placed counts for the rows after it; ``price`` is
    room for the cost of every row in every group.
    """
    groups = starts.size - 1
    for g in range(groups):
        load(space, group, codes, members, starts[g], starts[g + 1])
        for i in range(rest.size):
            price[i, g] = cost(space, group, codes[rest[i]])
    for i in range(rest.size):
        best = 0
        for g in range(1, groups):
            if price[i, g] < price[i, best]:
                best = g
        home[i] = best
        load(space, group, codes, members, starts[best], starts[best + 1])
        for earlier in range(i + 1):
            if home[earlier] == best:
                add(space, group, codes[rest[earlier]])
        for later in range(i + 1, rest.size):
            price[later, best] = cost(space, group, codes[rest[later]])

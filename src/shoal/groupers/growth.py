"""What the greedy clustering methods share: growth within limits, and the rows left over."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.encode import Encoded
from shoal.groupers.limits import limits_of
from shoal.groupers.repair import repair
from shoal.kernels.clusters import new_park, new_roster, park_all, settle
from shoal.kernels.covers import cover_groups, new_covers
from shoal.kernels.grow import FREE, Stock, grow, place
from shoal.kernels.limits import Limits, new_tally
from shoal.kernels.plant import plant
from shoal.kernels.space import Space, new_group
from shoal.kernels.tree import Tree, stack_for
from shoal.partition import Partition
from shoal.rules import Rule
from shoal.space import make_space
from shoal.tuples import entries

Ints = npt.NDArray[np.int64]
Tags = npt.NDArray[np.int32]


def grow_groups(
    data: Encoded,
    space: Space,
    rule: Rule,
    rng: np.random.Generator,
    *,
    spread_seeds: bool = False,
    visits: Ints | None = None,
) -> Partition:
    """Grow groups to their target size, then let each row left over join its nearest group.

    A rule's numeric form is kept while groups grow and rows are placed; whatever it cannot say is
    put right by :func:`shoal.groupers.repair.repair`.
    """
    limits, tags = limits_of(data, rule)
    seeds = rng.permutation(data.rows)
    members = grow_members(data, space, limits, tags, seeds, spread_seeds, visits)
    groups = members.shape[0]
    labels = np.full(data.rows, -1, np.int64)
    labels[members.ravel()] = np.repeat(np.arange(groups), limits.target)
    rest = seeds[labels[seeds] < 0]
    if not groups:
        labels[:] = 0
    elif limits.share.size:
        _settle(data, limits, tags, seeds, members, rest, labels)
    else:
        home = np.empty(rest.size, np.int64)
        price = np.empty((rest.size, groups))
        place(space, new_group(space), data.codes, members, rest, price, home)
        labels[rest] = home
    return repair(data, Partition.from_labels(labels), rule)


def grow_members(
    data: Encoded,
    space: Space,
    limits: Limits,
    tags: Tags,
    seeds: Ints,
    spread_seeds: bool = False,
    visits: Ints | None = None,
) -> Ints:
    """Return the rows of as many groups of the target size as can be grown, a group a row."""
    tree, stock = stock_of(data, space, tags, seeds)
    members = np.empty((data.rows // limits.target, limits.target), np.int64)
    stack, bounds = stack_for(tree)
    groups = grow(
        space,
        new_group(space),
        tree,
        limits,
        new_tally(limits),
        stock,
        seeds,
        np.full(data.rows, FREE, np.int8),
        spread_seeds,
        members,
        stack,
        bounds,
        np.zeros(1, np.int64) if visits is None else visits,
    )
    return members[:groups]


def _settle(
    data: Encoded, limits: Limits, tags: Tags, seeds: Ints, members: Ints, rest: Ints, labels: Ints
) -> None:
    """Label each row of ``rest`` with the group it is cheapest to join within the limits.

    Limits can leave many rows over, so this is a search by the loss; rows that fit nowhere make up
    one group, for the repair.
    """
    space = make_space(data)
    tree, stock = stock_of(data, space, tags, seeds)
    groups = members.shape[0]
    covers = new_covers(space, groups + 1)
    starts = np.arange(groups + 1) * limits.target
    cover_groups(space, covers, data.codes, members.ravel(), starts)
    park = new_park(tree, stock.left.size, groups, limits.target)
    park_all(tree, park, covers, stock.entry_of[members[:, 0]])
    stack, bounds = stack_for(tree)
    settle(
        space,
        new_group(space),
        tree,
        covers,
        park,
        limits,
        new_tally(limits),
        new_roster(labels, groups),
        stock.entry_of,
        rest,
        groups,
        labels,
        stack,
        bounds,
    )
    labels[labels < 0] = groups


def stock_of(data: Encoded, space: Space, tags: Tags, seeds: Ints) -> tuple[Tree, Stock]:
    """Collapse rows of equal quasi-identifiers and tag; return their tree and the rows in it."""
    distinct, entry, count = entries(np.column_stack((data.codes, tags)))
    codes, tag = np.ascontiguousarray(distinct[:, :-1]), np.ascontiguousarray(distinct[:, -1])
    tree, order = plant(space, codes, count, tag)
    rank = np.empty(order.size, np.int64)
    rank[order] = np.arange(order.size)
    count, entry = count[order], rank[entry]
    rows = seeds[np.argsort(entry[seeds], kind="stable")]
    tail = np.cumsum(count)
    return tree, Stock(tail - count, tail, count, rows, entry)

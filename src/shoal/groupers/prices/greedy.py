"""A start from prices: the nodes of best reduced cost, each with the dearest rows under it.

Prices say how much a row has to cost, and so which nodes are worth opening for whom: a start that
loses more than the peel's, and is refined to less.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from shoal.base.partition import Ints
from shoal.base.threads import share
from shoal.coding.encode import Encoded
from shoal.groupers.prices.ascent import best_prices
from shoal.groupers.prices.levels import UNIT
from shoal.groupers.prices.nodes import (
    KEPT,
    NodeBlock,
    Nodes,
    Problem,
    make_nodes,
    make_problem,
    price_block,
    priced,
)
from shoal.kernels.prices.greedy import Members, gather, greedy
from shoal.kernels.prices.reopen import NodeRows

PASSES = 150
"""Passes over the nodes, at most."""
LOOKS = 20_000_000_000
"""Nodes of entries that all passes together may look at: half a minute on two cores."""
NODES = 200_000
"""Nodes that are looked at."""
ROWS = 8
"""Different rows, per k, that a node is tried with."""
WORTH = 0.6
"""How much of the mean price a row may cost more than it is worth, for its node to be one."""


def named_groups(
    data: Encoded, k: int, stop: Callable[[], bool] | None = None
) -> tuple[Ints, NodeRows] | None:
    """Return groups from the best prices of some passes, and the nodes that are worth a look.

    Rows that no group took have -1; ``stop`` is asked after every pass. None where nodes are too
    many.
    """
    problem = make_problem(data, k)
    # How much memory is free must not matter: the same seed gives the same groups everywhere.
    if problem is None or problem.count.size * len(problem.patterns) > KEPT // 2:
        return None
    nodes = make_nodes(problem, KEPT)
    if not nodes.kept:
        return None
    passes = min(PASSES, LOOKS // (problem.count.size * len(problem.patterns)))
    best = best_prices(nodes, passes, None if stop is None else lambda _: stop())
    members = members_of(nodes, best.of)
    listed = node_rows(problem, members)
    listed = listed._replace(cost=listed.cost * data.weights.max())  # one weight for all columns
    return priced_groups(problem, members, best.of), listed


def node_rows(problem: Problem, members: Members) -> NodeRows:
    """Return the dearest rows under nodes, and what a node costs a row."""
    size = np.minimum(np.diff(members.start), ROWS * problem.k)
    first = members.start[:-1]
    entry = members.entry[np.repeat(first - np.cumsum(size) + size, size) + np.arange(size.sum())]
    count = problem.count[entry]
    begin = np.cumsum(problem.count) - problem.count
    places = np.repeat(begin[entry] - np.cumsum(count) + count, count) + np.arange(count.sum())
    ends = np.append(0, np.cumsum(count))[np.append(0, np.cumsum(size))]
    rows = np.argsort(problem.entry, kind="stable")[places]
    return NodeRows(ends, rows, members.cost / UNIT)


def priced_groups(problem: Problem, members: Members, prices: Ints) -> Ints:
    """Return the group of every row, -1 for rows that no group took."""
    # An entry that is a class by itself lends the rows that it can spare.
    left = np.where(problem.free, problem.count - problem.k, problem.count)
    spare = left.copy()
    room = np.empty((int(problem.count.sum()), 3), np.int64)
    heap, key = np.empty(members.cost.size, np.int64), np.empty(members.cost.size)
    groups, told = greedy(members, prices, spare, problem.k, heap, key, room)
    made = room[:told]
    out = np.full(problem.entry.size, -1, np.int64)
    by_entry = np.argsort(problem.entry, kind="stable")
    begin = np.cumsum(problem.count) - problem.count
    turn = np.argsort(made[:, 1], kind="stable")
    group, entry, rows = made[turn].T
    before = np.cumsum(rows) - rows
    fresh = np.append(True, entry[1:] != entry[:-1])[: entry.size]
    offset = before - np.maximum.accumulate(np.where(fresh, before, 0))
    places = np.repeat(begin[entry] + offset - before, rows) + np.arange(int(rows.sum()))
    out[by_entry[places]] = np.repeat(group, rows)
    alone = problem.free[problem.entry] & (out < 0)
    out[alone] = groups + problem.entry[alone]
    return out


def members_of(nodes: Nodes, prices: Ints) -> Members:
    """Return the nodes that are worth a look, and the entries under them."""
    problem = nodes.problem
    paying = ~problem.free
    mean = float(prices[paying].mean()) if paying.any() else 0.0
    # With a little more to spend nodes have a gain that would not have any, but nearly.
    richer = priced(problem, prices + np.where(paying, int(WORTH * mean), 0))

    def gains(block: NodeBlock) -> Ints:
        found = np.zeros(block.cost.size, np.int64)
        price_block(problem, block, richer, found)
        return found

    found = share(gains, nodes.kept)
    every = np.concatenate([np.empty(0, np.int64), *found])
    chosen = np.sort(np.argsort(-every, kind="stable")[:NODES])
    chosen = chosen[every[chosen] > 0]
    number = np.full(every.size, -1, np.int32)
    number[chosen] = np.arange(chosen.size)
    at = np.cumsum([0, *(block.cost.size for block in nodes.kept)])
    order = priced(problem, prices).order
    size, start = np.zeros(chosen.size, np.int64), np.zeros(1, np.int64)
    entry = np.empty(0, np.int32)
    for listed in (False, True):
        entry = np.empty(int(size.sum()) if listed else 0, np.int32)
        start = np.concatenate(([0], np.cumsum(size)))
        size = np.zeros(chosen.size, np.int64)
        for b, block in enumerate(nodes.kept):
            wanted = number[at[b] : at[b + 1]]
            gather(block.ids, block.first, wanted, order, size, start, entry)
    costs = np.concatenate([np.empty(0, np.int64), *(block.cost for block in nodes.kept)])
    return Members(start, entry, costs[chosen])

"""Prices in a second: from a release at hand, and for the nodes near it alone.

What rows pay in a release is not far from what they have to pay. So the nodes that matter are those
that gain at such prices, or nearly: of a million nodes over Adult 30,000. Their prices are found in
few passes, from between what rows pay and what they cost at least. They prove nothing, since other
nodes are not looked at, but they name the nodes that are worth opening as well as all nodes do.
"""

from __future__ import annotations

import numpy as np

from shoal.base.partition import Bools, Codes, Ints
from shoal.base.threads import share
from shoal.coding.encode import Encoded
from shoal.groupers.levels import UNIT
from shoal.groupers.prices.ascent import Pass, Prices, climb
from shoal.groupers.prices.problem import FAR, Problem, make_problem
from shoal.kernels.boxes.geometry import Boxes
from shoal.kernels.boxes.groups import start_state
from shoal.kernels.boxes.judge import Nodes
from shoal.kernels.prices.greedy import Members, greedy, losses_per_row
from shoal.kernels.prices.lists import cheapest_list, list_entries, mark_bits, price_lists
from shoal.kernels.prices.nodes import PayingEntries, near, new_depths

LOOKS = 250_000_000
"""Pairs of an entry and a pattern up to which nodes are looked for, unless an effort says more."""
BITS = 8_000_000
"""Words of bits, 64 each, that say which entries lie under the nodes of every column."""
NEAR = 0.1
"""How much of the mean price every row is given besides, for nodes that nearly gain."""
LEAST = 0.6
"""What a row must pay, as a part of what a node costs, to be looked at while nodes are found."""
SHORT, LONG = 4, 8
"""Rows of a node, per k, that it is priced with, and that it is opened with."""
PASSES, LAST = 20, 0.04
"""Passes over the nodes, and the last step of them."""
ROWS = 8
"""Different rows, per k, that a node is tried with."""
WORTH = 0.3
"""How much of the mean price a row may cost more than it is worth, for its node to be opened."""
LAST_MANY, WORTH_MANY = 0.02, 0.03
"""The last step and the same share where k is large: few nodes matter there."""
CHOICE = 20
"""Nodes per group, at least, that a search among them needs."""
ROOM = 4_000_000
"""Entries of nodes that there is room for while they are listed."""
BLOCKS, PARTS = 24, 8
"""Parts of the patterns and of the nodes that are looked at together, whatever the threads."""
BINS = 64
"""Parts of what a node costs that the rows under it are counted by."""
FIRST_ROOM = 1 << 14
"""Nodes of one block that there is room for at first."""


Found = tuple[Ints, Codes]
"""Nodes: what each costs a row, and its bit row per column."""


def near_problem(data: Encoded, k: int, work: int = LOOKS) -> Problem | None:
    """Return what is to be priced; None where nodes are too many, cannot be listed or are free.

    ``work``: pairs of an entry and a pattern up to which nodes are looked for.
    """
    problem = make_problem(data, k, work)
    if problem is None or problem.free.all():
        return None
    return problem if problem.bit_rows[1] * (problem.count.size // 64 + 1) <= BITS else None


def near_groups(data: Encoded, problem: Problem, boxes: Boxes, labels: Ints) -> tuple[Ints, Nodes]:
    """Return groups from prices that begin with what rows pay in the groups ``labels``.

    Besides the nodes that are worth opening. Rows that no group took have -1.
    """
    k, paid, paying = problem.k, _paid(data, problem, boxes, labels), ~problem.free
    mean = float((paid - problem.gaps)[paying].mean())
    richer = np.where(paying, paid + int(NEAR * mean), 0)
    found = _find(problem, richer)
    prices = _prices(problem, _listed(problem, found, richer, SHORT * k), paid, PASSES, LAST).of
    members = _listed(problem, found, prices, LONG * k)
    more = np.where(paying, int(WORTH * float(prices[paying].mean())), 0)
    members = _worth(members, prices + more, problem)
    nodes = node_rows(problem, members)
    nodes = nodes._replace(cost=nodes.cost * data.weights.max())  # one weight for all columns
    return priced_groups(problem, members, prices), nodes


def node_rows(problem: Problem, members: Members) -> Nodes:
    """Return the dearest rows under nodes, and what a node costs a row."""
    size = np.minimum(np.diff(members.start), ROWS * problem.k)
    first = members.start[:-1]
    entry = members.entry[np.repeat(first - np.cumsum(size) + size, size) + np.arange(size.sum())]
    count = problem.count[entry]
    begin = np.cumsum(problem.count) - problem.count
    places = np.repeat(begin[entry] - np.cumsum(count) + count, count) + np.arange(count.sum())
    ends = np.append(0, np.cumsum(count))[np.append(0, np.cumsum(size))]
    rows = np.argsort(problem.entry, kind="stable")[places]
    return Nodes(ends, rows, members.cost / UNIT)


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


def near_nodes(
    data: Encoded, problem: Problem, boxes: Boxes, labels: Ints, passes: int
) -> Members | None:
    """Return nodes that gain at what rows pay in the groups ``labels``, with all their entries.

    After some ``passes`` only those that gain at better prices, or nearly. For a large k, where no
    entry is a class by itself; None where they are too many to be listed, too few to choose
    from, or none of them is worth it.
    """
    k = problem.k
    if problem.bit_rows[1] * (problem.count.size // 64 + 1) > BITS:
        return None
    paid = _paid(data, problem, boxes, labels)
    found = _find(problem, paid)
    if found[0].size < CHOICE * data.rows / k:
        return None
    members = _listed(problem, found, paid, data.rows)
    if not passes:
        return members
    prices = _prices(problem, members, paid, passes, LAST_MANY).of
    more = int(WORTH_MANY * float((prices - problem.gaps).mean()))
    worth = _worth(_listed(problem, found, prices, data.rows), prices + more, problem)
    return worth if worth.cost.size else None


def _paid(data: Encoded, problem: Problem, boxes: Boxes, labels: Ints) -> Ints:
    """Return what the rows of every entry pay in groups, on average, missing cells included."""
    state = start_state(boxes, data.codes, labels, spare=0)
    gaps = data.missing.sum(axis=1)  # next to a gap there is nothing but gaps and `*`
    total = state.cost / data.weights.max() + np.bincount(labels, gaps, state.size.size)
    each = (total / np.maximum(state.size, 1))[labels]
    mean = np.bincount(problem.entry, each) / problem.count
    return np.where(problem.free, 0, np.floor(mean * UNIT)).astype(np.int64)


def _find(problem: Problem, prices: Ints) -> Found:
    """Return the nodes that gain at some prices."""
    order = np.argsort(-prices, kind="stable")
    codes, m = np.ascontiguousarray(problem.codes[:, order]), len(problem.codes)
    paying = PayingEntries(codes, problem.count[order], prices[order], problem.k, LEAST)

    def one(some: Ints) -> tuple[Ints, Codes]:
        room, patterns = FIRST_ROOM, problem.patterns[some]
        while True:
            cost, where = np.empty(room, np.int64), np.empty((room, 2), np.int32)
            given = (paying, problem.floor, new_depths(order.size, m), np.zeros(m + 1, np.int64))
            nodes = near(problem.levels, problem.boxes, patterns, *given, cost, where)
            if nodes <= room:
                break
            room = nodes
        where = where[:nodes]
        where[:, 0] = some[where[:, 0]]
        return cost[:nodes], where

    blocks = np.array_split(np.arange(len(problem.patterns)), BLOCKS)
    made = share(one, [block for block in blocks if block.size])
    cost, where = (np.concatenate(parts) for parts in zip(*made, strict=True))
    rows, levels, number = np.empty((cost.size, m), np.int32), problem.levels, problem.bit_rows[0]
    for j in range(m):
        level = problem.patterns[where[:, 0], j].astype(np.int64)
        rows[:, j] = number[levels.at[j] + level * levels.step[j] + codes[j, where[:, 1]]]
    return cost, rows


def _listed(problem: Problem, found: Found, prices: Ints, most: int) -> Members:
    """Return the dearest entries under every node, of so many rows together."""
    order = np.argsort(-prices, kind="stable").astype(np.int32)
    codes, rows = np.ascontiguousarray(problem.codes[:, order]), problem.count[order]
    number, many = problem.bit_rows
    bits = np.zeros((many, (order.size + 63) // 64), np.uint64)
    levels, full = problem.levels, np.zeros(many, np.int64)
    mark_bits(number, levels.at, levels.step, levels.many, codes, bits, full)

    def one(nodes: Codes) -> tuple[Ints, Codes]:
        out, size = np.empty((len(nodes), most), np.int32), np.zeros(len(nodes), np.int64)
        list_entries(bits, full, nodes, rows, most, np.empty(len(codes), np.int32), out, size)
        return size, order[out[np.arange(most) < size[:, None]]]

    parts = max(PARTS, len(found[1]) * most // ROOM)
    made = share(one, np.array_split(found[1], parts))
    size, entry = (np.concatenate(parts) for parts in zip(*made, strict=True))
    return Members(np.append(0, np.cumsum(size)), entry, found[0])


def _first(problem: Problem, members: Members, paid: Ints) -> Ints:
    """Return prices between what rows pay and cost at least, without their missing cells."""
    least = np.full(paid.size, FAR)
    cheapest_list(members, least)
    least = np.where(problem.free, problem.gaps, np.minimum(least, np.maximum(paid, problem.gaps)))
    first: Ints = (np.where(problem.free, problem.gaps, paid) + least) // 2 - problem.gaps
    return first


def _prices(problem: Problem, members: Members, paid: Ints, passes: int, last: float) -> Prices:
    """Return prices of rows: some passes, from between what they pay and cost at least."""
    start = _first(problem, members, paid)
    ends = np.searchsorted(members.start, np.linspace(0, members.entry.size, PARTS + 1))
    ends[0], ends[-1] = 0, members.cost.size
    until, longest = (
        np.zeros(members.cost.size, np.int64),
        int(np.diff(members.start).max(initial=0)),
    )

    def price(prices: Ints, turn: int, step: float) -> Pass:
        def one(part: int) -> tuple[int, Ints]:
            taken, bins = np.zeros(prices.size, np.int64), np.empty(BINS, np.int64)
            shape = (members, ends[part], ends[part + 1], prices, problem.count, problem.k)
            room = (np.empty(longest, np.int32), bins)
            return price_lists(*shape, turn, step, until, *room, taken), taken

        made = share(one, range(PARTS))
        return Pass(sum(gain for gain, _ in made), np.sum([taken for _, taken in made], axis=0))

    *_, best = climb(problem, start, price, passes, last)
    return best


def _worth(members: Members, prices: Ints, problem: Problem) -> Members:
    """Return the nodes that gain."""
    losses = np.empty(members.cost.size)
    losses_per_row(members, prices, problem.count, problem.k, losses)
    return _some(members, losses < 0.0)


def _some(members: Members, keep: Bools) -> Members:
    size = np.diff(members.start)
    start = np.append(0, np.cumsum(size[keep]))
    return Members(start, members.entry[np.repeat(keep, size)], members.cost[keep])

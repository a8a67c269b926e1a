"""List and price all nodes of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.base.partition import Ints
from shoal.base.system import free_memory
from shoal.base.threads import share
from shoal.groupers.levels import UNIT
from shoal.groupers.prices.ascent import Pass
from shoal.groupers.prices.problem import Problem
from shoal.kernels.bound.number import number
from shoal.kernels.bound.price import Priced, new_tally, price
from shoal.kernels.prices.nodes import PayingEntries, new_depths

WORK = 5_000_000_000
"""Patterns times entries up to which passes over all nodes are bearable."""
KEPT = 800_000_000
"""Bytes of numbers of nodes that are kept; those of other patterns are found again when asked."""
BLOCK = 48
"""Patterns that are numbered and priced together."""


@dataclass(frozen=True, eq=False)
class NodeBlock:
    """Some patterns: the node of every entry, and what nodes cost."""

    patterns: Ints
    ids: npt.NDArray[np.uint16]
    first: Ints
    cost: Ints
    least: Ints


@dataclass(frozen=True, eq=False)
class AllNodes:
    """The nodes of a problem: blocks that are kept, and patterns whose nodes are found again."""

    problem: Problem
    kept: tuple[NodeBlock, ...]
    others: tuple[Ints, ...]


def make_nodes(problem: Problem, room: int | None = None) -> AllNodes:
    """Number the nodes of the cheapest patterns, as many as there is room for, in bytes."""
    if room is None:
        room = min(KEPT, (free_memory() or 8 * KEPT) // 8)
    cheap = np.argsort(problem.least, kind="stable")
    most = room // max(2 * problem.count.size, 1)
    near, far = np.sort(cheap[:most]), np.sort(cheap[most:])
    made = share(lambda some: number_nodes(problem, some), _blocks(near))
    return AllNodes(problem, tuple(block for block in made if block.cost.size), tuple(_blocks(far)))


def _blocks(patterns: Ints) -> list[Ints]:
    return [patterns[i : i + BLOCK] for i in range(0, patterns.size, BLOCK)]


def number_nodes(problem: Problem, some: Ints, limit: int | None = None) -> NodeBlock:
    """Return the nodes of some patterns that cost less than ``limit``, by default all."""
    n, m = problem.count.size, len(problem.codes)
    ids = np.empty((some.size, n), np.uint16)
    nodes = np.zeros(some.size, np.int64)
    most = int(problem.count.sum()) // problem.k
    cost = np.zeros(some.size * most, np.int64)
    price = np.full(n, (m + 1) * UNIT if limit is None else limit)
    paying = PayingEntries(problem.codes, problem.count, price, problem.k, 0.0)
    patterns, depths = problem.patterns[some], new_depths(n, m)
    total = number(problem.levels, problem.boxes, patterns, paying, depths, ids, nodes, cost)
    if total < 0:
        msg = "more nodes of a pattern than there are numbers"
        raise OverflowError(msg)
    full = nodes > 0
    first = np.cumsum(nodes) - nodes
    least = np.minimum.reduceat(cost[:total], first[full]) if full.any() else nodes[:0]
    return NodeBlock(
        some[full], ids[full] if not full.all() else ids, first[full], cost[:total].copy(), least
    )


def sort_by_price(problem: Problem, prices: Ints) -> Priced:
    """Return the entries in falling order of price."""
    order = np.argsort(-prices, kind="stable").astype(np.int32)
    return Priced(order, prices[order], problem.count[order])


def price_block(problem: Problem, block: NodeBlock, at: Priced, gains: Ints | None = None) -> Pass:
    """Price the nodes of a block."""
    taken = np.zeros(problem.count.size, np.int64)
    most = int(problem.count.sum()) // problem.k
    found = np.empty(0, np.int64) if gains is None else gains
    shape = (block.ids, block.first, block.cost, block.least)
    gain = price(*shape, at, problem.k, new_tally(most), found, taken)
    return Pass(gain, taken)


def price_kept(nodes: AllNodes, prices: Ints) -> Pass:
    """Price the nodes that are kept."""
    at = sort_by_price(nodes.problem, prices)
    return _sum(share(lambda block: price_block(nodes.problem, block, at), nodes.kept), prices)


def price_found(problem: Problem, prices: Ints, blocks: Sequence[Ints] | None = None) -> Pass:
    """Price the nodes of some patterns, by default of all, found again from the rows.

    Nodes that cost as much as the dearest row or more gain nothing, and are passed over.
    """
    at, limit = sort_by_price(problem, prices), int(prices.max(initial=0))
    every = _blocks(np.arange(len(problem.patterns))) if blocks is None else blocks
    some = [cheap for block in every if (cheap := block[problem.least[block] < limit]).size]

    def one(block: Ints) -> Pass:
        return price_block(problem, number_nodes(problem, block, limit), at)

    return _sum(share(one, some), prices)


def _sum(passes: Sequence[Pass], prices: Ints) -> Pass:
    taken = np.zeros(prices.size, np.int64)
    for one in passes:
        taken += one.taken
    return Pass(sum(one.gain for one in passes), taken)

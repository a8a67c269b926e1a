"""All nodes over a table: numbered, kept while there is room for them, and priced."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from shoal.base.partition import Bools, Codes, Ints
from shoal.base.system import free_memory
from shoal.base.threads import share
from shoal.coding.encode import Encoded
from shoal.coding.tuples import entries
from shoal.groupers.boxes import make_boxes
from shoal.groupers.prices.levels import UNIT, make_levels
from shoal.kernels.boxes.geometry import Boxes
from shoal.kernels.prices.number import Levels, new_depths, number
from shoal.kernels.prices.price import Priced, new_tally, price

PATTERNS = 200_000
"""Patterns up to which they are all looked at."""
WORK = 5_000_000_000
"""Patterns times entries up to which passes over all nodes are bearable."""
KEPT = 800_000_000
"""Bytes of numbers of nodes that are kept; those of other patterns are found anew when asked."""
BLOCK = 48
"""Patterns that are numbered and priced together."""
FAR = 1 << 60
"""More than any node costs."""


@dataclass(frozen=True, eq=False)
class Problem:
    """The different rows of a table, and the patterns of nodes that they may be published under.

    Parameters
    ----------
    data
        The entries as a table, columns with many values first: small nodes leave little to split.
    codes
        The same, ``[m, n]``.
    entry, count
        The entry of every row, and the rows of every entry.
    gaps
        What the missing cells of an entry would cost if they cost something. Every node over them
        has ``*`` there: so all nodes over an entry are too dear by the same amount.
    patterns, least
        Levels of the columns, in lexicographic order, and what nodes of a pattern cost at least.
    floor
        What nodes of a column cost at least, by level.
    """

    k: int
    data: Encoded
    levels: Levels
    boxes: Boxes
    codes: Codes
    entry: Ints
    count: Ints
    gaps: Ints
    patterns: npt.NDArray[np.int16]
    floor: Ints
    least: Ints

    @property
    def units(self) -> int:
        """What the whole table costs if nothing of it is published."""
        return int(self.count.sum()) * len(self.codes) * UNIT

    @property
    def free(self) -> Bools:
        """Which entries are a class by themselves and cost nothing: their price is 0."""
        return self.count >= self.k


@dataclass(frozen=True, eq=False)
class NodeBlock:
    """Some patterns: the node of every entry, and what nodes cost."""

    patterns: Ints
    ids: npt.NDArray[np.uint16]
    first: Ints
    cost: Ints
    least: Ints


@dataclass(frozen=True, eq=False)
class Nodes:
    """The nodes of a problem: blocks that are kept, and patterns whose nodes are found anew."""

    problem: Problem
    kept: tuple[NodeBlock, ...]
    others: tuple[Ints, ...]


def make_problem(data: Encoded, k: int, work: int = WORK) -> Problem | None:
    """Return what is to be priced, None when a column has no list of nodes or they are too many.

    ``work``: patterns times entries up to which there is a problem.
    """
    distinct, entry, count = entries(data.codes)
    turn = np.argsort([-np.unique(column).size for column in distinct.T], kind="stable")
    some = replace(
        data,
        names=tuple(data.names[j] for j in turn),
        codes=np.ascontiguousarray(distinct[:, turn]),
        domains=tuple(data.domains[j] for j in turn),
        sensitive={},
        importance=(),
        people=None,
    )
    most = min(PATTERNS, work / max(count.size, 1))
    levels = make_levels(some, most)
    if levels is None or np.prod(levels.many.astype(float)) > most:
        return None
    steps = itertools.product(*(range(many) for many in levels.many))
    patterns = np.array(list(steps), np.int16).reshape(-1, turn.size)
    codes = np.ascontiguousarray(some.codes.T)
    floor = np.array([_least(levels, codes, j) for j in range(turn.size)])
    least = sum(floor[j][patterns[:, j]] for j in range(turn.size))
    gaps = some.missing.sum(axis=1) * UNIT
    boxes = make_boxes(some, np.ones(turn.size))
    least = np.asarray(least, np.int64)
    return Problem(k, some, levels, boxes, codes, entry, count, gaps, patterns, floor, least)


def _least(levels: Levels, codes: Codes, j: int) -> Ints:
    """Return what nodes of column j cost at least, by level."""
    found = np.unique(codes[j])
    out = np.full(levels.many.max(), FAR >> 10)
    for level in range(levels.many[j]):
        at = levels.at[j] + level * levels.step[j] + found
        out[level] = levels.cost[at][levels.look[at] >= 0].min(initial=out[level])
    return out


def make_nodes(problem: Problem, room: int | None = None) -> Nodes:
    """Number the nodes of the cheapest patterns, as many as there is room for, in bytes."""
    if room is None:
        room = min(KEPT, (free_memory() or 8 * KEPT) // 8)
    cheap = np.argsort(problem.least, kind="stable")
    most = room // max(2 * problem.count.size, 1)
    near, far = np.sort(cheap[:most]), np.sort(cheap[most:])
    made = share(lambda some: numbered(problem, some), _blocks(near))
    return Nodes(problem, tuple(block for block in made if block.cost.size), tuple(_blocks(far)))


def _blocks(patterns: Ints) -> list[Ints]:
    return [patterns[i : i + BLOCK] for i in range(0, patterns.size, BLOCK)]


def numbered(problem: Problem, some: Ints, limit: int = FAR) -> NodeBlock:
    """Return the nodes of some patterns that cost less than ``limit``."""
    n, m = problem.count.size, len(problem.codes)
    ids = np.empty((some.size, n), np.uint16)
    nodes = np.zeros(some.size, np.int64)
    most = int(problem.count.sum()) // problem.k
    cost = np.zeros(some.size * most, np.int64)
    total = number(
        problem.levels,
        problem.boxes,
        problem.patterns[some],
        problem.codes,
        problem.count,
        problem.k,
        limit,
        new_depths(n, m),
        ids,
        nodes,
        cost,
    )
    if total < 0:
        msg = "more nodes of a pattern than there are numbers"
        raise OverflowError(msg)
    full = nodes > 0
    first = np.cumsum(nodes) - nodes
    least = np.minimum.reduceat(cost[:total], first[full]) if full.any() else nodes[:0]
    return NodeBlock(
        some[full], ids[full] if not full.all() else ids, first[full], cost[:total].copy(), least
    )


def priced(problem: Problem, prices: Ints) -> Priced:
    """Return the entries in falling order of price."""
    order = np.argsort(-prices, kind="stable").astype(np.int32)
    return Priced(order, prices[order], problem.count[order])


@dataclass(frozen=True, eq=False)
class Pass:
    """What some nodes gain at some prices, and how many rows of every entry they take."""

    gain: int
    taken: Ints


def price_block(problem: Problem, block: NodeBlock, at: Priced, gains: Ints | None = None) -> Pass:
    """Price the nodes of a block."""
    taken = np.zeros(problem.count.size, np.int64)
    most = int(problem.count.sum()) // problem.k
    found = np.empty(0, np.int64) if gains is None else gains
    shape = (block.ids, block.first, block.cost, block.least)
    gain = price(*shape, at, problem.k, new_tally(most), found, taken)
    return Pass(gain, taken)


def price_kept(nodes: Nodes, prices: Ints) -> Pass:
    """Price the nodes that are kept."""
    at = priced(nodes.problem, prices)
    return _sum(share(lambda block: price_block(nodes.problem, block, at), nodes.kept), prices)


def price_found(problem: Problem, prices: Ints, blocks: Sequence[Ints] | None = None) -> Pass:
    """Price the nodes of some patterns, by default of all, found anew from the rows.

    Nodes that cost as much as the dearest row or more gain nothing, and are passed over.
    """
    at, limit = priced(problem, prices), int(prices.max(initial=0))
    every = _blocks(np.arange(len(problem.patterns))) if blocks is None else blocks
    some = [cheap for block in every if (cheap := block[problem.least[block] < limit]).size]

    def one(block: Ints) -> Pass:
        return price_block(problem, numbered(problem, block, limit), at)

    return _sum(share(one, some), prices)


def _sum(passes: Sequence[Pass], prices: Ints) -> Pass:
    taken = np.zeros(prices.size, np.int64)
    for one in passes:
        taken += one.taken
    return Pass(sum(one.gain for one in passes), taken)


def value(problem: Problem, prices: Ints, gain: int) -> int:
    """Return what no release can lose less than, in units: what rows pay less what nodes gain."""
    return int((problem.count * (prices - problem.gaps)).sum()) - gain

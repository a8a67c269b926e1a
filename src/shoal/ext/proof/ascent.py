"""Compute the lower bound from prices over all nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from shoal.base.partition import Ints
from shoal.base.threads import share
from shoal.ext.proof.nodes import AllNodes, NodeBlock, price_found, price_kept
from shoal.groupers.levels import UNIT
from shoal.groupers.prices.ascent import Pass, Prices, climb, value
from shoal.groupers.prices.problem import FAR, Problem
from shoal.kernels.bound.price import cheapest

LAST = 0.006
"""The last step, in mean cheapest costs of a row that is no class by itself."""
STILL, LITTLE = 30, 1e-6
"""Passes without this growth, relatively, after which there is nothing more to prove."""
SELDOM = 25
"""Passes after which patterns are priced whose nodes are not kept."""


def least_costs(nodes: AllNodes) -> Ints:
    """Return what every entry costs at least: the cheapest node over it that is kept."""
    problem = nodes.problem

    def one(block: NodeBlock) -> Ints:
        out = np.full(problem.count.size, FAR)
        cheapest(block.ids, block.first, block.cost, out)
        return out

    most = problem.gaps + len(problem.codes) * UNIT
    found = np.minimum.reduce([most, *share(one, nodes.kept)])
    return np.where(problem.free, problem.gaps, np.maximum(found, problem.gaps))


def ascend(nodes: AllNodes, passes: int) -> Iterator[Prices]:
    """Yield the best prices so far after each of so many passes.

    What is proved is an estimate while patterns are not kept; :func:`proved` counts every node.
    """
    problem = nodes.problem
    others = np.zeros(problem.count.size, np.int64)

    def price(prices: Ints, turn: int, _step: float) -> Pass:
        nonlocal others
        done, more = price_kept(nodes, prices), 0
        if nodes.others and turn % SELDOM == 0:
            seldom = price_found(problem, prices, nodes.others)
            more, others = seldom.gain, seldom.taken
        return Pass(done.gain + more, done.taken + others)

    return climb(problem, least_costs(nodes) - problem.gaps, price, passes, LAST)


def proved_bound(problem: Problem, prices: Ints) -> int:
    """Return what prices prove, in units, from every node of the table, found again."""
    return max(0, value(problem, prices, price_found(problem, prices).gain))


def best_prices(
    nodes: AllNodes, passes: int, stop: Callable[[Prices], bool] | None = None
) -> Prices:
    """Return the best prices of so many passes; ``stop`` is asked after each."""
    best, before = Prices(nodes.problem.gaps, 0), [0]
    for best in ascend(nodes, passes):
        still = len(before) > STILL and best.value <= before[-STILL] * (1 + LITTLE)
        if (stop is not None and stop(best)) or still:
            break
        before.append(best.value)
    return best

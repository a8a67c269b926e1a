"""Raise the prices of rows until they prove as much as they can.

k-anonymous recoding is *facility location with a least load*: nodes (one node of the hierarchy per
column) cost a row the sum of their widths and are used by k rows or by none. Any prices p of rows
prove that no release loses less than

    sum of p_r - sum over the nodes of the most that it can gain,

where a node's gain is the sum of p_r less its cost over the k dearest rows under it and what
else is dearer than its cost, if that is more than 0: a release pays for every row at least its
price less what its node gains. The best prices are found by steps along a subgradient: a row that
several nodes take becomes cheaper, one that none takes dearer.

Notes
-----
The Lagrangian bound of facility location (Cornuejols, Fisher, Nemhauser 1977), with a least load
per node. The steps are those of Kingma and Ba (2015), which fit prices of rows far apart; they
reach in 100 passes what Polyak's steps reach in 150 (Adult, k = 10).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from shoal.base.partition import Floats, Ints
from shoal.groupers.levels import UNIT
from shoal.groupers.prices.problem import Problem

FIRST = 0.4
"""The first step, in mean cheapest costs of a row that is no class by itself."""
MEAN, SQUARE = 0.85, 0.9
"""How long a step remembers where it came from, and how steep it was."""


@dataclass(frozen=True, eq=False)
class Prices:
    """Prices of the entries, in units, and what they prove, in units."""

    of: Ints
    value: int


@dataclass(frozen=True, eq=False)
class Pass:
    """What some nodes gain at some prices, and how many rows of every entry they take."""

    gain: int
    taken: Ints


def climb(
    problem: Problem,
    start: Ints,
    price: Callable[[Ints, int, float], Pass],
    passes: int,
    last: float,
) -> Iterator[Prices]:
    """Yield the best prices so far, from ``start`` on, where missing cells cost nothing.

    Parameters
    ----------
    price
        Prices nodes, given prices of rows, the number of the pass and the step.
    last
        The last step, as :data:`FIRST`.
    """
    now = start.astype(np.float64)
    paying = ~problem.free
    count = problem.count.astype(np.float64)
    step = FIRST * float((now * count).sum() / max(count[paying].sum(), 1.0))
    mean, square = np.zeros(now.size), np.zeros(now.size)
    best = Prices(problem.gaps, 0)
    shrink = (last / FIRST) ** (1.0 / passes)
    for turn in range(passes):
        prices = _whole(problem, now)
        done = price(prices, turn, step)
        reached = value(problem, prices, done.gain)
        if reached > best.value:
            best = Prices(prices, reached)
        yield best
        slope = np.where(paying, 1.0 - done.taken / count, 0.0)
        mean = MEAN * mean + (1 - MEAN) * slope
        square = SQUARE * square + (1 - SQUARE) * slope * slope
        steep = np.sqrt(square / (1 - SQUARE ** (turn + 1))) + 1e-3
        now = np.maximum(now + step * mean / (1 - MEAN ** (turn + 1)) / steep, 0.0)
        step *= shrink


def _whole(problem: Problem, prices: Floats) -> Ints:
    """Return prices in units; no row is worth more than leaving it out."""
    most = float(len(problem.codes) * UNIT)
    whole = np.minimum(np.floor(prices), most).astype(np.int64)
    return np.where(problem.free, 0, whole) + problem.gaps


def value(problem: Problem, prices: Ints, gain: int) -> int:
    """Return what no release can lose less than, in units: what rows pay less what nodes gain."""
    return int((problem.count * (prices - problem.gaps)).sum()) - gain

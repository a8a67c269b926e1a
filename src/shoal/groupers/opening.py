"""Groups of hundreds of rows: open, close and swap whole nodes until nothing gains.

With a large k few nodes of the product of all hierarchies are worth being opened, and rows matter
by the hundred. The search starts from one node over the whole table and tries the classes of a
pattern, one pattern after the other: most of them near the patterns of nodes that are open. It
starts warm, and cools down.

Notes
-----
Facility location with a least load; open, close and swap are the moves of its local search (Arya et
al. 2004), here one move: a node that opens closes those that it leaves too little.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from shoal.base.pace import under_way
from shoal.base.partition import Ints
from shoal.coding.encode import Encoded
from shoal.coding.tuples import entries
from shoal.groupers.refinement import random_pattern
from shoal.kernels.boxes.classes import new_hashed
from shoal.kernels.boxes.geometry import SET, Boxes
from shoal.kernels.boxes.lattice import Ladders
from shoal.kernels.boxes.opening import Open, look_around, new_trial, reopen

ROOM = 200_000_000
"""Pairs of an entry and a node up to which there is room for it."""
ROUND = 250
"""Patterns that are tried at one heat."""
NEAR, STEPS = 0.8, 3
"""How many patterns are made from that of an open node, and by how many steps at most."""
USUAL = 200
"""Nodes up to which all rounds are made: with more of them a round tries more."""
COLD = 0.75
"""The part of all rounds after which only what gains is opened."""


def searchable(data: Encoded, k: int, boxes: Boxes) -> bool:
    """Say whether whole nodes can be searched: no sets, and room for all nodes."""
    nodes = data.rows // k + 2
    return nodes > 3 and data.rows * nodes <= ROOM and not (boxes.kind == SET).any()


def opened(
    data: Encoded,
    k: int,
    boxes: Boxes,
    ladders: Ladders,
    rounds: int,
    heat: float,
    rng: np.random.Generator,
    stop: Callable[[], bool] | None = None,
) -> Ints:
    """Return the group of every row, of k rows or more.

    Parameters
    ----------
    rounds
        How long the search goes on.
    heat
        How much worse a step may make it at first, in losses of k rows.
    stop
        Asked before every round.
    """
    distinct, entry, count = entries(data.codes)
    rounds = max(2, round(rounds * min(1.0, USUAL * k / data.rows) ** 0.5))
    codes, n, nodes = np.ascontiguousarray(distinct.T), count.size, data.rows // k + 2
    open_ = one_node(data, count, ladders, nodes)
    trial, hashed = new_trial(n, nodes), new_hashed(n)
    seed = np.array([rng.integers(1, 2**62)], np.uint64)
    done = np.zeros(1)
    with under_way("nodes tried", lambda: done[0] / rounds):
        for now in range(rounds):
            if stop is not None and stop():
                break
            loss = open_.cost[open_.of] * count
            warmth = heat * max(0.0, 1.0 - now / (COLD * rounds))
            warmth *= float(loss.sum()) * k / data.rows
            patterns = _near(ladders, open_, loss, rng)
            shape = (boxes, ladders, patterns, codes, count, k, warmth)
            reopen(*shape, open_, trial, hashed, seed)
            done[0] = now + 1
    return np.unique(open_.of[entry], return_inverse=True)[1].astype(np.int64)


def _near(
    ladders: Ladders, open_: Open, loss: npt.NDArray[np.float64], rng: np.random.Generator
) -> npt.NDArray[np.int8]:
    """Return patterns near those of nodes that lose much, and some that are not."""
    running, m = np.cumsum(loss), ladders.levels.size
    spots = np.searchsorted(running, rng.random(ROUND) * running[-1], side="right")
    nodes = open_.of[np.minimum(spots, loss.size - 1)]
    out = open_.level[nodes].astype(np.int64)
    steps = rng.integers(1, STEPS + 1, ROUND)
    for turn in range(STEPS):
        moved = np.flatnonzero(steps > turn)
        out[moved, rng.integers(0, m, moved.size)] += rng.choice((-1, 1), moved.size)
    out = np.clip(out, 0, ladders.levels - 1)
    for i in np.flatnonzero(rng.random(ROUND) >= NEAR):
        out[i] = random_pattern(ladders, open_.cost[nodes[i]] * rng.uniform(0.5, 1.1), rng)
    return np.asarray(out, np.int8)


def one_node(data: Encoded, count: Ints, ladders: Ladders, nodes: int) -> Open:
    """Return one open node over all entries, and room for so many nodes."""
    n, last = count.size, ladders.levels - 1
    top = ladders.width[np.arange(last.size), last]
    open_ = Open(
        cost=np.append(top.sum(), np.full(nodes - 1, np.inf)),
        turn=np.arange(nodes),
        size=np.zeros(nodes, np.int64),
        under=np.zeros((n, nodes), np.bool_),
        of=np.zeros(n, np.int64),
        other=np.full(n, -1),
        level=np.tile(last.astype(np.int8), (nodes, 1)),
        away=np.zeros(nodes),
    )
    open_.size[0], open_.under[:, 0] = data.rows, True
    look_around(count, open_)
    return open_

"""Groups of hundreds of rows: open, close and swap whole nodes until nothing gains.

With a large k few nodes of the product of all hierarchies are worth being opened, and rows matter
by the hundred. The search starts from one node over the whole table and tries the classes of a
pattern, one pattern after the other: most of them near the patterns of nodes that are open. It
starts warm, and cools down.

Where the nodes of all columns can be listed, that is only the beginning: of the nodes that gain at
what rows pay by then, prices tell which are worth opening, and those are tried over and over. A try
then looks at the rows under one node, not at all rows.

Notes
-----
Facility location with a least load; open, close and swap are the moves of its local search (Arya et
al. 2004), here one move: a node that opens closes those that it leaves too little.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.base.partition import Ints
from shoal.base.progress_share import under_way
from shoal.base.threads import share
from shoal.coding.tuples import entries
from shoal.groupers.prices.near import LOOKS, near_nodes
from shoal.groupers.prices.problem import make_problem
from shoal.groupers.shoal.task import LISTED, Task
from shoal.groupers.shoal.trials import random_pattern
from shoal.kernels.boxes.classes import new_hashed
from shoal.kernels.boxes.judge import Nodes
from shoal.kernels.boxes.lattice import Ladders
from shoal.kernels.boxes.opening import (
    NodeTrials,
    Open,
    reopen,
    reopen_listed,
    start_node_trials,
)
from shoal.kernels.prices.greedy import Members

ROUND = 250
"""Patterns that are tried at one heat."""
NEAR, STEPS = 0.8, 3
"""How many patterns are made from that of an open node, and by how many steps at most."""
USUAL = 200
"""Nodes up to which all rounds are made: with more of them a round tries more."""
COLD = 0.75
"""The part of all rounds after which only what gains is opened."""


CHAINS = 2
"""How often listed nodes are opened, side by side; the best is taken: chance is half a per cent."""
TURNS, WARM = 30, 0.88
"""Parts that the tries of listed nodes come in, and the share of them that is warm."""
HEATS = (0.1, 0.02)
"""How much worse a listed node may make it at first and at last, in losses of k rows."""


def opened(task: Task, rng: np.random.Generator) -> Ints:
    """Return the group of every row, of k rows or more."""
    data, k, search = task.data, task.k, task.effort.nodes
    distinct, entry, count = entries(data.codes)
    codes, nodes = np.ascontiguousarray(distinct.T), data.rows // k + 2
    luck = int(rng.integers(1, 2**62))

    def start(luck: int) -> NodeTrials:
        return start_node_trials(
            task.boxes, codes, count, k, one_node(count, task.ladders, nodes), luck
        )

    def best(made: list[NodeTrials]) -> Ints:
        found = min(made, key=lambda one: float(_losses(one).sum())).open.of
        return np.unique(found[entry], return_inverse=True)[1].astype(np.int64)

    listed = task.equal_weights and data.rows <= LISTED
    problem = make_problem(data, k, LOOKS) if listed else None
    if problem is not None and not problem.free.any():
        first = start(luck)
        _by_pattern(task, first, search.first, 0.0, rng.spawn(1)[0])  # it may be for nothing
        members = near_nodes(data, problem, task.boxes, first.open.of[entry], search.passes)
        if members is not None:

            def chain(own: np.random.Generator) -> NodeTrials:
                begun = start(int(own.integers(1, 2**62)))
                _by_list(task, begun, members, own)
                return begun

            return best([*share(chain, rng.spawn(CHAINS)), first])
    rounds = max(2, round(search.rounds * min(1.0, USUAL * k / data.rows) ** 0.5))

    def walk(own: np.random.Generator) -> NodeTrials:
        begun = start(int(own.integers(1, 2**62)))
        _by_pattern(task, begun, rounds, search.heat, own)
        return begun

    return best(share(walk, rng.spawn(search.starts)))


def _losses(opening: NodeTrials) -> npt.NDArray[np.float64]:
    """Return what the rows of every entry lose."""
    return opening.open.cost[opening.open.of] * opening.rows


def _by_pattern(
    task: Task, opening: NodeTrials, rounds: int, heat: float, rng: np.random.Generator
) -> None:
    """Open the classes of patterns, most of them near those of nodes that are open."""
    hashed, done = new_hashed(opening.rows.size), np.zeros(1)
    with under_way("nodes tried", lambda: done[0] / rounds):
        for now in range(rounds):
            if task.stopped():
                break
            loss = _losses(opening)
            warmth = heat * max(0.0, 1.0 - now / (COLD * rounds))
            warmth *= float(loss.sum()) * task.k / task.data.rows
            patterns = _near(task.ladders, opening.open, loss, rng)
            reopen(opening, task.ladders, patterns, hashed, warmth)
            done[0] = now + 1


def _by_list(task: Task, opening: NodeTrials, members: Members, rng: np.random.Generator) -> None:
    """Open nodes that prices name: all of them cold, then any, cooling down."""
    nodes, tries, done = members.cost.size, task.effort.nodes.tries // TURNS, np.zeros(1)
    listed = Nodes(members.start, members.entry.astype(np.int64), np.full(nodes, -1.0))
    hot, cold = HEATS
    with under_way("nodes tried", lambda: done[0] / TURNS):
        for now in range(TURNS + 1):
            if now and task.stopped():
                break
            tried = rng.integers(0, nodes, tries) if now else rng.permutation(nodes)
            part = (now - 1) / (WARM * TURNS)
            warmth = hot * (cold / hot) ** part if 0.0 <= part < 1.0 else 0.0
            warmth *= float(_losses(opening).sum()) * task.k / task.data.rows
            reopen_listed(opening, listed, tried, warmth)
            done[0] = now


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


def one_node(count: Ints, ladders: Ladders, nodes: int) -> Open:
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
    open_.size[0], open_.under[:, 0] = count.sum(), True
    return open_

"""Stages that open nodes: whole ones for groups of hundreds of rows, and those that prices name.

What they do is in :mod:`shoal.groupers.shoal.node_search` and :mod:`shoal.groupers.shoal.chains`,
loaded where it is asked for.
"""

from __future__ import annotations

import numpy as np

from shoal.base.partition import Ints
from shoal.groupers.shoal.efforts import LARGE
from shoal.groupers.shoal.task import Measured, Stage, Task

ROOM = 200_000_000
"""Pairs of an entry and a node up to which there is room for them."""


def _searchable(task: Task) -> bool:
    nodes = task.data.rows // task.k + 2
    room = nodes > 3 and task.data.rows * nodes <= ROOM
    large = task.k >= LARGE or task.few_classes
    return large and task.counts_rows and not task.has_sets and room


def _opened(task: Task, _labels: Ints | None, rng: np.random.Generator) -> Ints:
    from shoal.groupers.shoal.node_search import opened

    return opened(task, rng)


NODES = Stage(
    "whole nodes",
    _searchable,
    _opened,
    "rounds of 250 patterns, then nodes tried, as many as the effort says",
    (Measured("adult48 k=500", 0.28543, 0.34757, "2026-11-18"),),
    reads=lambda effort: effort.nodes,
)


def _prices(task: Task, labels: Ints | None, rng: np.random.Generator) -> Ints | None:
    """Make groups from prices, and open the nodes once."""
    from shoal.groupers.shoal.chains import priced

    assert labels is not None
    made = priced(task, labels, rng, 1)
    return None if made is None else task.cheaper(labels, made[0])


def _chains(task: Task, labels: Ints | None, rng: np.random.Generator) -> Ints | None:
    """Make groups from prices, and put chains together from there."""
    from shoal.groupers.shoal.chains import PASSES, chained, priced

    assert labels is not None
    made = priced(task, labels, rng, PASSES)
    if made is None:
        return None
    return chained(task, task.cheaper(labels, made[0]), made[1], rng)


PRICES = Stage(
    "prices",
    lambda task: task.can_price,
    _prices,
    "250 million pairs of an entry and a pattern, 20 passes over the nodes found",
    (
        Measured("adult30 k=10", 0.07620, 0.07856, "2026-11-18"),
        Measured("adult30 k=50", 0.15057, 0.15948, "2026-11-18"),
    ),
    reads=lambda effort: effort.prices,
)
CHAINS = Stage(
    "chains",
    lambda task: task.makes_chains,
    _chains,
    "two chains of ten trials per n / k a round, as many rounds as the effort says",
    (Measured("adult30 k=10 rows=5000 effort=max", 0.14405, 0.14851, "2026-11-18"),),
    reads=lambda effort: (effort.chains, effort.chained),
)

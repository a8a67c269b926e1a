"""From one priced start several chains of trials, put together component by component.

Chains that start warm from the same groups, and open nodes that make the loss a little larger,
change some places for the better and others for the worse. Where they can be told apart from each
other and from their start (a set of rows that both divide by themselves) the cheaper side is taken,
so that what comes out loses no more than any of them; then they start again from there. Chains are
short and many: of a longer one less can be told apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce

import numpy as np

from shoal.base.partition import Ints
from shoal.base.threads import share
from shoal.coding.encode import Encoded
from shoal.coding.tuples import entries
from shoal.groupers.refinement import Effort, hidden_of, refined, renumbered
from shoal.groupers.shifting import shifted
from shoal.kernels.boxes.candidate_groups import mark_all, new_covered
from shoal.kernels.boxes.classes import Classes
from shoal.kernels.boxes.conditions import Conditions, room
from shoal.kernels.boxes.geometry import Boxes
from shoal.kernels.boxes.groups import start_state
from shoal.kernels.boxes.lattice import Ladders
from shoal.kernels.boxes.shard import Shard, new_work
from shoal.kernels.prices.components import components
from shoal.kernels.prices.reopen import (
    Elsewhere,
    NodeRows,
    look_around,
    look_some,
    new_elsewhere,
    open_nodes,
)

CHAINS, ROUNDS = 2, 60
"""Chains that start from the same groups, and how often they do."""
TRIALS, HEAT, WARM = 10, 3.0, 0.3
"""Trials of a chain (per n / k), how warm they start, and how warm nodes are opened after them."""
PASSES, TURNS = 2, 3
"""Times that the table is looked over, and that every node is tried each time."""
PARTS = 8
"""Parts that entries are looked at in, whatever the number of threads."""
ALIKE = 2
"""Times that rows which are the same are exchanged between groups to make two partitions alike."""


def reopened(
    data: Encoded,
    k: int,
    conditions: Conditions,
    boxes: Boxes,
    labels: Ints,
    nodes: NodeRows,
    rng: np.random.Generator,
    passes: int = PASSES,
    turns: int = TURNS,
    heat: float = 0.0,
) -> Ints:
    """Try to open every node as one more group, until that brings nothing; return the groups.

    ``heat``: how much a node may make the loss larger, in mean losses of a row.
    """
    shard, elsewhere = make_shard(data, k, conditions, boxes, labels, int(rng.integers(1, 2**62)))
    heat *= float(shard.state.cost.sum()) / data.rows
    for _ in range(passes):
        look_everywhere(shard, elsewhere)
        opened = 0
        for _ in range(turns):
            tried = rng.permutation(nodes.cost.size)
            opened += open_nodes(shard, nodes, tried, elsewhere, heat)[1]
        if opened == 0:
            break
    return renumbered(shard.state.chains.group)


def look_everywhere(shard: Shard, elsewhere: Elsewhere) -> None:
    """Find out what every row pays, and would pay elsewhere."""
    cuts = np.linspace(0, len(shard.work.candidates), PARTS + 1).astype(np.int64)

    def look(part: int) -> None:
        words, price = np.empty_like(shard.work.words), np.empty_like(shard.work.price)
        look_some(shard, elsewhere, cuts[part], cuts[part + 1], words, price)

    share(look, range(PARTS))
    look_around(shard, elsewhere)


def make_shard(
    data: Encoded, k: int, conditions: Conditions, boxes: Boxes, labels: Ints, luck: int = 1
) -> tuple[Shard, Elsewhere]:
    """Return groups as one shard, with room to open nodes in."""
    state = start_state(boxes, data.codes, renumbered(labels))
    most, groups, nothing = 4 * k + 60, state.size.size, np.zeros(0, np.int64)
    covered = new_covered(boxes, groups)
    # Groups that cost nothing are hardly ever the cheapest for others, and may be most of them.
    mark_all(boxes, covered, state._replace(size=np.where(state.cost > 0.0, state.size, 0)), most)
    distinct, entry, _ = entries(data.codes)
    work = new_work(boxes, most, len(distinct), groups, room(conditions), 0, luck)
    hidden, classes = hidden_of(data, conditions, state), Classes(nothing, nothing)
    shard = Shard(boxes, data.codes, entry, hidden, k, most, state, covered, classes, work)
    return shard, new_elsewhere(data.rows, groups)


def chained(
    data: Encoded,
    shape: tuple[int, Conditions, Boxes, Ladders],
    labels: Ints,
    nodes: NodeRows,
    effort: Effort,
    rng: np.random.Generator,
    stop: Callable[[], bool] | None = None,
) -> Ints:
    """Return better groups: rounds of short chains, each from the best of those before."""
    k, conditions, boxes, _ = shape
    entry = entries(data.codes)[1]
    warm = replace(effort, trials=TRIALS, heat=HEAT, passes=1)
    for _ in range(ROUNDS):
        if stop is not None and stop():
            break

        def chain(own: np.random.Generator, start: Ints = labels) -> Ints:
            made = refined(data, *shape, start.copy(), warm, own, stop)
            made = reopened(data, k, conditions, boxes, made, nodes, own, 1, 1, WARM)
            return shifted(data, k, boxes, made)

        labels = combined(data, boxes, entry, [*share(chain, rng.spawn(CHAINS)), labels])
    return reopened(data, k, conditions, boxes, labels, nodes, rng)


def combined(data: Encoded, boxes: Boxes, entry: Ints, made: Sequence[Ints]) -> Ints:
    """Return the cheaper side of every component of partitions, one after the other.

    ``entry``: which rows are the same.
    """
    return reduce(lambda one, other: _cheaper(data, boxes, entry, one, other), made)


def _cheaper(data: Encoded, boxes: Boxes, entry: Ints, one: Ints, other: Ints) -> Ints:
    one, other = renumbered(one), renumbered(other)
    for _ in range(ALIKE):
        other = _alike(entry, one, other)
    many = int(one.max()) + 1
    losses = np.concatenate(
        [
            start_state(boxes, data.codes, side, spare=0).cost * sign
            for side, sign in ((one, 1.0), (other, -1.0))
        ]
    )
    parent = np.arange(losses.size)
    components(one, other + many, parent)
    gain = np.bincount(parent, losses, minlength=losses.size)
    return renumbered(np.where(gain[parent[one]] > 1e-9, other + many, one))


def _alike(entry: Ints, one: Ints, other: Ints) -> Ints:
    """Return the groups of ``other`` with rows that are the same exchanged between them.

    Each group prefers those rows that the group of ``one`` has with which it shares most.
    """
    many = int(one.max()) + 1
    pair, shared = np.unique(other * many + one, return_counts=True)
    turn = np.lexsort((shared, pair // many))
    last = np.append(np.diff(pair[turn] // many) != 0, True)
    friend = pair[turn][last] % many
    out = np.empty_like(other)
    out[np.lexsort((one, entry))] = other[np.lexsort((other, friend[other], entry))]
    return out

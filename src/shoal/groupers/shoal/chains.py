"""From one priced start several chains of trials, put together component by component.

Chains that start warm from the same groups, and open nodes that make the loss a little larger,
change some places for the better and others for the worse. Where they can be told apart from each
other and from their start (a set of rows that both divide by themselves) the cheaper side is taken,
so that what comes out loses no more than any of them; then they start again from there. Chains are
short and many: of a longer one less can be told apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np

from shoal.base.partition import Ints
from shoal.base.threads import share
from shoal.coding.tuples import entries
from shoal.groupers.prices.near import near_groups
from shoal.groupers.shoal.peel import place_rest
from shoal.groupers.shoal.shift import shifted
from shoal.groupers.shoal.task import Task
from shoal.groupers.shoal.trials import Trials, make_shard, refined, renumbered
from shoal.kernels.boxes.groups import start_state
from shoal.kernels.boxes.judge import Nodes
from shoal.kernels.boxes.shard import Shard
from shoal.kernels.prices.reopen import (
    Elsewhere,
    components,
    look_around,
    look_some,
    new_elsewhere,
    open_nodes,
)

CHAINS = 2
"""Chains that start from the same groups."""
WARM_TRIALS, WARM = Trials(10, heat=3.0, dearer=np.inf, shard=40_000), 0.3
"""Trials of a chain, and how warm nodes are opened after them."""
PASSES, TURNS = 2, 3
"""Times that the table is looked over, and that every node is tried each time."""
PARTS = 8
"""Parts that entries are looked at in, whatever the number of threads."""
ALIKE = 2
"""Times that rows which are the same are exchanged between groups to make two partitions alike."""


def priced(
    task: Task, labels: Ints, rng: np.random.Generator, passes: int
) -> tuple[Ints, Nodes] | None:
    """Return groups from prices near what rows pay, and the nodes that are worth opening.

    None where prices leave too many rows without a group. ``passes``: how often the table is looked
    over while nodes are opened.
    """
    assert task.problem is not None
    found, nodes = near_groups(task.data, task.problem, task.boxes, labels)
    placed = place_rest(task, found, rng)
    return None if placed is None else (reopened(task, placed, nodes, rng, passes), nodes)


def reopened(
    task: Task,
    labels: Ints,
    nodes: Nodes,
    rng: np.random.Generator,
    passes: int = PASSES,
    turns: int = TURNS,
    heat: float = 0.0,
) -> Ints:
    """Try to open every node as one more group, until that brings nothing; return the groups.

    ``heat``: how much a node may make the loss larger, in mean losses of a row.
    """
    shard, elsewhere = open_shard(task, labels, int(rng.integers(1, 2**62)))
    heat *= float(shard.state.cost.sum()) / task.data.rows
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


def open_shard(task: Task, labels: Ints, luck: int = 1) -> tuple[Shard, Elsewhere]:
    """Return groups as one shard, with room to open nodes in."""
    state = start_state(task.boxes, task.data.codes, renumbered(labels))
    groups = state.size.size
    # Groups that cost nothing are hardly ever the cheapest for others, and may be most of them.
    offered = state._replace(size=np.where(state.cost > 0.0, state.size, 0))
    shard = make_shard(task, state, 4 * task.k + 60, luck, offered)
    return shard, new_elsewhere(task.data.rows, groups)


def chained(task: Task, labels: Ints, nodes: Nodes, rng: np.random.Generator) -> Ints:
    """Return better groups: rounds of short chains, each from the best of those before."""
    entry = entries(task.data.codes)[1]
    for _ in range(task.effort.rounds(task.data.rows)):
        if task.stopped():
            break

        def chain(own: np.random.Generator, start: Ints = labels) -> Ints:
            made = refined(task, start, WARM_TRIALS, own)
            made = reopened(task, made, nodes, own, 1, 1, WARM)
            return shifted(task, made)

        labels = combined(task, entry, [*share(chain, rng.spawn(CHAINS)), labels])
    return reopened(task, labels, nodes, rng)


def combined(task: Task, entry: Ints, made: Sequence[Ints]) -> Ints:
    """Return the cheaper side of every component of partitions, one after the other.

    ``entry``: which rows are the same.
    """
    return reduce(lambda one, other: _cheaper_sides(task, entry, one, other), made)


def _cheaper_sides(task: Task, entry: Ints, one: Ints, other: Ints) -> Ints:
    one, other = renumbered(one), renumbered(other)
    for _ in range(ALIKE):
        other = _alike(entry, one, other)
    many = int(one.max()) + 1
    losses = np.concatenate(
        [
            start_state(task.boxes, task.data.codes, side, spare=0).cost * sign
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

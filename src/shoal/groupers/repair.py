"""Join groups that break a rule with their cheapest partners until every rule holds.

This is what lets every clustering method serve every rule: for a rule that grows safely the whole
table is the last resort, so a feasible request always ends with the guarantee.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from shoal.base.errors import Infeasible
from shoal.base.partition import GroupStats, Histogram, Partition, added
from shoal.coding.encode import Encoded
from shoal.coding.joins import joins
from shoal.coding.space import make_space
from shoal.coding.tuples import entries
from shoal.kernels.space.build_tree import build_tree
from shoal.kernels.space.cluster_index import add_all, new_index
from shoal.kernels.space.costs import Space
from shoal.kernels.space.covers import cover_groups, new_covers
from shoal.kernels.space.partners import find_partners
from shoal.kernels.space.search import new_search
from shoal.privacy import Rule

Ints = npt.NDArray[np.int64]

PATIENCE = 5
"""Rounds after which a group takes twice as many partners at a time."""
PARTNERS = 32
"""How many of the cheapest partners of a failing group are tried before the cheapest is taken."""


def repair(data: Encoded, partition: Partition, rule: Rule) -> Partition:
    """Return a partition in which every group passes, at little added loss.

    Each round every failing group, smallest first, is joined with the cheapest group that makes it
    pass, or with the cheapest at all if none of the nearest ones does. What still fails after some
    rounds is far from passing, and takes twice as many of them at a time, and then again.
    """
    space = make_space(data)
    turn = -1
    while True:
        turn += 1
        tally = data.tally(partition)
        failing = np.flatnonzero(~rule.holds(data.judged(tally)))
        if not failing.size:
            return partition
        if partition.groups == 1:
            raise Infeasible(
                f"No partition could be found that keeps the promise: {rule.describe()}. "
                "Even the whole table as one group breaks it. Relax the rule."
            )
        failing = failing[np.argsort(tally.sizes[failing], kind="stable")]
        near = partners(data, space, partition, failing, min(PARTNERS, partition.groups - 1))
        passes = _passing(data, near, failing, tally, rule)
        many = min(2 ** (turn // PATIENCE), near.shape[1])
        partition = _joined(partition, failing, near, passes, many)


def repair_alike(data: Encoded, partition: Partition, rule: Rule) -> Partition:
    """Return a partition in which every class that a reader sees passes.

    Groups that are published alike are one class. Where rows are counted it passes when they do;
    where people are counted they may share people, and must be asked about again.
    """
    while True:
        cells = [join.distinct[1] for join in joins(data, partition)]
        seen = np.unique(np.column_stack(cells), axis=0, return_inverse=True)[1].reshape(-1)
        labels = partition.labels()
        labels[labels >= 0] = seen[labels[labels >= 0]]
        alike = Partition.from_labels(labels)
        if rule.holds(data.stats(alike)).all():
            return replace(alike, notes=partition.notes)
        partition = replace(repair(data, alike, rule), notes=partition.notes)


def partners(
    data: Encoded,
    space: Space,
    partition: Partition,
    wanting: Ints,
    wanted: int,
    visits: Ints | None = None,
) -> Ints:
    """Return, for each of some groups, the groups that it is cheapest to join with, cheapest first.

    ``visits``, one number, grows by the tree nodes and groups looked at.
    """
    covers = new_covers(space, partition.groups + 1)
    cover_groups(space, covers, data.codes, partition.rows, partition.starts)
    codes, entry, count = entries(data.codes[partition.rows[partition.starts[:-1]]])
    tree, order = build_tree(space, codes, count, np.zeros(count.size, np.int32))
    rank = np.empty(order.size, np.int64)
    rank[order] = np.arange(order.size)
    index = new_index(tree, count.size, partition.groups, int(partition.sizes.min()), wanted)
    add_all(tree, index, covers, rank[entry])
    near = np.empty((wanting.size, wanted), np.int64)
    row = np.empty(space.kind.size, np.int32)
    find_partners(new_search(space, tree, visits), covers, index, wanting, row, near)
    return near


def _passing(
    data: Encoded, near: Ints, failing: Ints, tally: GroupStats, rule: Rule
) -> npt.NDArray[np.bool_]:
    """Say for each failing group which of its nearest partners make it pass."""
    pairs = unions(tally, np.repeat(failing, near.shape[1]), near.ravel())
    return rule.holds(data.judged(pairs)).reshape(near.shape)


def _joined(
    partition: Partition, failing: Ints, near: Ints, passes: npt.NDArray[np.bool_], many: int
) -> Partition:
    """Join each failing group with the first partner that makes it pass, or with the first many.

    A group joined already this round waits.
    """
    target = np.arange(partition.groups)
    busy = np.zeros(partition.groups, np.bool_)
    # argmax gives the first partner that passes, and 0, the cheapest, when none does.
    first, some = passes.argmax(axis=1), passes.sum(axis=1) > 0
    for at, a in enumerate(failing):
        wanted = near[at, first[at] : first[at] + 1] if some[at] else near[at, :many]
        free = wanted[~busy[wanted]]
        if not busy[a] and free.size:
            target[a] = target[free] = free[0]
            busy[a] = True
            busy[free] = True
    labels = partition.labels()
    kept = labels >= 0
    labels[kept] = target[labels[kept]]
    return Partition.from_labels(labels)


def unions(stats: GroupStats, a: Ints, b: Ints) -> GroupStats:
    """Return the statistics of the unions of groups ``a[i]`` and ``b[i]``."""
    return GroupStats(
        stats.sizes[a] + stats.sizes[b],
        {name: _union(hist, a, b) for name, hist in stats.histograms.items()},
    )


def _union(hist: Histogram, a: Ints, b: Ints) -> Histogram:
    pair, run = [], []
    for groups in (a, b):
        lengths = hist.distinct[groups]
        ends = np.cumsum(lengths)
        inside = np.arange(int(lengths.sum())) - np.repeat(ends - lengths, lengths)
        pair.append(np.repeat(np.arange(groups.size), lengths))
        run.append(np.repeat(hist.starts[groups], lengths) + inside)
    runs = np.concatenate(run)
    return added(hist, np.concatenate(pair), hist.values[runs], hist.counts[runs], a.size)

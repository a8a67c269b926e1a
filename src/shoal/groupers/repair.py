"""Join groups that break a rule with their cheapest partners until every rule holds.

This is what lets every clustering method serve every rule: for a rule that grows safely the whole
table is the last resort, so a feasible request always ends with the guarantee.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from shoal.base.errors import Infeasible
from shoal.base.partition import GroupStats, Histogram, Partition, add_to_histogram
from shoal.coding.encode import Encoded
from shoal.coding.joins import joins
from shoal.coding.space import make_space
from shoal.coding.tuples import entries
from shoal.groupers.conditions import conditions_of, kernels_can_judge, sensitive_of
from shoal.kernels.boxes.conditions import Conditions, room, stated
from shoal.kernels.space.build_tree import build_tree
from shoal.kernels.space.cluster_index import ClusterIndex, add_all, new_index
from shoal.kernels.space.costs import Space
from shoal.kernels.space.covers import Covers, cover_groups, new_covers
from shoal.kernels.space.join_failing import Mended, mend
from shoal.kernels.space.partners import find_partners
from shoal.kernels.space.search import new_search
from shoal.kernels.space.tree import Tree
from shoal.privacy import Rule

Ints = npt.NDArray[np.int64]

PATIENCE = 5
"""Rounds after which a group takes twice as many partners at a time."""
FEW = 8
"""How many are looked for at first."""
COUNTED = 20_000_000
"""Pairs of a group and a sensitive value up to which those of every group are kept count of."""
PARTNERS = 32
"""How many of the cheapest partners of a failing group are tried before the cheapest is taken."""


def repair(data: Encoded, partition: Partition, rule: Rule) -> Partition:
    """Return a partition in which every group passes, at little added loss.

    Failing groups, smallest first, are joined with the cheapest group that makes them pass
    (:mod:`shoal.kernels.space.join_failing`). What kernels cannot judge is then joined in rounds.
    """
    tally = data.tally(partition)
    failing = np.flatnonzero(~rule.holds(data.judged(tally)))
    if failing.size and partition.groups > 1 and kernels_can_judge(rule):
        partition = _mended(data, partition, rule, failing)
    return _in_rounds(data, partition, rule)


def _mended(data: Encoded, partition: Partition, rule: Rule, failing: Ints) -> Partition:
    """Join the groups that fail until all that kernels can judge of the rule holds."""
    groups, space = partition.groups, make_space(data)
    k, conditions = conditions_of(data, rule)
    covers, tree, few = _indexed(data, space, partition, min(FEW, groups - 1))
    wanted = min(PARTNERS, groups - 1)
    many = few._replace(best=np.full(wanted, -1, np.int64), price=np.empty(wanted))
    search, sizes = new_search(space, tree), partition.sizes
    after = np.full(data.rows, -1)
    after[partition.rows[:-1]] = partition.rows[1:]
    last = partition.rows[partition.starts[1:] - 1]
    after[last] = -1
    mended = Mended(
        first=partition.rows[partition.starts[:-1]],
        last=last,
        after=after,
        into=np.arange(groups),
        counts=_counts(data, conditions, partition),
        hist=room(conditions),
        row=np.empty(space.kind.size, np.int32),
    )
    asked = (stated(conditions), k, sensitive_of(data, conditions))
    failing, sweep = failing[np.argsort(sizes[failing], kind="stable")], 0
    while failing.size:
        times = min(2 ** (sweep // PATIENCE), groups)
        left = mend(search, covers, few, many, *asked, failing, times, mended)
        failing, sweep = failing[:left], sweep + 1
        failing = failing[np.argsort(covers.size[failing], kind="stable")]
        if int((covers.size > 0).sum()) == 1:
            break
    into = mended.into
    while (into[into] != into).any():
        into = into[into]
    labels = partition.labels()
    labels[labels >= 0] = into[labels[labels >= 0]]
    return Partition.from_labels(labels)


def _counts(data: Encoded, conditions: Conditions, partition: Partition) -> npt.NDArray[np.int32]:
    """Return how often each group has each sensitive value; nothing where that is too much."""
    values = conditions.share.size
    if not conditions.code.size or conditions.unit.size or partition.groups * values > COUNTED:
        return np.zeros((0, 0), np.int32)
    sens, labels = sensitive_of(data, conditions), partition.labels()
    counts = np.zeros(partition.groups * values, np.int64)
    for c in range(sens.shape[1]):
        there = (sens[:, c] >= 0) & (labels >= 0)
        cells = labels[there] * values + conditions.base[c] + sens[there, c]
        counts += np.bincount(cells, minlength=counts.size)
    return counts.reshape(partition.groups, values).astype(np.int32)


def _in_rounds(data: Encoded, partition: Partition, rule: Rule) -> Partition:
    """Return a partition in which every group passes, whatever the rule asks for.

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
    covers, tree, index = _indexed(data, space, partition, wanted)
    near = np.empty((wanting.size, wanted), np.int64)
    row = np.empty(space.kind.size, np.int32)
    find_partners(new_search(space, tree, visits), covers, index, wanting, row, near)
    return near


def _indexed(
    data: Encoded, space: Space, partition: Partition, wanted: int
) -> tuple[Covers, Tree, ClusterIndex]:
    """Return the covers of all groups, and where they are found, so many at a time."""
    covers = new_covers(space, partition.groups + 1)
    cover_groups(space, covers, data.codes, partition.rows, partition.starts)
    codes, entry, count = entries(data.codes[partition.rows[partition.starts[:-1]]])
    tree, order = build_tree(space, codes, count, np.zeros(count.size, np.int32))
    rank = np.empty(order.size, np.int64)
    rank[order] = np.arange(order.size)
    index = new_index(tree, count.size, partition.groups, int(partition.sizes.min()), wanted)
    add_all(tree, index, covers, rank[entry])
    return covers, tree, index


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
    return add_to_histogram(
        hist, np.concatenate(pair), hist.values[runs], hist.counts[runs], a.size
    )

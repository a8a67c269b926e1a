"""The best places for rows under the boxes that groups have: the last step of the method `shoal`.

Trials move rows between few groups at a time. What they leave is a row that could go to a cheaper
group if another one took its place, whose place would be taken by a third: ways of many steps, all
found at once (:mod:`shoal.kernels.boxes.shift`).
"""

from __future__ import annotations

import numpy as np

from shoal.base.partition import Codes, Ints, in_order
from shoal.base.threads import share
from shoal.coding.tuples import entries
from shoal.groupers.shoal.task import Measured, Stage, Task
from shoal.kernels.boxes.covered import mark_all, new_covered
from shoal.kernels.boxes.geometry import TABLE, Boxes
from shoal.kernels.boxes.groups import State, start_state
from shoal.kernels.boxes.shift import list_over, shift

LOOKS = 4_000_000_000
"""Pairs of a different row and a group up to which rows are shifted; 64 are looked at at once."""
PAIRS = 40_000_000
"""Rows under boxes that there is room for."""
PARTS = 8
"""Parts that rows are looked at in, whatever the number of threads."""


def shifted(task: Task, labels: Ints) -> Ints:
    """Return groups of at least k rows that lose as little as can be under the boxes of these.

    For k-anonymity alone: which rows a group has is not looked at, only how many.
    """
    data, boxes, k = task.data, task.boxes, task.k
    state = start_state(boxes, data.codes, labels, spare=0)
    groups, paying = state.size.size, np.flatnonzero(state.cost[labels] > 0.0)
    distinct, entry, count = entries(data.codes[paying])
    if len(distinct) * groups > LOOKS:
        return labels
    over, group = _over(distinct, boxes, state)
    under = np.bincount(group, count[over], minlength=groups).astype(np.int64)
    if under.sum() > PAIRS:
        return labels
    over = over[in_order(group)]  # the rows of these entries lie under one group after the other
    first, many = np.cumsum(count) - count, count[over]
    rows = np.repeat(first[over] - np.cumsum(many) + many, many) + np.arange(many.sum())
    shape = (np.append(0, np.cumsum(under)), paying[in_order(entry)][rows])
    # What a row misses costs it nothing; counted as `*` it costs as much in all groups.
    star = boxes.tab[boxes.off + np.where(boxes.kind == TABLE, boxes.size, 0)]
    cost = (state.cost + state.extents.miss @ star) / np.maximum(state.size, 1)
    found, turn = labels.copy(), np.argsort(cost, kind="stable")
    shift(k, cost, turn, *shape, found, state.size, np.empty((4, groups), np.int64))
    return found


def _over(distinct: Codes, boxes: Boxes, state: State) -> Codes:
    """Return pairs of a different row and a group whose box it lies under."""
    covered = new_covered(boxes, state.size.size)
    mark_all(boxes, covered, state, int(state.size.max()))

    def some(rows: Ints) -> Codes:
        words, room = np.empty(covered.bits.shape[1], np.uint64), 16 * rows.size
        while True:
            pairs = np.empty((2, room), np.int32)
            made = list_over(boxes, distinct, state, covered, rows, words, pairs)
            if made <= room:
                break
            room = made
        pairs = pairs[:, :made]
        pairs[0] = rows[pairs[0]]
        return pairs

    return np.concatenate(share(some, np.array_split(np.arange(len(distinct)), PARTS)), axis=1)


def _make(task: Task, labels: Ints | None, _rng: np.random.Generator) -> Ints:
    assert labels is not None
    return shifted(task, labels)


SHIFT = Stage(
    "shift",
    lambda task: task.counts_rows,
    _make,
    "pairs of a different row and a group: 4,000 million",
    (
        Measured("adult30 k=10", 0.07620, 0.07655, "2026-11-18"),
        Measured("adult48 k=10 effort=fast", 0.07042, 0.07067, "2026-11-18"),
    ),
)

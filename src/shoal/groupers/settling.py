"""The best places for rows under the boxes that groups have: the last step of the method `shoal`.

Trials move rows between few groups at a time. What they leave is a row that could go to a cheaper
group if another one took its place, whose place would be taken by a third: ways of many steps, all
found at once (:mod:`shoal.kernels.boxes.settle`).
"""

from __future__ import annotations

import numpy as np

from shoal.base.partition import Codes, Ints, in_order
from shoal.base.threads import share
from shoal.coding.encode import Encoded
from shoal.coding.tuples import entries
from shoal.kernels.boxes.candidate_groups import mark_all, new_covered
from shoal.kernels.boxes.geometry import Boxes
from shoal.kernels.boxes.groups import State, start_state
from shoal.kernels.boxes.settle import by_group, list_over, settle, widths

LOOKS = 4_000_000_000
"""Pairs of a different row and a group up to which rows are settled; 64 are looked at at once."""
PAIRS = 40_000_000
"""Rows under boxes that there is room for."""
PARTS = 8
"""Parts that rows are looked at in, whatever the number of threads."""


def settled(data: Encoded, k: int, boxes: Boxes, labels: Ints) -> Ints:
    """Return groups of at least k rows that lose as little as can be under the boxes of these.

    For k-anonymity alone: which rows a group has is not looked at, only how many.
    """
    state = start_state(boxes, data.codes, labels, spare=0)
    groups, paying = state.size.size, np.flatnonzero(state.cost[labels] > 0.0)
    distinct, entry, count = entries(data.codes[paying])
    if len(distinct) * groups > LOOKS:
        return labels
    pairs = _over(distinct, boxes, state)
    under = np.bincount(pairs[1], count[pairs[0]], minlength=groups).astype(np.int64)
    if under.sum() > PAIRS:
        return labels
    begin, rows, cost = (
        np.append(0, np.cumsum(under)),
        np.empty(under.sum(), np.int64),
        np.empty(groups),
    )
    first = np.append(0, np.cumsum(count))
    by_group(pairs, first, paying[in_order(entry)], begin[:-1].copy(), rows)
    widths(boxes, state, cost)
    found, turn = labels.copy(), np.argsort(cost, kind="stable")
    settle(k, cost, turn, begin, rows, found, state.size, np.empty((4, groups), np.int64))
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

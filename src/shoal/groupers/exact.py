"""The best partition of a tiny table: every subset of its rows is priced and judged."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.coding.encode import Encoded
from shoal.groupers.judge import Judge
from shoal.kernels.boxes.geometry import Boxes
from shoal.kernels.boxes.groups import start_state
from shoal.kernels.subsets import part
from shoal.privacy import Rule

Ints = npt.NDArray[np.int64]


def best_labels(data: Encoded, rule: Rule, boxes: Boxes) -> Ints:
    """Return the group of each row in a partition that keeps the rule at the least loss of all."""
    judge = Judge(data, rule)
    subset, row = np.nonzero(np.arange(1 << data.rows)[:, None] >> np.arange(data.rows) & 1)
    sizes = np.bincount(subset, minlength=1 << data.rows).astype(np.int64)
    allowed = np.flatnonzero(sizes >= judge.least)
    number = np.full(sizes.size, -1)
    number[allowed] = np.arange(allowed.size)
    kept = number[subset] >= 0
    row, label = row[kept], number[subset[kept]]
    loss = start_state(boxes, np.ascontiguousarray(data.codes[row]), label).cost[: allowed.size]
    cost = np.full(sizes.size, np.inf)
    cost[allowed] = np.where(judge.passes(sizes[allowed], row, label), loss, np.inf)
    total, last = np.empty(cost.size), np.zeros(cost.size, np.int64)
    part(cost, total, last)
    labels, left, group = np.zeros(data.rows, np.int64), cost.size - 1, 0
    while left:
        labels[(last[left] >> np.arange(data.rows) & 1).astype(np.bool_)] = group
        left, group = left ^ int(last[left]), group + 1
    return labels

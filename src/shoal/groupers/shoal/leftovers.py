"""Rows that belong to no group yet join the groups that they cost least, within the rule."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.groupers.conditions import sensitive_of
from shoal.groupers.shoal.peel import alone
from shoal.groupers.shoal.task import Task
from shoal.kernels.boxes.conditions import room, stated
from shoal.kernels.boxes.groups import new_seen, start_state
from shoal.kernels.boxes.place_leftovers import place_leftovers

Ints = npt.NDArray[np.int64]

REMEMBERED = 50_000_000
"""Pairs of a group and a combination of sensitive values up to which refusals are remembered."""


PAIRS = 10_000_000
"""Pairs of a row and a group up to which every one of them is priced."""


def place(task: Task, labels: Ints) -> Ints:
    """Return a group for each row labelled -1, for the repair to join what has no place by then.

    A row that no group can take is in a new one. With too many pairs of a row and a group every row
    is alone in a new one: the repair searches, and prices fewer.
    """
    free, groups, conditions = labels < 0, int(labels.max(initial=-1)) + 1, task.conditions
    if not groups or int(free.sum()) * groups > PAIRS:
        return alone(labels)
    labels = np.where(free, groups, labels)
    state = start_state(task.boxes, task.data.codes, labels)
    hidden = sensitive_of(task.data, conditions)
    refused, alike = np.zeros((0, 0), np.bool_), np.zeros(task.data.rows, np.int64)
    if not conditions.unit.size:
        alike = np.unique(hidden, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
        tags = int(alike.max()) + 1
        if state.size.size * tags <= REMEMBERED:
            refused = np.zeros((state.size.size, tags), np.bool_)
    asked, seen = (stated(conditions), task.data.codes, hidden), new_seen(task.boxes)
    place_leftovers(task.boxes, *asked, state, groups, seen, room(conditions), alike, refused)
    return state.chains.group

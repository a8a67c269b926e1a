"""Rows that belong to no group yet join the groups that they cost least, within the rule."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.coding.encode import Encoded
from shoal.groupers.conditions import sensitive_of
from shoal.kernels.boxes.conditions import Conditions, room, stated
from shoal.kernels.boxes.geometry import Boxes
from shoal.kernels.boxes.groups import new_seen, start_state
from shoal.kernels.boxes.place_leftovers import place_leftovers

Ints = npt.NDArray[np.int64]

REMEMBERED = 50_000_000
"""Pairs of a group and a combination of sensitive values up to which refusals are remembered."""


PAIRS = 10_000_000
"""Pairs of a row and a group up to which every one of them is priced."""


def alone(labels: Ints) -> Ints:
    """Return a new group for each row labelled -1."""
    free, labels = labels < 0, labels.copy()
    labels[free] = labels.max(initial=-1) + 1 + np.arange(int(free.sum()))
    return labels


def place(data: Encoded, conditions: Conditions, boxes: Boxes, labels: Ints) -> Ints:
    """Return a group for each row labelled -1, for the repair to join what has no place by then.

    A row that no group can take is in a new one. With too many pairs of a row and a group every row
    is alone in a new one, and where any group can take it: the repair searches, and prices fewer.
    """
    free, groups = labels < 0, int(labels.max(initial=-1)) + 1
    if not groups or not conditions.code.size or int(free.sum()) * groups > PAIRS:
        return alone(labels)
    labels = np.where(free, groups, labels)
    state = start_state(boxes, data.codes, labels)
    hidden = sensitive_of(data, conditions)
    refused, alike = np.zeros((0, 0), np.bool_), np.zeros(data.rows, np.int64)
    if conditions.code.size and not conditions.unit.size:
        alike = np.unique(hidden, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
        tags = int(alike.max()) + 1
        if state.size.size * tags <= REMEMBERED:
            refused = np.zeros((state.size.size, tags), np.bool_)
    asked = (stated(conditions), data.codes, hidden)
    place_leftovers(boxes, *asked, state, groups, new_seen(boxes), room(conditions), alike, refused)
    return state.chains.group

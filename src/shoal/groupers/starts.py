"""Starts of the method `shoal` that prices make, and groups for the rows that no class took."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from shoal.base.partition import Partition
from shoal.coding.encode import Encoded
from shoal.coding.space import make_space
from shoal.groupers.growth import grow_members
from shoal.groupers.limits import left_over, limits_of
from shoal.groupers.mixing import SAMPLE
from shoal.groupers.peeling import MANY
from shoal.groupers.repair import repair
from shoal.kernels.boxes.conditions import Conditions
from shoal.kernels.boxes.geometry import Boxes
from shoal.kernels.boxes.groups import start_state
from shoal.kernels.boxes.lattice import Ladders
from shoal.privacy import Rule

if TYPE_CHECKING:
    from shoal.groupers.prices.near import NearProblem
    from shoal.kernels.prices.reopen import NodeRows

Ints = npt.NDArray[np.int64]


def near_start(
    data: Encoded,
    rule: Rule,
    shape: tuple[int, Conditions, Boxes, Ladders],
    near: NearProblem,
    labels: Ints,
    rng: np.random.Generator,
) -> Ints | None:
    """Return a start from prices near those that rows pay in another; None if that loses less."""
    from shoal.groupers.prices.near import near_groups

    boxes = shape[2]
    opened = _opened(data, rule, shape, *near_groups(data, near, boxes, labels), rng, 1)
    if opened is None or cost(data, boxes, opened) >= cost(data, boxes, labels):
        return None
    return opened


def priced_start(
    data: Encoded,
    rule: Rule,
    shape: tuple[int, Conditions, Boxes, Ladders],
    rng: np.random.Generator,
    stop: Callable[[], bool] | None,
) -> tuple[Ints, NodeRows] | None:
    """Return a start from prices, and the nodes that they name; for the highest effort alone."""
    from shoal.groupers.prices.chains import PASSES
    from shoal.groupers.prices.greedy import named_groups

    if (found := named_groups(data, shape[0], stop)) is None:
        return None
    opened = _opened(data, rule, shape, *found, rng, PASSES)
    return None if opened is None else (opened, found[1])


def _opened(
    data: Encoded,
    rule: Rule,
    shape: tuple[int, Conditions, Boxes, Ladders],
    labels: Ints,
    nodes: NodeRows,
    rng: np.random.Generator,
    passes: int,
) -> Ints | None:
    """Give the rows that prices left a group, and open nodes; None when too many are left."""
    from shoal.groupers.prices.chains import reopened

    k, conditions, boxes, _ = shape
    rest = place_rest(data, conditions, boxes, labels, rule, rng)
    if rest is None:
        return None
    labels = repair(data, rest, rule).labels()
    return reopened(data, k, conditions, boxes, labels, nodes, rng, passes)


def place_rest(
    data: Encoded,
    conditions: Conditions,
    boxes: Boxes,
    labels: Ints,
    rule: Rule,
    rng: np.random.Generator,
) -> Partition | None:
    """Give the rows that no class took a group.

    As many groups as possible are grown among them; the others join the groups that they cost
    least, in a large table by the repair. None when too many are left: they are too
    much alike, and the rows that would have made them diverse are in other classes already.
    """
    rest = np.flatnonzero(labels < 0)
    if not rest.size:
        return Partition.from_labels(labels)
    if left_over(data, rule, rest) > MANY * data.rows:
        return None
    from shoal.groupers.leftovers import alone, place  # most tables leave no row

    part = data.take(rest)
    limits, tags = limits_of(part, rule)
    members = grow_members(part, make_space(part), limits, tags, rng.permutation(rest.size))
    labels = labels.copy()
    groups = int(labels.max()) + 1
    labels[rest[members]] = groups + np.arange(members.shape[0])[:, None]
    groups += members.shape[0]
    if (labels < 0).sum() > MANY * data.rows:
        return None
    if data.rows > SAMPLE:
        return Partition.from_labels(alone(labels))
    return Partition.from_labels(place(data, conditions, boxes, labels))


def cost(data: Encoded, boxes: Boxes, labels: Ints) -> float:
    """Return what groups, given as a number per row, lose by the widths of the boxes."""
    return float(start_state(boxes, data.codes, labels).cost.sum())

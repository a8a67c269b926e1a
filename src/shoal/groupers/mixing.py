"""Groups that have the table's mix of sensitive values from the beginning, for t-closeness.

Classes that are cheap by their quasi-identifiers alone are far from the table's shares, and joining
them until they are near enough costs most of what they had kept. Here every group of a fixed size
takes of each value its part of the table, as SABRE does it (Cao, Karras, Kalnis, Tan 2011), but for
the distance t, which it may spend where it likes: a row may join while the group can still end
within t.
"""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import numpy.typing as npt

from shoal.base.partition import Partition
from shoal.coding.encode import Encoded
from shoal.coding.space import make_space
from shoal.groupers.growth import grow_members
from shoal.groupers.leftovers import place
from shoal.groupers.limits import limits_of
from shoal.groupers.repair import repair
from shoal.kernels.boxes.conditions import Conditions
from shoal.kernels.boxes.geometry import Boxes
from shoal.kernels.boxes.groups import start_state
from shoal.privacy import Rule, TCloseness, flatten

Floats = npt.NDArray[np.float64]

TIMES = (1.0, 2.0, 4.0, 8.0)
"""Sizes of groups to try, in least sizes: small groups are cheap, of larger ones fewer rows are
left without a place."""
SAMPLE = 32_000
"""Rows up to which each of them is tried on the whole table."""
LARGEST = 4_096
"""Rows of a group up to which the least size that can keep the mix is looked for."""


def balanced(
    data: Encoded,
    rule: Rule,
    k: int,
    conditions: Conditions,
    boxes: Boxes,
    rng: np.random.Generator,
) -> list[Partition]:
    """Return the cheapest groups of those sizes, none for a rule without t-closeness.

    In a large table a sample of its rows says which size that is.
    """
    sizes, part = _sizes(data, rule, k), data
    if len(sizes) > 1 and data.rows > SAMPLE:
        part = data.take(np.sort(rng.choice(data.rows, SAMPLE, replace=False)))
    made = [mixed(part, rule, conditions, boxes, deepcopy(rng), size) for size in sizes]
    if part is data and len(made) < 2:
        return made
    loss = [start_state(boxes, part.codes, each.labels()).cost.sum() for each in made]
    best = int(np.argmin(loss))
    if part is data:
        return [made[best]]
    return [mixed(data, rule, conditions, boxes, deepcopy(rng), sizes[best])]


def mixed(
    data: Encoded,
    rule: Rule,
    conditions: Conditions,
    boxes: Boxes,
    rng: np.random.Generator,
    size: int,
) -> Partition:
    """Return groups of ``size`` rows that keep t-closeness, then larger ones of the rows left."""
    quota = {p.column: shares(data, p.column) for p in flatten([rule]) if isinstance(p, TCloseness)}
    labels, groups = np.full(data.rows, -1, np.int64), 0
    rest = np.arange(data.rows)
    while rest.size >= size:
        part = data.take(rest)
        limits, tags = limits_of(part, rule, size, quota)
        seeds = rng.permutation(rest.size)
        members = grow_members(part, make_space(part), limits, tags, seeds)
        labels[rest[members]] = groups + np.arange(members.shape[0])[:, None]
        groups += members.shape[0]
        rest = np.flatnonzero(labels < 0)
        size = 2 * limits.target
    if not groups:
        return Partition.one(data.rows)
    if rest.size:
        labels = place(data, conditions, boxes, labels, groups)
    return repair(data, Partition.from_labels(labels), rule)


def shares(data: Encoded, column: str) -> Floats:
    """Return the share of each value among the known ones of the table."""
    whole = data.whole().histograms[column].whole[: len(data.sensitive_names[column])]
    return np.asarray(whole / max(int(whole.sum()), 1))


def _sizes(data: Encoded, rule: Rule, k: int) -> list[int]:
    """Return the sizes of groups to try, none for a rule without t-closeness.

    Except for k itself they depend on t alone: what is tried for some k is tried for a smaller one.
    """
    if not any(isinstance(part, TCloseness) for part in flatten([rule])):
        return []
    least = _least_size(data, rule)
    return sorted({min(max(k, int(least * times)), data.rows) for times in TIMES})


def _least_size(data: Encoded, rule: Rule) -> int:
    """Return the least size of a group that can be as near to the table as is asked.

    Values equally far apart: each count is its part rounded down, and the largest rests get one row
    more. In their order: running counts are rounded.
    """
    size = 1
    for part in flatten([rule]):
        if not isinstance(part, TCloseness):
            continue
        share = shares(data, part.column)
        share = share[share > 0]
        while size < LARGEST and _best(share, size, part.distance == "ordered") > part.t + 1e-9:
            size += 1
    return size


def _best(share: Floats, size: int, ordered: bool) -> float:
    """Return the least distance from the shares that so many rows can have."""
    if ordered:
        running = np.cumsum(share) * size
        return float(np.abs(np.round(running) - running).sum() / (max(share.size - 1, 1) * size))
    over = share * size - np.floor(share * size)
    more = round(float(over.sum()))
    return float((1.0 - np.sort(over)[over.size - more :]).sum() / size)

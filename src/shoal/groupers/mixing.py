"""Groups that have the table's mix of values from the beginning: t-closeness, beta-likeness.

Classes that are cheap by their quasi-identifiers alone are far from the table's shares, and joining
them until they are near enough costs most of what they had kept. Here every group of a fixed size
takes of each value its part of the table, as SABRE does it (Cao, Karras, Kalnis, Tan 2011), but for
the distance t, which it may spend where it likes: a row may join while the group can still end
within t.

Under beta-likeness a class takes of each value at most its part and beta times as much (BUREL: Cao,
Karras 2012). A rare value needs a large class, and whoever is in one of those for its sake is lost
to the small ones. BUREL makes all classes of one size; here the cheapest groups of common values
stay small, as many as leave enough rows to hide the rare ones among.
"""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import numpy.typing as npt

from shoal.base.partition import Partition
from shoal.coding.encode import Encoded
from shoal.coding.space import make_space
from shoal.groupers.growth import grow_members
from shoal.groupers.limits import limits_of
from shoal.groupers.repair import repair
from shoal.kernels.boxes.conditions import Conditions
from shoal.kernels.boxes.geometry import Boxes
from shoal.kernels.boxes.groups import start_state
from shoal.privacy import Mix, Rule, flatten

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Asked = tuple[str, Floats, Mix]

TIMES = (1.0, 2.0, 4.0, 8.0, 16.0)
"""Sizes of groups to try, in least sizes: small groups are cheap, of larger ones fewer rows are
left without a place."""
BETWEEN = (0.75, 1.5)
"""Sizes that are tried after that, in the best of those."""
SAMPLE = 16_000
"""Rows up to which each of them is tried on the whole table."""
DRAWN = 8_000
"""Rows of a larger table that say which is the best."""
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
    """Return the cheapest groups of those sizes, none for a rule that asks for no mix.

    In a large table a sample of its rows says which size that is.
    """
    sizes, part = _sizes(data, rule, k), data
    if len(sizes) > 1 and data.rows > SAMPLE:
        part = data.take(np.sort(rng.choice(data.rows, DRAWN, replace=False)))
    made: dict[int, Partition] = {}
    loss: dict[int, float] = {}

    def best_of(sizes: list[int]) -> int:
        for size in sizes:
            made[size] = mixed(part, rule, conditions, boxes, deepcopy(rng), size)
            loss[size] = float(start_state(boxes, part.codes, made[size].labels()).cost.sum())
        return min(loss, key=lambda size: loss[size])

    if not sizes:
        return []
    best = best_of(sizes)
    if len(sizes) > 1:
        between = {min(max(k, int(best * times)), part.rows) for times in BETWEEN}
        best = best_of(sorted(between - made.keys()))
    if part is data:
        return [made[best]]
    return [mixed(data, rule, conditions, boxes, deepcopy(rng), best)]


def mixed(
    data: Encoded,
    rule: Rule,
    conditions: Conditions,
    boxes: Boxes,
    rng: np.random.Generator,
    size: int,
) -> Partition:
    """Return groups of ``size`` rows that have the mix, then larger ones of the rows left."""
    asked = asking(data, rule)
    quota = {column: share for column, share, _ in asked}
    labels, groups = np.full(data.rows, -1, np.int64), 0
    rest = np.arange(data.rows)
    while rest.size >= size:
        rare, needed = _rare(data, asked, rest, size)
        part = data.take(rest[~rare])
        limits, tags = limits_of(part, rule, size, quota)
        seeds = rng.permutation(part.rows)
        members = rest[~rare][grow_members(part, make_space(part), limits, tags, seeds)]
        members = _cheapest(data, boxes, members, (rest.size - needed) // limits.target)
        labels[members] = groups + np.arange(members.shape[0])[:, None]
        groups += members.shape[0]
        rest = np.flatnonzero(labels < 0)
        size = 2 * limits.target
    if not groups:
        return Partition.one(data.rows)
    from shoal.groupers.leftovers import place  # few rules ask for a mix

    return repair(data, Partition.from_labels(place(data, conditions, boxes, labels)), rule)


def _rare(
    data: Encoded, asked: list[Asked], rest: Ints, size: int
) -> tuple[npt.NDArray[np.bool_], int]:
    """Say which rows have a value too rare for a group of this size, and how many rows hide them.

    Those are the ones, as many of each value as there are, that the largest group has to have.
    """
    rare, needed = np.zeros(rest.size, np.bool_), 0.0
    for column, _, mix in asked:
        codes = data.codes_read(column)[rest]
        out = (mix.most * size < 1.0 - 1e-9)[codes] & (codes >= 0)
        hidden = np.bincount(codes[out], minlength=mix.most.size)
        needed = max(needed, float((hidden / mix.most).max(initial=0.0)))
        rare |= out
    return rare, min(int(np.ceil(needed - 1e-9)), rest.size)


def _cheapest(data: Encoded, boxes: Boxes, members: Ints, count: int) -> Ints:
    """Return so many of the groups, those that lose least."""
    if members.shape[0] <= count:
        return members
    labels = np.repeat(np.arange(members.shape[0]), members.shape[1])
    loss = start_state(boxes, data.codes[members.ravel()], labels).cost[: members.shape[0]]
    return members[np.sort(np.argsort(loss, kind="stable")[:count])]


def asking(data: Encoded, rule: Rule) -> list[Asked]:
    """Return the parts of a rule that ask for the table's mix: column, its shares, how near.

    The column as the part reads it: with missing values where they count.
    """
    columns = [(part, part.reading) for part in flatten([rule]) if part.reading is not None]
    quota = [(part, column, shares(data, column)) for part, column in columns]
    return [(name, share, mix) for part, name, share in quota if (mix := part.mix(share))]


def shares(data: Encoded, column: str) -> Floats:
    """Return the share of each value that counts in the table."""
    whole = data.whole().read(column).whole[: len(data.names_read(column))]
    return np.asarray(whole / max(int(whole.sum()), 1))


def _sizes(data: Encoded, rule: Rule, k: int) -> list[int]:
    """Return the sizes of groups to try, none for a rule that asks for no mix.

    Except for k itself they depend on t and beta alone: what is tried for some k is tried for a
    smaller one.
    """
    if not (asked := asking(data, rule)):
        return []
    least = least_size(asked)
    return sorted({min(max(k, int(least * times)), data.rows) for times in TIMES})


def least_size(asked: list[Asked]) -> int:
    """Return the least size of a group that can have the mix that is asked for."""
    size = 1
    for _, share, mix in asked:
        while size < LARGEST and not _possible(mix, share, size):
            size += 1
    return size


def _possible(mix: Mix, share: Floats, size: int) -> bool:
    """Say whether so many rows can be as near to the table's shares as is asked."""
    there = share > 0
    if np.floor(mix.most[there] * size + 1e-9).sum() < size:
        return False
    if mix.far == np.inf:
        return True
    apart = bool(mix.ordered and mix.missing and share[-1] > 0)
    return _best(share[there], size, mix.ordered, apart) <= mix.far + 1e-9


def _best(share: Floats, size: int, ordered: bool, apart: bool = False) -> float:
    """Return the least distance from the shares that so many rows can have.

    Values equally far apart: each count is its part rounded down, and the largest rests get one row
    more. In their order: running counts are rounded. ``apart``: the last one is the missing value,
    whose rows are taken out of the order at distance 1.
    """
    if apart:
        gaps, rest = round(float(share[-1] * size)), float(1.0 - share[-1])
        off = abs(gaps / size - float(share[-1]))
        if gaps == size:
            return off
        return off + min(1.0 - gaps / size, rest) * _best(share[:-1] / rest, size - gaps, True)
    if ordered:
        running = np.cumsum(share) * size
        return float(np.abs(np.round(running) - running).sum() / (max(share.size - 1, 1) * size))
    over = share * size - np.floor(share * size)
    more = round(float(over.sum()))
    return float((1.0 - np.sort(over)[over.size - more :]).sum() / size)

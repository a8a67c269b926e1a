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
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from shoal.base.partition import Ints, Partition
from shoal.coding.encode import Encoded
from shoal.coding.space import make_space
from shoal.groupers.conditions import Asked, asked_mixes, least_size, sensitive_of
from shoal.groupers.growth import grow_members
from shoal.groupers.limits import limits_of
from shoal.groupers.repair import repair
from shoal.groupers.shoal.efforts import JUDGED, SIZES, SIZES_BETWEEN
from shoal.groupers.shoal.peel import alone
from shoal.groupers.shoal.task import Measured, Stage, Task
from shoal.kernels.boxes.conditions import room, stated
from shoal.kernels.boxes.groups import new_seen, start_state
from shoal.privacy import Rule

SAMPLE = 50_000
"""Rows up to which each of them is tried on the whole table (Adult, 30,162 rows, k = 10: 0.3980
under t = 0.2, 0.3472 under beta = 2; with a size that a sample chose 0.4288 and 0.3940)."""
DRAWN = 8_000
"""Rows of a larger table that say which is the best."""
REMEMBERED = 50_000_000
"""Pairs of a group and a combination of sensitive values up to which refusals are remembered."""
PAIRS = 100_000_000
"""Pairs of a row and a group up to which every one of them is priced (FARS, 100,937 rows, k = 10,
t = 0.1: 0.5070; where the repair joins these rows 0.5377, in a second more)."""


def balanced(task: Task, rng: np.random.Generator) -> Ints:
    """Return the cheapest groups of those sizes.

    In a large table a sample of its rows says which size that is, of those that it has enough
    groups of.
    """
    data, k = task.data, task.k
    sizes, part = _sizes(data, task.rule, k), task
    if len(sizes) > 1 and data.rows > SAMPLE:
        rows = np.sort(rng.choice(data.rows, DRAWN, replace=False))
        part = replace(task, data=data.take(rows))
    made: dict[int, Ints] = {}
    loss: dict[int, float] = {}

    def best_of(sizes: list[int]) -> list[int]:
        for size in sizes:
            made[size] = mixed(part, deepcopy(rng), size)
            loss[size] = part.loss(made[size])
        return sorted(loss, key=lambda size: loss[size])[:1]

    judged = [size for size in sizes if part is task or size * JUDGED <= part.data.rows]
    best = best_of(judged)
    if best and len(sizes) > 1:
        between = {min(max(k, int(best[0] * times)), part.data.rows) for times in SIZES_BETWEEN}
        best = best_of(sorted(between - made.keys()))
    if part is task:
        return made[best[0]]
    tried = [*best, *sizes[len(judged) :]]
    return min([mixed(task, deepcopy(rng), size) for size in tried], key=task.loss)


def mixed(task: Task, rng: np.random.Generator, size: int) -> Ints:
    """Return groups of ``size`` rows that have the mix, then larger ones of the rows left."""
    data, rule = task.data, task.rule
    asked = asked_mixes(data, rule)
    quota = {column: share for column, share, _ in asked}
    labels, groups = np.full(data.rows, -1, np.int64), 0
    rest = np.arange(data.rows)
    while rest.size >= size:
        rare, needed = _rare(data, asked, rest, size)
        if rare.all():  # no group of this size can hold any of them
            break
        part = data.take(rest[~rare])
        limits, tags = limits_of(part, rule, size, quota)
        seeds, count = rng.permutation(part.rows), (rest.size - needed) // limits.target
        if count:  # one group more would leave too few rows to hide the rare values among
            members = rest[~rare][grow_members(part, make_space(part), limits, tags, seeds)]
            members = _cheapest(task, members, count)
            labels[members] = groups + np.arange(members.shape[0])[:, None]
            groups += members.shape[0]
            rest = np.flatnonzero(labels < 0)
        size = 2 * max(size, limits.target)  # the target is less where too few rows are left
    if not groups:
        return np.zeros(data.rows, np.int64)
    return repair(data, Partition.from_labels(place(task, labels)), rule).labels()


def place(task: Task, labels: Ints) -> Ints:
    """Return a group for each row labelled -1, for the repair to join what has no place by then.

    A row that no group can take is in a new one. With too many pairs of a row and a group every row
    is alone in a new one: the repair searches, and prices fewer.
    """
    free, groups, conditions = labels < 0, int(labels.max(initial=-1)) + 1, task.conditions
    if not groups or int(free.sum()) * groups > PAIRS:
        return alone(labels)
    labels = np.where(free, groups, labels)
    from shoal.kernels.boxes.place_leftovers import place_leftovers  # few rules ask for a mix

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


def _cheapest(task: Task, members: Ints, count: int) -> Ints:
    """Return so many of the groups, those that lose least."""
    if members.shape[0] <= count:
        return members
    labels = np.repeat(np.arange(members.shape[0]), members.shape[1])
    codes = np.ascontiguousarray(task.data.codes[members.ravel()])
    loss = start_state(task.boxes, codes, labels).cost[: members.shape[0]]
    return members[np.sort(np.argsort(loss, kind="stable")[:count])]


def _sizes(data: Encoded, rule: Rule, k: int) -> list[int]:
    """Return the sizes of groups to try.

    Except for k itself they depend on t and beta alone: what is tried for some k is tried for a
    smaller one.
    """
    least = least_size(asked_mixes(data, rule))
    return sorted({min(max(k, int(least * times)), data.rows) for times in SIZES})


def _tried(task: Task, labels: Ints | None, rng: np.random.Generator) -> Ints | None:
    """Return the cheapest groups; in a large table only where the peel left most rows."""
    small = task.data.rows <= SAMPLE
    return balanced(task, rng) if small or labels is None else None


MIX = Stage(
    "mix",
    lambda task: task.wants_mix,
    _tried,
    "seven sizes of groups, on at most 50,000 rows, and one on all rows",
    (
        Measured("adult k=10 t=0.1", 0.55357, 0.82350, "2026-11-19"),
        Measured("adult k=10 beta=2 rows=10000", 0.46089, 0.50135, "2026-11-18"),
    ),
)

"""What the greedy clustering methods share: growth within limits, and the rows left over."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.encode import Encoded
from shoal.groupers.limits import limits_of
from shoal.groupers.repair import repair
from shoal.kernels.grow import FREE, TAKEN, Stock, grow, place
from shoal.kernels.limits import Limits, new_tally
from shoal.kernels.plant import plant
from shoal.kernels.space import Space, new_group
from shoal.kernels.tree import stack_for
from shoal.partition import Partition
from shoal.rules import Rule
from shoal.tuples import entries

Ints = npt.NDArray[np.int64]
Tags = npt.NDArray[np.int32]

PRICES = 4_000_000
"""Row-group prices held at once while rows left over look for a group."""


def grow_groups(
    data: Encoded,
    space: Space,
    rule: Rule,
    rng: np.random.Generator,
    *,
    spread_seeds: bool = False,
    visits: Ints | None = None,
) -> Partition:
    """Grow groups to their target size, then let each row left over join its nearest group.

    A rule's numeric form is kept while groups grow and rows are placed; whatever it cannot say is
    put right by :func:`shoal.groupers.repair.repair`.
    """
    limits, tags = limits_of(data, rule)
    seeds = rng.permutation(data.rows)
    members, state = _grow(data, space, limits, tags, seeds, spread_seeds, visits)
    labels = np.full(data.rows, -1, np.int64)
    labels[members.ravel()] = np.repeat(np.arange(members.shape[0]), limits.target)
    _place(data, space, limits, tags, seeds[state[seeds] != TAKEN], labels)
    return repair(data, Partition.from_labels(labels), rule)


def _grow(
    data: Encoded,
    space: Space,
    limits: Limits,
    tags: Tags,
    seeds: Ints,
    spread_seeds: bool,
    visits: Ints | None,
) -> tuple[Ints, npt.NDArray[np.int8]]:
    """Return the members of each finished group, and the state of every row."""
    distinct, entry, count = entries(np.column_stack((data.codes, tags)))
    codes, tag = np.ascontiguousarray(distinct[:, :-1]), np.ascontiguousarray(distinct[:, -1])
    tree, order = plant(space, codes, count, tag)
    rank = np.empty(order.size, np.int64)
    rank[order] = np.arange(order.size)
    count, entry = count[order], rank[entry]
    rows = seeds[np.argsort(entry[seeds], kind="stable")]
    tail = np.cumsum(count)
    state = np.full(data.rows, FREE, np.int8)
    members = np.empty((data.rows // limits.target, limits.target), np.int64)
    seen = np.zeros(1, np.int64) if visits is None else visits
    stack, bounds = stack_for(tree)
    groups = grow(
        space,
        new_group(space),
        tree,
        limits,
        new_tally(limits),
        Stock(tail - count, tail, count, rows, entry),
        seeds,
        state,
        spread_seeds,
        members,
        stack,
        bounds,
        seen,
    )
    return members[:groups], state


def _place(
    data: Encoded, space: Space, limits: Limits, tags: Tags, rest: Ints, labels: Ints
) -> None:
    """Label every row of ``rest``: its nearest group, or one group for all that fit nowhere."""
    group, tally = new_group(space), new_tally(limits)
    while rest.size:
        part = Partition.from_labels(labels)
        if not part.groups:
            break
        batch = rest[: max(1, PRICES // part.groups)]
        home = np.empty(batch.size, np.int64)
        price = np.empty((batch.size, part.groups))
        place(
            space,
            group,
            limits,
            tally,
            data.codes,
            tags,
            part.rows,
            part.starts,
            batch,
            price,
            home,
        )
        labels[batch] = home
        rest = rest[batch.size :]
    misfits = labels < 0
    labels[misfits] = labels.max() + 1

"""What the greedy clustering methods share: entries, the tree, growth, and the rows left over."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.encode import Encoded
from shoal.kernels.grow import grow, place
from shoal.kernels.space import Space, new_group
from shoal.kernels.tree import plant, stack_for
from shoal.partition import Partition
from shoal.rules import Rule
from shoal.tuples import entries

Ints = npt.NDArray[np.int64]


def group_size(rule: Rule) -> int:
    """Return the least group size that a rule asks for."""
    caps = rule.caps()
    return caps.size if caps else 1


def grow_groups(
    data: Encoded,
    space: Space,
    k: int,
    rng: np.random.Generator,
    *,
    spread_seeds: bool = False,
    visits: Ints | None = None,
) -> Partition:
    """Grow floor(n / k) groups of k rows, then let each row left over join its nearest group."""
    distinct, entry, count = entries(data.codes)
    tree, order = plant(space, distinct, count, np.zeros(count.size, np.int32))
    rank = np.empty(order.size, np.int64)
    rank[order] = np.arange(order.size)
    count, entry = count[order], rank[entry]

    seeds = rng.permutation(data.rows)
    rows = seeds[np.argsort(entry[seeds], kind="stable")]
    tail = np.cumsum(count)
    free = np.ones(data.rows, np.bool_)
    groups = data.rows // k
    members = np.empty((groups, k), np.int64)
    group = new_group(space)
    seen = np.zeros(1, np.int64) if visits is None else visits
    grow(
        *(space, group, tree, tail - count, tail, count, rows, entry, seeds, free),
        *(spread_seeds, members, *stack_for(tree), seen),
    )
    rest = seeds[free[seeds]]
    home = np.empty(rest.size, np.int64)
    starts = np.arange(groups + 1, dtype=np.int64) * k
    price = np.empty((rest.size, groups))
    place(space, group, data.codes, members.ravel(), starts, rest, price, home)
    labels = np.empty(data.rows, np.int64)
    labels[members.ravel()] = np.repeat(np.arange(groups), k)
    labels[rest] = home
    return Partition.from_labels(labels)

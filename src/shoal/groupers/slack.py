"""Widen some cells at random, so that no wide cell reveals its ends."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from shoal.base.partition import Cover, Ints, Partition
from shoal.base.random_words import random_words
from shoal.coding.encode import Encoded
from shoal.coding.joins import Join, joins
from shoal.plan.plan import Plan
from shoal.tables.domain import Ordered, Taxonomy


def widen_cells(
    data: Encoded, partition: Partition, plan: Plan, rng: np.random.Generator | None
) -> Partition:
    """Widen every cell of every group with the plan's chance: by a level, an end, or to ``*``.

    The rows of a group stay together, so that every promise holds as it did. Without a seed the
    draws come from the operating system's secure source: nobody can take them back.
    """
    chance, rng = plan.release.slack, None if plan.seed is None else rng
    if not chance:
        return partition
    groups, m = partition.groups, len(data.domains)
    cover = partition.cover or Cover.none(groups, m)
    wide = Cover(cover.lo.copy(), cover.hi.copy(), cover.node.copy())
    drawn, side = random_words(rng, groups, m), random_words(rng, groups, m) >> np.uint64(63)
    chosen = (drawn >> np.uint64(11)) * 2.0**-53 < chance
    for j, join in enumerate(joins(data, partition)):
        at = np.flatnonzero(chosen[:, j] & ~join.star)
        if isinstance(join.domain, Taxonomy):
            wide.node[at, j] = join.domain.up[join.node[at]]
        elif isinstance(join.domain, Ordered):
            wide.lo[at, j], wide.hi[at, j] = _stretched(join, join.domain, at, side[at, j] == 1)
        else:  # beyond a set of values there is only *
            wide.lo[at, j], wide.hi[at, j] = 0, join.domain.size
    return replace(partition, cover=wide)


def _stretched(
    join: Join, domain: Ordered, at: Ints, up: npt.NDArray[np.bool_]
) -> tuple[Ints, Ints]:
    """Move one end, drawn by chance, to the next one; the other where there is none."""
    first, last = domain.covered
    lo, hi = join.lo[at], join.hi[at]
    below, above = first[lo] - 1, last[hi] + 1
    up = (up | (below < 0)) & (above < domain.size)
    return np.where(~up & (below >= 0), below, lo), np.where(up, above, hi)

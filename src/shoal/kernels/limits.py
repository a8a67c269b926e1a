"""The numeric form of rules on sensitive values, as a growing group is asked to keep it.

Rows with the same sensitive values share a *tag*. While a group grows towards its target size, a
tag is banned when a row of it would make the limits unreachable.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.kernels import inner

EPS = 1e-9
"""Room for rounding in products of a share and a size."""


class Limits(NamedTuple):
    """Limits per sensitive column; a column's values start at ``first`` in the flat arrays."""

    target: int
    """Rows a group grows to."""
    values: npt.NDArray[np.int32]
    """``[tags, columns]``: the value of each tag, -1 for missing."""
    distinct: npt.NDArray[np.int64]
    """Least number of different known values, per column."""
    share: npt.NDArray[np.float64]
    """Largest share of each value among the known ones of its column."""
    first: npt.NDArray[np.int64]
    guarded: npt.NDArray[np.bool_]
    """Per value: whether its share is limited."""
    quota: npt.NDArray[np.float64]
    """Share of each value among the known ones of the whole table."""
    near: npt.NDArray[np.float64]
    """``[columns, 2]``: how far from these shares a group may be at its target, infinite where that
    does not matter, and whether values are near each other by their order: 1, or 2 if the last one
    is the missing value, which has no place there and is far from every other."""


class Tally(NamedTuple):
    """What a growing group holds."""

    counts: npt.NDArray[np.int64]
    """Per value of every column."""
    known: npt.NDArray[np.int64]
    """Per column."""
    distinct: npt.NDArray[np.int64]
    """Per column."""
    banned: npt.NDArray[np.bool_]
    """Per tag: whether a row of it may not join now."""
    far: npt.NDArray[np.float64]
    """Per value: how far from the table the group must be at its target once a row of it joined."""


def new_tally(limits: Limits) -> Tally:
    """Return the tally of an empty group."""
    columns = limits.values.shape[1]
    return Tally(
        np.zeros(limits.guarded.size, np.int64),
        np.zeros(columns, np.int64),
        np.zeros(columns, np.int64),
        np.zeros(limits.values.shape[0], np.bool_),
        np.zeros(limits.guarded.size),
    )


@inner
def clear(tally: Tally) -> None:
    """Empty the tally."""
    for v in range(tally.counts.size):
        tally.counts[v] = 0
    for c in range(tally.known.size):
        tally.known[c] = tally.distinct[c] = 0


@inner
def note(limits: Limits, tally: Tally, tag: int) -> None:
    """Count one row of ``tag``."""
    for c in range(tally.known.size):
        if limits.values[tag, c] >= 0:
            v = limits.first[c] + limits.values[tag, c]
            tally.known[c] += 1
            tally.distinct[c] += 1 if tally.counts[v] == 0 else 0
            tally.counts[v] += 1


@inner
def ban(limits: Limits, tally: Tally, size: int) -> None:
    """Mark the tags that a group of ``size`` rows may not take on its way to the target."""
    slots = limits.target - size
    for c in range(tally.known.size):
        if limits.near[c, 0] < np.inf:
            _stray(limits, tally, c, slots)
    for tag in range(tally.banned.size):
        banned = False
        for c in range(tally.known.size):
            # Known values at the target, if every row from here on has one.
            known = tally.known[c] + slots
            needs_new = limits.distinct[c] - tally.distinct[c] >= slots
            if limits.values[tag, c] < 0:
                banned |= needs_new
                for v in range(limits.first[c], limits.first[c + 1]):
                    reach = limits.share[v] * known + EPS - limits.share[v]
                    banned |= limits.guarded[v] and tally.counts[v] > reach
            else:
                v = limits.first[c] + limits.values[tag, c]
                reach = limits.share[v] * known + EPS
                banned |= limits.guarded[v] and tally.counts[v] + 1 > reach
                banned |= needs_new and tally.counts[v] > 0
                banned |= limits.near[c, 0] < np.inf and tally.far[v] > limits.near[c, 0] + EPS
        tally.banned[tag] = banned


@inner
def _stray(limits: Limits, tally: Tally, c: int, slots: int) -> None:
    """Fill in ``far`` for column c: the least distance that the group can still end with.

    Values equally far apart: what is above its share at the target. In their order: a running count
    can end anywhere between what it is now and that with all rows still to come.
    """
    a, b, counts, far = limits.first[c], limits.first[c + 1], tally.counts, tally.far
    size = tally.known[c] + slots
    below, above, run, part, spare = 0.0, 0.0, 0, 0.0, 0.0
    if limits.near[c, 1] > 1.0:  # of the missing value only what is above its share
        b -= 1
        spare = max(0.0, counts[b] - limits.quota[b] * size) / size
        far[b] = max(0.0, counts[b] + 1 - limits.quota[b] * size) / size
    for v in range(a, b):
        run += counts[v]
        part += limits.quota[v] * size
        if limits.near[c, 1] > 0.0:
            above += max(0.0, run + 1 - part, part - run - slots)
        else:
            below += max(0.0, counts[v] - limits.quota[v] * size)
    steps = size * max(b - a - 1, 1) if limits.near[c, 1] > 0.0 else size
    run, part = 0, 0.0
    for v in range(a, b):
        if limits.near[c, 1] > 0.0:
            # Those below v keep their count, the others gain one.
            far[v] = max((below + above) / steps, spare)
            run += counts[v]
            part += limits.quota[v] * size
            above -= max(0.0, run + 1 - part, part - run - slots)
            below += max(0.0, run - part, part - run - slots + 1)
        else:
            over = counts[v] - limits.quota[v] * size
            far[v] = (below - max(0.0, over) + max(0.0, over + 1)) / steps

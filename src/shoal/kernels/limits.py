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


def new_tally(limits: Limits) -> Tally:
    """Return the tally of an empty group."""
    columns = limits.values.shape[1]
    return Tally(
        np.zeros(limits.guarded.size, np.int64),
        np.zeros(columns, np.int64),
        np.zeros(columns, np.int64),
        np.zeros(limits.values.shape[0], np.bool_),
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
        tally.banned[tag] = banned

"""The rows and nodes for which prices are computed."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from shoal.base.partition import Bools, Codes, Ints
from shoal.coding.encode import Encoded
from shoal.coding.tuples import entries
from shoal.groupers.boxes import make_boxes
from shoal.groupers.levels import UNIT, make_levels
from shoal.kernels.boxes.geometry import Boxes
from shoal.kernels.prices.nodes import Levels

PATTERNS = 200_000
"""Patterns up to which they are all looked at."""
FAR = 1 << 60
"""More than any node costs."""


@dataclass(frozen=True, eq=False)
class Problem:
    """The different rows of a table, and the patterns of nodes that they may be published under.

    Parameters
    ----------
    data
        The entries as a table, columns with many values first: small nodes leave little to split.
    codes
        The same, ``[m, n]``.
    entry, count
        The entry of every row, and the rows of every entry.
    gaps
        What the missing cells of an entry would cost if they cost something. Every node over them
        has ``*`` there: so all nodes over an entry are too dear by the same amount.
    patterns, least
        Levels of the columns, in lexicographic order, and what nodes of a pattern cost at least.
    floor
        What nodes of a column cost at least, by level.
    """

    k: int
    data: Encoded
    levels: Levels
    boxes: Boxes
    codes: Codes
    entry: Ints
    count: Ints
    gaps: Ints
    patterns: npt.NDArray[np.int16]
    floor: Ints
    least: Ints

    @property
    def units(self) -> int:
        """What the whole table costs if nothing of it is published."""
        return int(self.count.sum()) * len(self.codes) * UNIT

    @property
    def free(self) -> Bools:
        """Which entries are a class by themselves and cost nothing: their price is 0."""
        return self.count >= self.k

    @cached_property
    def bit_rows(self) -> tuple[Codes, int]:
        """Return the bit row of every node of a column, by column, level and position; how many.

        A node over all rows needs none and has -1, as has no node.
        """
        levels, many = self.levels, 0
        number = np.full(levels.look.size, -1, np.int32)
        for j, column in enumerate(self.codes):
            present = np.unique(column)
            for level in range(levels.many[j]):
                at = levels.at[j] + level * levels.step[j] + present
                nodes, which = np.unique(levels.look[at], return_inverse=True)
                if nodes.size > 1 or nodes[0] < 0:
                    number[at] = np.where(levels.look[at] >= 0, many + which, -1)
                    many += nodes.size
        return number, many


def make_problem(data: Encoded, k: int, work: int) -> Problem | None:
    """Return what is to be priced, None when a column has no list of nodes or they are too many.

    ``work``: patterns times entries up to which there is a problem.
    """
    distinct, entry, count = entries(data.codes)
    turn = np.argsort([-np.unique(column).size for column in distinct.T], kind="stable")
    some = replace(
        data,
        names=tuple(data.names[j] for j in turn),
        codes=np.ascontiguousarray(distinct[:, turn]),
        domains=tuple(data.domains[j] for j in turn),
        sensitive={},
        importance=(),
        people=None,
    )
    most = min(PATTERNS, work / max(count.size, 1))
    levels = make_levels(some, most)
    if levels is None or np.prod(levels.many.astype(float)) > most:
        return None
    steps = itertools.product(*(range(many) for many in levels.many))
    patterns = np.array(list(steps), np.int16).reshape(-1, turn.size)
    codes = np.ascontiguousarray(some.codes.T)
    floor = np.array([_least(levels, codes, j) for j in range(turn.size)])
    least = sum(floor[j][patterns[:, j]] for j in range(turn.size))
    gaps = some.missing.sum(axis=1) * UNIT
    boxes = make_boxes(some, np.ones(turn.size))
    least = np.asarray(least, np.int64)
    return Problem(k, some, levels, boxes, codes, entry, count, gaps, patterns, floor, least)


def _least(levels: Levels, codes: Codes, j: int) -> Ints:
    """Return what nodes of column j cost at least, by level."""
    found = np.unique(codes[j])
    out = np.full(levels.many.max(), FAR >> 10)
    for level in range(levels.many[j]):
        at = levels.at[j] + level * levels.step[j] + found
        out[level] = levels.cost[at][levels.look[at] >= 0].min(initial=out[level])
    return out

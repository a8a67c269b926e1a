"""Mondrian: multidimensional cuts, the widest column first (LeFevre, DeWitt, Ramakrishnan 2006).

All groups of a generation are cut at once: every group tries its widest column, the rule is asked
about all parts together, and the groups whose cut was refused try their next column. So any rule
can be served, and Python never sees a single row or group.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from shoal.base.partition import Partition, ragged_positions
from shoal.coding.encode import Encoded
from shoal.coding.space import make_space
from shoal.groupers.judge import Bools, Ints, Judge
from shoal.kernels.space.costs import Space
from shoal.kernels.space.mondrian import Extent, Scratch, cut, divide, measure, new_scratch
from shoal.privacy import Rule


def group(
    data: Encoded,
    rule: Rule,
    rng: np.random.Generator,
    *,
    cuts: Literal["strict", "relaxed"] = "strict",
    small: Literal["gather", "refuse"] = "gather",
) -> Partition:
    """Cut the table into boxes as long as the rule holds on both sides of a cut.

    Parameters
    ----------
    cuts
        ``"strict"``: rows with the same value stay on the same side; ``"relaxed"``: rows that have
        the median value of an ordered or set column are shared out, to cut in the very middle.
    small
        A taxonomy is cut at the children of the node that covers the group. ``"gather"``: children
        that fail the rule form one part together (with the smallest passing child, if they still
        fail); ``"refuse"``: every child must pass, as in the literature.

    Notes
    -----
    Sections 2 and 3 of the paper, with these choices. A column's range is its NCP width; of equally
    wide columns the first is tried first. Ordered columns are cut between the two values that part
    the rows most evenly; sets likewise, in the order of their names. Where known and missing values
    meet, the only cut parts the two; when that is refused the group keeps ``*`` in this column.
    """
    judge, relaxed = Judge(data, rule), cuts == "relaxed"
    space = make_space(data)
    rows = rng.permutation(data.rows) if relaxed else np.arange(data.rows)
    work = _Work(rows, np.ascontiguousarray(data.codes[rows].T), np.array([0, data.rows]))
    room = new_scratch(space, data.rows)
    done: list[Ints] = []
    sizes: list[Ints] = []
    while work.rows.size:
        chosen, parts = _choose(space, judge, work, room, relaxed, small == "gather")
        whole = np.ones(work.starts.size - 1, np.bool_)
        whole[chosen] = False
        done.append(work.rows[np.repeat(whole, work.sizes)])
        sizes.append(work.sizes[whole])
        work = _divided(work, chosen, parts, room)
    edges = np.concatenate(([0], np.cumsum(np.concatenate(sizes)))).astype(np.int64)
    return Partition(np.concatenate(done), edges)


@dataclass(frozen=True, eq=False)
class _Work:
    """The groups that may still be cut: rows group after group, their positions ``[m, n]``."""

    rows: Ints
    table: npt.NDArray[np.int32]
    starts: Ints

    @property
    def sizes(self) -> Ints:
        return np.diff(self.starts)


def _choose(
    space: Space, judge: Judge, work: _Work, room: Scratch, relaxed: bool, gather: bool
) -> tuple[Ints, Ints]:
    """Return the groups that can be cut and into how many parts; ``room.side`` says who goes where.

    Each group takes the widest of its columns in which a cut passes.
    """
    groups, m = work.starts.size - 1, space.kind.size
    width = np.zeros((groups, m))
    extent = Extent(np.zeros((groups, m), np.int32), np.zeros((groups, m), np.bool_), width)
    measure(space, work.table, work.starts, room.stamp, extent)
    width[work.sizes < 2 * judge.least] = 0.0
    order = np.argsort(-width, axis=1, kind="stable")
    parts = np.zeros(groups, np.int64)
    for rank in range(m):
        columns = order[:, rank]
        asked = np.flatnonzero((parts == 0) & (width[np.arange(groups), columns] > 0))
        if not asked.size:
            break
        got = np.empty(asked.size, np.int64)
        room.owner[:] = -1
        groups_cut = (work.table, work.starts, asked, columns[asked])
        cut(space, *groups_cut, extent, relaxed, room, got)
        passed = _ask(judge, work.rows, work.starts, asked, got, room.side, gather)
        parts[asked[passed]] = got[passed]
    chosen = np.flatnonzero(parts)
    return chosen, parts[chosen]


def _divided(work: _Work, chosen: Ints, parts: Ints, room: Scratch) -> _Work:
    """Return the parts of the chosen groups as the groups to go on with."""
    count = int(work.sizes[chosen].sum())
    new = _Work(
        np.empty(count, np.int64),
        np.empty((work.table.shape[0], count), np.int32),
        np.empty(int(parts.sum()) + 1, np.int64),
    )
    renamed = np.empty(int(parts.max(initial=0)) + room.side.size, np.int64)
    divide(
        *(work.table, work.rows, work.starts, chosen, parts, room.side, renamed),
        *(new.table, new.rows, new.starts),
    )
    return new


def _ask(
    judge: Judge,
    rows: Ints,
    starts: Ints,
    asked: Ints,
    parts: Ints,
    side: npt.NDArray[np.int32],
    gather: bool,
) -> Bools:
    """Say for every group of ``asked`` whether all its parts pass.

    ``gather``: parts that fail are put together, first among themselves, then with the smallest
    part that passes; ``parts`` and ``side`` are changed to that, and a group is refused when only
    one part is left.
    """
    passed = np.zeros(asked.size, np.bool_)
    rest = np.arange(asked.size)
    for attempt in range(3):
        first, sizes, at, labels = _parts(starts, asked[rest], parts[rest], side)
        good = sizes >= judge.least
        if judge.codes:
            # Small parts fail anyway, so their rows are not counted by sensitive value.
            counted = good[labels]
            good &= judge.passes(sizes, rows[at[counted]], labels[counted])
        passed[rest] = np.logical_and.reduceat(good, first) & (parts[rest] > 1)
        if attempt == 2 or not gather:
            break
        of_part = np.repeat(np.arange(rest.size), parts[rest])
        if attempt == 1:  # together they fail still: give them the smallest of the others
            good[np.lexsort((np.where(good, sizes, rows.size + 1), of_part))[first]] = False
        kept = np.add.reduceat(good, first)
        again = ~passed[rest] & (kept > 0)
        if not again.any():
            break
        rank: Ints = np.cumsum(good) - good
        number = np.where(good, rank - rank[first][of_part], kept[of_part])
        side[at] = np.where(again[of_part][labels], number[labels], side[at])
        parts[rest[again]] = kept[again] + 1
        rest = rest[again]
    return passed


def _parts(
    starts: Ints, asked: Ints, parts: Ints, side: npt.NDArray[np.int32]
) -> tuple[Ints, Ints, Ints, Ints]:
    """Number the parts of all groups: first part of each group, sizes, and the part of every row.

    The rows are told by their places ``at`` in the order of the groups.
    """
    first: Ints = np.cumsum(parts) - parts
    counts = np.diff(starts)[asked]
    at = ragged_positions(starts[:-1][asked], counts)
    labels: Ints = np.repeat(first, counts) + side[at]
    sizes = np.bincount(labels, minlength=int(parts.sum())).astype(np.int64)
    return first, sizes, at, labels

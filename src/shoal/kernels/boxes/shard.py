"""What the trials of one shard work on: rows that are refined together, and room to do it in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.boxes.candidate_groups import KEEP, WIDEN, Covered, Hidden
from shoal.kernels.boxes.classes import Classes
from shoal.kernels.boxes.geometry import Boxes, Codes, Floats, Ints, Words
from shoal.kernels.boxes.groups import State, new_seen

WINDOW = 24
"""How far on either side a class is looked through for neighbours."""
TOUCH = 256
"""Groups that one trial may touch."""
TRIES = 8
"""How often groups that take a row at little cost are drawn, less two, to find neighbours."""
LIFE = 30
"""Rounds for which candidates are remembered."""


class Work(NamedTuple):
    """Room for trials, made once for many of them. Few large arrays: each takes time to compile."""

    seed: Words
    """The state of the random numbers."""
    rows: Ints
    """``[7, rows]``: the pool, where each goes, where else; the moves: row, to, from; the ruins."""
    groups: Ints
    """``[3, groups]``: stamps and counts."""
    touch: Ints
    """``[2, TOUCH]``: the groups touched, and their new sizes."""
    boxes: Ints
    """``[3, TOUCH, m]``: their new boxes."""
    box: Ints
    """``[4, m]``: the box that grows, and the columns with gaps."""
    codes: Ints
    """``[m, rows]``"""
    worth: Floats
    """``[3, rows]``: what a row costs elsewhere, the widths once it has joined, what counts of the
    first."""
    part: Floats
    """``[m, rows]``: those widths by column."""
    cost: Floats
    """New losses of the groups touched."""
    price: Floats
    candidates: Ints
    """``[entries, KEEP]``: the cheapest groups for rows that are equal."""
    born: Ints
    """The round in which an entry's candidates were looked up."""
    seen: Ints
    stamps: Ints
    """Running numbers; number 3 counts the groups and rows that trials have looked at."""
    hist: Ints
    asked: Ints
    """Per combination of sensitive values: the last step in which it was asked about, and what the
    answer was."""
    words: Words


def new_work(
    boxes: Boxes, most: int, entries: int, groups: int, hist: Ints, tags: int, seed: int
) -> Work:
    """Return room for trials.

    Parameters
    ----------
    most
        Rows of a group that a trial may take apart.
    entries, groups
        Number of distinct rows and of group numbers.
    hist
        An empty histogram.
    tags
        Number of combinations of sensitive values.
    """
    columns = boxes.size.size
    room = 3 * most + 2 * WINDOW + 8  # rows in one trial: three groups, and what others spare
    return Work(
        seed=np.array([seed], np.uint64),
        rows=np.empty((7, room), np.int64),
        groups=np.full((3, groups), -1),
        touch=np.empty((2, TOUCH), np.int64),
        boxes=np.empty((3, TOUCH, columns), np.int64),
        box=np.empty((4, columns), np.int64),
        codes=np.empty((columns, room), np.int64),
        worth=np.empty((3, room)),
        part=np.empty((columns, room)),
        cost=np.empty(TOUCH),
        price=np.empty(KEEP),
        candidates=np.full((entries, KEEP), -1),
        born=np.full(entries, -1 - LIFE),
        seen=new_seen(boxes),
        stamps=np.zeros(5, np.int64),
        hist=hist,
        asked=np.full(tags, -1),
        words=np.empty((WIDEN + 1, (groups + 63) // 64), np.uint64),
    )


class Shard(NamedTuple):
    """Rows that are refined together."""

    boxes: Boxes
    codes: Codes
    entry: Ints
    """Which rows are equal, sensitive values included: the number of what each row is."""
    hidden: Hidden
    k: int
    most: int
    """Rows of a group that a trial may take apart or add to."""
    state: State
    covered: Covered
    classes: Classes
    work: Work

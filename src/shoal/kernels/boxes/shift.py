"""Where rows are best under the boxes that groups have: long ways of one row each.

A row may move to a group whose box it lies under already. What that changes depends on the two
groups alone, for every row under a box costs the same there; so along a way from group to group, a
row a step, the groups between gain and lose nothing, and only its two ends count. While a group can
spare a row and a cheaper one can be reached from it, there is something to gain; when nothing can,
no other places under these boxes lose less.

Notes
-----
A transport problem with least loads: ways are augmenting paths, and ways around cost nothing.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels import inlined, inner, kernel
from shoal.kernels.boxes.covered import Covered, bit_place, bit_row
from shoal.kernels.boxes.geometry import SET, Boxes, Codes, Floats, Ints, Words, cover, width
from shoal.kernels.boxes.groups import State


@inlined
def _lies_under(boxes: Boxes, lo: Ints, hi: Ints, g: int, codes: Codes, r: int) -> bool:
    """Say whether a row could join a group without making its box wider."""
    for j in range(len(boxes.kind)):
        a, b = cover(boxes, j, lo[g, j], hi[g, j], codes[r, j])
        if boxes.kind[j] == SET:
            if a > lo[g, j]:
                return False
        elif width(boxes, j, a, b) > width(boxes, j, lo[g, j], hi[g, j]):
            return False
    return True


@kernel
def list_over(
    boxes: Boxes, codes: Codes, state: State, covered: Covered, rows: Ints, words: Words, out: Codes
) -> int:
    """List the groups whose boxes some rows lie under; return how many, even if there is no room.

    ``out`` ``[2, room]`` gets the place of each row among ``rows``, and the group.
    """
    total, lo, hi = 0, state.extents.lo, state.extents.hi
    for i in range(len(rows)):
        r = rows[i]
        for w in range(len(words)):
            words[w] = ~np.uint64(0)
        for j in range(len(boxes.kind)):
            bits = covered.bits[bit_row(boxes, covered, j, codes[r, j])]
            for w in range(len(words)):
                words[w] &= bits[w]
        for w in range(len(words)):
            x = words[w]
            while x:
                low = x & (~x + np.uint64(1))
                x ^= low
                g = 64 * w + bit_place(low)
                if g < len(state.size) and _lies_under(boxes, lo, hi, g, codes, r):
                    if total < out.shape[1]:
                        out[0, total], out[1, total] = i, g
                    total += 1
    return total


@kernel
def shift(
    k: int,
    cost: Floats,
    turn: Ints,
    begin: Ints,
    under: Ints,
    group: Ints,
    size: Ints,
    room: Ints,
) -> None:
    """Send rows that can be spared along ways to cheaper groups.

    Parameters
    ----------
    cost
        What a row costs in each group.
    turn
        The groups, cheapest first.
    begin, under
        The rows under the box of each group.
    group, size
        The group of every row, and the rows of every group: they follow.
    room
        ``[4, groups]``
    """
    end, step, towards, queue = room[0], room[1], room[2], room[3]
    moved = True
    while moved:
        moved = False
        _reach(turn, begin, under, group, end, step, towards, queue)
        for x in range(len(turn) - 1, -1, -1):  # the dearest first
            s = turn[x]
            t = end[s]
            while size[s] > k and cost[t] < cost[s] - 1e-12 and _open(s, step, towards):
                _walk(s, begin, under, group, step, towards)
                size[s] -= 1
                size[t] += 1
                moved = True


@inner
def _reach(
    turn: Ints,
    begin: Ints,
    under: Ints,
    group: Ints,
    end: Ints,
    step: Ints,
    towards: Ints,
    queue: Ints,
) -> None:
    """Find for each group the cheapest that can be reached from it, and the first step there.

    That is the place in ``under`` of the row that goes, and the group it goes to.
    """
    for g in range(len(end)):
        end[g] = -1
    for t in turn:
        if end[t] >= 0:
            continue
        end[t], towards[t], queue[0], ahead, last = t, -1, t, 0, 1
        while ahead < last:
            h = queue[ahead]
            ahead += 1
            for x in range(begin[h], begin[h + 1]):
                g = group[under[x]]
                if end[g] < 0:
                    end[g], step[g], towards[g], queue[last] = t, x, h, g
                    last += 1


@inner
def _open(g: int, step: Ints, towards: Ints) -> bool:
    """Say whether a row is left for every step of a way."""
    while towards[g] >= 0:
        if step[g] < 0:
            return False
        g = towards[g]
    return True


@inner
def _walk(g: int, begin: Ints, under: Ints, group: Ints, step: Ints, towards: Ints) -> None:
    """Let a row take every step of a way, and find the ones that would go next."""
    while towards[g] >= 0:
        h, x = towards[g], step[g]
        group[under[x]] = h
        while x < begin[h + 1] and group[under[x]] != g:
            x += 1
        step[g] = x if x < begin[h + 1] else -1
        g = h

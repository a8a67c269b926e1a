"""Which groups cover which codes, and which may have a row with which sensitive values.

For every column and code one bit per group: does the group's box cover the code without getting
wider? For every group and combination of sensitive values what is known of it: would the group keep
the rule if such a row joined it, or left it?
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.kernels import inlined, inner, kernel
from shoal.kernels.boxes.conditions import Conditions, add, passes_with
from shoal.kernels.boxes.geometry import (
    SET,
    Boxes,
    Codes,
    Ints,
    Words,
    width,
)
from shoal.kernels.boxes.groups import Chains, State

BUCKETS = 512
"""Bit rows a column has at the most; codes of a larger domain share them."""
MASK = 63
"""Values of a set column are told apart modulo this number, as in its boxes."""


_DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
"""Times a power of two its six highest bits are different for each."""
_PLACES = np.zeros(64, np.int64)
_PLACES[[((int(_DE_BRUIJN) << place) % 2**64) >> 58 for place in range(64)]] = np.arange(64)


UNKNOWN, YES, NO = 0, 1, 2
"""What is known of whether a row may join or leave a group."""


class Hidden(NamedTuple):
    """The sensitive values of rows and groups."""

    sens: Codes
    alike: Ints
    """Per row: the number of its combination of sensitive values; empty without a rule on them."""
    tally: Ints
    """``[groups, values]``: how often each group has each value; empty where that is too much to
    hold, or nothing asks for it."""
    verdict: npt.NDArray[np.int8]
    """``[groups, combinations, 2]``: whether a row with these values may join or leave."""


class Covered(NamedTuple):
    """Which groups cover which codes.

    A shared row says of a group that it covers some of its codes: a candidate may then be priced
    that turns out dear, but none is missed.
    """

    bits: Words
    """``[bit rows, words]``: a bit per group."""
    at: Ints
    """Where each column's bit rows start."""
    share: Ints
    """How many codes of a column share a bit row."""


def new_covered(boxes: Boxes, groups: int) -> Covered:
    """Return empty bit rows."""
    share = (boxes.size + BUCKETS) // BUCKETS
    rows = np.where(boxes.kind == SET, MASK + 1, boxes.size // share + 1)
    at = np.concatenate(([0], np.cumsum(rows))).astype(np.int64)
    bits = np.zeros((int(at[-1]), (groups + 63) // 64), np.uint64)
    return Covered(bits, at[:-1], share)


@inlined
def bit_row(boxes: Boxes, covered: Covered, j: int, v: int) -> int:
    """Return the bit row of code v of column j."""
    if boxes.kind[j] != SET:
        return covered.at[j] + v // covered.share[j]
    return covered.at[j] + (MASK if v == boxes.size[j] else v % MASK)


@inner
def mark_cover(boxes: Boxes, covered: Covered, state: State, g: int) -> None:
    """Set the bits of group g for every code that its box covers."""
    word, bit = g // 64, np.uint64(1) << np.uint64(g % 64)
    for j in range(len(boxes.kind)):
        named, size, share = boxes.kind[j] == SET, boxes.size[j], covered.share[j]
        lo, hi, gaps = state.extents.lo[g, j], state.extents.hi[g, j], state.extents.miss[g, j] > 0
        a, b = 0, MASK if named else size // share
        if not gaps and not named:
            w = width(boxes, j, lo, hi)
            a, b = lo, hi  # walk outward while the join stays as it is
            while a > 0 and width(boxes, j, a - 1, hi) <= w:
                a -= 1
            while b + 1 < size and width(boxes, j, lo, b + 1) <= w:
                b += 1
            a, b = a // share, b // share
        for x in range(a, b + 1):
            if not named or gaps or (x < MASK and hi >> x & 1):
                covered.bits[covered.at[j] + x, word] |= bit


@kernel
def mark_all(boxes: Boxes, covered: Covered, state: State, most: int) -> None:
    """Set the bits of all groups that may take rows in."""
    for g in range(len(state.size)):
        if 0 < state.size[g] <= most:
            mark_cover(boxes, covered, state, g)


@inner
def may_move(rule: Conditions, hidden: Hidden, r: int, g: int, change: int) -> bool:
    """Whether group g would still meet the rule with row r in it (1), or without it (-1).

    True where nothing is tallied. Until the group changes, the answer is the same for all rows with
    the same sensitive values.
    """
    if len(hidden.tally) == 0:
        return True
    tag, at = hidden.alike[r], (1 - change) // 2
    if hidden.verdict[g, tag, at] == UNKNOWN:
        good = passes_with(rule, hidden.sens, r, change, hidden.tally[g])
        hidden.verdict[g, tag, at] = YES if good else NO
    return hidden.verdict[g, tag, at] == YES


@inner
def count_again(rule: Conditions, hidden: Hidden, chains: Chains, g: int) -> None:
    """Tally the sensitive values of group g anew; what was known of it is so no longer."""
    tally, verdict = hidden.tally, hidden.verdict
    for v in range(tally.shape[1]):
        tally[g, v] = 0
    for tag in range(verdict.shape[1]):
        verdict[g, tag, 0] = verdict[g, tag, 1] = UNKNOWN
    r = chains.first[g]
    while r >= 0:
        add(rule, hidden.sens, r, 1, tally[g])
        r = chains.after[r]


@kernel
def count_all(rule: Conditions, hidden: Hidden, chains: Chains) -> None:
    """Tally the sensitive values of every group."""
    for g in range(len(hidden.tally)):
        count_again(rule, hidden, chains, g)


@inlined
def bit_place(low: np.uint64) -> int:
    """Position of the only bit set."""
    return int(_PLACES[(low * _DE_BRUIJN) >> np.uint64(58)])

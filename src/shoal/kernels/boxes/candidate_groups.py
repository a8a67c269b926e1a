"""Where else could a row go? Bit sets tell which groups cover a row's codes already.

For every column and code one bit per group: does the group's box cover the code without getting
wider? Adding up eight or twenty such bit rows finds, 64 groups at a time, the few groups that would
widen in at most two columns, the *candidates*; only those are priced.
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
    Floats,
    Ints,
    Words,
    loss_with,
    star,
    width,
)
from shoal.kernels.boxes.groups import Chains, State

KEEP = 4
"""Candidates remembered per entry (of equal rows): one of them may be the row's own group."""
WIDEN = 2
"""Columns that a candidate may widen in, at most."""
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
def mark_again(boxes: Boxes, covered: Covered, state: State, g: int, most: int) -> None:
    """Set the bits of a group that has changed."""
    word, bit = g // 64, ~(np.uint64(1) << np.uint64(g % 64))
    for v in range(len(covered.bits)):
        covered.bits[v, word] &= bit
    if 0 < state.size[g] <= most:
        mark_cover(boxes, covered, state, g)


@inlined
def _sort_by_widening(boxes: Boxes, covered: Covered, codes: Codes, r: int, words: Words) -> None:
    """Fill ``words`` with the groups by the number of columns row r widens, a bit each."""
    none, one, two = words[0], words[1], words[2]
    for w in range(len(none)):
        none[w], one[w], two[w] = ~np.uint64(0), np.uint64(0), np.uint64(0)
    for j in range(len(boxes.kind)):  # groups that do not cover the code go down one level
        bits = covered.bits[bit_row(boxes, covered, j, codes[r, j])]
        for w in range(len(none)):  # the inmost loop, so that it takes several words at once
            c = bits[w]
            two[w] = (two[w] & c) | (one[w] & ~c)
            one[w] = (one[w] & c) | (none[w] & ~c)
            none[w] &= c


@inner
def find_candidates(
    boxes: Boxes,
    covered: Covered,
    state: State,
    codes: Codes,
    r: int,
    e: int,
    cap: float,
    words: Words,
    candidates: Ints,
    price: Floats,
    rule: Conditions | None,
    hidden: Hidden,
) -> int:
    """Price the groups that row r widens in fewest columns; candidates[e] = the KEEP cheapest.

    None is dearer than ``cap``, nor, where there is a ``tally`` of every group, one that would
    break the rule with it. Returns how many groups were priced.
    """
    size, cost, seen = state.size, state.cost, 0
    for i in range(KEEP):
        candidates[e, i], price[i] = -1, cap
    gap = 0.0  # what the row need not pay because it misses the value
    for j in range(len(boxes.kind)):
        if codes[r, j] == boxes.size[j]:
            gap += star(boxes, j)
    _sort_by_widening(boxes, covered, codes, r, words)
    for u in range(WIDEN + 1):
        for w in range(covered.bits.shape[1]):
            x = words[u, w]
            while x:
                low = x & (~x + np.uint64(1))
                x ^= low
                g = 64 * w + bit_place(low)
                if g >= len(size):  # the last word has room for more groups than there are
                    break
                if cost[g] >= (price[KEEP - 1] + gap) * size[g]:
                    continue  # the row would pay as much as the others do now, at least
                seen += 1
                limit = cost[g] + price[KEEP - 1]
                d = loss_with(boxes, state.extents, g, size[g], codes, r, limit) - cost[g]
                if d < price[KEEP - 1]:
                    if rule is not None and not may_move(rule, hidden, r, g, 1):
                        continue
                    i = KEEP - 1
                    while i > 0 and price[i - 1] > d:
                        candidates[e, i], price[i] = candidates[e, i - 1], price[i - 1]
                        i -= 1
                    candidates[e, i], price[i] = g, d
        if u >= 1 and candidates[e, 1] >= 0:
            break
    return seen


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

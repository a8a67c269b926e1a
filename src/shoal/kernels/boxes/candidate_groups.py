"""Where else could a row go? The groups that it widens in fewest columns, and what it costs them.

Adding up the bit rows of a row's codes (:mod:`shoal.kernels.boxes.covered`) finds, 64 groups at a
time, the few groups that would widen in at most two columns, the *candidates*; only those are
priced.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels import inlined, inner
from shoal.kernels.boxes.conditions import Conditions
from shoal.kernels.boxes.covered import bit_place, bit_row, mark_cover, may_move
from shoal.kernels.boxes.geometry import Floats, Words, loss_with, star
from shoal.kernels.boxes.shard import KEEP, LIFE, LOOKED, WIDEN, Shard


@inner
def mark_again(shard: Shard, g: int) -> None:
    """Set the bits of a group that has changed."""
    bits, word, bit = shard.covered.bits, g // 64, ~(np.uint64(1) << np.uint64(g % 64))
    for v in range(len(bits)):
        bits[v, word] &= bit
    if 0 < shard.state.size[g] <= shard.most:
        mark_cover(shard.boxes, shard.covered, shard.state, g)


@inlined
def _sort_by_widening(shard: Shard, r: int, words: Words) -> None:
    """Fill ``words`` with the groups by the number of columns row r widens, a bit each."""
    boxes, covered = shard.boxes, shard.covered
    none, one, two = words[0], words[1], words[2]
    for w in range(len(none)):
        none[w], one[w], two[w] = ~np.uint64(0), np.uint64(0), np.uint64(0)
    for j in range(len(boxes.kind)):  # groups that do not cover the code go down one level
        bits = covered.bits[bit_row(boxes, covered, j, shard.codes[r, j])]
        for w in range(len(none)):  # the inmost loop, so that it takes several words at once
            c = bits[w]
            two[w] = (two[w] & c) | (one[w] & ~c)
            one[w] = (one[w] & c) | (none[w] & ~c)
            none[w] &= c


@inner
def find_candidates(
    shard: Shard, rule: Conditions | None, r: int, cap: float, words: Words, price: Floats
) -> int:
    """Find the groups that row r widens in fewest columns: the KEEP cheapest, and their prices.

    None is dearer than ``cap``, nor, where there is a ``tally`` of every group, one that would
    break the rule with it. Returns how many groups were priced.
    """
    boxes, state, codes = shard.boxes, shard.state, shard.codes
    candidates, e, size, cost = shard.work.candidates, shard.entry[r], state.size, state.cost
    seen, gap = 0, 0.0  # what the row need not pay because it misses the value
    for i in range(KEEP):
        candidates[e, i], price[i] = -1, cap
    for j in range(len(boxes.kind)):
        if codes[r, j] == boxes.size[j]:
            gap += star(boxes, j)
    _sort_by_widening(shard, r, words)
    for u in range(WIDEN + 1):
        for w in range(words.shape[1]):
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
                    if rule is not None and not may_move(rule, shard.hidden, r, g, 1):
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
def renew(shard: Shard, rule: Conditions | None, r: int, now: int) -> None:
    """Look for the candidates of a row, and of all rows equal to it, unless they are young."""
    state, work, e = shard.state, shard.work, shard.entry[r]
    if now - work.born[e] > LIFE:
        own = state.chains.group[r]
        cap = 3.0 * state.cost[own] / state.size[own] + 0.5
        work.counters[LOOKED] += find_candidates(shard, rule, r, cap, work.words, work.price)
        work.born[e] = now

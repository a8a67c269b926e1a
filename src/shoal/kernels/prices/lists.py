"""Price nodes that are lists of entries: few of them, over and over.

Which entries lie under a node is what the bits of its columns' nodes have in common.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels import inner, kernel
from shoal.kernels.boxes.covered import bit_place
from shoal.kernels.boxes.geometry import Codes, Ints, Words
from shoal.kernels.prices.greedy import Members

REST = 10
"""Passes for which a node that is far from any gain is passed over, at most."""
PACE = 3.0
"""Steps that the prices of all rows of a node may grow by in one pass."""


@kernel
def mark_bits(
    number: Codes, at: Ints, step: Ints, many: Ints, codes: Codes, bits: Words, full: Ints
) -> None:
    """Set, for the nodes of every column and level, the bits of the entries under them.

    ``number``: the bit row of a node, by column, level and position; -1 for none. ``full`` grows by
    the bits that are set in each.
    """
    for j in range(len(codes)):
        for level in range(many[j]):
            base = at[j] + level * step[j]
            for t in range(codes.shape[1]):
                row = number[base + codes[j, t]]
                if row >= 0:
                    bits[row, t // 64] |= np.uint64(1) << np.uint64(t % 64)
                    full[row] += 1


@kernel
def list_entries(
    bits: Words,
    full: Ints,
    nodes: Codes,
    rows: Ints,
    most: int,
    picked: Codes,
    out: Codes,
    size: Ints,
) -> None:
    """List the first entries under each of some nodes, of ``most`` rows together.

    ``nodes`` [nodes, m]: the bit row per column, -1 where everything lies under it; ``full`` says
    how many bits of each are set, and ``picked`` is room for m numbers. ``out`` [nodes, most] gets
    the entries, ``size`` how many they are.
    """
    for v in range(len(nodes)):
        narrow, have, size[v] = 0, 0, 0
        for j in range(nodes.shape[1]):
            if nodes[v, j] >= 0:
                picked[narrow] = nodes[v, j]
                if full[picked[narrow]] < full[picked[0]]:  # most words end with the rarest node
                    picked[narrow], picked[0] = picked[0], picked[narrow]
                narrow += 1
        for w in range(bits.shape[1]):
            x = bits[picked[0], w] if narrow else ~np.uint64(0)
            for i in range(1, narrow):
                if x == 0:
                    break
                x &= bits[picked[i], w]
            while x and have < most:
                low = x & (~x + np.uint64(1))
                x ^= low
                t = 64 * w + bit_place(low)
                if t >= len(rows):
                    break
                out[v, size[v]] = t
                size[v] += 1
                have += rows[t]
            if have >= most:
                break


@kernel
def price_lists(
    members: Members,
    first: int,
    last: int,
    price: Ints,
    rows: Ints,
    k: int,
    turn: int,
    step: float,
    until: Ints,
    room: Codes,
    bins: Ints,
    taken: Ints,
) -> int:
    """Price the nodes from ``first`` up to ``last``; return the sum of their gains.

    ``taken`` grows by the rows of every entry that nodes with a gain take. ``until`` says up to
    which pass (``turn`` is the number of this one) a node need not be looked at, since prices
    change by about a ``step``: what is returned is an estimate.
    """
    total = 0
    for v in range(first, last):
        if until[v] > turn:
            continue
        cost = members.cost[v]
        gain, have, filled = _gain(members, v, price, rows, k, room, bins)
        if gain <= 0 or have < k:
            until[v] = turn + 1 + min(REST, int(-gain / (PACE * k * max(step, 1.0))))
            continue
        total += gain
        need = k
        for x in range(members.start[v], members.start[v + 1]):
            t = members.entry[x]
            if price[t] > cost:
                taken[t] += rows[t]
                need -= rows[t]
        for x in range(filled):
            many = min(rows[room[x]], need)
            taken[room[x]] += many
            need -= many
    return total


@inner
def _gain(
    members: Members, v: int, price: Ints, rows: Ints, k: int, room: Codes, bins: Ints
) -> tuple[int, int, int]:
    """Return what a node gains, with how many rows, and how many entries fill it up to k.

    Those are listed in ``room``, the cheapest last. A node without a gain is not looked at further
    than that takes to see: entries are counted by what they lack, roughly, in ``bins``.
    """
    cost, have, gain, shift = members.cost[v], 0, 0, 0
    while cost >> shift >= len(bins):
        shift += 1
    for b in range(len(bins)):
        bins[b] = 0
    for x in range(members.start[v], members.start[v + 1]):
        t = members.entry[x]
        if price[t] > cost:
            have += rows[t]
            gain += rows[t] * (price[t] - cost)
        else:
            bins[(cost - price[t]) >> shift] += rows[t]
    if have >= k:
        return gain, have, 0
    at_most, need, last = gain, k - have, -1
    while need > 0 and last < len(bins) - 1:
        last += 1
        many = min(bins[last], need)
        at_most -= many * (last << shift)
        need -= many
    if at_most <= 0 or need > 0:
        return min(at_most, 0), have, 0
    filled = 0
    for x in range(members.start[v], members.start[v + 1]):
        t = members.entry[x]
        if price[t] <= cost and (cost - price[t]) >> shift < last:
            room[filled] = t
            filled += 1
    return _fill(members, v, price, rows, k, room, filled, last, shift, gain, have)


@inner
def _fill(
    members: Members,
    v: int,
    price: Ints,
    rows: Ints,
    k: int,
    room: Codes,
    filled: int,
    last: int,
    shift: int,
    gain: int,
    have: int,
) -> tuple[int, int, int]:
    """Add what entries lack, and of the last bin the dearest until there are k rows."""
    cost, n = members.cost[v], filled
    for x in range(members.start[v], members.start[v + 1]):
        t = members.entry[x]
        if price[t] <= cost and (cost - price[t]) >> shift == last:
            y = n
            n += 1
            while y > filled and price[room[y - 1]] < price[t]:
                room[y] = room[y - 1]
                y -= 1
            room[y] = t
    x = 0
    while x < n and have < k:
        many = min(rows[room[x]], k - have)
        gain -= many * (cost - price[room[x]])
        have += many
        x += 1
    return gain, have, x


@kernel
def cheapest_list(members: Members, out: Ints) -> None:
    """Lower ``out`` to what every entry costs under the cheapest node over it."""
    for v in range(len(members.cost)):
        for x in range(members.start[v], members.start[v + 1]):
            t = members.entry[x]
            out[t] = min(out[t], members.cost[v])

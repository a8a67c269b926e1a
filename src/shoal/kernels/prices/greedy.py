"""Groups from prices: nodes by what they gain per row, each with its dearest rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels import inner, kernel
from shoal.kernels.boxes.geometry import Codes, Floats, Ints
from shoal.kernels.boxes.lattice import sift_down


class Members(NamedTuple):
    """Some nodes and the entries under each, dearest first."""

    start: Ints
    entry: Codes
    cost: Ints


@kernel
def greedy(
    members: Members,
    price: Ints,
    left: Ints,
    k: int,
    heap: Ints,
    key: Floats,
    out: Ints,
) -> tuple[int, int]:
    """Make groups while a node has k rows left; return how many groups, and how many triples.

    The node with the largest gain per row comes next; it is looked at again first, since others
    may have taken rows of its in the meantime. ``out`` [room, 3] gets group, entry and rows;
    ``left``, rows per entry, falls by them. ``heap`` and ``key`` are room for all nodes: the latter
    for their loss per row as it was seen last.
    """
    live, groups, told = len(key), 0, 0
    for i in range(live):
        heap[i], key[i] = i, -np.inf
    while live:
        node = heap[0]
        loss = _loss_per_row(members, node, price, left, k)
        worse = loss > key[node] + 1e-9
        if worse and loss < np.inf:
            key[node] = loss
            sift_down(heap, key, live)
            continue
        if loss == np.inf:
            live -= 1
            heap[0] = heap[live]
            sift_down(heap, key, live)
            continue
        have = 0
        for x in range(members.start[node], members.start[node + 1]):
            t = members.entry[x]
            rows = left[t] if price[t] > members.cost[node] else min(left[t], max(k - have, 0))
            if rows > 0:
                if told == len(out):
                    return groups, told
                out[told, 0], out[told, 1], out[told, 2] = groups, t, rows
                told += 1
                left[t] -= rows
                have += rows
        groups += 1
    return groups, told


@kernel
def losses_per_row(members: Members, price: Ints, rows: Ints, k: int, out: Floats) -> None:
    """Fill in what every node costs a row more than the prices of its dearest rows."""
    for node in range(len(out)):
        out[node] = _loss_per_row(members, node, price, rows, k)


@inner
def _loss_per_row(members: Members, node: int, price: Ints, left: Ints, k: int) -> float:
    """Return what a node costs a row more than its rows' prices, infinite without k rows."""
    have, gain, cost = 0, 0, members.cost[node]
    for x in range(members.start[node], members.start[node + 1]):
        t = members.entry[x]
        rows = left[t] if price[t] > cost else min(left[t], max(k - have, 0))
        have += rows
        gain += rows * (price[t] - cost)
        if have >= k and price[t] <= cost:
            break
    return -gain / have if have >= k else np.inf

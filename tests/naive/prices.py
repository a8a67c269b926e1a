"""The bound by prices and the best release in plain Python, straight from their definitions."""

import heapq
from itertools import product

from tests.naive import joins
from tests.naive.joins import width


def cover(domain, positions):
    """The join; the top and the gap cost the same, and what lies under the top lies under both."""
    value = joins.cover(domain, positions)
    return "*" if width(domain, value) > 1 - 1e-9 else value


def column_values(domain):
    """Every value that a cell may be published as, with the positions under it."""
    seen = {}
    everything = range(domain.size + 1)
    for a in everything:
        for b in everything:
            value = cover(domain, [a, b])
            seen.setdefault(value, set()).update((a, b))
    return {
        value: {p for p in everything if cover(domain, [p, *some]) == value}
        for value, some in seen.items()
    }


def row_cost(data, node, row):
    """What a node costs a row: a missing cell costs nothing."""
    known = (data.codes[row, j] < domain.size for j, domain in enumerate(data.domains))
    pairs = zip(data.domains, node, known, strict=True)
    return sum(width(domain, value) for domain, value, there in pairs if there)


def nodes(data, k):
    """Every node that k rows or more have for their join, with its rows."""
    found = []
    columns = [column_values(domain) for domain in data.domains]
    for node in product(*columns):
        inside = [columns[j][value] for j, value in enumerate(node)]
        rows = [
            r
            for r in range(data.rows)
            if all(int(data.codes[r, j]) in inside[j] for j in range(len(node)))
        ]
        if len(rows) < k:
            continue
        joined = [
            cover(domain, [int(data.codes[r, j]) for r in rows])
            for j, domain in enumerate(data.domains)
        ]
        if tuple(joined) == tuple(node):
            found.append((node, rows))
    return found


def bound(data, k, prices):
    """What prices of rows prove: their sum less what every node gains."""
    total = sum(prices)
    for node, rows in nodes(data, k):
        profits = sorted((prices[r] - row_cost(data, node, r) for r in rows), reverse=True)
        gain = sum(profits[:k]) + sum(max(0.0, profit) for profit in profits[k:])
        total -= max(0.0, gain)
    return total


def optimum(data, k):
    """What the best release loses: every way to split the rows, or to leave some out."""
    n, m = data.rows, len(data.domains)
    group = {}
    for mask in range(1, 1 << n):
        rows = [r for r in range(n) if mask >> r & 1]
        if len(rows) >= k:
            node = [
                cover(domain, [int(data.codes[r, j]) for r in rows])
                for j, domain in enumerate(data.domains)
            ]
            group[mask] = sum(row_cost(data, node, r) for r in rows)
    best = [0.0] + [float("inf")] * ((1 << n) - 1)
    for mask in range(1, 1 << n):
        first = mask & -mask
        best[mask] = best[mask ^ first] + m
        rest = mask ^ first
        part = rest
        while True:
            some = part | first
            if some in group:
                best[mask] = min(best[mask], best[mask ^ some] + group[some])
            if part == 0:
                break
            part = (part - 1) & rest
    return best[-1]


def greedy(members, cost, price, left, k):
    """Groups as (entry, rows) lists: the node with the largest gain per row next, seen afresh."""
    left, out = list(left), []

    def taken(node):
        have, some = 0, []
        for t in members[node]:
            rows = left[t] if price[t] > cost[node] else min(left[t], max(k - have, 0))
            have += rows
            some.append((t, rows))
        if have < k:
            return None, some
        return -sum(rows * (price[t] - cost[node]) for t, rows in some) / have, some

    heap = [(float("-inf"), node) for node in range(len(members))]
    while heap:
        key, node = heapq.heappop(heap)
        loss, some = taken(node)
        if loss is None:
            continue
        if loss > key + 1e-9:
            heapq.heappush(heap, (loss, node))
            continue
        out.append([(t, rows) for t, rows in some if rows])
        for t, rows in some:
            left[t] -= rows
        heapq.heappush(heap, (key, node))
    return out

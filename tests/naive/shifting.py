"""The best places for rows under fixed boxes, by trying all: row after row, counts up to k."""

from math import inf

from tests.naive.joins import cover, width


def price(data, rows, row):
    """What a row pays in the box of some rows, None when that would get wider."""
    total = 0.0
    for j, domain in enumerate(data.domains):
        inside, own = [int(data.codes[r, j]) for r in rows], int(data.codes[row, j])
        known = [v for v in inside if v != domain.size]
        box = cover(domain, inside)
        if cover(domain, [*inside, own]) != box or (not known and own != domain.size):
            return None
        total += 0.0 if own == domain.size else width(domain, box)
    return total


def prices(data, labels):
    """What every row would pay in every group."""
    groups = [[r for r, g in enumerate(labels) if g == at] for at in range(max(labels) + 1)]
    return [[price(data, rows, r) for rows in groups] for r in range(data.rows)]


def least(pays, k):
    """Return the least loss of groups of k rows or more."""
    groups = len(pays[0])
    best = {(0,) * groups: 0.0}
    for row in pays:
        after = {}
        for counts, loss in best.items():
            for g in range(groups):
                if row[g] is not None:
                    now = (*counts[:g], min(k, counts[g] + 1), *counts[g + 1 :])
                    after[now] = min(after.get(now, inf), loss + row[g])
        best = after
    return best[(k,) * groups]

"""Joins, widths and entropies in plain Python, straight from the definitions."""

import math

from shoal.tables.domain import Nominal, Ordered, Taxonomy


def cover(domain, positions):
    """The generalized value of some positions: a node, an interval, a set, or '*'."""
    if domain.size in positions:
        return "*"
    if isinstance(domain, Taxonomy):
        chain = _chain(domain, min(positions))
        return next(x for x in chain if all(domain.lo[x] <= p <= domain.hi[x] for p in positions))
    if isinstance(domain, Ordered):
        return (min(positions), max(positions))
    return frozenset(positions)


def _chain(domain, leaf):
    node = leaf
    while True:
        yield node
        if node == domain.root:
            return
        node = int(domain.up[node])


def width(domain, value):
    if value == "*":
        return 1.0
    if isinstance(domain, Taxonomy):
        if value < domain.size:
            return 0.0
        return float(domain.hi[value] - domain.lo[value] + 1) / domain.size
    if isinstance(domain, Ordered):
        lo, hi = value
        return (
            0.0 if lo == hi else domain.points[hi] / domain.span - domain.points[lo] / domain.span
        )
    assert isinstance(domain, Nominal)
    return (len(value) - 1) / max(domain.size - 1, 1)


class NcpCost:
    """What a row adds to the loss of a group: sum_j (w* - w_t) + |G| (w* - w_G)."""

    def __init__(self, data, weights=None):
        self.data = data
        self.weights = [1.0] * len(data.domains) if weights is None else list(weights)

    def __call__(self, group, row):
        total, size = 0.0, len(group)
        for j, domain in enumerate(self.data.domains):
            inside = [int(self.data.codes[r, j]) for r in group]
            p = int(self.data.codes[row, j])
            w_t = width(domain, cover(domain, [p]))
            w_g = width(domain, cover(domain, inside))
            w = width(domain, cover(domain, [*inside, p]))
            total += self.weights[j] * (w * (1.0 + size * 1.0) - (w_t + size * w_g))
        return total

    def distance(self, a, b):
        total = 0.0
        for j, domain in enumerate(self.data.domains):
            pair = [int(self.data.codes[a, j]), int(self.data.codes[b, j])]
            total += self.weights[j] * width(domain, cover(domain, pair))
        return total


class KaimCost:
    """D(t, G) = GenRate(t, t*) + |G| GenRate(g, t*), weighted per column.

    ``counted``: equation 12 in full, with GenRate(t*, t*) for t and for every member.
    """

    def __init__(self, data, weights, counted=False):
        self.data, self.weights, self.counted = data, weights, counted
        self.e = []
        for j, domain in enumerate(data.domains):
            known = [int(p) for p in data.codes[:, j] if p < domain.size]
            shares = [max(known.count(p) / max(len(known), 1), 1e-12) for p in range(domain.size)]
            self.e.append([max(abs(s * math.log(s)), 1e-12) for s in shares])

    def info(self, j, value):
        domain, e = self.data.domains[j], self.e[j]
        if value == "*":
            return sum(e) or 1.0
        if isinstance(domain, Taxonomy):
            return 0.0 if value < domain.size else sum(e[domain.lo[value] : domain.hi[value] + 1])
        lo, hi = value
        return 0.0 if lo == hi else sum(e[lo : hi + 1])

    def gen_rate(self, j, value, general):
        domain = self.data.domains[j]
        info = self.info(j, value)
        if info == 0.0:  # a leaf, or a single point
            leaf = value if isinstance(domain, Taxonomy) else value[0]
            info = self.e[j][leaf]
        return self.info(j, general) / info

    def __call__(self, group, row):
        total = 0.0
        for j, domain in enumerate(self.data.domains):
            inside = [int(self.data.codes[r, j]) for r in group]
            p = int(self.data.codes[row, j])
            star = cover(domain, [*inside, p])
            total += self.weights[j] * (
                self.gen_rate(j, cover(domain, [p]), star)
                + len(group) * self.gen_rate(j, cover(domain, inside), star)
            )
            if self.counted:
                total += self.weights[j] * (len(group) + 1) * self.gen_rate(j, star, star)
        return total


class JoinCost:
    """The growth of the loss when two groups are joined: sum_j |A| (w* - w_A) + |B| (w* - w_B)."""

    def __init__(self, data):
        self.data = data

    def __call__(self, a, b):
        total = 0.0
        for j, domain in enumerate(self.data.domains):
            codes = [[int(self.data.codes[r, j]) for r in group] for group in (a, b)]
            w_a, w_b = (width(domain, cover(domain, part)) for part in codes)
            w = width(domain, cover(domain, codes[0] + codes[1]))
            total += len(a) * (w - w_a) + len(b) * (w - w_b)
        return total

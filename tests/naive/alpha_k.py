"""(alpha, k) clustering by trying every row, in plain Python: the twin of ``groupers.alpha_k``.

One sensitive column with one limit. Ties go to the point that the kernel numbers first, so that the
same choices are made, not similar ones.
"""

import math

from shoal.tables.domain import Nominal, Ordered

EPS = 1e-9


def coordinates(data):
    """Rows as lists: a number in [0, 1], a name's position, or None; and which are numeric."""
    columns, numeric = [], []
    for j, domain in enumerate(data.domains):
        cells = [int(p) if p < domain.size else None for p in data.codes[:, j]]
        points = None
        if isinstance(domain, Ordered):
            points = [float(p) for p in domain.points]
        elif not isinstance(domain, Nominal):
            try:
                points = [float(label) for label in domain.values]
            except ValueError:
                points = None
        numeric.append(points is not None)
        if points is not None:
            known = [points[p] for p in cells if p is not None]
            low = min(known, default=0.0)
            span = (max(known, default=0.0) - low) or 1.0
            cells = [None if p is None else (points[p] - low) / span for p in cells]
        columns.append(cells)
    return [list(row) for row in zip(*columns, strict=True)], numeric


def distance(a, b, numeric):
    total, shared = 0.0, 0
    for x, y, number in zip(a, b, numeric, strict=True):
        if x is not None and y is not None:
            shared += 1
            total += abs(x - y) if number else float(x != y)
    return total / shared if shared else 1.0


def centre(rows, numeric):
    out = []
    for column, number in zip(zip(*rows, strict=True), numeric, strict=True):
        known = [x for x in column if x is not None]
        if not known:
            out.append(None)
        elif number:
            total = 0.0
            for x in known:
                total += x
            out.append(total / len(known))
        else:
            out.append(min(known, key=lambda name: (-known.count(name), name)))
    return out


class Twin:
    """One run: ``value[row]`` sensitive code or -1, ``guarded`` codes, their largest ``share``."""

    def __init__(self, data, value, guarded, share, k, seeds, point):
        self.x, self.numeric = coordinates(data)
        self.value, self.guarded, self.share, self.k = value, guarded, share, k
        self.seeds, self.point = list(seeds), point
        self.rank = {row: i for i, row in enumerate(self.seeds)}
        self.free, self.groups, self.centres = set(self.seeds), [], []
        self.near = dict.fromkeys(self.seeds, math.inf)

    def to(self, row, where):
        return distance(self.x[row], where, self.numeric)

    def known(self, rows):
        return sum(self.value[r] >= 0 for r in rows)

    def count(self, rows, v):
        return sum(self.value[r] == v for r in rows)

    def within(self, rows, fewer=0):
        known = self.known(rows) - fewer
        return known > 0 and all(
            self.count(rows, v) <= self.share * known + EPS for v in self.guarded
        )

    def admits(self, rows, row, more=1):
        """Room for the row's own value in a cluster of so many rows more."""
        v = self.value[row]
        reach = self.share * (self.known(rows) + more) + EPS
        return v not in self.guarded or self.count(rows, v) + 1 <= reach

    def size(self, capped):
        known = self.known(self.seeds)
        top = max((self.count(self.seeds, v) for v in self.guarded), default=0)
        size = min(max(self.k, math.ceil(1 / self.share - EPS)) if capped else self.k, len(self.x))
        while math.floor(self.share * size + EPS) * known < top * size:
            size += 1
        return size

    def may(self, group, row, size):
        """Whether the group can still be filled within its limit once it has the row."""
        rows = [*group, row]
        slots = size - len(rows)
        known = self.known(rows) + slots
        if known == 0 or any(self.count(rows, v) > self.share * known + EPS for v in self.guarded):
            return False
        if self.value[row] >= 0:
            return True
        cap = math.floor(self.share * known + EPS)
        others = [r for r in self.free if r not in group and self.value[r] >= 0]
        fit = 0
        for v in {self.value[r] for r in others}:
            room = cap - self.count(rows, v) if v in self.guarded else len(others)
            fit += max(0, min(self.count(others, v), room))
        return fit >= slots

    def enough(self, size, capped):
        if len(self.free) < size:
            return False
        if not capped:
            return True
        cap = math.floor(self.share * size + EPS)
        values = {self.value[r] for r in self.free} - {-1}
        fit = sum(
            min(self.count(self.free, v), cap) if v in self.guarded else self.count(self.free, v)
            for v in values
        )
        return fit >= size

    def cluster(self, size, capped):
        made = 0
        while (len(self.free) > size or made == 0) and self.enough(size, capped):
            first = [r for r in self.free if self.point[r] == self.point[self.seeds[0]]]
            if self.groups or not first:
                where = min((-self.near[r], self.point[r]) for r in self.free)[1]
                first = [r for r in self.free if self.point[r] == where]
            seed = min(first, key=self.rank.get)
            group = [seed]
            spoiled = capped and not self.may([], seed, size)
            order = sorted(
                self.free - {seed},
                key=lambda r: (
                    self.point[r] != self.point[seed],
                    self.to(r, self.x[seed]),
                    self.point[r],
                    self.rank[r],
                ),
            )
            for row in order:
                if len(group) == size or spoiled:
                    break
                if not capped or self.may(group, row, size):
                    group.append(row)
            self.free -= set(group)
            if len(group) == size and not spoiled:
                made += 1
                self.groups.append(group)
                self.centres.append(centre([self.x[r] for r in group], self.numeric))
                for r in self.free:
                    self.near[r] = min(self.near[r], self.to(r, self.centres[-1]))

    def taker(self, row, more=1):
        found = [
            (self.to(row, self.centres[g]), g)
            for g, rows in enumerate(self.groups)
            if self.kept[g] and self.admits(rows, row, more)
        ]
        return min(found)[1] if found else None

    def giver(self, g, size):
        found = [
            (self.to(r, self.centres[g]), self.point[r], self.rank[r], other)
            for other, rows in enumerate(self.groups)
            if self.kept[other] and len(rows) > size and self.within(rows, 1)
            for r in rows
            if self.value[r] >= 0 and self.admits(self.groups[g], r)
        ]
        return (min(found)[2], min(found)[3]) if found else None

    def exchange(self, size):
        def excess(g):
            rows = self.groups[g]
            top = max(self.count(rows, v) for v in self.guarded)
            return top / (self.share * max(self.known(rows), 1))

        broken = [g for g in range(len(self.groups)) if not self.kept[g]]
        for g in sorted(broken, key=lambda g: (-excess(g), g)):
            rows = self.groups[g]
            while True:
                over = [
                    r
                    for r in rows
                    if self.value[r] in self.guarded
                    and self.count(rows, self.value[r]) > self.share * self.known(rows) + EPS
                ]
                if not over:
                    self.kept[g] = self.within(rows)
                    break
                out = min(over, key=lambda r: (-self.to(r, self.centres[g]), r))
                to = self.taker(out, 0) if len(rows) <= size else None
                to = self.taker(out) if to is None else to
                if to is not None:
                    rows.remove(out)
                    self.groups[to].append(out)
                    if len(rows) >= size:
                        continue
                found = self.giver(g, size)
                if found is not None:
                    row, other = self.seeds[found[0]], found[1]
                    self.groups[other].remove(row)
                    rows.append(row)
                    continue
                if to is not None:
                    self.groups[to].remove(out)
                    rows.append(out)
                break

    def run(self, capped):
        size = self.size(capped)
        known = self.known(self.seeds)
        top = max((self.count(self.seeds, v) for v in self.guarded), default=0) / known
        part = size * known / len(self.seeds)
        if math.floor(self.share * part + EPS) < top * part - EPS:
            self.free = {r for r in self.free if self.value[r] >= 0}
        if capped:
            self.cluster(size, True)
        if not self.groups or len(self.free) > size:
            self.cluster(size, False)
        if not self.groups:
            return [list(self.seeds)]
        self.kept = [self.within(rows) for rows in self.groups]
        self.exchange(size)
        placed = {r for rows in self.groups for r in rows}
        for row in self.seeds:
            if row not in placed:
                g = self.taker(row)
                if g is None:
                    g = min((self.to(row, c), g) for g, c in enumerate(self.centres))[1]
                self.groups[g].append(row)
                self.kept[g] = self.within(self.groups[g])
        self.exchange(size)
        return self.groups

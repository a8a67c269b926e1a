"""(alpha, k) clustering by trying every row, in plain Python: the twin of ``groupers.alpha_k``.

One sensitive column; every guarded value has its own largest share. Ties go to the point that the
kernel numbers first, so that the same choices are made, not similar ones.
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
    """One run: ``value[row]`` sensitive code or -1; ``share``: guarded codes, largest shares."""

    def __init__(self, data, value, share, k, seeds, point):
        self.x, self.numeric = coordinates(data)
        self.value, self.share, self.k = value, share, k
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
            self.count(rows, v) <= share * known + EPS for v, share in self.share.items()
        )

    def admits(self, rows, row, more=1):
        """Room for the row's own value in a cluster of so many rows more."""
        v = self.value[row]
        if v not in self.share:
            return True
        return self.count(rows, v) + 1 <= self.share[v] * (self.known(rows) + more) + EPS

    def roomy(self, size):
        known = self.known(self.seeds)
        return all(
            math.floor(share * size + EPS) * known >= self.count(self.seeds, v) * size
            for v, share in self.share.items()
        )

    def used(self, size):
        return min(math.floor(a * size + EPS) / (a * size) for a in self.share.values())

    def sizes(self, growth):
        """The least size, and the one below twice it that uses the shares best."""
        whole, size = len(self.x), self.k
        if growth != "free":
            size = max(size, *(math.ceil(1 / share - EPS) for share in self.share.values()))
        size = min(size, whole)
        while size < whole and not self.roomy(size):
            size += 1
        near = range(size, min(2 * size, whole + 1))
        best = max(self.used(s) for s in near)
        return [size, next(s for s in near if self.used(s) > best - EPS)]

    def may(self, group, row, size):
        """Whether the group can still be filled within its limit once it has the row."""
        rows = [*group, row]
        slots = size - len(rows)
        known = self.known(rows) + slots
        if known == 0 or any(
            self.count(rows, v) > share * known + EPS for v, share in self.share.items()
        ):
            return False
        if self.value[row] >= 0:
            return True
        others = [r for r in self.free if r not in group and self.value[r] >= 0]
        fit = 0
        for v in {self.value[r] for r in others}:
            room = len(others)
            if v in self.share:
                room = math.floor(self.share[v] * known + EPS) - self.count(rows, v)
            fit += max(0, min(self.count(others, v), room))
        return fit >= slots

    def enough(self, size, capped):
        if len(self.free) < size:
            return False
        if not capped:
            return True
        values = {self.value[r] for r in self.free} - {-1}
        fit = 0
        for v in values:
            cap = math.floor(self.share[v] * size + EPS) if v in self.share else len(self.free)
            fit += min(self.count(self.free, v), cap)
        return fit >= size

    def cluster(self, size, capped, moving=False):
        while self.enough(size, capped):
            first = [r for r in self.free if self.point[r] == self.point[self.seeds[0]]]
            if self.groups or not first:
                where = min((-self.near[r], self.point[r]) for r in self.free)[1]
                first = [r for r in self.free if self.point[r] == where]
            seed = min(first, key=self.rank.get)
            group = [seed]
            spoiled = capped and not self.may([], seed, size)
            while len(group) < size and not spoiled:
                near = group if moving else [seed]
                where = centre([self.x[r] for r in near], self.numeric)
                able = [
                    (
                        not moving and self.point[r] != self.point[seed],
                        self.to(r, where),
                        self.point[r],
                        self.rank[r],
                    )
                    for r in self.free - set(group)
                    if not capped or self.may(group, r, size)
                ]
                if not able:
                    break
                group.append(self.seeds[min(able)[3]])
            self.free -= set(group)
            if len(group) == size and not spoiled:
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
            known = max(self.known(rows), 1)
            return max(self.count(rows, v) / (share * known) for v, share in self.share.items())

        broken = [g for g in range(len(self.groups)) if not self.kept[g]]
        for g in sorted(broken, key=lambda g: (-excess(g), g)):
            rows = self.groups[g]
            while True:
                over = [
                    r
                    for r in rows
                    if self.value[r] in self.share
                    and self.count(rows, self.value[r])
                    > self.share[self.value[r]] * self.known(rows) + EPS
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

    def waits(self, size):
        """Whether rows without a value join only when all clusters are made."""
        known = self.known(self.seeds)
        part = size * known / len(self.seeds)
        return any(
            math.floor(share * part + EPS) < self.count(self.seeds, v) / known * part - EPS
            for v, share in self.share.items()
        )

    def run(self, growth, size):
        if self.waits(size):
            self.free = {r for r in self.free if self.value[r] >= 0}
        if growth != "free":
            self.cluster(size, True, growth == "centroid")
        if growth != "centroid" or not self.groups:
            self.cluster(size, False, growth == "centroid")
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

"""Mondrian by recursion over lists of rows: the twin of ``groupers.mondrian``."""

from shoal.tables.domain import Taxonomy
from tests.naive.joins import cover, width


def mondrian(data, passes, rows, relaxed, gather):
    """Return the groups (lists of rows) that the table is cut into."""
    columns = range(len(data.domains))
    breadth = {j: _breadth(data, rows, j) for j in columns}
    for j in sorted(columns, key=lambda j: -breadth[j]):
        if breadth[j] == 0:
            continue
        parts = _allowed(_parts(data, rows, j, relaxed), passes, gather)
        if parts:
            parts = [[row for row in rows if row in part] for part in map(set, parts)]
            return [g for part in parts for g in mondrian(data, passes, part, relaxed, gather)]
    return [rows]


def _breadth(data, rows, j):
    domain = data.domains[j]
    positions = {int(data.codes[row, j]) for row in rows}
    if len(positions) == 1:
        return 0
    return width(domain, cover(domain, positions))


def _parts(data, rows, j, relaxed):
    domain, value = data.domains[j], {row: int(data.codes[row, j]) for row in rows}
    if any(value[row] == domain.size for row in rows):
        known = [row for row in rows if value[row] < domain.size]
        return [known, [row for row in rows if value[row] == domain.size]]
    if isinstance(domain, Taxonomy):
        top = cover(domain, set(value.values()))
        children = {}
        for row in rows:
            node = value[row]
            while domain.up[node] != top:
                node = int(domain.up[node])
            children.setdefault(node, []).append(row)
        return [children[node] for node in sorted(children, key=lambda node: domain.lo[node])]
    if relaxed:
        middle = sorted(value.values())[(len(rows) - 1) // 2]
        ordered = [r for r in rows if value[r] < middle] + [r for r in rows if value[r] == middle]
        left = set(ordered[: (len(rows) + 1) // 2])
    else:
        # Between which two values do the halves differ least in size? Ties: the later place.
        bounds = sorted(set(value.values()))[:-1]
        count = {b: sum(v <= b for v in value.values()) for b in bounds}
        best = min(bounds, key=lambda b: (abs(2 * count[b] - len(rows)), -b))
        left = {row for row in rows if value[row] <= best}
    return [[r for r in rows if r in left], [r for r in rows if r not in left]]


def _allowed(parts, passes, gather):
    """The parts, failing ones gathered if asked for; None when the cut is refused."""
    good = [part for part in parts if passes(part)]
    if len(good) == len(parts):
        return parts
    if not gather or not good:
        return None
    rest = [row for part in parts if not any(part is g for g in good) for row in part]
    if passes(rest):
        return [*good, rest]
    smallest = min(good, key=len)
    others = [part for part in good if part is not smallest]
    if others and passes([*rest, *smallest]):
        return [*others, [*rest, *smallest]]
    return None

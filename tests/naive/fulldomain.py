"""Full-domain recoding by trying every combination of levels, row by row: Incognito's twin."""

import itertools

from shoal.tables.domain import Ordered, Taxonomy
from tests.naive.joins import width


def levels(data, j):
    """All levels of a column: for each a function from position to published cell, and its width.

    A cell is a node, a position, an interval or '*'; missing is '*' on every level.
    """
    domain = data.domains[j]
    if isinstance(domain, Taxonomy):
        return [[_node(domain, level, p) for p in range(domain.size)] for level in domain.levels]
    exact = [(p, p) if isinstance(domain, Ordered) else frozenset([p]) for p in range(domain.size)]
    found = [exact] if domain.size else []
    if isinstance(domain, Ordered):
        found += _intervals(data, j)
    return [*found, ["*"] * domain.size]


def _node(domain, level, p):
    node = int(level[p])
    return "*" if node == domain.root else node


def _intervals(data, j):
    size = data.domains[j].size
    known = [int(p) for p in data.codes[:, j] if p < size]
    eighth = [8 * sum(q < p for q in known) // max(len(known), 1) for p in range(size)]
    found, last = [], size
    for merged in (1, 2, 4):
        label = [e // merged for e in eighth]
        if 1 < len(set(label)) < last:
            ends = [[q for q in range(size) if label[q] == label[p]] for p in range(size)]
            found.append([(same[0], same[-1]) for same in ends])
            last = len(set(label))
    return found


def search(data, passes, limit):
    """Return per passing node its classes (kept and removed) and its loss, as ILossRate."""
    steps = [levels(data, j) for j in range(len(data.domains))]
    rows, m = data.codes.shape
    found = {}
    for node in itertools.product(*(range(len(step)) for step in steps)):
        classes = {}
        for row in range(rows):
            cells = tuple(_cell(data, steps, node, row, j) for j in range(m))
            classes.setdefault(cells, []).append(row)
        kept = [group for group in classes.values() if passes(group)]
        removed = rows - sum(map(len, kept))
        if removed > limit:
            continue
        loss = m * removed
        for cells, group in classes.items():
            if group in kept:
                loss += sum(
                    width(domain, cells[j])
                    for j, domain in enumerate(data.domains)
                    for row in group
                    if data.codes[row, j] < domain.size
                )
        found[node] = ({frozenset(group) for group in kept}, loss / (rows * m))
    return found


def _cell(data, steps, node, row, j):
    p = int(data.codes[row, j])
    return "*" if p == data.domains[j].size else steps[j][node[j]][p]


def minimal(nodes):
    """The nodes below which there is no other one."""
    return {
        node
        for node in nodes
        if not any(
            other != node and all(a <= b for a, b in zip(other, node, strict=True))
            for other in nodes
        )
    }

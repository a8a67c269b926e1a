"""Show a hierarchy as a tree of text with row counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from shoal.tables.domain import Taxonomy


def tree_lines(
    taxonomy: Taxonomy, counts: Mapping[str, int] | None, most: int = 0
) -> Iterator[str]:
    """Yield the lines of a tree, depth first.

    Parameters
    ----------
    counts
        How many rows hold each value; without them the values under a label are counted.
    most
        Lines at most, 0 for all. Levels are left out from the finest on until the tree fits; labels
        that still do not fit are told by their number.
    """
    size = taxonomy.size
    leaves = np.array([1 if counts is None else counts.get(v, 0) for v in taxonomy.values])
    running = np.concatenate(([0], np.cumsum(leaves)))
    held = running[taxonomy.hi + 1] - running[taxonomy.lo]
    below: list[list[int]] = [[] for _ in taxonomy.labels]
    for node in range(len(taxonomy.labels) - 1):
        below[int(taxonomy.up[node])].append(node)
    for nodes in below:
        nodes.sort(key=lambda node: int(taxonomy.lo[node]))
    deepest = _depth(below, taxonomy.root, most)
    noun = "value" if counts is None else "row"
    lines = 0
    todo = [(taxonomy.root, 0)]
    while todo:
        node, depth = todo.pop()
        if most and lines >= most:
            yield f"... and {len(todo) + 1:,} more labels of these levels"
            return
        inner = node >= size
        cut = inner and depth == deepest and f"; {_leaves(taxonomy, node):,} values under it"
        amount = (
            f"  {held[node]:,} {noun}{'s' * int(held[node] != 1)}"
            if inner or counts is not None
            else ""
        )
        yield f"{'  ' * depth}{taxonomy.labels[node]}{amount}{cut or ''}"
        lines += 1
        if depth < deepest:
            todo += [(child, depth + 1) for child in reversed(below[node])]


def _leaves(taxonomy: Taxonomy, node: int) -> int:
    return int(taxonomy.hi[node] - taxonomy.lo[node]) + 1


def _depth(below: list[list[int]], root: int, most: int) -> int:
    """Return how deep the tree can be shown in so many lines; one level at least."""
    level, depth, lines = [root], 0, 1
    while level:
        level = [child for node in level for child in below[node]]
        lines += len(level)
        if not level or (most and lines > most):
            return max(depth, 1)
        depth += 1
    return depth

"""Hierarchies as other tools have them: trees in JSON, ragged rows, columns of levels.

``mosaicrown``: ``{"cat": "World", "subcats": [{"cat": "Europe", "subcats": null}, ...]}``.
``qiyuangong/Basic_Mondrian``: a text file of rows ``value;wider;*`` of different lengths.
``anjana``: a dictionary ``{0: values, 1: labels, 2: wider labels}`` with an entry for each row.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from shoal.base.errors import SchemaError

_DEEPEST = 100  # levels of a tree; a deeper one is a mistake, or meant to exhaust the memory


def rows_of_json(text: str, path: Path, column: str) -> list[list[str]]:
    """Return the rows of a tree in JSON: for every leaf the way to the top, all of one length."""

    def refuse(why: str) -> SchemaError:
        return SchemaError(
            f"The hierarchy of column {column!r} is no tree that Shoal reads: {why}. In JSON a "
            'node is {"cat": its name, "subcats": a list of nodes, or null for a value} '
            f"(file {path})."
        )

    try:
        tree = json.loads(text)
    except (ValueError, RecursionError) as fault:
        raise refuse(f"it is no JSON ({fault})") from None
    rows: list[list[str]] = []
    waiting: list[tuple[Any, list[str]]] = [(tree, [])]
    while waiting:
        node, above = waiting.pop()
        if not isinstance(node, dict) or not isinstance(node.get("cat"), (str, int, float)):
            raise refuse(f"a node below {above[0] if above else 'the top'!r} has no name ('cat')")
        way = [str(node["cat"]), *above]
        below = node.get("subcats") or []
        nodes = [below] if isinstance(below, dict) else below
        if not isinstance(nodes, list) or len(way) > _DEEPEST:
            raise refuse(f"what lies below {way[0]!r} is no list, or too deep")
        if not nodes:
            rows.append(way)
        waiting += [(each, way) for each in reversed(nodes)]
    return filled(rows)


def filled(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return rows of one length: a value that lies higher is repeated until its row is as long."""
    longest = max(map(len, rows), default=0)
    return [[row[0]] * (longest - len(row)) + list(row) for row in rows if row]


def rows_of_levels(levels: Mapping[Any, Sequence[Any]], column: str) -> list[list[str]]:
    """Return the rows of a hierarchy by levels, finest first, with an entry for each row."""
    lengths = {len(level) for level in levels.values()}
    if len(lengths) != 1 or not all(isinstance(key, int) for key in levels):
        raise SchemaError(
            f"The hierarchy of column {column!r} is a dictionary, and no hierarchy by levels: that "
            "has the values under 0 and under 1, 2, ... what they become, all of one length. Got "
            f"the keys {list(levels)[:5]} with {sorted(lengths)} entries. Give a file, a "
            "shoal.Taxonomy, or a dictionary of levels."
        )
    ordered = [levels[key] for key in sorted(levels)]
    if len(set(map(str, ordered[-1]))) > 1:  # whoever wrote it could suppress what is wider
        ordered.append(["*"] * len(ordered[0]))
    rows = dict.fromkeys(tuple(map(str, row)) for row in zip(*ordered, strict=True))
    return [list(row) for row in rows]

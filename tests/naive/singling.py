"""Distinction, separation and minimal unique combinations by looking at every pair of rows."""

from __future__ import annotations

from itertools import combinations

import polars as pl


def figures(frame: pl.DataFrame, names: tuple[str, ...]) -> tuple[int, int, int]:
    """Return distinct combinations, unique rows and alike pairs."""
    rows = frame.select(names).rows()
    unique = sum(
        all(row != other for j, other in enumerate(rows) if j != i) for i, row in enumerate(rows)
    )
    return len(set(rows)), unique, sum(one == other for one, other in combinations(rows, 2))


def minimal(frame: pl.DataFrame, row: int, size: int) -> set[tuple[str, ...]]:
    """Return the sets of at most so many columns by which a row is unique, and by no part."""
    found: set[tuple[str, ...]] = set()
    for many in range(1, size + 1):
        for names in combinations(frame.columns, many):
            rows = frame.select(names).rows()
            alone = sum(other == rows[row] for other in rows) == 1
            parts = [part for n in range(1, many) for part in combinations(names, n)]
            if alone and not any(part in found for part in parts):
                found.add(names)
    return found


def score(frame: pl.DataFrame, row: int, size: int = 3) -> int:
    """Return the score of SUDA: a product for every minimal unique combination."""
    whole = 0
    for names in minimal(frame, row, size):
        product = 1
        for number in range(len(names), size + 1):
            product *= max(len(frame.columns) - number, 1)
        whole += product
    return whole

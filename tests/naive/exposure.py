"""Rows that are unique by everything published, by looking at every other row."""

from __future__ import annotations

import polars as pl


def unique(frame: pl.DataFrame, names: list[str]) -> int:
    """Count the rows that no other row equals in these columns."""
    rows = frame.select(names).rows()
    return sum(rows.count(row) == 1 for row in rows)

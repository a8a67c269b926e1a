"""The loss of a released file, whoever made it: read from its cells, by one rule for everybody.

A cell costs the share of the column's values that it leaves open: 0 when it is exact, otherwise
values covered over all values. An interval covers the values between its ends, a label those below
it, a list what it lists, ``*`` everything. A row that is not there costs all its cells. Lists are
charged by their length, not by the node above them, which is generous to tools that publish lists.

A cell that was missing before is ``*`` afterwards and loses nothing, but a file whose rows have
lost their order does not say which stars those are. So each column is forgiven as many stars as it
had gaps, and only if no row was dropped: a tool that drops rows could have dropped the gaps too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

_RANGE = re.compile(r"\[?\s*(-?\d+(?:\.\d+)?)\s*(?:-|,|\.\.)\s*(-?\d+(?:\.\d+)?)\s*[\])]?")


@dataclass(frozen=True)
class Column:
    """The leaves of a column, and what every label of its hierarchy covers."""

    leaves: frozenset[str]
    labels: Mapping[str, int]

    def cost(self, cell: str | None) -> float:
        """Return the share of values that a cell leaves open."""
        if cell is None or cell in ("*", "", "nan", "None"):
            return 1.0
        if cell in self.leaves:
            return 0.0
        if cell in self.labels:
            covered = self.labels[cell]
        elif (found := _RANGE.fullmatch(cell)) is not None:
            low, high = float(found[1]), float(found[2])
            covered = sum(low <= float(leaf) <= high for leaf in self.leaves)
        else:
            listed = {part.strip().strip("\"'") for part in cell.strip("{}[]").split(",")}
            if not listed <= self.leaves | {"nan"}:
                raise ValueError(f"cannot read the released cell {cell!r}")
            covered = len(self.leaves) if "nan" in listed else len(listed)
        return 0.0 if covered <= 1 else covered / len(self.leaves)


def read_column(path: Path) -> Column:
    """Read a hierarchy in ARX' format."""
    rows = [line.split(";") for line in path.read_text().splitlines() if line]
    leaves = frozenset(row[0] for row in rows)
    below: dict[str, set[str]] = {}
    for row in rows:
        for label in row[1:]:
            below.setdefault(label, set()).add(row[0])
    return Column(leaves, {label: len(members) for label, members in below.items()})


@dataclass(frozen=True)
class Measured:
    """What a released file shows: its loss, its rows, and the least number of equal ones."""

    loss: float
    rows: int
    k: int


def measure(
    released: pl.DataFrame,
    quasi: Sequence[str],
    columns: Mapping[str, Column],
    original: pl.DataFrame,
) -> Measured:
    """Measure a file; a column ``count`` says how many rows a line stands for."""
    frame = released.with_columns(pl.col(name).cast(pl.String) for name in quasi)
    if "count" not in frame.columns:
        frame = frame.with_columns(pl.lit(1).alias("count"))
    rows = int(frame["count"].sum())
    kept_all = rows == original.height
    total = 0.0
    for name in quasi:
        cells = frame.group_by(name).agg(pl.col("count").sum())
        stars = 0
        for cell, count in cells.iter_rows():
            cost = columns[name].cost(cell)
            total += cost * count
            stars += count if cost == 1.0 else 0
        if kept_all:
            total -= min(stars, original[name].null_count())
    total += len(quasi) * (original.height - rows)
    sizes = frame.group_by(quasi).agg(pl.col("count").sum())["count"]
    return Measured(total / (len(quasi) * original.height), rows, int(sizes.min() or 0))  # type: ignore[arg-type]

"""Find original values and records that can be deduced from published cells.

A class is published with the join of its members. So both ends of ``[20-29]`` occur in it, every
member of a set does, and at least two children of a node. If all other cells of the class are
exact, anyone who has the release knows complete original records. With two wide cells no record is
certain, because it is open which values belong together. Nothing follows from ``*`` (a missing
value may be the reason), from ends on a grid, and from cells that a method makes wider than needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.base.errors import InputError
from shoal.base.partition import Ints, ragged_positions
from shoal.base.roles import Kind
from shoal.catalog import METHODS
from shoal.releases import notation
from shoal.releases.ends import cell_texts
from shoal.releases.opened import Opened
from shoal.tables.cells import as_text
from shoal.tables.domain import STAR, Taxonomy
from shoal.tables.grid import OFF

ALARM = 0.01
"""Share of the rows that may be read off before a release warns of it."""


@dataclass(frozen=True)
class DeducedValues:
    """What can be read off a release with certainty.

    Parameters
    ----------
    rows
        Rows of the release.
    cells
        Pairs of a class and a value of a wide cell that must occur in it.
    known
        Whole rows of the original that must exist, in classes that are not published exactly.
    exact
        Rows in classes whose every cell is exact: at least as many equal ones as the promise says.
    unique
        Of the ``known``, those that occur once in the original; None without it.
    wrong
        Of the ``known``, those that the original does not have; None without it.
    assumed
        Nobody has said how the cells were made: ends on a grid, slack or labels of a hierarchy are
        taken for data, and nothing is certain.
    """

    rows: int
    cells: int
    known: int
    exact: int
    unique: int | None = None
    wrong: int | None = None
    assumed: bool = False

    @property
    def share(self) -> float:
        """Share of the rows that are known for certain."""
        return self.known / self.rows if self.rows else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        told = {"share": self.share, "warning": self.warns, "sentence": self.describe()}
        return {**asdict(self), **told}

    @property
    def warns(self) -> bool:
        """Whether more rows can be read off than should be."""
        return self.share > ALARM and not self.assumed

    def describe(self) -> str:
        """Say it in a sentence, with what to do where it matters."""
        if not self.known:
            return "No complete record behind the release can be deduced with certainty."
        if self.assumed:
            return (
                f"If all interval ends and labels are values of the table, {self.known:,} "
                f"complete records behind the release ({100 * self.share:.1f} % of the rows) can "
                "be deduced. "
                "The plan of the run shows whether they are: give it with --plan."
            )
        alone = "" if self.unique is None else f", {self.unique:,} of them unique in the table"
        remedy = ""
        if self.warns:
            remedy = (
                " Put ordered columns on a grid (--grid), give categories a hierarchy, or widen "
                "cells at random (--slack)."
            )
        return (
            f"{self.known:,} complete records behind the release ({100 * self.share:.1f} % of the "
            f"rows) can be deduced with certainty{alone}.{remedy}"
        )


@dataclass(frozen=True, eq=False)
class CellFacts:
    """What the different cells of a column tell: whether they are wide, and what must occur.

    ``which``: the cell of every class. Cell ``c`` has the values ``values[starts[c]:starts[c+1]]``.
    """

    which: Ints
    wide: npt.NDArray[np.bool_]
    starts: Ints
    values: pl.Series

    @property
    def counts(self) -> Ints:
        """How many values each cell is sure to have."""
        return np.diff(self.starts)


def read_off(
    opened: Opened, original: pl.DataFrame | None = None, sizes: Ints | None = None
) -> DeducedValues | None:
    """Say what follows for certain from the published cells; None where they are all exact.

    ``sizes``: where the release is given as one row for each class, how many rows each has.
    """
    if opened.shape.exact or not opened.quasi:
        return None
    published = opened.published
    told = {name: _cell_facts(opened, name) for name in opened.quasi}
    wide = np.stack([each.wide[each.which] for each in told.values()])
    sure = np.stack([each.counts[each.which] for each in told.values()])
    alone = wide.sum(axis=0) == 1
    rows = _rows(told, np.flatnonzero(alone), wide)
    unique, wrong = (None, None) if original is None else _found(opened, rows, original)
    many = published.sizes if sizes is None else sizes
    return DeducedValues(
        rows=int(many.sum()),
        cells=int((sure * wide).sum()),
        known=rows.height,
        exact=int(many[~wide.any(axis=0)].sum()),
        unique=unique,
        wrong=wrong,
        assumed=not opened.complete,
    )


def _rows(
    told: Mapping[str, CellFacts], classes: Ints, wide: npt.NDArray[np.bool_]
) -> pl.DataFrame:
    """Return the rows that must exist: one for every value of the only wide cell of a class."""
    frames = []
    for j, (name, column) in enumerate(told.items()):
        own = classes[wide[j, classes]]
        cells = column.which[own]
        counts = column.counts[cells]
        values = column.values.gather(ragged_positions(column.starts[cells], counts))
        spread = np.repeat(own, counts)
        rest = {
            other: each.values.gather(each.starts[each.which[spread]])
            for other, each in told.items()
            if other != name
        }
        frames.append(pl.DataFrame({name: values, **rest}).select(*told))
    return pl.concat(frames)


def _found(opened: Opened, rows: pl.DataFrame, original: pl.DataFrame) -> tuple[int, int]:
    """Count the rows that the original has once, and those that it does not have."""
    names = rows.columns
    cleaned = pl.DataFrame(
        [as_text(opened.column(name).clean(original[name])).alias(name) for name in names]
    )
    counts = cleaned.group_by(names).agg(pl.len().alias("\x00"))
    met = rows.join(counts, on=names, how="left", nulls_equal=True)["\x00"].fill_null(0)
    return int((met == 1).sum()), int((met == 0).sum())


def tight(opened: Opened, name: str) -> bool:
    """Tell whether the cells of a column are as narrow as they can be, but for slack."""
    settings = opened.plan.columns.get(name)
    # What no cell may be finer than says nothing of who occurs.
    raised = settings is not None and settings.limits.keys() & {"finest", "top", "bottom"}
    return not raised and name not in opened.spellings and METHODS[opened.plan.method.name].tight


def _cell_facts(opened: Opened, name: str) -> CellFacts:
    column = opened.column(name)
    settings = opened.plan.columns.get(name)
    texts = cell_texts(opened.published.cells, name, opened.taxonomies.get(name))
    shown = texts.unique(maintain_order=True)
    index = pl.DataFrame({"text": shown, "at": np.arange(len(shown))})
    which = pl.DataFrame({"text": texts}).join(index, on="text", maintain_order="left")["at"]
    if name in opened.taxonomies and column.kind in (None, Kind.TAXONOMY):
        facts = _of_nodes(notation.read_labels(shown), opened.taxonomies[name])
    else:
        # A plan that says nothing leaves the step to the table, which may have given it one.
        gridded = opened.complete and settings is not None and settings.grid != OFF
        dtype = pl.Float64() if column.kind is Kind.ORDERED else pl.String()
        facts = [_of_cell(cell, gridded, dtype) for cell in shown]
    wide = np.array([not exact for exact, _ in facts], np.bool_)
    sure_of = tight(opened, name) and not opened.plan.release.slack
    sure = [values if exact or sure_of else () for exact, values in facts]
    starts = np.concatenate(([0], np.cumsum([len(values) for values in sure]))).astype(np.int64)
    listed = pl.Series([value for values in sure for value in values], dtype=pl.String)
    return CellFacts(which.to_numpy(), wide, starts, listed)


Fact = tuple[bool, tuple[str, ...]]
"""Whether a cell is exact, and the values that must occur behind it."""


def _of_cell(cell: str, gridded: bool, dtype: pl.DataType) -> Fact:
    """Tell what follows from an interval or a set."""
    if cell.startswith("["):
        return False, () if gridded else _ends(cell)
    try:
        read = notation.read(cell, dtype)
    except InputError:
        return False, ()  # another tool's: nothing is certain
    return read.form == "exact", () if read.form == "interval" else read.parts


def _ends(cell: str) -> tuple[str, ...]:
    for dtype in (pl.Float64(), pl.Datetime(), pl.String()):
        try:
            return notation.read(cell, dtype).parts
        except InputError:
            continue
    return ()  # another tool's: nothing is certain


def _of_nodes(labels: pl.Series, taxonomy: Taxonomy) -> list[Fact]:
    """Tell what follows from the labels of a taxonomy: of two children both must occur."""
    children: dict[int, list[int]] = {}
    for node, parent in enumerate(taxonomy.up[:-1].tolist()):
        children.setdefault(parent, []).append(node)
    nodes = {label: node for node, label in enumerate(taxonomy.labels)}
    facts: list[Fact] = []
    for label in labels:
        node = nodes.get(label, taxonomy.root)
        below = children.get(node, [])
        if label != STAR and node < taxonomy.size:
            facts.append((True, (label,)))
        elif label != STAR and len(below) == 2:
            facts.append((False, tuple(taxonomy.labels[n] for n in below if n < taxonomy.size)))
        else:
            facts.append((False, ()))
    return facts

"""Count the rows that columns published unchanged make unique.

A rule such as k-anonymity speaks of the quasi-identifiers alone. Columns that leave the house
exactly may single out rows that look alike on them, and nothing in the verdict says so. This is
counted on the published cells, so it can be told to everybody who may see those.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from shoal.base.partition import Ints
from shoal.releases.anatomy import GROUP
from shoal.releases.published import Published
from shoal.tables.schema import plain
from shoal.tables.set_cells import read_sets

LIMIT = 0.01  # share of the rows from which it is a warning
_NAMED = 4  # columns that a sentence names
_LONGEST = 40  # letters of a name in it
_TRIED = 8  # columns that are tried one by one: those with most values


@dataclass(frozen=True)
class Exposure:
    """Columns released as they are, and the rows that are unique with them.

    Parameters
    ----------
    columns
        Their names.
    rows
        Published rows.
    before
        Rows that are unique by the published quasi-identifiers alone.
    unique
        Rows that are unique when these columns are known besides.
    worst, worst_unique
        The column that makes most rows unique by itself, and how many.
    secret
        There is one such column and it is sensitive: anyone who knows it learns nothing more.
    linked
        The rows of a person are linked by a pseudonym: unique are the rows of people whose rows,
        all of them together, nobody else has.
    """

    columns: tuple[str, ...]
    rows: int
    before: int
    unique: int
    worst: str
    worst_unique: int
    secret: bool = False
    linked: bool = False

    @property
    def share(self) -> float:
        """Share of the rows that are unique."""
        return self.unique / max(self.rows, 1)

    @property
    def warns(self) -> bool:
        """Whether it is a warning: there is more to learn about many people who are found so."""
        return self.share > LIMIT and self.unique > self.before and not self.secret

    def describe(self) -> str:
        """Return the finding as a sentence."""
        names = [short(name) for name in self.columns[:_NAMED]]
        if len(self.columns) > _NAMED:
            names.append(f"{len(self.columns) - _NAMED} more")
        known = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
        text = (
            f"Someone who also knows a person's {known} could single out "
            f"{self._percent(self.unique)} of the rows"
        )
        if self.linked:
            text += ", counting all rows of a person together"
        if len(self.columns) > 1:
            text += f" ({self._percent(self.worst_unique)} by {short(self.worst)} alone)"
        if self.before:
            text += f"; {self._percent(self.before)} by the quasi-identifiers alone"
        if self.warns:
            text += (
                ". These values are published unchanged. Consider making these columns "
                "quasi-identifiers"
            )
        return f"{text}."

    def _percent(self, rows: int) -> str:
        return f"{100 * rows / max(self.rows, 1):.1f} %"

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        return {
            "columns": list(self.columns),
            "unique": self.unique,
            "share": self.share,
            "by_quasi_alone": self.before,
            "worst": self.worst,
            "warning": self.warns,
            "sentence": self.describe(),
        }


def short(name: str) -> str:
    """Return a name as a sentence holds it."""
    return repr(name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…")


def exposure(
    published: Published, sensitive: Sequence[str] = (), persons: Sequence[str] = ()
) -> Exposure | None:
    """Count the rows that are unique by everything that is published; None if nothing is exact.

    Parameters
    ----------
    published
        The published table and its classes: every plain column besides the quasi-identifiers is
        taken for exact.
    sensitive
        Those of the others that are sensitive.
    persons
        Columns of pseudonyms: nobody knows them of a person, and they link rows.
    """
    released = published.frame
    rest = [name for name in released.columns if name not in (*published.columns, *persons)]
    exact = [name for name in rest if _exact(released, name)]
    if not exact:
        return None
    # By number: a published column may be called anything.
    cells = pl.DataFrame([pl.Series("0", published.labels)]).with_columns(
        released[name].alias(str(place)) for place, name in enumerate(exact, 1)
    )
    tried = sorted(range(1, len(exact) + 1), key=lambda place: -cells[str(place)].n_unique())
    whose = next((released[name] for name in persons if name in released.columns), None)
    alone = {place: _unique(cells.select("0", str(place)), whose) for place in tried[:_TRIED]}
    worst = max(alone, key=lambda place: alone[place])
    return Exposure(
        columns=tuple(exact),
        rows=released.height,
        before=int(published.sizes[published.crowds == 1].sum()),
        unique=_unique(cells, whose),
        worst=exact[worst - 1],
        worst_unique=alone[worst],
        secret=len(exact) == 1 and exact[0] in sensitive,
        linked=whose is not None,
    )


def _exact(released: pl.DataFrame, name: str) -> bool:
    """Tell whether a column holds single values; sets of which one is true are none."""
    if name == GROUP or not plain(released[name].dtype):
        return False
    return read_sets(released[name].head(1000)) is None


def _unique(cells: pl.DataFrame, whose: pl.Series | None = None) -> int:
    """Count the rows that equal no other; linked ones: of people whose rows equal nobody else's."""
    if whose is not None:
        told = pl.concat_str(pl.all().cast(pl.String).fill_null("\x01"), separator="\x00")
        rows = cells.select(told.alias("row")).with_columns(whose.alias("person"))
        trails = rows.group_by("person").agg(pl.col("row").sort().str.join("\x02"), pl.len())
        same = trails.group_by("row").agg(pl.len().alias("people"), pl.col("len").sum())
        return int(same.filter(pl.col("people") == 1)["len"].sum())
    sizes: Ints = cells.group_by(cells.columns).len()["len"].to_numpy().astype(np.int64)
    return int((sizes == 1).sum())

"""Choose the targets of an attack and what the attacker knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from shoal.base.errors import SchemaError
from shoal.base.partition import Ints
from shoal.measures.risks.matching import ANY
from shoal.tables.schema import Column


@dataclass(frozen=True, eq=False)
class Draw:
    """Rows drawn for an attack.

    Parameters
    ----------
    chosen
        Rows of the original that are attacked.
    others
        For each of them another row of the original, whose data are used in its place; empty when
        there is none.
    outsiders
        Rows of the control table that are attacked.
    own
        Where a person has several rows: all rows of the people attacked, person after person.
    starts
        Where the rows of each of them begin.
    """

    chosen: Ints
    others: Ints
    outsiders: Ints
    own: Ints | None = None
    starts: Ints | None = None

    @classmethod
    def of_people(
        cls, persons: pl.Series, outsiders: int, targets: int, rng: np.random.Generator
    ) -> Draw:
        """Draw people, each known by one of the rows, and in their place rows of other people."""
        whose = persons.rank("dense").to_numpy()
        rows = np.argsort(whose, kind="stable").astype(np.int64)
        many = np.unique(whose, return_counts=True)[1].astype(np.int64)
        first = np.concatenate(([0], np.cumsum(many))).astype(np.int64)
        drawn = cls.draw(many.size, outsiders, targets, rng)

        chosen, others = (
            rows[first[of] + (rng.random(of.size) * many[of]).astype(np.int64)]
            for of in (drawn.chosen, drawn.others)
        )
        own = np.concatenate([rows[first[who] : first[who + 1]] for who in drawn.chosen])
        starts = np.cumsum(many[drawn.chosen]) - many[drawn.chosen]
        return cls(chosen, others, drawn.outsiders, own, starts)

    @classmethod
    def draw(cls, rows: int, outsiders: int, targets: int, rng: np.random.Generator) -> Draw:
        """Draw targets without replacement, and as many outsiders if there are."""
        chosen = np.sort(rng.choice(rows, targets, replace=False)).astype(np.int64)
        # A step of at least one and less than all round the table ends at somebody else.
        step = rng.integers(1, rows, targets) if rows > 1 else np.empty(0, np.int64)
        others = (chosen + step) % rows if rows > 1 else step
        outside = np.sort(rng.choice(outsiders, min(outsiders, targets), replace=False))
        return cls(chosen, others.astype(np.int64), outside.astype(np.int64))

    @property
    def rows_each(self) -> Ints:
        """How many rows each of the people attacked has."""
        if self.own is None or self.starts is None:
            return np.ones(self.chosen.size, np.int64)
        return np.diff(self.starts, append=self.own.size)

    @property
    def size(self) -> int:
        """Number of people drawn."""
        return self.chosen.size + self.others.size + self.outsiders.size

    def people(
        self,
        column: Column,
        original: pl.DataFrame,
        control: pl.DataFrame | None,
        rng: np.random.Generator,
    ) -> pl.Series:
        """Return the values of a column: of the people drawn, of random rows, and all there are.

        The random rows, as many as there are people, lend the wrong values of :func:`knowledge`.
        Then come all rows of the people attacked, where a person has several. All values are there
        so that every released cell finds what it stands for.
        """
        own = column.clean(original[column.name])
        lent = own.gather(rng.integers(0, original.height, self.size))
        parts = [own.gather(self.chosen), own.gather(self.others)]
        if control is not None:
            theirs = column.clean(control[column.name])
            parts.append(alike(theirs.gather(self.outsiders), own))
        more = [] if self.own is None else [own.gather(self.own)]
        return pl.concat([*parts, lent, *more, own.unique(maintain_order=True)])


def alike(theirs: pl.Series, own: pl.Series) -> pl.Series:
    """Return the control's values in the original's type, or refuse."""
    if theirs.dtype == own.dtype:
        return theirs
    if theirs.dtype.is_integer() and own.dtype.is_float():
        return theirs.cast(own.dtype)
    if theirs.null_count() == len(theirs):
        return theirs.cast(own.dtype, strict=False)
    raise SchemaError(
        f"Column {own.name!r} holds {theirs.dtype} in the control but {own.dtype} in the original, "
        "so they cannot be compared. Write the control the way the original is written."
    )


def attacker_knowledge(
    truth: Ints,
    lent: Ints,
    missing: Ints,
    rng: np.random.Generator,
    *,
    noise: float = 0.0,
    gaps: float = 0.0,
) -> Ints:
    """Return what the attacker takes for true, cell by cell.

    Parameters
    ----------
    truth
        Positions of the true values, ``[people, columns]``.
    lent
        Positions of the values of random rows, taken with probability ``noise``.
    missing
        Per column the position of missing values, which are neither replaced nor lent: nobody can
        be wrong about what the table does not say.
    rng
        Where the draws come from.
    noise, gaps
        Share of the cells that are wrong, and then of those that are not known at all.
    """
    wrong = (rng.random(truth.shape) < noise) & (truth != missing) & (lent != missing)
    taken = np.where(wrong, lent, truth)
    return np.where(rng.random(truth.shape) < gaps, ANY, taken)


def cut(codes: Ints, sizes: Sequence[int]) -> list[Ints]:
    """Cut people after people into their groups, leaving out what comes after the last."""
    ends = np.cumsum(sizes)
    return [codes[end - size : end] for size, end in zip(sizes, ends, strict=True)]

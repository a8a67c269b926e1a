"""Run a method within limits that keep some rows apart.

A coarsest level or width, and columns that are published as they are, cut the table into parts;
each part is grouped by itself. Since two passing groups joined still pass, a part can be grouped if
and only if it passes as one group, so what is infeasible is known, and said, before any work.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl

from shoal.base.errors import Infeasible
from shoal.base.partition import Bools, Cover, GroupStats, Ints, Partition
from shoal.base.roles import Kind
from shoal.coding.encode import Encoded
from shoal.coding.floors import Floor, apply_floors, merge_equal_floors, raise_to_floors
from shoal.privacy import All, Rule, flatten
from shoal.privacy.base import format_figure, least_safe
from shoal.privacy.within import Anchored
from shoal.tables.domain import Ordered, Taxonomy
from shoal.tables.grid import SPANS
from shoal.tables.limits import low_ends
from shoal.tables.schema import Column, Schema

Method = Callable[[Encoded, Rule, int], Partition]
"""Groups some rows under a rule, and may leave so many out."""


@dataclass(frozen=True, eq=False)
class Bounds:
    """A table within limits.

    ``data`` over domains with room for the floors; ``seen`` as methods see it. ``parts``: rows with
    different numbers never share a class. ``strata``: inside each of these promises hold.
    """

    data: Encoded
    seen: Encoded
    floors: dict[int, Floor]
    schema: Schema
    parts: Ints
    strata: Ints
    budget: int = 0

    @classmethod
    def create(cls, data: Encoded, schema: Schema, suppress: float | None) -> Bounds:
        """Return a table within the limits of its columns and a budget of rows to leave out."""
        roomy, floors = apply_floors(data, schema)
        seen = merge_equal_floors(roomy, floors)
        within = [name for name in data.names if schema[name].within]
        strata = _cut(seen, schema, within)
        parts = _cut(seen, schema, data.names)
        return cls(
            roomy, seen, floors, schema, parts, strata, int((suppress or 0.0) * data.rows + 1e-9)
        )

    @property
    def limited(self) -> list[str]:
        """The columns with a limit that cuts the table."""
        columns = (self.schema[name] for name in self.data.names)
        return [c.name for c in columns if c.within or c.coarsest is not None]


def is_limited(schema: Schema, suppress: float | None) -> bool:
    """Tell whether anything bounds how a table may be published."""
    return bool(suppress) or any(schema[name].limited for name in schema.quasi)


def group_within_limits(bounds: Bounds, rule: Rule, method: Method) -> Partition:
    """Group a table part by part, leaving out the rows that no class can take."""
    made = _by_part(bounds, rule, method, _feasible(bounds, rule))
    notes = {**made.notes}
    if bounds.budget:
        notes["rows left out"] = int(made.left_out.size)
        notes["rows that may be left out"] = bounds.budget
    return replace(raise_to_floors(bounds.seen, bounds.floors, made), notes=notes)


# Parts


def _cut(seen: Encoded, schema: Schema, names: Sequence[str]) -> Ints:
    """Number the parts of a table that limits of some columns keep apart."""
    labels = np.zeros(seen.rows, np.int64)
    for name in names:
        j = seen.names.index(name)
        kinds = _kinds(seen, j, schema[name])
        if kinds is None:
            continue
        own = kinds[seen.codes[:, j]]
        span = int(own.max(initial=0)) + 1
        labels = np.unique(labels * span + own, return_inverse=True)[1].reshape(-1)
    return labels.astype(np.int64)


def _kinds(seen: Encoded, j: int, column: Column) -> Ints | None:
    """Number what keeps each position of a column apart from others; missing is one of its own."""
    domain = seen.domains[j]
    places = np.arange(domain.size, dtype=np.int64)
    if column.within:
        own = places
    elif column.coarsest is None:
        return None
    elif isinstance(domain, Taxonomy):
        assert isinstance(column.coarsest, int)
        own = domain.levels[column.coarsest].astype(np.int64)
    elif isinstance(domain, Ordered) and domain.size:
        assert column.kind is Kind.ORDERED
        own = low_ends(domain.values, column.coarsest).rank("dense").cast(pl.Int64).to_numpy()
        own = own.copy()
        # What is open at one end is published apart from what has two.
        if domain.top is not None:
            own[domain.top :] = domain.size + 1
        if domain.bottom is not None:
            own[0] = domain.size + 2
    else:
        return None
    return np.append(own, int(own.max(initial=0)) + 1)


def _by_part(bounds: Bounds, rule: Rule, method: Method, kept: Bools) -> Partition:
    """Run a method on every part and put its groups together."""
    rows_of = np.flatnonzero(kept)
    order = rows_of[np.argsort(bounds.parts[rows_of], kind="stable")]
    edges = np.flatnonzero(np.diff(bounds.parts[order])) + 1
    pieces = np.split(order, edges) if order.size else []
    whole = len(pieces) == 1 and bool(kept.all())
    budget, waiting = bounds.budget - int((~kept).sum()), int(kept.sum())
    least = rule.least
    made = _Pieces(len(bounds.seen.domains))
    references = _references(bounds, rule, kept)
    for rows in pieces:
        # Every part may leave out its share of what is left; what others are compared with stays.
        spare = 0 if references else budget * rows.size // waiting
        own = bounds.seen if whole else bounds.seen.take(rows)
        judged = _anchored(rule, references.get(int(bounds.strata[rows[0]])))
        small = rows.size < 2 * least and judged.holds(own.whole()).all()
        # Too few rows for two classes are one, whatever the method.
        found = Partition.one(rows.size) if small else method(own, judged, spare)
        made.add(rows, found)
        budget, waiting = budget - found.left_out.size, waiting - rows.size
    return made.joined(np.flatnonzero(~kept))


@dataclass(eq=False)
class _Pieces:
    """Partitions of parts of a table, to be put together."""

    columns: int
    rows: list[Ints] = field(default_factory=list)
    sizes: list[Ints] = field(default_factory=list)
    out: list[Ints] = field(default_factory=list)
    covers: list[Cover] = field(default_factory=list)
    covered: bool = False
    notes: list[dict[str, Any]] = field(default_factory=list)

    def add(self, rows: Ints, made: Partition) -> None:
        self.rows.append(rows[made.rows])
        self.sizes.append(made.sizes)
        self.out.append(rows[made.left_out])
        self.covers.append(made.cover or Cover.none(made.groups, self.columns))
        self.covered |= made.cover is not None
        self.notes.append(dict(made.notes))

    def joined(self, dropped: Ints) -> Partition:
        sizes = np.concatenate([np.zeros(1, np.int64), *self.sizes])
        cover = None
        if self.covered:
            cover = Cover(
                np.concatenate([each.lo for each in self.covers]),
                np.concatenate([each.hi for each in self.covers]),
                np.concatenate([each.node for each in self.covers]),
            )
        notes = self.notes[0] if len(self.notes) == 1 else {}
        return Partition(
            np.concatenate([np.empty(0, np.int64), *self.rows]),
            np.cumsum(sizes),
            np.concatenate([dropped, *self.out]).astype(np.int64),
            cover,
            notes,
        )


# Rules


def _references(bounds: Bounds, rule: Rule, kept: Bools) -> dict[int, GroupStats]:
    """Return what classes of each stratum are compared with, if a rule compares at all."""
    cuts = bounds.parts.max(initial=0) > bounds.strata.max(initial=0)
    if rule.judged_alone or not cuts:
        return {}
    return {
        int(stratum): bounds.seen.take(np.flatnonzero(kept & (bounds.strata == stratum))).whole()
        for stratum in np.unique(bounds.strata[kept])
    }


def _anchored(rule: Rule, whole: GroupStats | None) -> Rule:
    if whole is None or rule.judged_alone:
        return rule
    parts = [one if one.judged_alone else Anchored(one, whole) for one in flatten([rule])]
    return parts[0] if len(parts) == 1 else All(tuple(parts))


def _failing(bounds: Bounds, rule: Rule, kept: Bools) -> Bools:
    """Say which rows lie in a part that cannot keep the rule, even as one class."""
    failing = np.zeros(kept.size, np.bool_)
    references = _references(bounds, rule, kept)
    strata = np.unique(bounds.strata[kept]) if not rule.judged_alone else np.zeros(1, np.int64)
    for stratum in strata:
        inside = kept if rule.judged_alone else kept & (bounds.strata == stratum)
        rows = np.flatnonzero(inside)
        partition = Partition.from_labels(
            np.unique(bounds.parts[rows], return_inverse=True)[1].reshape(-1)
        )
        judged = _anchored(rule, references.get(int(stratum)))
        bad = ~judged.holds(bounds.seen.take(rows).stats(partition))
        failing[rows] = bad[partition.labels()]
    return failing


def _feasible(bounds: Bounds, rule: Rule) -> Bools:
    """Return the rows that can be published, or say what limits would do."""
    kept = np.ones(bounds.seen.rows, np.bool_)
    while True:
        failing = _failing(bounds, rule, kept)
        if not failing.any():
            return kept
        kept &= ~failing
        if not kept.any() or int((~kept).sum()) > bounds.budget:
            raise Infeasible(_refusal(bounds, rule, failing, kept))


def _refusal(bounds: Bounds, rule: Rule, failing: Bools, kept: Bools) -> str:
    """Say what cannot be kept, and the nearest that can; no value of the table is named."""
    parts = np.unique(bounds.parts).size
    few = np.unique(bounds.parts[~kept]).size
    named = ", ".join(map(repr, bounds.limited)) or "none"
    lost = int((~kept).sum())
    ways = [*_coarser(bounds, rule), *_weaker(bounds, rule)]
    if kept.any():
        share = np.ceil(1000 * lost / kept.size) / 10
        ways.append(f"leave out {lost:,} rows (--suppress {share:g}%)")
    budget = f", and {bounds.budget:,} may be left out" if bounds.budget else ""
    return (
        f"The limits of {named} cut the table into {parts:,} parts whose rows never share a class, "
        f"and in {few:,} of them, with {lost:,} rows, not even all rows together keep the promise "
        f"that {rule.describe()}{budget}. What would do: {'; or '.join(ways) or 'other limits'}."
    )


def _coarser(bounds: Bounds, rule: Rule) -> list[str]:
    """Return for each column the nearest coarsest limit that will do, the others as they are."""
    ways = []
    for name in bounds.limited:
        column = bounds.schema[name]
        for level in _steps(bounds, column):
            looser = replace(column, coarsest=level)
            schema = Schema(
                tuple(looser if own.name == name else own for own in bounds.schema.columns)
            )
            parts = _cut(bounds.seen, schema, bounds.seen.names)
            if not _failing(replace(bounds, parts=parts), rule, np.ones(parts.size, bool)).any():
                looser_ = "no coarsest limit" if level is None else f"coarsest = {level!r}"
                ways.append(f"{looser_} for {name!r}")
                break
    return ways


def _steps(bounds: Bounds, column: Column) -> list[int | float | str | None]:
    """Return limits that are coarser than a column's, nearest first, none at all last."""
    if column.within or column.coarsest is None:
        return []
    domain = bounds.seen.domains[bounds.seen.names.index(column.name)]
    if isinstance(domain, Taxonomy):
        assert isinstance(column.coarsest, int)
        return [*range(column.coarsest + 1, len(domain.levels) - 1), None]
    if isinstance(column.coarsest, str):
        spans = list(SPANS)
        return [*spans[spans.index(column.coarsest) + 1 :], None]
    return [*(column.coarsest * more for more in (2, 3, 4, 5, 10, 20, 50, 100)), None]


def _weaker(bounds: Bounds, rule: Rule) -> list[str]:
    """Return the nearest promises that every part can keep."""
    wholes = [
        bounds.seen.take(np.flatnonzero(bounds.parts == part)).whole()
        for part in np.unique(bounds.parts)[:_MOST]
    ]
    ways = []
    if len(wholes) == np.unique(bounds.parts).size:
        for one in flatten([rule]):
            nearest: dict[str, list[float]] = {}
            for whole in wholes:
                for limit in one.limits(whole):
                    nearest.setdefault(limit.param, []).append(limit.value)
            for param in one.params:
                if param.safer is None or param.name not in nearest:
                    continue
                best = least_safe(param.safer, *nearest[param.name])
                if param.low is None or best >= param.low:
                    ways.append(f"{one.name} with {param.name} = {format_figure(best)}")
    return ways


_MOST = 2_000
"""Parts that are asked one by one for the nearest promise; with more nobody would wait for it."""

__all__ = ["Bounds", "group_within_limits", "is_limited"]

"""Rows of a later table in the classes of an earlier release, where they fit; the others anew.

A class of the earlier release is taken up with its cells as they were published, if the rows that
fit into it keep the promise. Whether they do is found out while grouping, and checked once more
from the cells that come out, by the verifier of every release, and over both releases together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from shoal.base.errors import NotVerified, ParameterError, SchemaError, listed, warn
from shoal.base.partition import Bools, Cover, Floats, Ints, Partition, Said
from shoal.base.roles import Kind, Role
from shoal.catalog import GENERALIZED, Method
from shoal.coding.encode import Encoded
from shoal.groupers.lasting import Grouping
from shoal.measures.differing import differing
from shoal.plan.plan import Plan
from shoal.privacy import KAnonymity, LDiversity, MInvariance, Rule, flatten
from shoal.releases.generalized.check import verify
from shoal.releases.generalized.coverage import first_covering
from shoal.releases.history.store import Pending, digest
from shoal.releases.opened import Opened
from shoal.releases.published import published_columns
from shoal.releases.readback import Sides, match, reached
from shoal.releases.verdict import Original, Verdict
from shoal.tables.cells import as_text, blank
from shoal.tables.domain import Ordered, Taxonomy
from shoal.tables.prepare import Taken


@dataclass(frozen=True, eq=False)
class Like:
    """A table that is to be released like an earlier release.

    Parameters
    ----------
    earlier
        The earlier release, opened with the roles and hierarchies of this table.
    taken
        The table.
    rules
        What is promised of the new release, and of both together.
    able
        Whether the method can group rows by their number alone.
    """

    earlier: Opened
    taken: Taken
    rules: tuple[Rule, ...]
    able: bool = True

    @classmethod
    def of(
        cls, earlier: Opened, rules: Sequence[Rule], entry: Method, plan: Plan, taken: Taken
    ) -> Like:
        """Return it, or say what does not go with it."""
        _check_asked(rules, entry, plan, taken.schema.person)
        if earlier.shape is not GENERALIZED:
            raise ParameterError(
                f"The earlier release is of the shape {earlier.shape.name!r}, whose "
                "quasi-identifiers are as they were: it has no classes to fall into. Give a "
                "generalized release, or leave --like (like=...) out."
            )
        _check_columns(earlier, plan, taken)
        able = entry.rules is None or KAnonymity.name in entry.rules
        return cls(earlier, taken, tuple(rules), able)

    @property
    def tied(self) -> dict[str, Any]:
        """What the manifest tells of the earlier release: the digest of what it says."""
        return {"like": digest(self.earlier.frame)}

    def group(self, data: Encoded, grouping: Grouping, _rng: Any) -> Partition:
        """Group the rows: where they fit as in the earlier release, the others by the method."""
        from shoal.groupers.repair import repair  # loads kernels

        rule = self._rule
        fits = _Fits.of(self, data)
        home = self._homes(data, fits, rule)
        rest, labels = np.flatnonzero(home < 0), home.copy()
        if rest.size:
            anew = self._anew(data.take(rest), rule, grouping)
            labels[rest] = np.where(anew < 0, -1, fits.classes + anew)
        made = repair(data, Partition.from_labels(labels), rule)
        mixed = made.rows, made.starts[:-1]
        least, most = (end.reduceat(labels[mixed[0]], mixed[1]) for end in (np.minimum, np.maximum))
        which = np.where((least == most) & (most < fits.classes), least, -1)
        notes = {
            "like": {
                "classes": int((which >= 0).sum()),
                "rows": int(made.sizes[which >= 0].sum()),
                "new classes": int((which < 0).sum()),
                "rows in new classes": int(made.sizes[which < 0].sum()),
            }
        }
        return replace(made, cover=fits.cover(which), notes=notes)

    @property
    def _rule(self) -> Rule:
        from shoal.privacy import All

        return self.rules[0] if len(self.rules) == 1 else All(self.rules)

    def _homes(self, data: Encoded, fits: _Fits, rule: Rule) -> Ints:
        """Return the earlier class of every row, -1 for a row that is grouped anew.

        A row goes to the narrowest class that covers it. Rows of classes that would break the
        promise go to the next one that keeps it, if it still does with them.
        """
        first = fits.narrowest(np.arange(data.rows), np.ones(fits.classes, np.bool_))
        kept = _passing(data, rule, first, fits.classes)
        home = np.where((first >= 0) & kept[first], first, -1)
        lost = np.flatnonzero((first >= 0) & (home < 0))
        if not lost.size:
            return home
        more = home.copy()
        more[lost] = fits.narrowest(lost, kept)
        still = _passing(data, rule, more, fits.classes)
        return np.where((more >= 0) & still[more], more, home)

    def _anew(self, rest: Encoded, rule: Rule, grouping: Grouping) -> Ints:
        """Return the groups of rows that fit nowhere; what breaks the promise is mended later."""
        from shoal.groupers.repair import repair_alike  # loads kernels

        whole = rest.whole()
        if rule.obstacle(whole) is None and rule.holds(whole).all():
            made = grouping(rest, rule)
            return (made if rest.people is None else repair_alike(rest, made, rule)).labels()
        crowd = max((caps.size for part in flatten([rule]) if (caps := part.caps())), default=1)
        crowd = max(crowd, 2)
        if self.able and rest.people is None and rest.rows >= 2 * crowd:
            return grouping(rest, KAnonymity(crowd)).labels()
        return np.zeros(rest.rows, np.int64)

    def shown(
        self, frame: pl.DataFrame, data: Encoded, made: Partition, _rng: Any
    ) -> tuple[pl.DataFrame, Encoded, Partition]:
        """Return what is published of the table: its rows."""
        return frame, data, made

    def beside(self, _release: pl.DataFrame, _order: Ints) -> dict[str, pl.DataFrame]:
        """Return what is published beside it: nothing."""
        return {}

    def false(self, opened: Opened, _order: Ints) -> Ints:
        """Return how many counterfeits every class has: none."""
        return np.zeros(opened.published.sizes.size, np.int64)

    def told(
        self, _data: Encoded, _made: Partition, opened: Opened, _source: Original
    ) -> tuple[Pending | None, list[str]]:
        """Refuse a release with which the promise is broken over both; warn of differences."""
        names = [*opened.published.columns, *opened.sensitive]
        both = [frame.select(names) for frame in (self.earlier.frame, opened.frame)]
        whole = pl.DataFrame([_one_type(*(frame[name] for frame in both)) for name in names])
        missing = {name: opened.column(name).missing for name in opened.sensitive}
        earlier = whole[: both[0].height]
        self._refuse(verify(earlier, opened.quasi, self.rules, missing=missing), alone=True)
        self._refuse(verify(whole, opened.quasi, self.rules, missing=missing), alone=False)
        alone = [rule for rule in self.rules if rule.judged_alone and rule.column is not None]
        if many := differing(earlier, whole[both[0].height :], opened.published.columns, alone):
            warn(
                f"{many:,} classes differ from the earlier release by rows that do not keep the "
                "promise by themselves. If the same people are in both tables, whoever knows who "
                "came or left since can subtract one from the other: then ask for --against too, "
                "or for m-invariance (--m, --history)."
            )
        return None, []

    def _refuse(self, verdict: Verdict, *, alone: bool) -> None:
        """Refuse a promise that the earlier release does not keep, or both as one table do not."""
        if verdict.holds:
            return
        told = "\n".join(verdict.faults)
        if alone:
            raise NotVerified(
                f"Nothing was released: the earlier release (--like) does not keep this promise "
                f"itself: {told}\nAsk for what it promised, or leave --like (like=...) out."
            )
        raise NotVerified(
            "Nothing was released: the earlier release (--like) and this one, as one table, do not "
            f"keep the promise: {told}\nThe two tables differ too much for the same classes. Leave "
            "--like (like=...) out, or loosen the promise."
        )


@dataclass(frozen=True, eq=False)
class _Fits:
    """The classes of an earlier release, as a table understands their cells."""

    sides: tuple[Sides, ...]
    width: Floats
    lo: Ints
    hi: Ints
    node: Ints
    cells: pl.DataFrame
    usable: Bools

    @classmethod
    def of(cls, like: Like, data: Encoded) -> _Fits:
        """Read the cells beside the values of the table."""
        taken, cells = like.taken, like.earlier.published.cells
        many = cells.height, len(data.names)
        width, usable = np.ones(many), np.ones(many[0], np.bool_)
        lo, hi, node = (np.full(many, -1, np.int64) for _ in range(3))
        sides = []
        for j, (name, domain) in enumerate(zip(data.names, data.domains, strict=True)):
            column = taken.schema[name]
            side = match(taken.frame[name], cells, column, taken.taxonomies)
            star = side.lo < 0
            own = np.ones(star.size)
            if column.kind is Kind.ORDERED and isinstance(domain, Ordered):
                own, first, last = _ordered(side, domain)
                lo[:, j] = np.where(star, 0, first)[side.cells]
                hi[:, j] = np.where(star, domain.size, last)[side.cells]
            elif column.kind is Kind.SET and side.starts is not None:
                own = (np.diff(side.starts) - 1) / max(domain.size - 1, 1)
                if not column.sets:
                    wide = as_text(cells[name]).str.starts_with("{").fill_null(value=False)
                    usable &= ~wide.to_numpy()
            elif isinstance(domain, Taxonomy):
                known = np.clip(domain.cover(side.lo.clip(0), side.hi), 0, domain.root)
                own = domain.width[known]
                node[:, j] = np.where(star, domain.root, known)[side.cells]
            width[:, j] = np.where(star, 1.0, own.clip(0.0, 1.0))[side.cells]
            sides.append(side)
        usable &= ~np.all([(side.lo < 0)[side.cells] for side in sides], axis=0)  # fits everybody
        return cls(tuple(sides), width, lo, hi, node, cells, usable)

    @property
    def classes(self) -> int:
        """How many there are."""
        return self.cells.height

    def narrowest(self, rows: Ints, allowed: Bools) -> Ints:
        """Return for each of some rows the narrowest allowed class that covers it, or -1."""
        texts = [as_text(self.cells[name]) for name in self.cells.columns]
        # Ties by what the cells say, not by the order of a file.
        ranked = pl.DataFrame(
            [pl.Series("\x00width", self.width.sum(axis=1).round(12)), *texts]
        ).with_row_index("\x00class")
        order = ranked.sort(ranked.columns[1:], nulls_last=True)["\x00class"].to_numpy()
        order = order[(allowed & self.usable)[order]].astype(np.int64)
        sides = [replace(side, values=side.values[rows]) for side in self.sides]
        cells = np.stack([side.cells[order] for side in self.sides], axis=1)
        covering = first_covering(sides, cells)
        return np.where(covering < 0, -1, order[covering]) if order.size else covering

    def cover(self, which: Ints) -> Cover:
        """Return what groups are published as: the cells of these classes, word for word."""
        taken = which >= 0
        many = taken[:, None]
        at = np.where(taken, which, 0)
        lo, hi, node = (
            np.where(many, part[at] if self.classes else -1, -1).astype(np.int32)
            for part in (self.lo, self.hi, self.node)
        )
        width = np.where(many, self.width[at], np.nan) if self.classes else None
        none = np.full((which.size, len(self.sides)), np.nan)
        return Cover(lo, hi, node, Said(self.cells, which, none if width is None else width))


def _ordered(side: Sides, domain: Ordered) -> tuple[Floats, Ints, Ints]:
    """Return how wide intervals are in a column's range, and the positions that they cover."""
    low, high = reached(side)
    points = domain.points if domain.size else np.zeros(1)
    if low is None or high is None:  # texts with an order: points are their ranks
        low, high = side.lo.astype(np.float64), side.hi.astype(np.float64)
    inside = np.minimum(high, points[-1]) - np.maximum(low, points[0])
    wide = np.where(high > low, inside, 0.0) / domain.span
    return np.nan_to_num(wide), *_within(points, low, high)


def _within(points: Floats, low: Floats, high: Floats) -> tuple[Ints, Ints]:
    first = np.searchsorted(points, np.nan_to_num(low), side="left")
    last = np.searchsorted(points, np.nan_to_num(high), side="right") - 1
    return first.astype(np.int64), last.astype(np.int64)


def _passing(data: Encoded, rule: Rule, home: Ints, classes: int) -> Bools:
    """Say which classes keep the promise with the rows that were given to them."""
    labels = np.where(home < 0, classes, home)  # the others count in the whole table
    used = np.unique(labels)
    held = rule.holds(data.stats(Partition.from_labels(labels)))
    passes = np.zeros(classes + 1, np.bool_)
    passes[used] = held
    return passes[:classes] if classes else np.zeros(1, np.bool_)


def _one_type(before: pl.Series, now: pl.Series) -> pl.Series:
    """Put a column of both releases into one, as numbers only if both are."""
    if before.dtype == now.dtype:
        return pl.concat([before, now])
    if before.dtype.is_numeric() and now.dtype.is_numeric():
        return pl.concat([before.cast(pl.Float64), now.cast(pl.Float64)])
    return pl.concat([as_text(blank(before)), as_text(blank(now))])


def _check_asked(rules: Sequence[Rule], entry: Method, plan: Plan, person: str | None) -> None:
    """Refuse what cannot be released like something else."""
    why = ""
    if any(isinstance(rule, MInvariance) for rule in rules):
        why = "m-invariance forms classes by what its history says of people"
    elif entry.shape is not GENERALIZED:
        why = f"the method {entry.name!r} publishes every quasi-identifier as it is"
    elif not entry.tight:
        why = f"the method {entry.name!r} publishes the whole table on one level"
    elif plan.release.together:
        why = "a pseudonym, or person_rows = 'together', needs classes of whole people"
    elif plan.release.slack:
        why = "slack widens cells by chance, and cells of an earlier release stay as they are"
    if why:
        raise ParameterError(
            f"A release like an earlier one (--like, like=...) was asked for, and {why}. Leave one "
            "of the two out."
        )
    shared = [r.name for r in flatten(rules) if not isinstance(r, (KAnonymity, LDiversity))]
    if person is not None and shared:
        raise ParameterError(
            f"{listed(shared)} counts shares of people ({person!r}), and over two releases that "
            "needs to know who is in both, which the earlier release does not say. With --like "
            "(like=...) ask for k-anonymity and distinct l-diversity, or leave --person out."
        )


def _check_columns(earlier: Opened, plan: Plan, taken: Taken) -> None:
    """Refuse an earlier release of other columns, or with cells in another form."""
    quasi = [name for name in taken.frame.columns if name in taken.schema.quasi]
    try:
        held = published_columns(earlier.frame, quasi)
        lost = [n for n in taken.schema.names(Role.SENSITIVE) if n not in earlier.frame.columns]
        if lost:
            raise SchemaError(
                f"It has no sensitive column {listed(lost)}; it has: "
                f"{listed(earlier.frame.columns)}."
            )
    except SchemaError as fault:
        raise SchemaError(f"The earlier release cannot be followed (--like): {fault}") from None
    paired = any(name not in held for name in quasi)
    middle = any(name.endswith("_mid") and name not in quasi for name in held)
    if paired != bool(plan.release.ends) or middle != bool(plan.release.mid):
        form = "as text" if not paired else "as pairs x_lo, x_hi" + (", x_mid" if middle else "")
        raise ParameterError(
            f"The earlier release has its intervals {form}, and this one is to have them "
            "otherwise: their labels cannot be the same. Ask for the same with --typed, --text, "
            "--mid or --no-mid (typed=..., mid=...)."
        )

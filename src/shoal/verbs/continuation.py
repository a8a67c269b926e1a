"""Continue a series of releases: common interface of m-invariance and dummy values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
import polars as pl

from shoal.base.partition import Ints
from shoal.catalog import Method
from shoal.coding.encode import Encoded
from shoal.groupers.m_invariant_groups import Grouping
from shoal.privacy import Rule
from shoal.releases.history.store import History, Pending
from shoal.releases.opened import Opened
from shoal.releases.verdict import Verdict
from shoal.tables.original import Original


class SeriesRelease(Protocol):
    """How one release of several is made and checked."""

    @property
    def manifest_entry(self) -> dict[str, Any]:
        """What the manifest tells of what it has in common with others."""
        ...

    def group(self, data: Encoded, grouping: Grouping, rng: Any) -> Any:
        """Group the rows."""
        ...

    def publish(
        self, frame: pl.DataFrame, data: Encoded, made: Any, rng: Any
    ) -> tuple[pl.DataFrame, Encoded, Any]:
        """Return what is published of the table, its numbers and its groups."""
        ...

    def side_tables(self, release: pl.DataFrame, order: Ints) -> dict[str, pl.DataFrame]:
        """Return what is published beside it."""
        ...

    def counterfeit_counts(self, opened: Opened, order: Ints) -> Ints:
        """Return how many counterfeits every class has."""
        ...

    def record(
        self, data: Encoded, made: Any, opened: Opened, source: Original
    ) -> tuple[Pending | None, list[str]]:
        """Return what the history becomes with the release, and what is wrong with both."""
        ...


def continue_series(
    history: History | None,
    rules: Sequence[Rule],
    entry: Method,
    table: Original,
) -> SeriesRelease | None:
    """Return what ties a release to earlier ones, None for one by itself."""
    if history is None:
        return None
    if entry.shape.domains:
        from shoal.verbs.dummies_over_time import DummySeries

        return DummySeries.create(history, rules, table.frame, table.schema)
    from shoal.verbs.m_invariant_series import MInvariantSeries

    return MInvariantSeries.create(history, rules, entry, table.frame, table.schema)


def shown_of(
    series: SeriesRelease | None,
    frame: pl.DataFrame,
    data: Encoded,
    made: Any,
    rng: np.random.Generator | None,
) -> tuple[pl.DataFrame, Encoded, Any]:
    """Return what is published of a table: its rows, and whatever its series adds."""
    return (frame, data, made) if series is None else series.publish(frame, data, made, rng)


def told_over_time(
    series: SeriesRelease | None, data: Encoded, made: Any, opened: Opened, source: Original
) -> tuple[Pending | None, list[str]]:
    """Return what the history becomes with a release, and what is wrong with the two."""
    return (None, []) if series is None else series.record(data, made, opened, source)


def counted_people(
    opened: Opened, verdict: Verdict, series: SeriesRelease | None, order: Ints
) -> tuple[Opened, Verdict]:
    """Say how many people a release and its classes have; counterfeits are nobody."""
    if verdict.people is None or verdict.stats is None:
        return opened, verdict
    false = np.zeros(1, np.int64) if series is None else series.counterfeit_counts(opened, order)
    people = verdict.stats.sizes - false
    opened, many = replace(opened, people=people), verdict.people - int(false.sum())
    if not false.any():
        return opened, replace(verdict, people=many)
    told = {"k": int(people.min())} if "k" in verdict.achieved else {}
    rules = (
        replace(rule, achieved=rule.achieved | told) if "k" in rule.achieved else rule
        for rule in verdict.rules
    )
    achieved = verdict.achieved | told
    return opened, replace(verdict, people=many, rules=tuple(rules), achieved=achieved)

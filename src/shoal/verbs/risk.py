"""Measure the risk of a table before and after anonymization."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from shoal.base.errors import SchemaError, warn
from shoal.base.partition import GroupStats
from shoal.base.results import Caution, Piece, Result, ResultTable, percent
from shoal.base.roles import Role
from shoal.measures.exposure import Exposure, exposure
from shoal.measures.risks.reidentification import AttributeRisk, Risk, assess, attribute_risk
from shoal.measures.value_disclosure import LEFT_OUT, ValueDisclosure, value_disclosure
from shoal.privacy import KAnonymity
from shoal.releases import other_notations
from shoal.releases.opened import Opened, people_not_counted
from shoal.tables.open_table import check_columns, quasi_schema
from shoal.tables.schema import Column


@dataclass(frozen=True, eq=False, repr=False)
class Risks(Result):
    """What :func:`risk` found.

    Parameters
    ----------
    quasi
        The quasi-identifiers looked at.
    after
        The risk of the table that was given.
    before
        The risk of its original, if that was given.
    attributes, attributes_before
        By sensitive column: what can be believed of a person.
    population
        Number of people in the population, if one was given.
    exposure
        The other columns of the table, and how many rows are unique when they are known besides.
    values
        By sensitive column what the classes tell of every value; of generalized releases only.
    """

    quasi: tuple[str, ...]
    after: Risk
    before: Risk | None = None
    attributes: dict[str, AttributeRisk] = field(default_factory=dict)
    attributes_before: dict[str, AttributeRisk] = field(default_factory=dict)
    population: int | None = None
    exposure: Exposure | None = None
    values: dict[str, ValueDisclosure] = field(default_factory=dict)

    def __repr__(self) -> str:
        after = self.after
        return (
            f"Risks({after.rows:,} rows by {', '.join(self.quasi)}; highest "
            f"{after.prosecutor_highest:.4g}, mean {after.prosecutor_mean:.4g}, unique "
            f"{after.unique:.4g})"
        )

    def pieces(self) -> Iterator[Piece]:
        """Yield the figures before and after side by side."""
        yield f"{self.after.rows:,} rows, attacker knows {', '.join(self.quasi)}"
        both = [measured for measured in (self.before, self.after) if measured is not None]
        heads = ("before", "after") if len(both) == 2 else ("this table",)
        yield ResultTable(("re-identification", *heads), _rows(both, self.population))
        for name, after in self.attributes.items():
            seen = [*([self.attributes_before[name]] if self.before else []), after]
            yield ResultTable((f"belief in a value of {name}", *heads), _beliefs(seen))
            if name in self.values:
                yield from self.values[name].pieces()
        if self.left_out:
            yield self.left_out
        if self.exposure is not None:
            text = self.exposure.describe()
            yield Caution(text) if self.exposure.warns else text

    @property
    def left_out(self) -> str:
        """Why nothing is said of single values, where that is so."""
        return LEFT_OUT if self.attributes and not self.values else ""

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain data, without those of single rows."""
        return {
            "quasi": list(self.quasi),
            "population": self.population,
            "before": None if self.before is None else self.before.to_dict(),
            "after": self.after.to_dict(),
            "attributes_before": {k: v.to_dict() for k, v in self.attributes_before.items()},
            "exposure": None if self.exposure is None else self.exposure.to_dict(),
            "attributes": {k: v.to_dict() for k, v in self.attributes.items()},
            "values": {k: v.to_dict() for k, v in self.values.items()},
            "values_left_out": self.left_out,
        }


def _rows(measured: list[Risk], population: int | None) -> list[tuple[str, ...]]:
    share = percent(measured[0].threshold, 0)

    def line(label: str, *cells: object) -> tuple[str, ...]:
        return (label, *map(str, cells))

    rows = [
        line("rows", *(f"{one.rows:,}" for one in measured)),
        line("classes", *(f"{one.classes:,}" for one in measured)),
        line(f"smallest class (k), {measured[-1].counted}", *(one.k for one in measured)),
        line(
            "highest risk (prosecutor)",
            *_all(measured, "prosecutor_highest"),
        ),
        line("mean risk", *_all(measured, "prosecutor_mean")),
        line(f"rows with a risk above {share}", *(percent(one.above) for one in measured)),
        line(_unique(measured[-1]), *(percent(one.unique) for one in measured)),
    ]
    if population is None:
        return rows
    return [
        *rows,
        line(f"smallest group of {population:,} people (k-map)", *(one.k_map for one in measured)),
        line("highest risk (journalist)", *_all(measured, "journalist_highest")),
        line("share of rows linked correctly (marketer)", *_all(measured, "marketer")),
    ]


def _unique(risk: Risk) -> str:
    alone = "rows of people who are alone in their class"
    return "rows that are unique" if risk.counted == "rows" else alone


def _beliefs(measured: list[AttributeRisk]) -> list[tuple[str, ...]]:
    limit = percent(measured[0].threshold, 0)
    return [
        ("most likely value, highest", *_all(measured, "worst")),
        ("most likely value, mean", *_all(measured, "mean")),
        ("most frequent value, without the release", *_all(measured, "prior")),
        (
            f"{measured[-1].counted} with a belief above {limit}",
            *(percent(one.above) for one in measured),
        ),
        (
            f"{measured[-1].counted} with a certain value",
            *(percent(one.certain) for one in measured),
        ),
    ]


def _all(measured: list[Risk] | list[AttributeRisk], name: str) -> list[str]:
    return [percent(getattr(one, name)) for one in measured]


def risk(
    opened: Opened,
    *,
    original: pl.DataFrame | None = None,
    population: pl.DataFrame | None = None,
    threshold: float = 0.2,
    belief: float = 0.5,
    stats: GroupStats | None = None,
) -> Risks:
    """Measure how likely people are found in a table, and what is then believed of them.

    ``opened`` is a release of any shape, or any other table; ``original`` the table it was made
    from, for the risk before; ``stats`` what its run counted. The other parameters are those of
    :meth:`shoal.Release.risk`.
    """
    quasi, hidden = opened.quasi, opened.sensitive
    if not quasi:
        raise SchemaError(
            "Measuring risk needs the quasi-identifiers, and none were given. Name them with "
            "--quasi (quasi=[...]) or give the plan of the run with --plan (plan=...)."
        )
    check_columns(original, "The original", [*quasi, *hidden])
    check_columns(population, "The population", quasi)
    options: dict[str, Any] = {"threshold": threshold, "population": population}
    if population is not None:
        if original is None:
            opened = other_notations.interpret_with_original(opened, population)
        check_columns(opened.frame, "The release", [name for name in quasi if opened.has(name)])
        guide = population if original is None else original
        options["taxonomies"] = opened.taxonomies
        options["schema"] = quasi_schema(guide, opened.plan, quasi, opened.taxonomies)
    after = assess(
        opened.frame, quasi, raw=opened.shape.exact, published=opened.published, **options
    )
    if after.short:
        warn(
            f"{after.short:,} rows fit fewer people of the population than there are rows like "
            "them, so the population does not hold everybody in the table, or writes values in "
            "another way. A row that fits nobody counts as risk 1.",
        )
    if opened.names(Role.PERSON) and after.counted == "rows":
        warn(people_not_counted(opened.names(Role.PERSON)[0]))
    stats = stats or _counted_people(opened)
    attributes = _believed(opened, belief, stats)
    if original is None:
        before, attributes_before = None, {}
    else:
        # The original is read as any table is: its classes, and what its rows say.
        columns = [Column(name, Role.QUASI) for name in quasi]
        whose = opened.names(Role.PERSON) if after.counted == "people" else []
        columns += [opened.column(name) for name in (*hidden, *whose)]
        whole = Opened({"release": original}, tuple(columns))
        before = assess(original, quasi, raw=True, published=whole.published, **options)
        attributes_before = _believed(whole, belief, _counted_people(whole))
    return Risks(
        quasi=tuple(quasi),
        after=after,
        before=before,
        attributes=attributes,
        attributes_before=attributes_before,
        population=None if population is None else population.height,
        exposure=exposure(opened.published, hidden, opened.names(Role.PERSON)),
        values=value_disclosure(opened, stats),
    )


def _counted_people(opened: Opened) -> GroupStats | None:
    """Count the people of every class, and who has which value; None where that is not known."""
    if opened.persons is None or opened.shape.exact or not opened.sensitive:
        return None
    stats: GroupStats | None = opened.shape.check.check(opened, [KAnonymity(2)]).stats
    return stats


def _believed(
    opened: Opened, threshold: float, stats: GroupStats | None
) -> dict[str, AttributeRisk]:
    return {
        name: attribute_risk(
            opened.view(name),
            name,
            threshold=threshold,
            stats=stats,
            labels=opened.published.labels,
        )
        for name in opened.sensitive
    }

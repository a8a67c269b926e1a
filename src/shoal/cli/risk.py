"""``shoal risk``: measure the re-identification risk of a table, before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from shoal.cli import console, streams
from shoal.cli import options as opt
from shoal.cli.settings import RELEASED, Given, with_settings
from shoal.tables.source import Place

if TYPE_CHECKING:
    from shoal.measures.risks.reidentification import AttributeRisk, Risk
    from shoal.measures.value_disclosure import Telling
    from shoal.verbs.risk import Risks


@with_settings(*RELEASED)
def command(
    released: opt.Released,
    original: Annotated[
        Place | None,
        opt.flag(
            "--original",
            "DATA",
            "The original table, to show the risk before and after.",
            parser=streams.given,
        ),
    ] = None,
    population: Annotated[
        Place | None,
        opt.flag(
            "--population",
            "DATA",
            "Population table that includes these people: adds journalist risk and k-map.",
            parser=streams.given,
        ),
    ] = None,
    threshold: Annotated[
        float, opt.flag("--threshold", "SHARE", "Count the rows with a higher risk.")
    ] = 0.2,
    belief: Annotated[
        float,
        opt.flag(
            "--belief",
            "SHARE",
            "Count the rows whose most likely sensitive value is believed with a higher "
            "probability.",
        ),
    ] = 0.5,
    json: opt.JsonFile = None,
    force: opt.Force = False,
    *,
    given: Given,
) -> None:
    """Measure the re-identification risk of a table, before and after.

    Example: shoal risk release.csv --original patients.csv --quasi age,sex,zip

    Works on any table, anonymized or not. A missing value counts as a separate value, so that it
    never makes a table look safer.
    """
    from shoal.api.opening import open_with_plan
    from shoal.cli.output import check_named, keep, warned_last
    from shoal.tables.open_table import load

    plan, st = given.plan_file, given.opening["st"]
    inputs = [path for path in (released, plan, original, population, st) if path is not None]
    check_named({"--json": json}, force, inputs)
    full = given.plan()
    truth = None if original is None else load(original, full)
    columns = () if truth is None else truth.columns
    with warned_last():
        release = open_with_plan(
            released,
            full,
            given.late(*columns),
            st=st,
            **given.released,
            original=truth,
        )
        risks = release.risk(population=population, threshold=threshold, belief=belief)
        report(risks)
    keep(json, risks.to_json(), force, inputs)


def report(risks: Risks) -> None:
    """Show the figures before and after side by side."""
    console.line(f"{risks.after.rows:,} rows, attacker knows {', '.join(risks.quasi)}")
    both = [measured for measured in (risks.before, risks.after) if measured is not None]
    heads = ("before", "after") if len(both) == 2 else ("this table",)
    console.table(("re-identification", *heads), _rows(both, risks.population))
    for name, after in risks.attributes.items():
        seen = [*([risks.attributes_before[name]] if risks.before else []), after]
        console.table((f"belief in a value of {name}", *heads), _beliefs(seen))
        if name in risks.values:
            _show_values(risks.values[name])
    if risks.left_out:
        console.line(risks.left_out)
    if risks.exposure is not None:
        (console.warning if risks.exposure.warns else console.line)(risks.exposure.describe())


def _rows(measured: list[Risk], population: int | None) -> list[tuple[str, ...]]:
    share = console.percent(measured[0].threshold, 0)

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
        line(f"rows with a risk above {share}", *(console.percent(one.above) for one in measured)),
        line(_unique(measured[-1]), *(console.percent(one.unique) for one in measured)),
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
    limit = console.percent(measured[0].threshold, 0)
    return [
        ("most likely value, highest", *_all(measured, "worst")),
        ("most likely value, mean", *_all(measured, "mean")),
        ("most frequent value, without the release", *_all(measured, "prior")),
        (
            f"{measured[-1].counted} with a belief above {limit}",
            *(console.percent(one.above) for one in measured),
        ),
        (
            f"{measured[-1].counted} with a certain value",
            *(console.percent(one.certain) for one in measured),
        ),
    ]


def _show_values(told: Telling) -> None:
    """Show the values whose share in a class is highest, compared with the table."""
    from shoal.privacy.base import said

    heads = ("in the table", "in a class, highest", "gain", f"{told.unit} where doubled")
    rows = [
        (
            one.value,
            f"{100 * one.table:.3g} %",
            f"{100 * one.highest:.3g} %",
            said(one.ratio),
            f"{one.doubled:,}",
        )
        for one in told.shown
    ]
    console.table((f"share of {told.column}", *heads), rows)
    if len(told.values) > len(rows):
        console.line(f"{len(told.values) - len(rows):,} more values with lower gains: see --json.")
    if sentence := told.describe():
        console.warning(sentence)


def _all(measured: list[Risk] | list[AttributeRisk], name: str) -> list[str]:
    return [console.percent(getattr(one, name)) for one in measured]

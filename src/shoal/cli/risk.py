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
    console.line(f"{risks.after.rows:,} rows, looked up by {', '.join(risks.quasi)}")
    both = [measured for measured in (risks.before, risks.after) if measured is not None]
    heads = ("before", "after") if len(both) == 2 else ("this table",)
    console.table(("re-identification", *heads), _rows(both, risks.population))
    for name, after in risks.attributes.items():
        seen = [*([risks.attributes_before[name]] if risks.before else []), after]
        console.table((f"what is believed of {name}", *heads), _beliefs(seen))
        if name in risks.values:
            _tell(risks.values[name])
    if risks.left_out:
        console.line(risks.left_out)
    if risks.exposure is not None:
        (console.warning if risks.exposure.warns else console.line)(risks.exposure.describe())


def _rows(measured: list[Risk], population: int | None) -> list[tuple[str, ...]]:
    share = f"{measured[0].threshold:g}"

    def line(label: str, *cells: object) -> tuple[str, ...]:
        return (label, *map(str, cells))

    rows = [
        line("rows", *(f"{one.rows:,}" for one in measured)),
        line("classes (rows that look alike)", *(f"{one.classes:,}" for one in measured)),
        line(f"smallest class (k), in {measured[-1].counted}", *(one.k for one in measured)),
        line(
            "highest risk, in the table for sure (prosecutor)",
            *_all(measured, "prosecutor_highest"),
        ),
        line("mean of it", *_all(measured, "prosecutor_mean")),
        line(f"rows with a risk above {share}", *(console.percent(one.above) for one in measured)),
        line(_unique(measured[-1]), *(console.percent(one.unique) for one in measured)),
    ]
    if population is None:
        return rows
    return [
        *rows,
        line(f"fewest of {population:,} people (k-map)", *(one.k_map for one in measured)),
        line("highest risk among the people (journalist)", *_all(measured, "journalist_highest")),
        line("rows linked correctly if all are (marketer)", *_all(measured, "marketer")),
    ]


def _unique(risk: Risk) -> str:
    alone = "rows of people who are alone in their class"
    return "rows that are unique" if risk.counted == "rows" else alone


def _beliefs(measured: list[AttributeRisk]) -> list[tuple[str, ...]]:
    return [
        ("in the likeliest value, at worst", *_all(measured, "worst")),
        ("in the likeliest value, on average", *_all(measured, "mean")),
        ("without looking anybody up", *_all(measured, "prior")),
        (
            f"{measured[-1].counted} believed more than {measured[0].threshold:g}",
            *(console.percent(one.above) for one in measured),
        ),
        (
            f"{measured[-1].counted} whose value is certain",
            *(console.percent(one.certain) for one in measured),
        ),
    ]


def _tell(told: Telling) -> None:
    """Show what classes tell of single values: those with the highest ratio."""
    from shoal.privacy.base import said

    heads = ("in the table", "in a class, at most", "ratio", f"{told.unit} where doubled")
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
    console.table((f"what classes tell of {told.column}", *heads), rows)
    if len(told.values) > len(rows):
        console.line(f"{len(told.values) - len(rows):,} more values with lower ratios: see --json.")
    if sentence := told.describe():
        console.warning(sentence)


def _all(measured: list[Risk] | list[AttributeRisk], name: str) -> list[str]:
    return [f"{getattr(one, name):.4f}" for one in measured]

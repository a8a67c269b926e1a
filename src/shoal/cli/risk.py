"""``shoal risk``: measure the re-identification risk of a table, before and after."""

from __future__ import annotations

from typing import Annotated

from shoal.cli import console, streams
from shoal.cli import options as opt
from shoal.cli.settings import RELEASED, GivenOptions, with_settings
from shoal.tables.source import Place


@with_settings(*RELEASED)
def command(
    released: opt.Released,
    original: Annotated[
        Place | None,
        opt.flag(
            "--original",
            "DATA",
            "The original table, to show the risk before and after.",
            parser=streams.parse_input,
        ),
    ] = None,
    population: Annotated[
        Place | None,
        opt.flag(
            "--population",
            "DATA",
            "Population table that includes these people: adds journalist risk and k-map.",
            parser=streams.parse_input,
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
    given: GivenOptions,
) -> None:
    """Measure the re-identification risk of a table, before and after.

    Example: shoal risk release.csv --original patients.csv --quasi age,sex,zip

    Works on any table, anonymized or not. A missing value counts as a separate value, so that it
    never makes a table look safer.
    """
    from shoal.api.opening import open_with_plan
    from shoal.cli.output import check_named, warned_last, write_text
    from shoal.tables.open_table import load_table

    plan, st = given.plan_file, given.opening["st"]
    inputs = [path for path in (released, plan, original, population, st) if path is not None]
    check_named({"--json": json}, force, inputs)
    full = given.plan()
    truth = None if original is None else load_table(original, full)
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
        console.show(risks.pieces())
    write_text(json, risks.to_json(), force, inputs)

"""``shoal estimate``: estimate counts of sensitive values from a release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.catalog import ESTIMATORS
from shoal.cli import console
from shoal.cli import options as opt
from shoal.cli.settings import GivenOptions, with_settings


@with_settings("Input", "hierarchies", "domain", "quasi")
def command(
    released: opt.Released,
    of: Annotated[
        str, opt.flag("--of", "NAME", "Sensitive column, or NAME=VALUE for one of its values.")
    ],
    by: Annotated[
        list[str] | None,
        opt.flag(
            "--by",
            "NAMES",
            "Columns to split by: sex (every value), age:10 (intervals of ten), sex=f.",
        ),
    ] = None,
    estimator: Annotated[
        str,
        opt.flag(
            "--estimator", "|".join(ESTIMATORS), "How counts are estimated from sets of values."
        ),
    ] = "iterative",
    eps: Annotated[
        float | None,
        opt.flag("--eps", "ROWS", "Change at which the iteration stops (default 0.01)."),
    ] = None,
    as_in_paper: Annotated[
        bool,
        typer.Option(
            "--as-in-paper",
            help="Stop at a change of one row, as the paper on dummy values does.",
        ),
    ] = False,
    level: Annotated[
        float, opt.flag("--level", "SHARE", "Confidence level of the intervals.")
    ] = 0.95,
    st: opt.SecondTable = None,
    values: Annotated[
        int, opt.flag("--values", "INT", "Number of values to show for each combination.", min=1)
    ] = 10,
    json: opt.JsonFile = None,
    plot: Annotated[
        Path | None,
        opt.flag(
            "--plot",
            "FILE.svg|.html",
            "Draw the estimates.",
        ),
    ] = None,
    force: opt.Force = False,
    *,
    given: GivenOptions,
) -> None:
    """Estimate counts of sensitive values from a release, with intervals.

    Example: shoal estimate release.csv --by sex,age:10 --of disease

    Works on dummy values, Anatomy's two tables and generalized tables. For generalized cells, every
    value below a cell counts as equally likely; give the hierarchies that the release was made
    with.
    """
    from shoal.api.opening import open_with_plan
    from shoal.cli.output import check_named, write_text
    from shoal.show.charts.paper import check_picture
    from shoal.show.figures.plots import estimates_chart
    from shoal.tables.open_table import merge_plan

    if plot is not None:
        check_picture(plot)
    check_named({"--json": json, "--plot": plot}, force, [released])
    release = open_with_plan(
        released,
        merge_plan(None, **given.early),
        given.late(),
        st=st,
    )
    split = opt.split_names(by, (), "by") or ()
    how: dict[str, Any] = {"eps": eps, "level": level, "as_in_paper": as_in_paper}
    estimates = release.estimate(of, split, estimator=estimator, **how)
    console.show(estimates.pieces(values))
    write_text(json, estimates.to_json(), force, [released])
    if plot is not None:
        estimates_chart(estimates.counts).save(plot, force=force)
        console.print_line(f"Wrote {plot}.")

"""``shoal demo``: anonymize a table of synthetic patients."""

from __future__ import annotations

import shutil
import warnings
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.base.results import percent
from shoal.cli import console, demo_paper
from shoal.cli import options as opt

if TYPE_CHECKING:
    import polars as pl

    from shoal.verbs.run import Run

SEED = 1
K = 5
SHOWN = 6


def command(
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Folder for the table, hierarchies, plan, release and figures."),
    ] = None,
    paper: Annotated[
        str | None,
        opt.flag(
            "--paper",
            "|".join(demo_paper.PAPERS),
            "Show the example of a paper instead: its table, its release, and Shoal's.",
        ),
    ] = None,
    force: opt.Force = False,
) -> None:
    """Anonymize a table of synthetic patients, and show it before and after.

    Example: shoal demo --out demo
    """
    if paper is not None:
        demo_paper.show(paper, out, force=force)
        return
    from shoal.api.opening import open  # noqa: A004 -- shoal.open
    from shoal.base.atomic import check_output
    from shoal.base.seeds import SHORT_SEED
    from shoal.catalog import DEFAULT_METHOD
    from shoal.cli.background import compile_ahead, run_with_progress
    from shoal.tables import demo
    from shoal.verbs.anonymize import STAGES

    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        for name in ("patients.csv", "plan.toml", "release.csv", "result.json"):
            check_output(out / name, force=force)
    table = open(
        demo.TABLE,
        quasi=demo.QUASI,
        sensitive=demo.SENSITIVE,
        identifier=demo.IDENTIFIER,
        hierarchies=demo.HIERARCHIES,
    )
    frame, profile = table.frame, table.inspect()
    console.print_line(
        f"{frame.height:,} synthetic patients. By their quasi-identifiers, "
        f"{percent(profile.unique / frame.height)} of the rows are unique; "
        f"{percent(profile.vmr)} of these values are missing.\n"
    )
    with warnings.catch_warnings():
        # The patients are made up, and everybody is to see the same: a short seed does no harm.
        warnings.filterwarnings("ignore", message=SHORT_SEED[:30])
        release = run_with_progress(
            lambda progress: table.anonymize(k=K, seed=SEED, progress=progress),
            STAGES,
            first=partial(compile_ahead, DEFAULT_METHOD, diverse=False),
        )
    _show("Before", frame)
    _show(f"After: everyone looks like at least {K - 1} others", _crowd(release.frame))
    console.show(release.made.pieces())
    console.table(
        ("column", "information loss"),
        [(name, percent(rate)) for name, rate in release.loss.by_column.items()],
    )
    if out is None:
        console.print_line("Keep the files with: shoal demo --out demo")
    else:
        _keep(out, frame, release.made, release.frame, force)
        console.print_line(
            f"Wrote patients.csv, hierarchies, plan.toml, release.csv, result.json to {out}."
        )
        console.print_line(
            f"Check it yourself: shoal audit {out}/release.csv --plan {out}/plan.toml"
        )


def _crowd(release: pl.DataFrame) -> pl.DataFrame:
    """Return some rows of the first two classes, each class together."""
    from shoal.tables import demo

    names = list(demo.QUASI)
    classes = release.unique(names, keep="first", maintain_order=True).head(2).select(names)
    chosen = [release.join(classes[i], on=names, nulls_equal=True).head(SHOWN // 2) for i in (0, 1)]
    return chosen[0].vstack(chosen[1])


def _show(title: str, frame: pl.DataFrame) -> None:
    rows = frame.head(SHOWN).rows()
    console.table(
        frame.columns, [["" if cell is None else cell for cell in row] for row in rows], title
    )


def _keep(out: Path, frame: pl.DataFrame, run: Run, release: pl.DataFrame, force: bool) -> None:
    from shoal.base.atomic import atomic_file
    from shoal.tables import demo
    from shoal.tables.write_files import write_table

    shutil.copytree(demo.HIERARCHIES, out / "hierarchies", dirs_exist_ok=True)
    run = replace(run, plan=run.plan.changed({"data": {"hierarchies": "hierarchies"}}))
    write_table(frame, out / "patients.csv", force=force)
    write_table(release, out / "release.csv", force=force)
    plan = run.plan.changed(
        {"seed": SEED}
    )  # a release keeps no seed; here the plan is to repeat it
    for name, text in (("plan.toml", plan.to_toml()), ("result.json", run.to_json())):
        with atomic_file(out / name, force=force) as stream:
            stream.write(text.encode())

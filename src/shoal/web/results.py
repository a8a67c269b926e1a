"""What a finished run shows and leaves behind to take away."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from shoal.base.atomic import atomic_file
from shoal.base.errors import ShoalError
from shoal.base.workers import plain
from shoal.catalog import find_method
from shoal.measures.risks import assess
from shoal.measures.risks.results import Attacks
from shoal.plan.plan import Plan
from shoal.privacy.base import reached
from shoal.report import Origin, render_outcome
from shoal.show.charts import Chart
from shoal.show.figures import attacks_chart
from shoal.tables.files import write_table
from shoal.verbs.outcome import Outcome
from shoal.web.profiles import clip

_EXAMPLES = 6
_DRAWN = 16  # columns whose distribution is drawn


def view(
    outcome: Outcome, frame: pl.DataFrame, attacks: Attacks | None, why: str
) -> dict[str, Any]:
    """Return everything the page shows of a run, as plain data.

    ``why``: the reason that nothing was attacked, if so.
    """
    release = outcome.tables["release"]
    drawn, skipped = charts(outcome, attacks)
    found = plain(
        {
            "summary": outcome.to_dict(),
            "warnings": list(outcome.warnings),
            "rules": [
                {
                    "promise": result.promise,
                    "reached": reached(result.achieved),
                    "holds": result.holds,
                }
                for result in outcome.verdict.rules
            ],
            "groups": examples(outcome, release),
            "risk": risk(outcome, frame, release),
            "shape": find_method(outcome.method).release,
            "attacks": [] if attacks is None else [each.to_dict() for each in attacks.results],
            "charts": drawn,
            "skipped": [*([why] if why else []), *skipped],
        }
    )
    assert isinstance(found, dict)
    return found


def charts(outcome: Outcome, attacks: Attacks | None) -> tuple[list[dict[str, str]], list[str]]:
    """Draw the figures of the report; one that cannot be drawn is named with the reason."""
    plot = outcome.plot
    wanted: dict[str, Callable[[], Chart]] = {
        "loss": plot.loss,
        "classes": plot.classes,
        "risk": plot.risk,
    }
    if attacks is not None and attacks.results:
        wanted["attacks"] = partial(attacks_chart, attacks.results)
    if outcome.schema.sensitive:
        wanted["belief"] = plot.belief
    wanted["missing"] = plot.missing
    names = [*outcome.schema.quasi, *outcome.schema.sensitive]
    for number, name in enumerate(names[:_DRAWN]):
        wanted[f"column-{number}"] = partial(plot.distribution, name)
    drawn, skipped = [], []
    for key, draw in wanted.items():
        try:
            drawn.append({"key": key, "html": draw().html(key)})
        except ShoalError as error:
            skipped.append(str(error))
    if len(names) > _DRAWN:
        skipped.append(f"Only the first {_DRAWN} columns are drawn.")
    return drawn, skipped


def risk(outcome: Outcome, frame: pl.DataFrame, release: pl.DataFrame) -> dict[str, Any]:
    """Return the risk that a row is found, before and after."""
    quasi = outcome.schema.quasi
    known = pl.DataFrame([outcome.schema[name].clean(frame[name]) for name in quasi])
    found = {"before": assess(known, quasi, raw=True), "after": assess(release, quasi)}
    return {
        when: {
            "highest": each.prosecutor_highest,
            "mean": each.prosecutor_mean,
            "unique": each.unique,
            "above": each.above,
            "threshold": each.threshold,
        }
        for when, each in found.items()
    }


def examples(outcome: Outcome, release: pl.DataFrame) -> dict[str, Any]:
    """Return a few classes as they are published: small, middling and large ones."""
    quasi = [name for name in release.columns if _of(name, outcome.schema.quasi)]
    sensitive = [name for name in outcome.schema.sensitive if name in release.columns]
    classes = (
        release.group_by(quasi)
        .agg(pl.len().alias("\0rows"), *(_known(n) for n in sensitive))
        .sort(["\0rows", *quasi], nulls_last=True)
    )
    last = classes.height - 1
    middle = last // 2
    places = sorted({0, 1, middle, middle + 1, last - 1, last} & set(range(classes.height)))
    rows = [
        {
            "rows": row["\0rows"],
            "cells": [None if row[name] is None else clip(str(row[name])) for name in quasi],
            "different": [row[f"\0{name}"] for name in sensitive],
        }
        for row in classes[places[:_EXAMPLES]].iter_rows(named=True)
    ]
    sizes = classes["\0rows"]
    return {
        "columns": quasi,
        "sensitive": sensitive,
        "classes": rows,
        "number": classes.height,
        "smallest": sizes.min(),
        "median": sizes.median(),
        "mean": sizes.mean(),
        "largest": sizes.max(),
    }


def _known(name: str) -> pl.Expr:
    """Count the different values of a sensitive column; a missing one adds no diversity."""
    return pl.col(name).drop_nulls().n_unique().alias(f"\0{name}")


def _of(name: str, quasi: tuple[str, ...]) -> bool:
    """Tell whether a published column is a quasi-identifier, whole or as two ends."""
    return name in quasi or name.removesuffix("_lo").removesuffix("_hi") in quasi


def write(
    outcome: Outcome,
    frame: pl.DataFrame,
    folder: Path,
    asked: Plan,
    shown: dict[str, Any],
    attacks: Attacks | None,
    origin: Origin,
) -> None:
    """Write release, plan, hierarchies, figures and reports into a folder."""
    for name, table in outcome.tables.items():
        stem = "release" if name == "release" else f"release.{name}"
        write_table(table, folder / f"{stem}.csv")
        write_table(table, folder / f"{stem}.parquet")
    title = f"Release of {origin.source}"
    texts = {
        "plan.toml": asked.to_toml(),
        "result.json": outcome.to_json(),
        "view.json": json.dumps(shown),
        "command.txt": origin.command + "\n",
        "report.html": render_outcome(
            outcome, frame, attacks=attacks, origin=origin, title=title, warnings=shown["skipped"]
        ),
        "report.public.html": render_outcome(outcome, frame, audience="public", title=title),
    }
    for name, text in texts.items():
        with atomic_file(folder / name) as stream:
            stream.write(text.encode())
    used = [part.hierarchy for part in asked.columns.values() if part.hierarchy]
    if used:
        (folder / "hierarchies").mkdir()
        for name in used:
            shutil.copyfile(asked.path(name), folder / name)

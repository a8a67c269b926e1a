"""Prepare what a finished run shows and its files for download."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shoal.api.release import Release
from shoal.base.errors import MissingExtra, ShoalError
from shoal.base.to_json import to_plain_data
from shoal.ext.web.profiles import clip
from shoal.measures.risks.results import Attacks
from shoal.measures.value_disclosure import value_disclosure
from shoal.plan.plan import Plan
from shoal.privacy.base import format_figures
from shoal.releases.opened import Opened
from shoal.report.evidence import fill_digests
from shoal.report.release_report import Provenance
from shoal.show.figures.plots import attacks_chart
from shoal.tables.write_files import write_table
from shoal.verbs.manifest import figures, manifest_text, write_with_manifest

_DRAWN = 16  # columns whose distribution is drawn


def view(release: Release[Any], attacks: Attacks | None, why: str) -> dict[str, Any]:
    """Return everything the page shows of a run, as plain data.

    ``why``: the reason that nothing was attacked, if so.
    """
    opened = release.local_tables
    drawn, skipped = charts(release, attacks)
    before, after = release.plot.risks()
    assert before is not None
    told = to_plain_data(
        {
            "summary": release.to_dict(),
            "warnings": list(release.warnings),
            "rules": [
                {
                    "promise": result.promise,
                    "reached": format_figures(result.achieved),
                    "holds": result.holds,
                }
                for result in release.verdict.rules
            ],
            "groups": examples(opened),
            "risk": {"before": before.to_dict(), "after": after.to_dict()},
            "beliefs": [each.to_dict() for each in release.plot.beliefs()],
            "values": [
                [piece if isinstance(piece, str) else vars(piece) for piece in one.pieces()]
                for one in value_disclosure(opened, release.verdict.stats).values()
            ],
            "exact": opened.shape.exact,
            "attacks": [] if attacks is None else [attack.to_dict() for attack in attacks.results],
            "charts": drawn,
            "skipped": [*([why] if why else []), *skipped],
        }
    )
    assert isinstance(told, dict)
    return told


def charts(
    release: Release[Any], attacks: Attacks | None
) -> tuple[list[dict[str, str]], list[str]]:
    """Draw the figures of the report, and say which are left out."""
    plot, opened = release.plot, release.local_tables
    drawn = {"loss": plot.loss(), "classes": plot.classes(), "risk": plot.risk()}
    if attacks is not None and attacks.results:
        drawn["attacks"] = attacks_chart(attacks.results)
    if opened.sensitive:
        drawn["belief"] = plot.belief()
    if plot.gaps().select(pl.sum_horizontal("before", "after")).sum().item():  # else it is empty
        drawn["missing"] = plot.missing()
    names = [*opened.quasi, *opened.sensitive]
    drawn |= {f"column-{at}": plot.distribution(name) for at, name in enumerate(names[:_DRAWN])}
    more = [f"Only the first {_DRAWN} columns are drawn."] if len(names) > _DRAWN else []
    return [{"key": key, "html": chart.html(key)} for key, chart in drawn.items()], more


def examples(opened: Opened) -> dict[str, Any]:
    """Return a few classes as they are published: small, middling and large ones."""
    published = opened.published
    sizes, cells = published.sizes, published.cells
    sensitive = [name for name in opened.sensitive if opened.has(name)]
    # A missing sensitive value adds no diversity.
    known = [pl.col(name).drop_nulls().n_unique().alias(f"\0{name}") for name in sensitive]
    last = sizes.size - 1
    places = sorted({0, 1, last // 2, last // 2 + 1, last - 1, last} & {*range(sizes.size)})
    order = cells.with_columns(pl.Series("\0rows", sizes)).with_row_index("\0class")
    order = order.sort("\0rows", *cells.columns, nulls_last=True)
    rows = []
    for number in order["\0class"][places].to_list():
        own = opened.frame.filter(pl.Series(published.labels == number)).select(known)
        shown = [None if cell is None else clip(str(cell)) for cell in cells.row(number)]
        rows.append(
            {"rows": int(sizes[number]), "cells": shown, "different": own.row(0) if known else []}
        )
    return {
        "columns": cells.columns,
        "sensitive": sensitive,
        "classes": rows,
        "number": sizes.size,
        "smallest": sizes.min(),
        "median": float(np.median(sizes)),
        "mean": sizes.mean(),
        "largest": sizes.max(),
    }


def script(
    plan: Plan, path: str, name: str, earlier: Sequence[str] = (), *, prove: bool = False
) -> str:
    """Return a Python script that repeats a run, with its plan beside it."""
    more: dict[str, Any] = {"against": [*earlier]} if earlier else {}
    more |= {"prove": True} if prove else {}
    return (
        f'"""Repeats a run of Shoal on {_plain_name(name)}; plan.toml lies next to it."""\n\n'
        + ("from pathlib import Path\n\n" if plan.seeded else "")
        + f"import shoal\n\nrelease = {plan.to_python(path, **more)}\n"
        'release.write("release.csv")\n'
        'release.report("report.public.html", audience="public")\n'
    )


def _plain_name(name: str) -> str:
    """Return a name that can stand in a comment."""
    return re.sub(r"[^\w .-]", "_", name)


def write(
    release: Release[Any],
    folder: Path,
    asked: Plan,
    shown: dict[str, Any],
    attacks: Attacks | None,
    origin: Provenance,
    shown_path: str,
    earlier: Sequence[str] = (),
) -> None:
    """Write release, manifest, plan, hierarchies, figures and reports into a folder."""
    tables, csv_safe = release.local_tables.tables, release.plan.release.csv_safe
    stems = {name: "release" if name == "release" else f"release.{name}" for name in tables}
    goals = {name: folder / f"{stem}.csv" for name, stem in stems.items()}
    for name, table in tables.items():
        write_table(table, goals[name].with_suffix(".parquet"))
        try:
            write_table(table, goals[name].with_suffix(".xlsx"))
        except MissingExtra:  # then Excel is not offered
            pass
        except ShoalError as error:  # a workbook does not hold every table
            shown["skipped"].append(str(error))
    title = f"Release of {origin.source}"

    def texts(made: Mapping[str, Any]) -> dict[Path, str]:
        told = {"title": title, "origin": origin, "warnings": shown["skipped"]}
        own = release.to_dict() | {"manifest": figures(release.made, made)}
        proved = release.proof is not None
        named = {
            # Whoever takes the release away may pass on what lies beside it: no seed.
            "plan.toml": asked.model_copy(update={"seed": None}).to_toml(),
            "result.json": manifest_text(own),
            "command.txt": origin.command + "\n",
            "repeat.py": script(asked, shown_path, origin.source, earlier, prove=proved),
            "report.html": fill_digests(
                release.page(attacks=attacks or False, **told), made["files"]
            ),
            "report.public.html": release.page(audience="public", title=title),
        }
        return {folder / name: text for name, text in named.items()}

    write_with_manifest(tables, release.made, goals, csv_safe=csv_safe, texts=texts)
    used = [column.hierarchy for column in asked.columns.values() if column.hierarchy]
    if used:
        (folder / "hierarchies").mkdir(mode=0o700)
        for name in used:
            shutil.copyfile(asked.path(name), folder / name)

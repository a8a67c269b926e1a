"""``shoal anonymize --engine spark``: folders in, a verified folder out."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.base.errors import ParameterError
from shoal.cli import console, reporting
from shoal.cli.streams import DASH
from shoal.tables.source import Source

if TYPE_CHECKING:
    from shoal.cli.output import Output
    from shoal.plan.plan import Plan


def _directory(path: Path | Source) -> Path:
    """Return where Spark reads or writes, which is never a database."""
    if isinstance(path, Source):
        raise ParameterError(
            f"Spark reads and writes directories and files, and {path} is a table of a database. "
            "Leave out --engine spark, or export the table to Parquet first."
        )
    return path


def carry_out(
    source: Path | Source,
    goal: Output,
    plan: Plan,
    audience: str | None,
    started: float,
    *,
    master: str | None,
    driver_tuples: int | None,
) -> None:
    """Run the plan on Spark, write the release and the figures, and say what came out.

    Everything happens in this thread: ctrl-C reaches Spark, which ends its jobs, and what was
    staged is deleted before the program ends. ``audience``: of the report, None without one.
    """
    from shoal.cli.background import stoppable
    from shoal.cli.output import check_apart, check_named
    from shoal.ext.spark.anonymize import anonymize_on_spark
    from shoal.ext.spark.files import Files
    from shoal.ext.spark.settings import DRIVER_TUPLES, Spark, address
    from shoal.verbs.provenance import digest_of

    if goal.beside:
        raise ParameterError(
            "--dictionary describes one file, and Spark writes a folder of them. Leave "
            "--dictionary out, or --engine spark."
        )
    data, out, here = _directory(source), _directory(goal.place), audience is not None
    check_apart([out], check_named(goal.extras, goal.force, []))
    tuples = DRIVER_TUPLES if driver_tuples is None else driver_tuples
    engine = Spark(master, tuples, out=str(out), force=goal.force, here=here)
    shown: list[str] = []

    def progress(stage: str) -> bool:
        if stage == "compile":
            from shoal.cli.background import compiling

            console.print_note(compiling())
        elif stage != "refine" and shown[-1:] != [stage]:
            shown.append(stage)
            console.print_note(f"{time.perf_counter() - started:6.1f} s  {stage}")
        return False

    with stoppable(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the release carries them; shown below
        release, original = anonymize_on_spark(str(data), plan, None, (), engine, progress)
        page = ""
        if audience is not None:
            progress("report")
            both = replace(release, original=original)
            page = reporting.of_release(both, data, digest_of(data), audience, "Release")
        # A release that lies on this machine has a manifest beside it.
        goal = replace(goal, tables={"release": out} if out.exists() else {})
        try:
            goal.write(release, started, page)
        except BaseException:
            # All or nothing; what was replaced with --force is gone already.
            if not goal.force:
                Files(release.frame.sparkSession).delete(address(str(out)))
            raise
    for text in release.warnings:
        console.warning(text)
    console.show(release.made.pieces())
    every = [out, goal.manifest if goal.tables else None, *goal.extras.values()]
    console.print_line(
        f"Wrote {' and '.join(str(file) for file in every if file and file != DASH)}."
    )

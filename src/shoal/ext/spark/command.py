"""``shoal anonymize --engine spark``: folders in, a verified folder out."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.base.errors import ParameterError
from shoal.cli import console, reporting
from shoal.cli.streams import DASH, write_stdout
from shoal.tables.source import Source

if TYPE_CHECKING:
    from shoal.api.release import Release
    from shoal.cli.output import Output
    from shoal.plan.plan import Plan


@dataclass(frozen=True)
class Order:
    """What the flags add to the plan; ``audience``: of the report, None without one."""

    data: Path
    out: Path
    extras: Mapping[str, Path]
    force: bool
    master: str | None
    driver_tuples: int | None
    audience: str | None

    @classmethod
    def of(cls, data: Path | Source, goal: Output, *flags: Any) -> Order:
        """Take a folder to read and one to write, which are never databases."""
        if goal.beside:
            raise ParameterError(
                "--dictionary describes one file, and Spark writes a folder of them. Leave "
                "--dictionary out, or --engine spark."
            )
        return cls(_directory(data), _directory(goal.place), goal.extras, goal.force, *flags)


def _directory(path: Path | Source) -> Path:
    """Return where Spark reads or writes, which is never a database."""
    if isinstance(path, Source):
        raise ParameterError(
            f"Spark reads and writes directories and files, and {path} is a table of a database. "
            "Leave out --engine spark, or export the table to Parquet first."
        )
    return path


def carry_out(order: Order, plan: Plan, started: float) -> None:
    """Run the plan on Spark, write the release and the figures, and say what came out.

    Everything happens in this thread: ctrl-C reaches Spark, which ends its jobs, and what was
    staged is deleted before the program ends.
    """
    from shoal.cli.background import stoppable
    from shoal.cli.output import check_apart, check_named
    from shoal.ext.spark.anonymize import anonymize_and_bring
    from shoal.ext.spark.settings import DRIVER_TUPLES, Spark

    check_apart([order.out], check_named(order.extras, order.force, []))
    tuples = DRIVER_TUPLES if order.driver_tuples is None else order.driver_tuples
    here = order.audience is not None
    engine = Spark(order.master, tuples, out=str(order.out), force=order.force, here=here)
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
        asked = (str(order.data), plan, None, (), engine, progress)
        release, original = anonymize_and_bring(*asked)
        release.made.seconds["total"] = time.perf_counter() - started
        if here:
            progress("report")
        files = _write_figures(order, replace(release, original=original))
    for text in release.warnings:
        console.warning(text)
    console.show(release.made.pieces())
    console.print_line(f"Wrote {' and '.join(files)}.")


def _write_figures(order: Order, release: Release[Any]) -> list[str]:
    """Write the manifest, if the release lies on this machine, and the other files.

    Return the names of all that is there now.
    """
    from shoal.ext.spark.files import Files
    from shoal.ext.spark.settings import address
    from shoal.verbs.manifest import figures, manifest_text, write_with_manifest

    run = release.made
    shown: list[bytes] = []

    def texts(made: Mapping[str, Any]) -> dict[Path, str]:
        told = {"--json": manifest_text(release.to_dict() | {"manifest": figures(run, made)})}
        if order.audience is not None:
            from shoal.report.evidence import filled
            from shoal.verbs.provenance import digest_of

            read = digest_of(order.data)
            page = reporting.of_release(release, order.data, read, order.audience, "Release")
            told["--report"] = filled(page, made["files"])
        shown.extend(told[flag].encode() for flag, path in order.extras.items() if path == DASH)
        return {path: told[flag] for flag, path in order.extras.items() if path != DASH}

    goals = {"release": order.out} if order.out.exists() else {}
    try:
        file = write_with_manifest({}, run, goals, force=order.force, texts=texts)
        if shown:
            write_stdout(shown[-1])
    except BaseException:
        # Both or neither; what was replaced with --force is gone already.
        if not order.force:
            Files(release.frame.sparkSession).delete(address(str(order.out)))
        raise
    every = (order.out, file, *order.extras.values())
    return [str(each) for each in every if each is not None and each != DASH]

"""``shoal audit``: whether a published file keeps its promise."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import say
from shoal.cli.options import (
    Delimiter,
    Hierarchies,
    Identifier,
    Missing,
    PlanFile,
    Quasi,
    Sensitive,
    with_rules,
)

if TYPE_CHECKING:
    from shoal.verify import Verdict


@with_rules
def command(
    released: Annotated[Path, typer.Argument(metavar="RELEASED", help="The published file.")],
    plan: PlanFile = None,
    quasi: Quasi = None,
    sensitive: Sensitive = None,
    identifier: Identifier = None,
    original: Annotated[
        Path | None,
        typer.Option(
            "--original",
            metavar="FILE",
            help="The table it was made from: every cell must cover its source.",
        ),
    ] = None,
    hierarchies: Hierarchies = None,
    missing: Missing = None,
    delimiter: Delimiter = None,
    *,
    rules: list[dict[str, Any]],
) -> None:
    """Check a published file against its promise, from its cells alone.

    Example: shoal audit release.csv --quasi age,sex,zip --k 5

    Exit code 0 if every rule holds, 1 if not, 2 on bad use. Works on any file, whoever made it.
    """
    from shoal.auditing import audit
    from shoal.cli.options import base_plan, split_names
    from shoal.prepare import load

    full = base_plan(plan, missing=missing, delimiter=delimiter, hierarchies=hierarchies)
    frame = load(released, full, released=True)
    verdict = audit(
        frame,
        quasi=split_names(quasi, frame.columns),
        sensitive=split_names(sensitive, frame.columns),
        identifier=split_names(identifier, frame.columns),
        original=original,
        plan=full.override(rules=rules),
    )
    report(verdict)
    if not verdict.holds:
        raise typer.Exit(1)


def report(verdict: Verdict) -> None:
    """Say what was found, the worst classes first."""
    say.line(f"{verdict.rows:,} rows in {verdict.classes:,} classes")
    for result in verdict.rules:
        mark = "holds " if result.holds else "BROKEN"
        reached = ", ".join(f"{name} = {value}" for name, value in result.achieved.items())
        say.line(f"{mark}   {result.promise}; reached: {reached}")
    for fault in verdict.faults:
        say.line(f"Fault    {fault}")
    if verdict.worst:
        cells = list(verdict.worst[0].cells)
        say.line("\nThe classes that break most:")
        say.table(
            ("rows", "breaks", *cells),
            [
                (group.size, ", ".join(group.breaks), *(group.cells[name] for name in cells))
                for group in verdict.worst
            ],
        )
    say.line("The file keeps its promise." if verdict.holds else "The file breaks its promise.")

"""``shoal init project.deid``: the plan of a project of ARX, and its hierarchies."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

from shoal.base.atomic import atomic_file, check_output
from shoal.cli import say
from shoal.plan.plan import Plan
from shoal.tables.arx import ArxProject, read_project


def from_project(path: Path, out: Path, *, force: bool) -> None:
    """Write the plan of a project, and its hierarchies beside it."""
    project = read_project(path)
    folder = out.with_suffix(".hierarchies")
    files = {name: folder / _plain(at, name) for at, name in enumerate(project.hierarchies, 1)}
    plan = _plan(project, {name: f"{folder.name}/{file.name}" for name, file in files.items()})
    for file in files.values():
        if folder.is_dir():
            check_output(file, force=force)
    fresh = not folder.exists() and bool(files)
    if fresh:
        folder.mkdir()
    made: list[Path] = []
    try:
        for name, file in files.items():
            made += [] if file.exists() else [file]
            with atomic_file(file, force=force, inputs=[path]) as stream:
                stream.write(project.hierarchies[name])
        with atomic_file(out, force=force, inputs=[path]) as stream:
            stream.write(plan.to_toml().encode())
    except BaseException:
        for file in made:
            file.unlink(missing_ok=True)
        if fresh:
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise
    say.line(f"Wrote {out}: {len(project.columns)} columns and {len(files)} hierarchies from ARX.")
    if project.notes:
        say.line("Without a counterpart, or for you to look at:")
    for note in project.notes:
        say.line(f"  {note}")
    say.line("The table is in the project: unzip -p PROJECT data/input.csv > table.csv; then run:")
    say.line(f"  shoal anonymize table.csv --plan {out} -o release.csv")


def _plan(project: ArxProject, trees: dict[str, str]) -> Plan:
    columns = {
        name: {**part, **({"hierarchy": trees[name]} if name in trees else {})}
        for name, part in project.columns.items()
    }
    plan = Plan().with_columns(columns)
    plan = plan.with_rules(project.rules) if project.rules else plan
    # The separator of ARX's own copy of the table, and how it writes dates.
    return plan.override(data=project.data).filled()


def _plain(at: int, name: str) -> str:
    """Return the name of a hierarchy's file; whatever a project calls a column, it stays here."""
    plain = re.sub(r"[^\w-]+", "_", name)[:60]
    return f"{plain}.csv" if plain == name else f"{at}_{plain}.csv"

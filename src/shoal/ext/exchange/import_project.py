"""Turn an ARX project into a plan and hierarchies."""

from __future__ import annotations

import contextlib
import re
import shlex
from pathlib import Path

from shoal.base.atomic import atomic_files, check_output
from shoal.cli import console
from shoal.ext.exchange.arx import Project, read_project
from shoal.plan.plan import Plan


def from_project(path: Path, out: Path, *, force: bool) -> None:
    """Write the plan of a project, and its hierarchies beside it: all of it or nothing."""
    project = read_project(path)
    folder = out.with_suffix(".hierarchies")
    files = {name: folder / _plain(at, name) for at, name in enumerate(project.hierarchies, 1)}
    plan = _plan(project, {name: f"{folder.name}/{file.name}" for name, file in files.items()})
    check_output(out, force=force, inputs=[path])
    fresh = not folder.exists() and bool(files)
    if fresh:
        folder.mkdir()
    try:
        with atomic_files() as all_of_it:
            for name, file in files.items():
                with all_of_it.open(file, force=force, inputs=[path]) as stream:
                    stream.write(project.hierarchies[name])
            with all_of_it.open(out, force=force, inputs=[path]) as stream:
                stream.write(plan.to_toml().encode())
    except BaseException:
        if fresh:
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise
    trees = f"{len(files)} hierarch{'y' if len(files) == 1 else 'ies'}"
    console.print_line(f"Wrote {out}: {len(project.columns)} columns and {trees} from ARX.")
    if project.notes:
        console.print_line("Without a counterpart, or for you to look at:")
    for note in project.notes:
        console.print_line(f"  {note}")
    console.print_line("Take the table out of the project, then run:")
    console.print_line(f"  unzip -p {shlex.quote(str(path))} data/input.csv > table.csv")
    console.print_line(f"  shoal anonymize table.csv --plan {out} -o release.csv")


def _plan(project: Project, trees: dict[str, str]) -> Plan:
    columns = {
        name: {**part, **({"hierarchy": trees[name]} if name in trees else {})}
        for name, part in project.columns.items()
    }
    rules = {"rules": list(project.rules)} if project.rules else {}
    # Its data: the separator of the project's own copy of the table, and how it writes dates.
    tables = {"data": project.data, "release": project.release}
    return Plan().replaced(columns=columns, **rules).changed(tables).final()


def _plain(at: int, name: str) -> str:
    """Return the name of a hierarchy's file; whatever a project calls a column, it stays here."""
    plain = re.sub(r"[^\w-]+", "_", name)[:60]
    return f"{plain}.csv" if plain == name else f"{at}_{plain}.csv"

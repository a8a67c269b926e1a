"""What a release leaves on a disk: its tables, its manifest, its dictionary."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shoal.base.atomic import Pathlike, atomic_files
from shoal.releases.opened import Opened
from shoal.report.dictionary import texts
from shoal.tables.write_files import placed, writing
from shoal.verbs.manifest import leave


def write(release: Any, path: Pathlike, *, force: bool, into: str | None) -> None:
    """Write a release, and its manifest if it was made here; see :meth:`shoal.Release.write`."""
    tables, csv_safe = release.here.tables, release.plan.release.csv_safe
    goals = placed(path, tables, into)
    with writing(goals, tables, force, (), csv_safe=csv_safe) as files:
        if release.run is not None:
            leave(release.run, goals, files, force=force)


def write_dictionary(opened: Opened, path: Path, *, force: bool) -> None:
    """Write the two files of a data dictionary beside a release."""
    with atomic_files() as files:
        for end, text in texts(opened, path.name).items():
            with files.open(path.with_name(path.name + end), force=force) as stream:
                stream.write(text.encode())

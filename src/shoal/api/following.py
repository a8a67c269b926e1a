"""The earlier release that a new one is to be like: where it is, and the plan it was made with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shoal.api.release import Release
from shoal.base.errors import InputError, ParameterError
from shoal.plan.plan import Plan
from shoal.releases.opened import Opened
from shoal.releases.reading import open_published
from shoal.tables.domain import Taxonomy
from shoal.tables.gathering import Hierarchies, is_path
from shoal.tables.prepare import merge
from shoal.tables.sources.source import Source, place
from shoal.verbs.manifest import beside, changed_files, lacking, plan_of, read_manifest


def place_of(like: Any) -> Any:
    """Return the release that is named, by itself or by its manifest or figures.

    A file that a manifest tells of must still be the one that was released.
    """
    if not is_path(like):
        return like
    named = place(like)
    if not isinstance(named, Path):
        return named
    manifest = _manifest(named)
    if manifest is None:
        return named
    made = read_manifest(manifest)
    if not made["files"]:
        raise InputError(
            f"{manifest} tells of a release that was not written into files. Name the release "
            "itself with --like (like=...)."
        )
    name = min(made["files"], key=len)
    if name != Path(name).name or name.startswith("."):
        raise InputError(f"The manifest {manifest} names no plain file: {name!r}. Copy it again.")
    told = {"files": {name: made["files"][name]}}
    if faults := changed_files(told, manifest.parent, None):
        raise InputError(
            f"{manifest} does not tell of the release beside it: {' '.join(faults)} Put the two "
            "beside each other as they were written, or name the release itself."
        )
    return manifest.parent / name


def plan_like(
    like: Any,
    plan: Plan | str | Path | None,
    *,
    named: bool = False,
    hierarchies: Hierarchies | None = None,
    **reading: Any,
) -> Plan | str | Path | None:
    """Return the plan of a call, or else the one that the earlier release was made with.

    ``named``: the call names quasi-identifiers, so that a release without figures needs no plan.
    """
    if plan is not None or not is_path(like):
        return plan
    path = place(like)
    manifest = _manifest(path) if isinstance(path, Path) else None
    if manifest is None or (named and manifest != path):
        return plan
    made, own = read_manifest(manifest), merge(None, hierarchies=hierarchies, **reading)
    lost = [] if hierarchies and not is_path(hierarchies) else lacking(made, own)
    if lost:
        raise ParameterError(
            f"The manifest {manifest} withholds {', '.join(lost)}, because a reader could learn "
            "values of the table from it. Name the figures of its run (--json) with --like, or "
            "give the plan of the run with --plan (plan=...)."
        )
    declared = any(part for part in (hierarchies, *reading.values()))
    return plan_of(made, own if declared else None, manifest.parent)


def _manifest(path: Path) -> Path | None:
    """Return the manifest that a file is, or has beside it."""
    if path.suffix == ".json":
        return path
    near = beside(path)
    return near if near is not None and near.is_file() else None


def followed(like: Any, plan: Plan, taxonomies: dict[str, Taxonomy]) -> Opened:
    """Open the earlier release with the roles and hierarchies of the table."""
    if isinstance(like, Release):
        return like.here
    plan = plan.unseeded()
    return open_published(place_of(like), plan, hierarchies=taxonomies, complete=False)


def inputs_of(like: Any) -> list[Path | Source]:
    """Return what is read of it, and must not be written over."""
    return [place(like), place_of(like)] if is_path(like) else []

"""Repeat a release from its manifest, its table and its seed, and compare the bytes."""

from __future__ import annotations

import json
import tempfile
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from shoal.api.opening import read
from shoal.base.errors import ParameterError, ShoalError
from shoal.plan.plan import Plan
from shoal.releases.history.store import History, history_of
from shoal.tables.find_hierarchies import Hierarchies, is_path
from shoal.tables.open_table import locate_table, merge_plan
from shoal.verbs.manifest import (
    figures,
    missing_keys,
    plan_of,
    read_manifest,
    released_name,
    tied_of,
)
from shoal.verbs.manifest_audit import (
    ALWAYS,
    Remade,
    changed_files,
    differences,
    differing,
    other_versions,
)
from shoal.verbs.provenance import SUFFIX

_APART = (*ALWAYS, "files", "keyed")  # not compared, or in words of their own
_NONE = "the table was not given as the file that was read"


def remake(
    manifest: Path,
    data: Any,
    *,
    seed: int | None,
    plan: Plan | str | Path | None = None,
    hierarchies: Hierarchies | None = None,
    pseudonym_key: str | Path | bytes | None = None,
    history: str | Path | History | None = None,
    **reading: Any,
) -> Remade:
    """Make a release again; return what is not as its manifest says, and what the run verified.

    Nothing is left behind or recorded.

    Parameters
    ----------
    manifest
        The file beside the release, or the figures of its run.
    data
        The table that it was made from.
    seed
        The seed of the run, which stands in no manifest.
    plan, hierarchies, missing, delimiter
        What the manifest withholds because it lists texts of the table: the plan of the run, or
        its parts.
    pseudonym_key, history
        Of a release with pseudonyms, and of a release of a series.
    """
    made = read_manifest(manifest)
    name = _check_possible(made, manifest)
    if seed is None:
        raise ParameterError(
            "To repeat a release you need the seed of its run, which no manifest contains. Give it "
            "with --seed-file FILE or --seed (seed=...)."
        )
    own = merge_plan(plan, hierarchies=hierarchies, **reading)
    if lost := missing_keys(made, own) if not isinstance(hierarchies, Mapping) else ():
        raise ParameterError(
            f"The manifest {manifest} withholds {', '.join(lost)}, because a reader could learn "
            "values of the table from it. Give the plan of the run with --plan (plan=...), or "
            "--hierarchies, --missing."
        )
    given = any(part for part in (plan, hierarchies, *reading.values()))
    full = plan_of(made, own if given else None, manifest.parent)
    trees = None if is_path(hierarchies) else hierarchies
    before = _before(made, manifest, history_of(history))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the run itself gave them
        table = read(locate_table(data, full), full, hierarchies=trees)
        release = table.anonymize(seed=seed, pseudonym_key=pseudonym_key, history=before)
    with tempfile.TemporaryDirectory(prefix="shoal-again-") as folder:
        release.write(Path(folder) / name)
        now = read_manifest(Path(folder) / (name + SUFFIX))
        changed = changed_files(made, Path(folder), None)
    if "steward" in made:
        now = figures(release.made, now)
    faults = [*changed, *_others(made, now)]
    if changed and (others := other_versions(made)):
        faults.append(f"Other versions may be why: {'; '.join(others)}.")
    unchecked = (
        {} if "file" in now["keyed"] or "file" not in made["keyed"] else {"keyed.file": _NONE}
    )
    said = [f"Made again: {fault}" for fault in faults]
    return Remade(said, None if changed else release.verdict, unchecked)


def _others(made: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Say what a manifest says otherwise than that of the release that was made again."""
    parts = differing(made["keyed"], now["keyed"])
    faults = [f"It was made from another part: {part}." for part in parts]
    return faults + list(differences(_alike(made), _alike(now)))


def _alike(made: Mapping[str, Any]) -> dict[str, Any]:
    """Return what must be the same when a release is made again, and is compared in no other way.

    Where hierarchies lie may differ; what they say has a digest.
    """
    tree: dict[str, Any] = json.loads(
        json.dumps({k: v for k, v in made.items() if k not in _APART})
    )
    tree["withheld"] = sorted(key for key in tree["withheld"] if "hierarch" not in _leaf(key))
    plan = tree.get("steward", {}).get("plan", {})
    plan.pop("evidence", None)
    for part in (plan.get("data", {}), *plan.get("columns", {}).values()):
        for key in ("hierarchies", "hierarchy"):
            part.pop(key, None)
    return tree


def _leaf(key: str) -> str:
    return key.rpartition(".")[2]


def _before(made: Mapping[str, Any], where: Path, history: History | None) -> History | None:
    """Return the history before a release, or say what is needed to make it again."""
    tied = tied_of(made)
    if "series" not in tied:
        if history is not None:
            raise ParameterError(
                f"The manifest {where} names no series, and a history was given. Leave it out."
            )
        return None
    if history is None:
        raise ParameterError(
            f"The release of {where} is number {tied['number']} of a series, and what it says "
            "depends on what was published before. Give the history of the series with --history "
            "(history=...)."
        )
    if history.heads and history.series != tied["series"]:
        raise ParameterError(
            f"The history {history.folder} is one of another series than the release of {where}. "
            "Give the history that was kept with it."
        )
    return replace(history, series=tied["series"]).before(int(tied["number"]))


def _check_possible(made: Mapping[str, Any], where: Path) -> str:
    """Return the name of the release's first file, or say why it cannot be made again."""
    if not made["seeded"]:
        raise ShoalError(
            f"The release of {where} was made without a seed, so its bytes cannot be repeated. "
            "Leave --again out; the audit checks it without."
        )
    if made.get("engine") != "local" or not made["files"]:
        raise ShoalError(
            f"The release of {where} was not made on one machine into files: it cannot be made "
            "again here. Carry its plan out again on the same engine, and compare the digests "
            "with 'shoal audit RELEASED --manifest FILE'."
        )
    return released_name(made, where)

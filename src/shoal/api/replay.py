"""Make a release again from its manifest, its table and its seed, and compare the bytes."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from shoal.api.opening import read
from shoal.base.errors import InputError, ParameterError, ShoalError
from shoal.base.plain import as_json
from shoal.engines.marks import keyed, of_frame, of_plan, of_tree, seed_key
from shoal.plan.plan import Plan
from shoal.releases.history.store import History
from shoal.tables.gathering import Hierarchies, is_path
from shoal.tables.prepare import locate, merge
from shoal.verbs.manifest import changed_files, differing, lacking, other_versions, plan_of, tied_of
from shoal.verbs.manifest import read_manifest as read_file


@dataclass(frozen=True)
class Replayed:
    """What a replay found: whether the bytes are the same, and if not, what else was not.

    ``others``: parts of what the release was made from that are others by their digests.
    ``versions``: programs that had another version then.
    """

    files: tuple[str, ...]
    faults: tuple[str, ...]
    others: tuple[str, ...]
    versions: tuple[str, ...]

    @property
    def same(self) -> bool:
        """Whether every file came out byte for byte."""
        return not self.faults

    def to_dict(self) -> dict[str, Any]:
        """Return what was found as plain data."""
        return {
            "same": self.same,
            "files": list(self.files),
            "faults": list(self.faults),
            "others": list(self.others),
            "versions": list(self.versions),
        }

    to_json = as_json


def replay(
    manifest: str | Path,
    data: Any = None,
    *,
    seed: int,
    plan: Plan | str | Path | None = None,
    hierarchies: Hierarchies | None = None,
    pseudonym_key: str | Path | bytes | None = None,
    history: str | Path | History | None = None,
    out: str | Path | None = None,
    force: bool = False,
    **reading: Any,
) -> Replayed:
    """Make a release again and say whether it is the same, byte for byte.

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
    pseudonym_key
        Of a release with pseudonyms.
    history
        Of a release of a series its history, as it was before the release or is now. Nothing is
        recorded.
    out, force
        A folder in which the release is left, under its own name; by default nothing is left.
    """
    where = Path(manifest)
    made = read_file(where)
    name = _first(made, where)
    own = merge(plan, hierarchies=hierarchies, **reading)
    if lost := lacking(made, own) if not isinstance(hierarchies, Mapping) else ():
        raise ParameterError(
            f"The manifest {where} withholds {', '.join(lost)}, because a reader could learn "
            "values of the table from it. Give the plan of the run with --plan (plan=...), or "
            "--hierarchies, --missing."
        )
    given = any(part for part in (plan, hierarchies, *reading.values()))
    full = plan_of(made, own if given else None, where.parent)
    trees = None if is_path(hierarchies) else hierarchies
    table = read(locate(data, full), full, hierarchies=trees)
    before = _before(made, where, history)
    release = table.anonymize(seed=seed, pseudonym_key=pseudonym_key, history=before)
    if out is not None:
        release.write(Path(out) / name, force=force)
        faults = changed_files(made, Path(out), None)
    else:
        with tempfile.TemporaryDirectory(prefix="shoal-replay-") as folder:
            release.write(Path(folder) / name)
            faults = changed_files(made, Path(folder), None)
    key, taken = seed_key(seed), table.taken
    outcome = {
        "table": keyed(key, "table", of_frame(table.frame)),
        "plan": keyed(key, "plan", of_plan(release.plan)),
        "hierarchies": {
            column: keyed(key, "hierarchy", of_tree(tree))
            for column, tree in taken.taxonomies.items()
        },
    }
    return Replayed(
        tuple(made["files"]),
        tuple(faults),
        tuple(differing(made, outcome)) if faults else (),
        tuple(other_versions(made)),
    )


def _before(made: Mapping[str, Any], where: Path, history: Any) -> History | None:
    """Return the history before a release, or say what is needed to make it again."""
    tied = tied_of(made)
    if "series" not in tied:
        if history is not None:
            raise ParameterError(
                f"The manifest {where} tells of no series, and a history was given. Leave it out."
            )
        return None
    if history is None:
        raise ParameterError(
            f"The release of {where} is number {tied['number']} of a series, and what it says "
            "depends on what was published before. Give the history with --history (history=...), "
            "as it was before the release or as it is now."
        )
    whole = history if isinstance(history, History) else History.read(history)
    if whole.heads and whole.series != tied["series"]:
        raise ParameterError(
            f"The history {whole.folder} is one of another series than the release of {where}. "
            "Give the history that was kept with it."
        )
    return replace(whole, series=tied["series"]).before(int(tied["number"]))


def _first(made: Mapping[str, Any], where: Path) -> str:
    """Return the name of the release's first file, or say why it cannot be made again."""
    if not made["seeded"]:
        raise ShoalError(
            f"The release of {where} was made without a seed, so nobody can make the same bytes "
            "again. 'shoal audit RELEASED --manifest FILE' checks it all the same."
        )
    if made.get("engine") != "local" or not made["files"]:
        raise ShoalError(
            f"The release of {where} was not made on one machine into files: it cannot be "
            "replayed here. Carry its plan out again on the same engine, and compare the digests "
            "with 'shoal audit RELEASED --manifest FILE'."
        )
    name = min(made["files"], key=len)
    if name != Path(name).name or name.startswith("."):
        raise InputError(f"The manifest {where} names no plain file: {name!r}. Copy it again.")
    return str(name)

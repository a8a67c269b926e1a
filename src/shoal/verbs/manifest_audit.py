"""A release compared with the manifest beside it: its files, its figures, and what made it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from shoal.base.to_json import plain
from shoal.releases.verdict import Verdict
from shoal.verbs.manifest import LIBRARIES, beside, digest_and_size, is_manifest, read_manifest
from shoal.verbs.run import versions


def compared(
    made: Mapping[str, Any],
    folder: Path,
    released: Any,
    verdict: Verdict,
    remade: tuple[Sequence[str], Verdict | None] | None = None,
    *,
    digest: str = "",
) -> Verdict:
    """Return the verdict of an audit beside a manifest: what differs from it is a fault.

    ``remade``: what differs when the release is made again, and what that run verified; None
    instead if other promises are audited than those of the run. ``digest``: of the bytes that were
    audited, should the file have changed since.
    """
    more, verified = remade or ((), None)
    if verified is not None and not more:
        verdict = _with_people(verdict, verified)
    faults = changed_files(made, folder, released if isinstance(released, Path) else None, digest)
    faults += [*changed_figures(made, verdict), *more]
    if not faults:
        return verdict
    return replace(verdict, holds=False, faults=(*verdict.faults, *faults))


def _with_people(verdict: Verdict, verified: Verdict) -> Verdict:
    """Take the count of people, which no cell shows, from a run that made the same bytes."""
    if verdict.faults != (verdict.models.get("uncounted"),):
        return verdict
    models = {key: value for key, value in verdict.models.items() if key != "uncounted"}
    return replace(
        verdict,
        holds=True,
        faults=(),
        models=models,
        people=verified.people,
        rules=verified.rules,
        achieved=verified.achieved,
    )


def changed_files(
    made: Mapping[str, Any], folder: Path, released: Path | None, digest: str = ""
) -> list[str]:
    """Say which files of a release are not what the manifest says, or not there.

    ``digest``: of ``released`` as it was read.
    """
    faults = []
    named = {released.resolve()} if released is not None else set()
    for name, told in made["files"].items():
        path = folder / name
        known = digest if path.resolve() in named else ""
        named.discard(path.resolve())
        if not path.is_file():
            faults.append(f"{name} is named in the manifest and is not beside it.")
        elif (known or digest_and_size(path)[0]) != told["sha256"]:
            faults.append(f"{name} is not the file that was released: its SHA-256 differs.")
    if released is not None and released.is_dir():
        named = set()
    faults += [f"{path.name} is not named in the manifest." for path in named]
    return faults


def beside_another(released: Path, digest: str) -> list[str]:
    """Say that the manifest beside a file is of another file; ``digest``: of what was read."""
    path = beside(released)
    if path is None or not is_manifest(path):
        return []
    told = read_manifest(path)["files"].get(released.name)
    if told is None or digest in ("", told["sha256"]):
        return []
    return [
        f"{path.name} beside it describes another file: the SHA-256 differs. Either the file was "
        "changed since, or the manifest is that of an earlier release."
    ]


def changed_figures(made: Mapping[str, Any], verdict: Verdict) -> list[str]:
    """Say what an audit found otherwise than the manifest tells."""
    figures: dict[str, list[Any]] = {}  # rules for different values may read alike
    for rule in verdict.rules:
        figures.setdefault(rule.promise, []).append(plain(dict(rule.achieved)))
    return [
        f"The manifest says that this was reached: {rule['promise']} ({rule['reached']}); the "
        f"audit found {' and '.join(map(str, figures[rule['promise']]))}."
        for rule in made["rules"]
        if rule["promise"] in figures and rule["reached"] not in figures[rule["promise"]]
    ]


def other_versions(made: Mapping[str, Any]) -> list[str]:
    """Return what was another version then: bytes may differ by it."""
    now = versions(*LIBRARIES)
    then: Mapping[str, str] = made.get("versions", {})
    return [f"{n} {then[n]} then, {now[n]} now" for n in now if then.get(n, now[n]) != now[n]]


def differing(made: Mapping[str, Any], keyed: Mapping[str, Any]) -> Sequence[str]:
    """Say which parts of what a run was made from were others, by their keyed digests."""
    then = made["keyed"]
    words = {"table": "the table", "plan": "the plan"}
    told = [words[k] for k in words if k in then and k in keyed and then[k] != keyed[k]]
    if len(told) == len(words):  # all are kept under one key, which comes from the seed
        return ["the seed (or all that it was made from)"]
    trees, own = then.get("hierarchies", {}), keyed.get("hierarchies", {})
    told += [f"the hierarchy of {name!r}" for name in trees if trees[name] != own.get(name)]
    return told


def manifest_beside(released: Path, digest: str) -> dict[str, Any] | None:
    """Return the manifest beside a file if it is of this file; ``digest``: of what was read."""
    path = beside(released)
    if path is None or not is_manifest(path) or beside_another(released, digest):
        return None
    made = read_manifest(path)
    return made if digest and released.name in made["files"] else None


def claimed_m(made: Mapping[str, Any]) -> int | None:
    """Return the m of the m-invariant series that a release is one of, by its manifest."""
    plan = made["plan"]
    rules = plan.get("rules", []) if isinstance(plan, dict) else []
    found = [rule.get("m") for rule in rules if isinstance(rule, dict)]
    return next((m for m in found if isinstance(m, int) and m >= 2), None)

"""The manifest beside a release: what it is, how it was made, and digests that tie both together.

It may be sent along with the release, so it holds nothing that is computed from the original: no
count of rows that were read, no loss, no text that a plan lists. What stands in for these are
digests under a key (:mod:`shoal.verbs.provenance`). The figures of the run hold the manifest too,
and the rest of it under ``steward``.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from shoal.base.atomic import Batch
from shoal.base.errors import InputError, OutputError, ParameterError
from shoal.base.parsing import Unreadable, read_json
from shoal.base.roles import Role
from shoal.base.to_json import to_plain_data
from shoal.plan.plan import Plan
from shoal.releases.history.store import History
from shoal.tables.source import Place, Source
from shoal.tables.write_files import write_tables
from shoal.verbs.provenance import SUFFIX
from shoal.verbs.run import Run, versions

FORMAT = 2
HMAC = "HMAC-SHA256"
# What a plan lists are texts of the table, and where its owner keeps files.
_DATA_LISTS = ("missing", "hierarchies")
_COLUMN_LISTS = ("hierarchy", "missing", "order", "domain", "allow_labels")
# What names values of a column is withheld whole: without it, or with a part, rules promise less.
_RULES, _SAME = "rules", "release.same"
_NEEDED = {_RULES: "the rules of the release", _SAME: "which values its rules count as one"}
_TREE = {str: object, "data?": {str: object}, "columns?": {str: {str: object}}}
_FORM = {
    "shoal_manifest": int,
    "made": str,
    "engine": str,
    "files": {str: {"sha256": str, "bytes": int}},
    "rows": int,
    "method": {str: object},
    "rules": [{"promise": str, "holds": bool, "reached": {str: object}}],
    "left_out": {str: str},
    "seeded": bool,
    "keyed": {"how": str, "table?": str, "file?": str, "plan": str, "hierarchies?": {str: str}},
    "versions": {str: str},
    "plan": _TREE,
    "withheld": [str],
    "tied?": {"series": str, "number": int},
    "steward?": {
        "key": str,
        "rows_in": int,
        "loss": (int, float),
        "plan": _TREE,
        "undecided": {str: str},
    },
}
LIBRARIES = ("shoal", "numpy", "numba", "polars", "pyarrow")


def manifest_path(path: object) -> Path | None:
    """Return where the manifest of a release goes: ``x.csv`` -> ``x.csv.manifest.json``."""
    return path.with_name(path.name + SUFFIX) if isinstance(path, Path) else None


def manifest(run: Run, files: Mapping[str, Path], staged: Batch | None = None) -> dict[str, Any]:
    """Return the manifest of a release whose tables lie in ``files``; all of it may be sent.

    ``staged``: those of them that do not have their names yet.
    """
    plan, withheld = without_listed_texts(run.plan)
    marks = run.marks
    told = {
        "shoal_manifest": FORMAT,
        "made": marks.made,
        "engine": marks.engine,
        "files": {
            name: {"sha256": digest, "bytes": size}
            for path in files.values()
            for name, digest, size in _digests(path, staged or Batch())
        },
        "rows": run.rows_out,
        "method": run.plan.final().method.model_dump(),
        "rules": [
            {"promise": rule.promise, "holds": rule.holds, "reached": dict(rule.achieved)}
            for rule in run.verdict.rules
        ],
        "left_out": left_out({column.name: column.role for column in run.schema.columns}, run.plan),
        "seeded": run.plan.seeded,
        "keyed": {"how": HMAC, **marks.to_manifest()},
        "versions": dict(versions(*LIBRARIES)),
        "plan": plan,
        "withheld": withheld,
    } | ({"tied": dict(run.tied)} if run.tied else {})
    return to_plain_data(told)  # type: ignore[no-any-return]


def figures(run: Run, made: Mapping[str, Any]) -> dict[str, Any]:
    """Return the manifest as the figures of a run hold it: with what is the steward's."""
    own = {
        "key": run.marks.key.hex(),
        "rows_in": run.rows_in,
        "loss": run.loss.rate,
        "plan": run.plan.public(),
        "undecided": run.undecided,
    }
    return {**made, "steward": to_plain_data(own)}


def write_with_manifest(
    tables: Mapping[str, pl.DataFrame],
    run: Run | None,
    goals: Mapping[str, Path | Source],
    *,
    force: bool = False,
    inputs: Sequence[Place] = (),
    csv_safe: bool = False,
    texts: Callable[[Mapping[str, Any]], Mapping[Path, str]] = lambda made: {},
) -> Path | None:
    """Write a release, its manifest beside it, and other files: all of them or none.

    Parameters
    ----------
    tables, goals
        What is written where; a goal without a table was written before.
    run
        How it was made; None for a release that was opened, which gets no manifest.
    texts
        Returns the text of every other file from the manifest.
    """
    named = {name: goal for name, goal in goals.items() if name in tables}
    with write_tables(named, tables, force, inputs, csv_safe=csv_safe) as files:
        if run is None:
            return None
        paths = {name: goal for name, goal in goals.items() if isinstance(goal, Path)}
        made = manifest(run, paths, files)
        path = manifest_path(goals.get("release"))
        if path is not None:
            replaced = force or is_manifest(path)
            with files.open(path, force=replaced, inputs=[*paths.values()], tells=True) as stream:
                stream.write(manifest_text(made).encode())
        for file, text in texts(made).items():
            used = [*inputs, *paths.values()]
            with files.open(file, force=force, inputs=used, tells=True) as stream:
                stream.write(text.encode())
    return path


def is_manifest(path: Path) -> bool:
    """Tell whether a manifest is there: its release is gone, or it would not be made anew."""
    try:
        return path.is_file() and bool(read_manifest(path))
    except InputError:
        return False


def manifest_text(made: Mapping[str, Any]) -> str:
    """Return a manifest as the text of its file."""
    return json.dumps(made, indent=2, ensure_ascii=False) + "\n"


def left_out(roles: Mapping[str, Role], plan: Plan) -> dict[str, str]:
    """Return the columns that a release does not have, with the label of their role."""
    return {
        name: role.label
        for name, role in roles.items()
        if not role.published and not (role is Role.PERSON and plan.release.pseudonym)
    }


def without_listed_texts(plan: Plan) -> tuple[dict[str, Any], list[str]]:
    """Return a plan without the texts that it lists, and which keys these are."""
    tree = plan.public()
    tree.pop("evidence", None)  # who decided, and why, is the steward's to tell
    withheld = [f"data.{key}" for key in _DATA_LISTS if tree["data"].pop(key, [""]) != [""]]
    for name, part in tree["columns"].items():
        withheld += [f"columns.{name}.{key}" for key in _COLUMN_LISTS if part.pop(key, None)]
    if any(map(_names_values, tree[_RULES])):
        del tree[_RULES]
        withheld.append(_RULES)
    if tree["release"].pop("same", None):
        withheld.append(_SAME)
    return tree, withheld


def _names_values(rule: Mapping[str, Any]) -> bool:
    """Tell whether a rule of a plan lists values, or has numbers for some of them."""
    return any(isinstance(own, (list, tuple, Mapping)) for own in rule.values())


def _digests(path: Path, staged: Batch) -> list[tuple[str, str, int]]:
    """Return name, digest and size of a file, or of every file in a folder that a reader sees."""
    if told := staged.digest(path):
        return [(path.name, *told)]
    if path.is_dir():
        files = [file for file in sorted(path.rglob("*")) if file.is_file()]
        return [
            (file.relative_to(path.parent).as_posix(), *digest_and_size(file))
            for file in files
            if not file.name.startswith((".", "_"))
        ]
    return [(path.name, *digest_and_size(path))]


def digest_and_size(path: Path) -> tuple[str, int]:
    """Return the SHA-256 of a file, and how many bytes it has."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest(), path.stat().st_size


def read_manifest(path: Path | str) -> dict[str, Any]:
    """Read a manifest, or the one in the figures of a run."""
    path = Path(path)
    cannot = f"The manifest {path} cannot be read"
    beside_it = f"It lies next to the release and has the same name, with {SUFFIX} at the end."
    try:
        raw = path.read_bytes()
    except OSError as fault:
        raise InputError(f"{cannot}: {fault.strerror or fault}. {beside_it}") from fault
    with Unreadable(cannot, beside_it).parsing("json"):
        tree = read_json(raw)
    if isinstance(tree, dict) and "shoal_manifest" not in tree:
        tree = tree.get("manifest")
    if not isinstance(tree, dict) or not isinstance(tree.get("shoal_manifest"), int):
        raise InputError(
            f"{path} is not the manifest of a release. Give the file that ends in {SUFFIX}, or the "
            "figures of the run (--json)."
        )
    if tree["shoal_manifest"] != FORMAT:
        raise InputError(
            f"{path} is a manifest of format {tree['shoal_manifest']}, and this version of Shoal "
            f"({versions('shoal')['shoal']}) reads {FORMAT}. Use the version that wrote it."
        )
    damaged = Unreadable(f"The manifest {path} is damaged", "Copy it again as it was written.")
    damaged.check_shape(tree, _FORM)
    with damaged.parsing("number"):
        bytes.fromhex(tree.get("steward", {}).get("key", ""))
    for key in tree["withheld"]:
        if key not in (_RULES, _SAME) and _keys(key)[0] not in ("data", "columns"):
            raise damaged.fault(f"{key!r} is no key of a plan")
    return tree


def released_name(made: Mapping[str, Any], where: Path) -> str:
    """Return the name of the first file that a manifest describes."""
    name = min(map(str, made["files"]), key=len, default="")
    if not name:
        raise InputError(
            f"The manifest {where} describes a release that was not written into files. Name the "
            "published table itself."
        )
    if name != Path(name).name or name.startswith("."):
        raise InputError(
            f"The manifest {where} names something that is not a file name: {name!r}. Copy it "
            "again."
        )
    return name


def check_newest(history: History, folders: Iterable[Path]) -> None:
    """Refuse a history that is older than a release of its series, by the manifests in folders."""
    for folder in {folder.resolve() for folder in folders if history.series}:
        for file in sorted(folder.glob(f"*{SUFFIX}")):
            with contextlib.suppress(InputError):
                tied = tied_of(read_manifest(file))
                if tied.get("series") == history.series and tied["number"] > len(history.heads):
                    raise ParameterError(
                        f"The history {history.folder} is older than the newest release of its "
                        f"series: it has {len(history.heads)} releases, and {file.name} is of "
                        f"release {tied['number']}. With it this release would undo that one. Give "
                        "the history that was kept with it; if it was never given to anybody, "
                        "delete it and its manifest."
                    )


def tied_of(made: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a manifest tells of other releases; one that somebody wrote by hand: nothing."""
    tied = made.get("tied")
    if not isinstance(tied, dict) or not isinstance(tied.get("number", 1), int):
        return {}
    return tied


def check_free(path: Path | None, *, force: bool) -> None:
    """Refuse, before the work, to write a manifest over a file that is none."""
    if path is None or not path.exists() or force or is_manifest(path):
        return
    raise OutputError(
        f"The manifest of the release goes to {path}, which exists and is not a manifest. Choose "
        "another name for the release, or allow both to be replaced with --force (force=True)."
    )


def plan_of(
    made: Mapping[str, Any], own: Plan | None, folder: Path, *, others: bool = False
) -> Plan:
    """Return the plan of a manifest; what it withholds comes from a plan of the steward's.

    ``folder``: of the manifest, from which the paths of a plan in it start. ``others``: other rules
    are asked for, so that those of the manifest are not needed.
    """
    tree = json.loads(json.dumps(made.get("steward", {}).get("plan", made["plan"])))
    plan = Plan.from_public(tree, folder)
    whole = "steward" in made
    lost = made["withheld"] if own is None else missing_keys(made, own)
    if (needed := [_NEEDED[key] for key in _NEEDED if key in lost]) and not whole and not others:
        raise ParameterError(
            f"The manifest withholds {' and '.join(needed)}, because that names values of the "
            "table, and it was not given. Give the plan of the run with --plan (plan=...), the "
            "figures of the run (--json) in place of the manifest, or the rules to check."
        )
    if own is None:
        return plan
    given = own.public()
    for key in made["withheld"]:
        if key == _RULES:
            if not whole and key not in lost:
                tree[key] = given[key]
            continue
        table, name, leaf = _keys(key)
        if value := (given[table].get(name, {}) if name else given[table]).get(leaf):
            part = tree.setdefault(table, {})
            (part.setdefault(name, {}) if name else part)[leaf] = value
    if given["data"].get("hierarchies"):
        tree.setdefault("data", {})["hierarchies"] = given["data"]["hierarchies"]
    return Plan.from_public(tree, folder).read_as(own)


def missing_keys(made: Mapping[str, Any], own: Plan) -> list[str]:
    """Return the keys that a manifest withholds and a plan of the steward's does not have."""
    if "steward" in made:
        return []
    has = set(without_listed_texts(own)[1])
    trees = "data.hierarchies" in has
    return [
        key
        for key in made["withheld"]
        if key not in has and not (trees and _keys(key)[2] == "hierarchy")
    ]


def _keys(key: str) -> tuple[str, str, str]:
    """Split ``columns.NAME.order`` and ``data.missing``; a name may hold dots."""
    table, _, rest = key.partition(".")
    name, _, leaf = rest.rpartition(".")
    return table, name, leaf

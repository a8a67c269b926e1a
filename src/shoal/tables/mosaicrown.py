"""Jobs of mosaicrown's Mondrian (JSON): roles, K, L and taxonomies become a plan.

A job names its table, its columns by role, ``K``, ``L`` and, per quasi-identifier, how it is
generalized: by a taxonomy (a file in JSON), numerically, or to a common prefix.
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

from shoal.base.errors import InputError, SchemaError
from shoal.tables.projects import Project
from shoal.tables.trees import rows_of_json

_ROLES = {"id_columns": "identifier", "sensitive_columns": "sensitive", "quasiid_columns": "quasi"}
_WORK = ("fraction", "column_score", "fragmentation", "repartition", "measures", "fragments")
_KNOWN = {*_ROLES, *_WORK, "input", "output", "redact", "K", "L", "quasiid_generalizations"}


def read_job(path: Path) -> Project:
    """Read a job; its table is not opened, its taxonomies are looked for beside it."""
    job = _job(path)
    columns: dict[str, dict[str, Any]] = {}
    for key, role in _ROLES.items():
        for name in _names(path, job, key):
            columns[name] = {"role": role}
    rules: list[dict[str, Any]] = []
    if k := _number(path, job, "K"):
        rules.append({"name": "k-anonymity", "k": k})
    hidden = [name for name, part in columns.items() if part["role"] == "sensitive"]
    if l := _number(path, job, "L"):  # noqa: E741 -- the papers' letter
        rules += [{"name": "l-diversity", "l": l, "column": name} for name in hidden]
    if not rules:
        raise InputError(f"{path} asks for neither K nor L, so nothing would be promised. Add one.")
    notes = [
        "Columns that the job does not name are not released; name them in the plan if they are "
        "harmless (role = 'other')."
    ]
    if job.get("redact"):
        notes.append("redact: identifiers are left out, not published as '*'.")
    trees = _generalized(path, job, columns, notes)
    if work := [key for key in _WORK if key in job]:
        notes.append(
            f"{', '.join(work)}: how the work is done there. Shoal's own method loses less; the "
            "algorithm of the job is --method mondrian."
        )
    notes += [f"{key}: not known to Shoal." for key in job if key not in _KNOWN]
    table = f"The table of the job is {job.get('input', 'not named')}; run, with it as table.csv:"
    return Project("mosaicrown", columns, rules, {}, trees, tuple(notes), table)


def _job(path: Path) -> dict[str, Any]:
    try:
        job = json.loads(path.read_text("utf-8-sig"))
    except FileNotFoundError:
        raise InputError(f"{path} does not exist. Check the name of the job.") from None
    except (OSError, ValueError, RecursionError) as fault:
        raise InputError(f"{path} is no job of mosaicrown's Mondrian ({fault}).") from None
    if not isinstance(job, dict) or not job.get("quasiid_columns"):
        raise InputError(
            f"{path} is no job of mosaicrown's Mondrian: it lists no quasiid_columns. To make a "
            "plan for a table, give the table: CSV, Parquet, Excel, ..."
        )
    return job


def _names(path: Path, job: dict[str, Any], key: str) -> list[str]:
    names = job.get(key) or []
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InputError(f"{key} of {path} must list names of columns. Got {names!r} instead.")
    return names


def _number(path: Path, job: dict[str, Any], key: str) -> int:
    number = job.get(key) or 0
    if not isinstance(number, int):
        raise InputError(f"{key} of {path} must be a whole number. Got {number!r} instead.")
    return number


def _generalized(
    path: Path, job: dict[str, Any], columns: dict[str, dict[str, Any]], notes: list[str]
) -> dict[str, bytes]:
    """Take the generalizations over, and return the hierarchies as files of our own."""
    trees: dict[str, bytes] = {}
    for asked in job.get("quasiid_generalizations") or ():
        name, how = str(asked.get("qi_name")), str(asked.get("generalization_type"))
        own = asked.get("params") or {}
        if columns.get(name, {}).get("role") != "quasi":
            notes.append(f"Generalization of {name!r}, which is no quasi-identifier of the job.")
        elif how == "categorical":
            if file := _beside(path, str(own.get("taxonomy_tree"))):
                columns[name]["kind"] = "taxonomy"
                trees[name] = _as_csv(file, name)
            else:
                notes.append(
                    f"Taxonomy of {name!r}: {own.get('taxonomy_tree')} is not beside the job. Name "
                    f"its file as hierarchy under [columns.{name}] of the plan; JSON is read."
                )
        elif how == "numerical":
            columns[name]["kind"] = "ordered"
            notes.append(
                f"Numeric tree of {name!r} (fanout {own.get('fanout')}, accuracy "
                f"{own.get('accuracy')}): intervals are cut where the classes need it. For fixed "
                f"ones: shoal hierarchy make table.csv {name} --how intervals --widths ..."
            )
        elif how == "common_prefix":
            notes.append(
                f"Common prefixes of {name!r}: shoal hierarchy make table.csv {name} --how "
                f"prefixes -o {name}.csv, then name it as hierarchy of the column."
            )
        else:
            notes.append(f"Generalization of {name!r} by {how!r} has no counterpart.")
    return trees


def _beside(job: Path, named: str) -> Path | None:
    """Find a taxonomy in the folder of the job, or in the one above it, and nowhere else.

    Jobs name files from where the tool is started, which is mostly the folder above.
    """
    home = job.absolute().parent
    last = Path(*Path(named).parts[-2:])
    for candidate in (home / named, home.parent / named, home / last, home.parent / last):
        path = candidate.resolve()
        if path.is_relative_to(home.parent.resolve()) and path.is_file():
            return path
    return None


def _as_csv(file: Path, column: str) -> bytes:
    try:
        rows = rows_of_json(file.read_text("utf-8-sig"), file, column)
    except (OSError, UnicodeDecodeError) as fault:
        raise SchemaError(f"The taxonomy {file} cannot be read: {fault}.") from None
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=";", lineterminator="\n").writerows(rows)
    return text.getvalue().encode()

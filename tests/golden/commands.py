"""What other programs rely on: the exit code of each command, and the keys of its figures.

``python -m tests.golden.commands`` writes both to ``commands.json``. A key may go, or an exit code
change, only in a commit that says so.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from tests.golden.runs import HERE, prepare
from tests.inprocess import shoal

FILE = HERE / "commands.json"
DEPTH = 3
"""Levels of keys that are kept; below them stand figures by column, value or count."""

_ROLES = ("--quasi", "age,sex", "--sensitive", "diagnosis")
_RELEASE = ("release.csv", *_ROLES)
_PAIR = ("demo/patients.csv", "release.csv", *_ROLES, "--person", "patient")
COMMANDS: dict[str, tuple[str, ...]] = {
    "anonymize": (
        "anonymize", "demo/patients.csv", *_ROLES, "--identifier", "patient", "--k", "5",
        "--seed", str(2**80), "--effort", "fast", "-o", "release.csv", "--json", "JSON",
    ),
    "anonymize, as before": ("anonymize", "demo/patients.csv", *_ROLES, "-o", "release.csv"),
    "anonymize, nobody": ("anonymize", "nobody.csv", *_ROLES, "-o", "other.csv"),
    "anonymize, k too large": (
        "anonymize", "demo/patients.csv", *_ROLES, "--k", "99999", "-o", "x.csv",
    ),
    "anonymize, no such flag": ("anonymize", "demo/patients.csv", "--such"),
    "audit": ("audit", *_RELEASE, "--k", "5", "--json", "JSON"),
    "audit, beside its original": (
        "audit", *_RELEASE, "--k", "5", "--original", "demo/patients.csv", "--json", "JSON",
    ),
    "audit, broken": ("audit", *_RELEASE, "--k", "500", "--json", "JSON"),
    "audit, of people": ("audit", *_RELEASE, "--person", "patient", "--k", "5", "--json", "JSON"),
    "audit, against": (
        "audit", *_RELEASE, "--k", "5", "--against", "before.csv", "--json", "JSON",
    ),
    "audit, no such column": ("audit", "release.csv", "--quasi", "height"),
    "audit, of a manifest": ("audit", "--manifest", "release.csv.manifest.json", "--json", "JSON"),
    "risk": ("risk", *_RELEASE, "--json", "JSON"),
    "attack": (
        "attack", *_PAIR[:2], "--known", "age,sex", "--sensitive", "diagnosis", "--seed", "1",
        "--json", "JSON",
    ),
    "estimate": (
        "estimate", "release.csv", "--of", "diagnosis", "--by", "sex", "--json", "JSON",
    ),
    "compare": (
        "compare", "demo/patients.csv", *_ROLES, "--k", "5", "--methods", "mondrian",
        "--seed", "1", "--json", "JSON",
    ),
    "inspect": ("inspect", "demo/patients.csv", "--json", "JSON"),
    "hierarchy check": ("hierarchy", "check", "demo/hierarchies/zip.csv"),
    "methods": ("methods",),
}  # fmt: skip
"""One line of every kind; ``JSON`` is the file of its figures."""


def outcomes(folder: Path) -> dict[str, dict[str, Any]]:
    """Run the commands one after the other; return the exit code and the keys of each."""
    found: dict[str, dict[str, Any]] = {}
    for number, (name, words) in enumerate(COMMANDS.items()):
        figures = folder / f"{number}.json"
        done = shoal(folder, *(figures.name if word == "JSON" else word for word in words))
        found[name] = {"exit": done.returncode}
        if "JSON" in words:
            assert figures.exists(), done.stderr
            found[name]["keys"] = keys(json.loads(figures.read_text()))
        if name == "anonymize":
            manifest = json.loads((folder / "release.csv.manifest.json").read_text())
            found["manifest"] = {"keys": keys(manifest)}
            (folder / "before.csv").write_bytes((folder / "release.csv").read_bytes())
    return found


def keys(tree: Any, depth: int = DEPTH) -> list[str]:
    """Return the keys of figures with their places; those of lists are joined."""
    if not depth:
        return []
    if isinstance(tree, list):
        return sorted({key for each in tree for key in keys(each, depth)})
    if not isinstance(tree, dict):
        return []
    own = set(tree)
    return sorted(own | {f"{name}.{key}" for name in own for key in keys(tree[name], depth - 1)})


def main() -> None:
    """Write the exit codes and keys."""
    with tempfile.TemporaryDirectory() as made:
        prepare(Path(made))
        found = outcomes(Path(made))
    FILE.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()

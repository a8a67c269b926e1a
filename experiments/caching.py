"""Measurements are kept: what was measured once on the same data by the same code is not again."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import shoal
from shoal.base.atomic import atomic_file
from shoal.base.errors import OutputError

# What the figures depend on. The pages and the command line are not among it.
FLOORS = (
    "base",
    "kernels",
    "catalog",
    "privacy",
    "tables",
    "coding",
    "groupers",
    "releases",
    "measures",
    "verbs",
)
OURS = ("measuring.py", "asking.py")


def default_folder() -> Path:
    """Return the folder for measurements in the user's cache."""
    home = os.environ.get("XDG_CACHE_HOME")
    return Path(home or Path.home() / ".cache") / "shoal" / "experiments"


@cache
def code_digest() -> str:
    """Return a digest of the sources that measurements depend on."""
    root, here = Path(shoal.__file__).parent, Path(__file__).parent
    files = [path for floor in FLOORS for path in sorted((root / floor).rglob("*.py"))]
    digest = hashlib.sha256()
    for path in [*files, *(here / name for name in OURS)]:
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def key_of(point: Mapping[str, Any], data: str) -> str:
    """Return the name of a measurement: a digest of its settings, its data and the code.

    ``limit``, the time allowed, is no part of it: it does not change what is found.
    """
    settings = {name: value for name, value in point.items() if name != "limit"}
    text = json.dumps([settings, data, code_digest()], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Store:
    """A folder with one small JSON file per measurement."""

    folder: Path

    def get(self, key: str, limit: float) -> dict[str, Any] | None:
        """Return a kept measurement; one that was given up earlier than ``limit`` is none."""
        try:
            found: dict[str, Any] = json.loads(self._path(key).read_text("utf-8"))
        except (OSError, ValueError):  # never measured, or not by us
            return None
        if found.get("point") is None or found.get("gave_up", limit) < limit:
            return None
        return found

    def put(self, key: str, point: Mapping[str, Any], result: Mapping[str, Any]) -> dict[str, Any]:
        """Keep a measurement, whole or not at all."""
        kept = {"point": dict(point), **result}
        path = self._path(key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as fault:
            raise OutputError(
                f"Measurements cannot be kept in {self.folder}: {fault.strerror}. Choose another "
                "folder with --cache."
            ) from fault
        with atomic_file(path, force=True) as stream:
            stream.write(json.dumps(kept, indent=1).encode() + b"\n")
        return kept

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.json"

"""Measurements are kept: what was measured once on the same data by the same code is not again.

The code of a point is its grouper, the kernels and what else that imports of the same layers, and
the measure; not the package as a whole. Comments and docstrings are no part of it.

What other code measured is not measured again in full where the present code gives the same figures
in the first repeat, to the last digit: another name or message changes nothing. Times are.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import shoal
from shoal.base.atomic import atomic_file
from shoal.base.errors import OutputError
from shoal.catalog import METHODS

LAYERS = ("kernels", "privacy", "coding", "groupers", "releases", "measures")
"""Layers of the package that figures depend on, as far as a grouper or a measure imports them."""
DOMAINS = "shoal.tables.domain"
"""And where the widths of cells are computed."""
MEASURES = {
    "": ("shoal.measures.losses.ncp", "experiments.measuring"),
    "queries": ("shoal.measures.losses.queries", "experiments.asking"),
    "example": ("shoal.releases.estimates.bayes", "experiments.asking"),
    "clock": ("shoal.releases.estimates.bayes", "experiments.asking"),
    "series": (
        *("shoal.groupers.buckets", "shoal.groupers.shoal", "shoal.releases.history.store"),
        *("shoal.measures.earlier.linking", "experiments.overtime"),
    ),
}
"""By the kind of a point, where its measure begins."""


def default_folder() -> Path:
    """Return the folder for measurements in the user's cache."""
    home = os.environ.get("XDG_CACHE_HOME")
    return Path(home or Path.home() / ".cache") / "shoal" / "experiments"


def code_digest(point: Mapping[str, Any]) -> str:
    """Return a digest of the code that a point depends on."""
    return _digest_from(frozenset(_starts(point)))


def digest_of(points: Iterable[Mapping[str, Any]]) -> str:
    """Return a digest of the code that all points of a figure depend on."""
    return _digest_from(frozenset(start for point in points for start in _starts(point)))


def _starts(point: Mapping[str, Any]) -> tuple[str, ...]:
    kind = point.get("kind", "series" if "way" in point else "")
    name = point.get("method", "")
    method = (METHODS[name].path.partition(":")[0],) if name in METHODS else ()
    return (*method, *MEASURES[kind])


@cache
def _digest_from(starts: frozenset[str]) -> str:
    digest = hashlib.sha256()
    for name in sorted(_reached(starts)):
        digest.update(f"{name}\n{_code(name)}\n".encode())
    return digest.hexdigest()


def _reached(starts: Iterable[str]) -> set[str]:
    """Return the modules that some modules import, near or far, within the layers."""
    seen: set[str] = set()
    todo = list(starts)
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo += [o for o in _imports(name) if o.split(".")[1] in LAYERS or o == DOMAINS]
    return seen


def _path(name: str) -> Path | None:
    """Return the file of a module of ours, None where the name is none."""
    package, *parts = name.split(".")
    home = {"shoal": Path(shoal.__file__).parent, "experiments": Path(__file__).parent}[package]
    place = home.joinpath(*parts)
    for path in (place.with_suffix(".py"), place / "__init__.py"):
        if path.is_file():
            return path
    return None


@cache
def _tree(name: str) -> ast.Module:
    path = _path(name)
    assert path is not None, name
    return ast.parse(path.read_text("utf-8"))


@cache
def _imports(name: str) -> tuple[str, ...]:
    found = set()
    for node in ast.walk(_tree(name)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("shoal."):
            own = str(node.module)
            inner = [f"{own}.{alias.name}" for alias in node.names]
            found |= {other if _path(other) else own for other in inner}
    return tuple(sorted(found))


@cache
def _code(name: str) -> str:
    """Return the code of a module without comments and docstrings."""
    tree = _tree(name)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            value = body[0].value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                body[0] = ast.Pass()
    return ast.dump(tree)


def key_of(point: Mapping[str, Any], data: str) -> str:
    """Return the name of a measurement: a digest of its settings, its data and the code.

    ``limit``, the time allowed, is no part of it: it does not change what is found.
    """
    return _digest_of_settings(point, data, code_digest(point))


def _digest_of_settings(point: Mapping[str, Any], *others: str) -> str:
    settings = {name: value for name, value in point.items() if name != "limit"}
    text = json.dumps([settings, *others], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def without_times(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return a measurement without the seconds that its repeats took."""
    repeats = [
        {name: value for name, value in each.items() if name != "seconds"}
        for each in result["repeats"]
    ]
    return {**result, "repeats": repeats}


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

    def earlier(self, point: Mapping[str, Any], data: str) -> dict[str, Any] | None:
        """Return the repeats of the same point on the same data, measured by whatever code."""
        return self._earlier.get(_digest_of_settings(point, data))

    @cached_property
    def _earlier(self) -> dict[str, dict[str, Any]]:
        """Measurements of several repeats by their settings and data, the newest last."""
        found = {}
        for path in sorted(self.folder.glob("*/*.json"), key=lambda path: path.stat().st_mtime):
            try:
                kept = json.loads(path.read_text("utf-8"))
            except (OSError, ValueError):  # not by us
                continue
            if isinstance(kept, dict) and "data" in kept and len(kept.get("repeats", ())) > 1:
                found[_digest_of_settings(kept["point"], kept["data"])] = kept
        return found

    def put(
        self, key: str, point: Mapping[str, Any], result: Mapping[str, Any], data: str = ""
    ) -> dict[str, Any]:
        """Keep a measurement on some data, whole or not at all."""
        kept = {**result, "point": dict(point), "data": data}
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

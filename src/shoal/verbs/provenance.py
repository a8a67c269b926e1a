"""What ties a run to what it was made from: digests under a key, so that nobody can try guesses.

A plain digest of a table answers whoever guesses the table: make it with one cell changed and
compare. So the digests of whatever is not published (the table, the plan, the hierarchies) are
HMACs under a key of 32 bytes. With a seed the key comes from the seed, which the steward has, and
whoever has it could repeat the run anyway; without one it is drawn, and told in the figures of the
run alone, which are the steward's.
"""

from __future__ import annotations

import hashlib
import hmac
import io
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from shoal.base.seeds import stretch_seed
from shoal.plan.plan import Plan
from shoal.tables.domain import Taxonomy
from shoal.tables.schema import plain

SUFFIX = ".manifest.json"  # beside a release: x.csv.manifest.json
_SLICE = 1 << 17  # rows that are written out at a time


@dataclass(frozen=True, repr=False)
class RunDigests:
    """Keyed digests of a run's table, plan and hierarchies, and when and where it was made.

    ``table``: of the cells as they were read, whatever they were read from. ``file``: of the file's
    bytes, empty for a frame and a database. A pickle holds no key.
    """

    engine: str = "local"
    table: str = ""
    file: str = ""
    plan: str = ""
    hierarchies: Mapping[str, str] = field(default_factory=dict)
    made: str = ""
    key: bytes = b""

    def __reduce__(self) -> tuple[Any, ...]:
        digests = (self.table, self.file, self.plan, dict(self.hierarchies))
        return RunDigests, (self.engine, *digests, self.made)

    def to_manifest(self) -> dict[str, Any]:
        """Return the digests as a manifest tells them."""
        named = {"table": self.table, "file": self.file, "plan": self.plan}
        digests: dict[str, Any] = {name: digest for name, digest in named.items() if digest}
        if self.hierarchies:
            digests["hierarchies"] = dict(self.hierarchies)
        return digests


def run_digests(
    file: str,
    frame: pl.DataFrame | None,
    plan: Plan,
    taxonomies: Mapping[str, Taxonomy],
    engine: str = "local",
) -> RunDigests:
    """Take the marks of a run; ``plan`` still has its seed.

    ``file``: the SHA-256 of what was read, empty of no file. ``frame``: None if it is elsewhere.
    """
    key = seed_key(plan.seed) if plan.seed is not None else secrets.token_bytes(32)
    return RunDigests(
        engine,
        "" if frame is None else keyed_digest(key, "table", of_frame(frame)),
        keyed_digest(key, "file", bytes.fromhex(file)) if file else "",
        keyed_digest(key, "plan", of_plan(plan)),
        {name: keyed_digest(key, "hierarchy", of_tree(tree)) for name, tree in taxonomies.items()},
        datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        key,
    )


def seed_key(seed: int) -> bytes:
    """Return the key of a run with a seed."""
    return hmac.digest(
        stretch_seed(seed).to_bytes(32, "big"), b"shoal: the key of marks, 1", "sha256"
    )


def keyed_digest(key: bytes, what: str, digest: bytes) -> str:
    """Return a digest under a key; ``what`` keeps a plan from passing for a table."""
    return hmac.new(key, what.encode() + b"\0" + digest, "sha256").hexdigest()


def of_path(path: Path) -> bytes:
    """Digest the bytes of a file, or the names and bytes of all files in a folder.

    Where what was read cannot be had: Spark reads by itself.
    """
    if not path.is_dir():
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").digest()
    whole = hashlib.sha256()
    for file in sorted(file for file in path.rglob("*") if file.is_file()):
        whole.update(file.relative_to(path).as_posix().encode() + b"\0" + of_path(file))
    return whole.digest()


def digest_of(data: Any) -> str:
    """Return the digest of a file or folder on this machine; of anything else it is empty."""
    path = Path(data) if isinstance(data, (str, Path)) else None
    return of_path(path).hex() if path is not None and path.exists() else ""


def of_frame(frame: pl.DataFrame) -> bytes:
    """Digest the cells of a table, written as CSV; of cells that are no single values the names."""
    whole = hashlib.sha256("\0".join(frame.columns).encode())
    shown = frame.select(column for column in frame if plain(column.dtype))
    for rows in shown.iter_slices(_SLICE):
        text = io.BytesIO()
        rows.write_csv(text, include_header=False)
        whole.update(text.getvalue())
    return whole.digest()


def of_plan(plan: Plan) -> bytes:
    """Digest a plan without its seed, and without where its files are."""
    tree = plan.final().public()
    tree.pop("evidence", None)  # no run depends on it
    tree["data"] = {key: value for key, value in tree["data"].items() if key != "hierarchies"}
    for part in tree["columns"].values():
        part.pop("hierarchy", None)
    return hashlib.sha256(json.dumps(tree, sort_keys=True).encode()).digest()


def of_tree(tree: Taxonomy) -> bytes:
    """Digest a hierarchy: its labels and its levels."""
    shape = json.dumps([list(tree.labels), tree.levels.tolist()])
    return hashlib.sha256(shape.encode()).digest()

"""Hash rows on Spark to number tuples and to compare tables."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import polars.selectors as cs

from shoal.base.seeds import stretch_seed
from shoal.ext.spark.functions import F

TUPLES, TURNS, ORDER = range(3)
"""What a salt is for: to name tuples, to number the rows of one, to put the rows in order."""
Fingerprint = tuple[int, int, int]
"""How many rows there are, and two sums of their hashes."""


@dataclass(frozen=True)
class Mark:
    """The fingerprint of the input, from the pass that counted its tuples, and its salt."""

    salt: int
    found: Fingerprint


def to_polars(table: Any) -> pl.DataFrame:
    """Return an Arrow table or batch as polars has it; moments in UTC, wherever Spark is."""
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame.with_columns(cs.datetime(time_zone="*").dt.convert_time_zone("UTC"))


def fresh_salt() -> int:
    """Return a number that nobody can guess."""
    return secrets.randbits(63)


def salt_of(seed: int | None, purpose: int) -> int:
    """Return a number that nobody can guess who does not know the seed; without one, a fresh one.

    ``purpose``: TUPLES, TURNS or ORDER.
    """
    if seed is None:
        return fresh_salt()
    spawned = np.random.SeedSequence(stretch_seed(seed), spawn_key=(1, purpose))
    return int(spawned.generate_state(1, np.uint64)[0] >> np.uint64(1))


def hashed(columns: Sequence[str], salt: int) -> Any:
    """Return the hash of some columns. Spark's own skips nulls, so where they are counts too."""
    gaps = [F.isnull(F.col(name)) for name in columns]
    return F.xxhash64(F.lit(salt), *(F.col(name) for name in columns), *gaps)


def sums(mark: Any, name: str) -> list[Any]:
    """Return the aggregates whose totals are a fingerprint: ``<name>0``, ``<name>1``, ``<name>2``.

    Two tables with the same fingerprint under a salt that neither was made with hold the same rows,
    equally often, in whatever order: to differ they would have to agree in two sums of random
    numbers.
    """
    halves = (
        F.count(mark),
        F.sum(F.shiftrightunsigned(mark, 32)),
        F.sum(mark.bitwiseAND(F.lit(0xFFFFFFFF))),
    )
    return [part.alias(f"{name}{i}") for i, part in enumerate(halves)]


def totals(counted: Any, name: str) -> Fingerprint:
    """Add up in polars what :func:`sums` gave for each group."""
    first, second, third = (int(counted[f"{name}{i}"].sum() or 0) for i in range(3))
    return first, second, third


def fingerprints(rows: Any, parts: Sequence[Any]) -> list[Fingerprint]:
    """Return the fingerprint of each column of hashes, in one pass."""
    marks = rows.select(*(hashes.alias(f"h{i}") for i, hashes in enumerate(parts)))
    wanted = [value for name in marks.columns for value in sums(marks[name], name)]
    totals = [int(value or 0) for value in marks.agg(*wanted).head(1)[0]]
    return [(totals[i], totals[i + 1], totals[i + 2]) for i in range(0, len(totals), 3)]

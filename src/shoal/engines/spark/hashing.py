"""Rows as numbers: salted 64-bit hashes that name tuples and tell whether two tables are equal."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any


def fresh_salt() -> int:
    """Return a number that nobody can guess."""
    return secrets.randbits(63)


def hashed(columns: Sequence[str], salt: int) -> Any:
    """Return the hash of some columns. Spark's own skips nulls, so where they are counts too."""
    from pyspark.sql import functions as F  # noqa: N812

    gaps = [F.isnull(F.col(name)) for name in columns]
    return F.xxhash64(F.lit(salt), *(F.col(name) for name in columns), *gaps)


Fingerprint = tuple[int, int, int]


def fingerprints(rows: Any, parts: Sequence[Any]) -> list[Fingerprint]:
    """Return how many rows have a hash, and two sums of them, for each column of hashes.

    Two tables with the same fingerprint under a salt drawn afterwards hold the same rows, equally
    often, in whatever order: to differ they would have to agree in two sums of random numbers.
    """
    from pyspark.sql import functions as F  # noqa: N812

    marks = rows.select(*(part.alias(f"h{i}") for i, part in enumerate(parts)))
    sums = [
        each
        for name in marks.columns
        for each in (
            F.count(name),
            F.sum(F.shiftrightunsigned(name, 32)),
            F.sum(F.col(name).bitwiseAND(F.lit(0xFFFFFFFF))),
        )
    ]
    found = [int(each or 0) for each in marks.agg(*sums).head(1)[0]]
    return [(found[i], found[i + 1], found[i + 2]) for i in range(0, len(found), 3)]

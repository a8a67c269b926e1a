"""The tables that benchmarks run on: Adult when its folder is given, generated ones otherwise."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from shoal.api.opening import read_table
from shoal.coding.encode import Encoded, encode
from shoal.tables.domain import Ordered, Taxonomy
from shoal.tables.hierarchy import read_directory
from shoal.tables.schema import declare

ADULT = Path(__file__).resolve().parents[2] / "shared" / "data"
QUASI = [
    "age",
    "workclass",
    "education",
    "marital-status",
    "occupation",
    "race",
    "sex",
    "native-country",
]


def adult(quasi: list[str] | None = None, sensitive: tuple[str, ...] = ()) -> Encoded:
    """Return all 48,842 Adult rows with their gaps, eight taxonomies."""
    columns = quasi or QUASI
    frame = read_table(ADULT / "adult.csv.gz")
    taxonomies = read_directory(ADULT / "hierarchies" / "adult", columns)
    schema = declare(frame, quasi=columns, sensitive=list(sensitive), taxonomies=taxonomies)
    return encode(frame, schema, taxonomies)


def resampled(data: Encoded, rows: int, seed: int = 0, redraw: float = 0.15) -> Encoded:
    """Return ``rows`` rows drawn from ``data``, each cell redrawn with some probability."""
    rng = np.random.default_rng(seed)
    codes = data.codes[rng.integers(0, data.rows, rows)].copy()
    for j in range(codes.shape[1]):
        hit = rng.random(rows) < redraw
        codes[hit, j] = data.codes[rng.integers(0, data.rows, int(hit.sum())), j]
    return replace(data, codes=codes, sensitive={}, sensitive_names={})


def numeric(rows: int, columns: int, seed: int = 0) -> Encoded:
    """Return uniform numbers, all different: the hard case for any search."""
    rng = np.random.default_rng(seed)
    codes, domains = [], []
    for _ in range(columns):
        points, position = np.unique(rng.random(rows), return_inverse=True)
        codes.append(position.astype(np.int32))
        domains.append(Ordered(pl.Series(points), points))
    names = tuple(f"x{j}" for j in range(columns))
    return Encoded(names, np.ascontiguousarray(np.stack(codes, axis=1)), tuple(domains), {}, {})


def with_zips(data: Encoded, leaves: int, seed: int = 0) -> Encoded:
    """Return ``data`` with one column more: zip codes in a taxonomy of ``leaves`` leaves."""
    rng = np.random.default_rng(seed)
    zips = [f"{z:05d}" for z in rng.choice(100_000, leaves, replace=False)]
    taxonomy = Taxonomy.from_rows([(z, z[:4], z[:3], z[:2], z[:1], "*") for z in zips], "zip")
    column = rng.integers(0, leaves, (data.rows, 1)).astype(np.int32)
    return replace(
        data,
        names=(*data.names, "zip"),
        codes=np.ascontiguousarray(np.hstack((data.codes, column))),
        domains=(*data.domains, taxonomy),
    )


def wages(rows: int = 61_395, seed: int = 0) -> Encoded:
    """Return a survey like one on wages: four columns, thousands of amounts in steps of 1 to 20.

    Amounts crowd at the low end, so the intervals of a level have anything from one to hundreds of
    leaves under them.
    """
    rng = np.random.default_rng(seed)
    cents = np.minimum(np.round(np.exp(rng.normal(2.6, 0.6, rows)) * 100), 20_000).astype(int)
    usual = rng.random(rows) < 0.5
    cents[usual] = np.round(cents[usual] / 25) * 25
    found, code = np.unique(cents, return_inverse=True)
    paths = []
    for amount in found:
        parts = [f"[{int(amount // (100 * s)) * s}, {s}[" for s in (1, 5, 10, 20)]
        paths.append((f"{amount / 100:.2f}", *parts, "*"))
    wage = Taxonomy.from_rows(paths, "wage")
    leaf = {label: position for position, label in enumerate(wage.labels[: wage.size])}
    column = np.array([leaf[path[0]] for path in paths], np.int32)[code]
    base = adult(["age", "education", "sex"])
    codes = base.codes[rng.integers(0, base.rows, rows)]
    return replace(
        base,
        names=(*base.names, "wage"),
        codes=np.ascontiguousarray(np.column_stack((codes, column)).astype(np.int32)),
        domains=(*base.domains, wage),
        importance=(),
    )

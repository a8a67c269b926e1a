"""Small random encoded tables for tests: every kind of column, missing values, ties."""

import numpy as np
import polars as pl

from shoal.coding.encode import Encoded
from shoal.tables.domain import Nominal, Ordered, Taxonomy


def taxonomy(rng, leaves, name="t"):
    """A random tree of three or four levels over ``leaves`` leaves."""
    coarse = rng.integers(1, 4)
    fine = rng.integers(coarse, max(coarse + 1, leaves))
    middle = np.sort(rng.integers(0, fine, leaves))
    parent = np.sort(rng.integers(0, coarse, fine))
    rows = [(f"v{i}", f"m{middle[i]}", f"c{parent[middle[i]]}", "*") for i in range(leaves)]
    order = rng.permutation(leaves)
    return Taxonomy.from_rows([rows[i] for i in order], name)


def ordered(rng, size):
    points = np.sort(rng.choice(50, size, replace=False)).astype(float)
    return Ordered(pl.Series(points), points)


def nominal(size):
    return Nominal(tuple(f"n{i}" for i in range(size)))


def encoded(rng, n, kinds="tosn", missing=0.15, sensitive=None, gaps=0.0):
    """A table of ``n`` rows; ``kinds``: t taxonomy, o ordered, s set (repeat as wished)."""
    domains, columns = [], []
    for kind in kinds:
        size = int(rng.integers(2, 9))
        domain = {"t": lambda s=size: taxonomy(rng, s), "o": lambda s=size: ordered(rng, s)}.get(
            kind, lambda s=size: nominal(s)
        )()
        codes = rng.integers(0, domain.size, n).astype(np.int32)
        codes[rng.random(n) < missing] = domain.size
        domains.append(domain)
        columns.append(codes)
    codes = np.ascontiguousarray(np.stack(columns, axis=1))
    codes.setflags(write=False)
    hidden, names = {}, {}
    for i, values in enumerate(sensitive or ()):
        column = rng.integers(0, values, n).astype(np.int32)
        if gaps:
            column[rng.random(n) < gaps] = -1
        hidden[f"s{i}"], names[f"s{i}"] = column, tuple(f"x{v}" for v in range(values))
    return Encoded(
        tuple(f"{kind}{j}" for j, kind in enumerate(kinds)), codes, tuple(domains), hidden, names
    )

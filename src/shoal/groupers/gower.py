"""Rows as the numbers that Gower's dissimilarity compares, and the tree over them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.coding.encode import Encoded
from shoal.coding.space import make_space
from shoal.kernels.gower.search import GAP, Field
from shoal.kernels.space.build_tree import build_tree
from shoal.tables.domain import Domain, Nominal, Ordered, numbers

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


def coordinates(data: Encoded) -> tuple[Floats, Bools]:
    """Return the rows as numbers, ``[n, m]``, and which columns are numeric.

    Numbers, dates and ranks are scaled by the range that occurs; so is a taxonomy all of whose
    leaves are numbers. Of all other columns the position counts only as a name. Missing is -1.
    """
    x = np.full(data.codes.shape, GAP)
    numeric = np.zeros(len(data.domains), np.bool_)
    for j, domain in enumerate(data.domains):
        codes = data.codes[:, j]
        known = codes < domain.size
        points = numbers(domain)
        if points is None:
            x[known, j] = codes[known]
            continue
        numeric[j] = True
        if known.any():
            values = points[codes[known]]
            low, high = values.min(), values.max()
            x[known, j] = (values - low) / (high - low if high > low else 1.0)
    return x, numeric


def make_field(x: Floats, numeric: Bools, labels: Ints | None = None) -> tuple[Field, Ints]:
    """Return the tree over some points, and the order of the points in it.

    A search returns a point by its number in tree order, or by its label if ``labels`` are given
    (0 .. points - 1, each once).
    """
    domains: list[Domain] = []
    codes = np.empty(x.shape, np.int32)
    tables: list[Floats] = []
    for j in range(numeric.size):
        known = x[:, j] >= 0.0
        if numeric[j]:
            values, places = np.unique(x[known, j], return_inverse=True)
            domains.append(Ordered(pl.Series(values), values))
        else:
            places = x[known, j].astype(np.int32)
            values = np.arange(int(places.max()) + 1 if places.size else 0, dtype=np.float64)
            domains.append(Nominal(("",) * values.size))
        codes[:, j] = values.size
        codes[known, j] = places
        tables.append(np.append(values, GAP))
    names = tuple(map(str, range(numeric.size)))
    # A name that differs counts 1, as a whole range does.
    weights = [1.0 if numeric[j] else max(domains[j].size - 1.0, 1.0) for j in range(numeric.size)]
    space = make_space(Encoded(names, codes, tuple(domains), {}, {}), weights=weights)
    size = x.shape[0]
    tree, order = build_tree(space, codes, np.ones(size, np.int64), np.zeros(size, np.int32))
    known_below = tree.lo <= tree.hi
    lo, hi = np.full(tree.lo.shape, GAP), np.full(tree.lo.shape, GAP)
    for j, table in enumerate(tables):
        lo[:, j] = table[np.minimum(tree.lo[:, j], table.size - 1)]
        hi[:, j] = table[np.maximum(tree.hi[:, j], 0)]
    label = np.arange(size) if labels is None else labels[order]
    position = np.empty(size, np.int64)
    position[label] = np.arange(size)
    field = Field(
        numeric=numeric,
        x=np.ascontiguousarray(x[order]),
        label=label,
        place=position,
        begin=tree.begin,
        end=tree.end,
        right=tree.right,
        parent=tree.parent,
        leaf=tree.leaf,
        lo=lo,
        hi=hi,
        bag=tree.bag,
        gap=tree.gap,
        known=known_below,
    )
    return field, order

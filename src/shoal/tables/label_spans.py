"""Find the smallest and largest number that each hierarchy label covers."""

from __future__ import annotations

import numpy as np
import polars as pl

from shoal.tables.domain import STAR, Taxonomy

_END = r"([+-]?\d+(?:\.\d+)?)"
_BETWEEN = rf"^[\[(\]]?\s*{_END}\s*(?:-|~|,|\.\.|–)\s*{_END}\s*[\])\[]?$"
_ALONE = rf"^{_END}$"
_EXACT = 2.0**53  # whole numbers up to here are themselves as floats


def label_spans(taxonomy: Taxonomy) -> tuple[pl.Series, pl.Series] | None:
    """Return the two ends of every node of a tree of numbers and intervals; None if it is no such.

    The ends are those that the labels name, so they depend on no row; a top with a name of its own
    reaches from the lowest to the highest of them, and one that is called ``*`` has none. Every
    interval must hold what lies under it, and no two nodes may have the same ends: else a pair of
    ends would say something else than the label.
    """
    labels = pl.Series(taxonomy.labels, dtype=pl.String)
    alone = labels.str.extract(_ALONE)
    pair = labels.str.extract_groups(_BETWEEN)
    low, high = (
        pair.struct.field(end).fill_null(alone).cast(pl.Float64).to_numpy().copy()
        for end in ("1", "2")
    )
    size, root = taxonomy.size, taxonomy.root
    if size == 0 or alone[:size].null_count() or np.isnan(low[:root]).any():
        return None
    if np.isnan(low[root]) and taxonomy.labels[root] != STAR:
        low[root], high[root] = low[:root].min(), high[:root].max()
    named = root if np.isnan(low[root]) else root + 1
    ends = np.stack([low, high])[:, :named]
    distinct = np.unique(ends, axis=1).shape[1] == named
    if not distinct or (np.abs(ends) > _EXACT).any() or not _holds(taxonomy, low, high):
        return None
    dtype = pl.Int64 if (ends == np.floor(ends)).all() else pl.Float64
    first, last = (pl.Series(end).fill_nan(None).cast(dtype) for end in (low, high))
    return first, last


def _holds(taxonomy: Taxonomy, low: np.ndarray, high: np.ndarray) -> bool:
    """Tell whether every node reaches over the leaves that lie under it."""
    points = low[: taxonomy.size]
    for level in taxonomy.levels:
        named = ~np.isnan(low[level])
        if ((points < low[level]) | (points > high[level]))[named].any():
            return False
    return True

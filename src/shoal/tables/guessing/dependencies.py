"""Find columns that follow from other columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import polars as pl

from shoal.base.partition import Floats, Ints

CORRELATION = 0.99
_ROWS = 20_000  # rows that are looked at, evenly spaced
_SURPRISE = 30.0  # disagreements that chance would have made where there is none
_NUMBERS = 12  # columns of numbers of which pairs are tried


def derived(frame: pl.DataFrame, names: Sequence[str], sources: Sequence[str]) -> dict[str, str]:
    """Say which of some columns follow from the sources, and how.

    One source: equal values there go with equal values here, or the two are correlated. Two
    sources: the logarithm or the value itself is a sum of theirs, which finds weight / height².
    """
    sample = frame.gather_every(max(1, frame.height // _ROWS))
    why = _functions(sample, names, sources)
    numbers = {
        name: sample[name].cast(pl.Float64).fill_null(np.nan).to_numpy()
        for name in (*sources, *names)
        if sample[name].dtype.is_numeric()
    }
    for name in names:
        if name in numbers and name not in why:
            how = _computed(numbers[name], {s: numbers[s] for s in sources if s in numbers})
            why |= {name: how} if how else {}
    return why


def _functions(
    sample: pl.DataFrame, names: Sequence[str], sources: Sequence[str]
) -> dict[str, str]:
    """Find the columns in which equal known sources always go with equal values, not by chance.

    Neighbours of the rows in the order of the source are compared. If the column had nothing to do
    with it, two neighbours would differ as often as any two rows.
    """
    targets = {name: _codes(sample[name]) for name in names}
    shares = {name: np.bincount(codes)[1:] for name, codes in targets.items()}
    alike = {name: float(((s / max(s.sum(), 1)) ** 2).sum()) for name, s in shares.items()}
    why: dict[str, str] = {}
    for source in sources:
        codes = _codes(sample[source])
        order = np.argsort(codes, kind="stable")
        same = (np.diff(codes[order]) == 0) & (codes[order][1:] > 0)
        for name in names:
            left = targets[name][order]
            pairs = same & (left[1:] > 0) & (left[:-1] > 0)
            chance = int(pairs.sum()) * (1 - alike[name])
            if name not in why and chance >= _SURPRISE and not np.diff(left)[pairs].any():
                why[name] = f"it follows from {source!r}"
    return why


def _codes(series: pl.Series) -> Ints:
    """Number the values of a column from 1 on; 0 is missing."""
    return series.rank("dense").fill_null(0).cast(pl.Int64).to_numpy()


def _computed(target: Floats, numbers: Mapping[str, Floats]) -> str | None:
    for source, values in numbers.items():
        fit = _fit(target, [values])
        if fit > CORRELATION:
            return f"it goes with {source!r} (correlation {fit:.3f})"
    for one, other in combinations(list(numbers)[:_NUMBERS], 2):
        fit = max(_fit(target, [numbers[one], numbers[other]], log=log) for log in (True, False))
        if fit > CORRELATION:
            return f"it is computed from {one!r} and {other!r} (correlation {fit:.3f})"
    return None


def _fit(target: Floats, sources: list[Floats], *, log: bool = False) -> float:
    """Return the correlation of the target with its best fit by the sources."""
    rows = np.stack([target, *sources])
    rows = rows[:, np.isfinite(rows).all(axis=0)]
    if log:
        if not (rows > 0).all():
            return 0.0
        rows = np.log(rows)
    if rows.shape[1] < 20 or (np.ptp(rows, axis=1) == 0).any():
        return 0.0
    design = np.column_stack([*rows[1:], np.ones(rows.shape[1])])
    fitted = design @ np.linalg.lstsq(design, rows[0], rcond=None)[0]
    return 0.0 if np.ptp(fitted) == 0 else float(np.corrcoef(fitted, rows[0])[0, 1])

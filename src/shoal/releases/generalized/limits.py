"""Check that published cells keep the limits of their plan.

Nothing here knows how limits were kept. Levels are walked afresh from the hierarchy, ends are read
from the cells, and with the original at hand a ``*`` must stand for a missing value.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from shoal.base.partition import Bools, Ints
from shoal.base.roles import Kind
from shoal.plan.parts import ColumnPart
from shoal.plan.setting import limit_of
from shoal.releases.ends import cell_texts
from shoal.releases.notation import read_labels, read_ordered
from shoal.releases.opened import Opened
from shoal.tables.cells import as_text
from shoal.tables.domain import STAR, Taxonomy
from shoal.tables.grid import SPANS
from shoal.tables.original import Original

_ROUND = 1e-9
"""Widths within this of their limit are on it."""


def strata_of(opened: Opened) -> list[str]:
    """Return the columns inside whose values every promise is to hold."""
    parts = opened.plan.columns
    return [name for name in opened.quasi if name in parts and parts[name].within]


def strata_labels(opened: Opened, names: Sequence[str]) -> Ints | None:
    """Number the strata of a release, a number for each class; None if it has none."""
    if not names:
        return None
    cells = pl.DataFrame([_texts(opened, name).alias(str(j)) for j, name in enumerate(names)])
    return cells.select(pl.struct(pl.all()).rank("dense")).to_series().to_numpy().astype(np.int64)


def _texts(opened: Opened, name: str) -> pl.Series:
    return cell_texts(opened.published.cells, name, opened.taxonomies.get(name))


def limit_faults(opened: Opened, source: Original | None) -> list[str]:
    """Say which limits of the plan the published cells do not keep."""
    faults = _too_few(opened, source)
    for name in opened.quasi:
        settings = opened.plan.columns.get(name)
        if settings is None or not settings.limits:
            continue
        texts = _texts(opened, name)
        days = _are_days(opened, name, source)
        for said, wrong in _broken(opened, name, settings, texts, days=days):
            if wrong.any():
                many = int(opened.published.sizes[wrong].sum())
                example = texts[int(np.argmax(wrong))]
                faults.append(
                    f"Column {name!r} has {many:,} cells that are {said}, for instance "
                    f"{example!r}: its plan allows none."
                )
        if settings.within or settings.coarsest is not None:
            faults += _stars(opened, name, texts, source)
    return faults


def _are_days(opened: Opened, name: str, source: Original | None) -> bool:
    """Tell whether a column is known to hold days; moments at midnight are published like them."""
    frame = opened.frame if source is None else source.frame
    column = name if name in frame.columns else f"{name}_lo"
    return bool(frame[column].dtype == pl.Date)


def _too_few(opened: Opened, source: Original | None) -> list[str]:
    budget = opened.plan.release.suppress
    if budget is None or source is None:
        return []
    gone = source.frame.height - opened.frame.height
    if gone <= budget * source.frame.height + _ROUND:
        return []
    return [
        f"{gone:,} of {source.frame.height:,} rows are left out, more than the {budget:.2%} that "
        "its plan allows (suppress)."
    ]


def _stars(opened: Opened, name: str, texts: pl.Series, source: Original | None) -> list[str]:
    """Say where ``*`` stands for more than a missing value, as far as that can be known."""
    star = (texts == STAR).to_numpy()
    many = int(opened.published.sizes[star].sum())
    if source is None or not many:
        return []
    missing = source.schema[name].clean(source.frame[name]).is_null().to_numpy()
    if source.order is not None:
        known = star[opened.published.labels] & ~missing[source.order]
        many = int(known.sum())
    else:
        many -= min(many, int(missing.sum()))
    if not many:
        return []
    return [
        f"Column {name!r} has {many:,} cells '*' for values that are known, and its plan limits "
        "how coarse they may be."
    ]


def _broken(
    opened: Opened, name: str, settings: ColumnPart, texts: pl.Series, *, days: bool
) -> list[tuple[str, Bools]]:
    """Return what is wrong with cells of a column, and of which classes."""
    known = (texts != STAR).to_numpy()
    tree = opened.taxonomies.get(name)
    if tree is not None and settings.kind in (None, Kind.TAXONOMY):
        faults = _in_tree(settings, read_labels(texts), tree)
    elif settings.within:
        # A value that begins so itself stands in quotes.
        wide = texts.str.contains(r"^[\[{]").to_numpy()
        faults = [("no single value (within)", wide)]
    else:
        faults = _in_order(settings, texts, days=days)
    return [(said, np.asarray(wrong) & known) for said, wrong in faults]


# Hierarchies


def _in_tree(settings: ColumnPart, labels: pl.Series, tree: Taxonomy) -> list[tuple[str, Bools]]:
    levels = [{tree.labels[node] for node in level.tolist()} for level in tree.levels]
    faults = []
    if settings.within:
        faults.append(("no single value (within)", ~_among(labels, levels[0])))
    coarsest, finest = limit_of(settings.coarsest), limit_of(settings.finest)
    if isinstance(coarsest, int):
        fine = set().union(*levels[: coarsest + 1])
        faults.append((f"coarser than level {coarsest} (coarsest)", ~_among(labels, fine)))
    if isinstance(finest, int):
        coarse = set().union(*levels[finest:])
        faults.append((f"finer than level {finest} (finest)", ~_among(labels, coarse)))
    for said, end, beyond in (("top", settings.top, 1), ("bottom", settings.bottom, -1)):
        if end is not None:
            split = _splitting(tree, beyond * end, beyond)
            faults.append((f"within what {said} = {end:g} puts together", _among(labels, split)))
    return faults


def _among(labels: pl.Series, some: set[str]) -> Bools:
    return labels.is_in(list(some)).to_numpy()


def _splitting(tree: Taxonomy, end: float, sign: int) -> set[str]:
    """Return the labels that stand for some numbers beyond an end, and not for all of them."""
    beyond = [sign * float(leaf) >= end for leaf in tree.values]
    below: dict[str, set[int]] = {}
    for level in tree.levels:
        for leaf, node in enumerate(level.tolist()):
            below.setdefault(tree.labels[node], set()).add(leaf)
    together = {leaf for leaf, own in enumerate(beyond) if own}
    leaves = set(tree.values)
    return {
        label
        for label, own in below.items()
        if own & together and (not own >= together or label in leaves)
    }


# Numbers and dates


def _in_order(settings: ColumnPart, texts: pl.Series, *, days: bool) -> list[tuple[str, Bools]]:
    coarsest, finest = limit_of(settings.coarsest), limit_of(settings.finest)
    if isinstance(coarsest, str) or isinstance(finest, str):
        return _in_time(coarsest, finest, texts, days=days)
    ends = read_ordered(texts, pl.Float64())
    low, high = (ends[end].cast(pl.Float64).fill_null(0.0).to_numpy() for end in ("lo", "hi"))
    slack = _ROUND * np.maximum(1.0, np.where(np.isfinite(low), np.abs(low), 0.0))
    faults: list[tuple[str, Bools]] = []
    coded = (
        np.isinf(high) & (low == settings.top)
        if settings.top is not None
        else np.zeros(low.size, bool)
    )
    if settings.bottom is not None:
        coded |= np.isinf(low) & (high == settings.bottom)
    with np.errstate(invalid="ignore"):
        width = high - low
    if coarsest is not None:
        faults.append((f"wider than {coarsest:g} (coarsest)", (width > coarsest + slack) & ~coded))
    if finest is not None:
        faults.append((f"narrower than {finest:g} (finest)", width < finest - slack))
    if settings.top is not None:
        told = np.isfinite(high) & ((high > settings.top) | ((low == high) & (low >= settings.top)))
        faults.append((f"beyond top = {settings.top:g}", told | (low > settings.top)))
    if settings.bottom is not None:
        told = np.isfinite(low) & (
            (low < settings.bottom) | ((low == high) & (high <= settings.bottom))
        )
        faults.append((f"below bottom = {settings.bottom:g}", told | (high < settings.bottom)))
    return faults


def _in_time(
    coarsest: str | float | None, finest: str | float | None, texts: pl.Series, *, days: bool
) -> list[tuple[str, Bools]]:
    timed = bool(texts.str.contains(":").any())
    ends = read_ordered(texts, pl.Datetime("us") if timed else pl.Date())
    low, high = (_moments(ends[end]) for end in ("lo", "hi"))
    faults = []
    if isinstance(coarsest, str):
        # A moment at which the next span begins ends this one; a day is part of its own span.
        last = high if days else high.dt.offset_by("-1us")
        late = pl.select(pl.when(high > low).then(last).otherwise(high)).to_series()
        span = SPANS[coarsest]
        wide = low.dt.truncate(span) != late.dt.truncate(span)
        faults.append((f"wider than a {coarsest} (coarsest)", wide.fill_null(True).to_numpy()))
    if isinstance(finest, str):
        span = SPANS[finest]
        whole = low.dt.truncate(span) == low
        after = low.dt.offset_by(span)
        reaches = high >= (after if timed else after.dt.offset_by("-1d"))
        faults.append(
            (f"narrower than a {finest} (finest)", ~(whole & reaches).fill_null(False).to_numpy())
        )
    return faults


def _moments(texts: pl.Series) -> pl.Series:
    days = texts.str.to_datetime("%Y-%m-%d", strict=False, time_unit="us")
    exact = (
        as_text(texts)
        .str.slice(0, 26)
        .str.to_datetime("%Y-%m-%d %H:%M:%S%.f", strict=False, time_unit="us")
    )
    return exact.fill_null(days)

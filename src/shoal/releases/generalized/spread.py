"""Find which values a published generalized cell may stand for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from shoal.base.errors import InputError
from shoal.base.roles import Kind, Role
from shoal.releases import notation
from shoal.releases.ends import cell_texts
from shoal.releases.published import Published
from shoal.releases.readback import Sides, match
from shoal.tables.cells import as_text, infer_type
from shoal.tables.domain import STAR, Taxonomy
from shoal.tables.schema import Column

_NUMBER = r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
_NUMERIC = rf"^(?:{_NUMBER}|\[{_NUMBER}-{_NUMBER}\]|{_NUMBER}\+|<={_NUMBER})$"
_DATE = r"\d{4,}-\d\d-\d\d"
_DATED = rf"^(?:{_DATE}|\[{_DATE}-{_DATE}\])$"
_MOMENT = rf"^\[?{_DATE}(?:-{_DATE})? \d\d:"
_EXACT = 2.0**53  # above it not every whole number is a float
_DENSE = 100_000  # whole numbers or days between the ends that are worth listing one by one


def spread(
    published: Published,
    name: str,
    taxonomy: Taxonomy | None = None,
    domain: pl.Series | None = None,
    order: Sequence[str] = (),
) -> Sides:
    """Read the cells of a column and find what each may stand for; its values stand in ``known``.

    ``domain``: the values that the column can have, ascending, when they are known; else they are
    found in the cells. ``order``: the texts of an ordered column, lowest first.
    """
    cells = published.cells
    texts = cell_texts(cells, name, taxonomy)
    shown = texts.filter(texts != STAR).unique()
    kind = Kind.ORDERED
    if taxonomy is not None:
        kind, values = Kind.TAXONOMY, pl.Series([], dtype=pl.String)
    elif order:
        values = pl.Series(order, dtype=pl.String)
    elif domain is not None and (shown.is_empty() or domain.dtype.is_temporal()):
        values = domain
    elif _are_moments(shown):
        texts = _days(texts)
        values = _between(texts, pl.Date())
    elif dtype := _ordered(shown):
        values = _between(texts, dtype) if domain is None else domain
    else:
        kind, values = Kind.SET, _elements(shown, domain)
    column = Column(name, Role.QUASI, kind, order=tuple(order))
    if name in cells.columns or not order:
        cells = pl.DataFrame({name: texts})
    side = match(values, cells, column, {} if taxonomy is None else {name: taxonomy})
    if (cell := side.senseless()) is not None:
        lacking = "its hierarchy does not list" if taxonomy else "its order does not list"
        raise InputError(
            f"Column {name!r} holds {cell!r}, which {lacking}. Give the hierarchies, and the order "
            "of ordered texts, that the release was made with."
        )
    return side.opened()


def _are_moments(shown: pl.Series) -> bool:
    """Tell whether cells are moments; those of a release whose ends are on midnight are days."""
    moments = shown.str.contains(_MOMENT)
    return bool(moments.any() and (moments | shown.str.contains(_DATED)).all())


def _ordered(shown: pl.Series) -> pl.DataType | None:
    """Return the type of cells that all are numbers or dates: '007' is a text, as in any table."""
    for pattern, dtype in ((_NUMERIC, pl.Float64()), (_DATED, pl.Date())):
        if len(shown) and shown.str.contains(pattern).all():
            exact = shown.filter(~shown.str.contains(r"^\[|^<=|\+$"))
            kind = infer_type(exact).dtype
            if exact.is_empty() or kind == dtype or (kind.is_numeric() and dtype.is_numeric()):
                return dtype
    return None


def _days(texts: pl.Series) -> pl.Series:
    """Return moments and intervals between them by the day."""
    ends = notation.read_ordered(texts, pl.Datetime("us"))
    low, high = (ends[end].str.slice(0, 10) for end in ("lo", "hi"))
    between = pl.when(ends["star"]).then(pl.lit(STAR)).otherwise(pl.format("[{}-{}]", low, high))
    return pl.select(between).to_series()


def _between(texts: pl.Series, dtype: pl.DataType) -> pl.Series:
    """Return the values between all ends: whole numbers and days one by one, other numbers not."""
    ends = notation.read_ordered(texts, dtype)
    both = pl.concat([ends["lo"], ends["hi"]]).drop_nulls()
    if dtype == pl.Date:
        both = both.str.to_date("%Y-%m-%d")
    points = both.to_physical().cast(pl.Float64).unique().sort()
    points = points.filter(points.is_finite())
    if not len(points) or not (points == points.round()).all():
        return points
    first, last = int(points[0]), int(points[-1])
    if max(-first, last) > _EXACT:
        return points
    whole = np.arange(first, last + 1) if last - first <= _DENSE else points.cast(pl.Int64)
    values = pl.Series(whole)
    return values.cast(pl.Int32).cast(pl.Date) if dtype == pl.Date else values


def _elements(shown: pl.Series, domain: pl.Series | None) -> pl.Series:
    elements = notation.read_sets(shown)["element"]
    values = elements if domain is None else pl.concat([as_text(domain), elements])
    return values.unique() if len(values) else pl.Series([STAR])  # suppressed throughout

"""Check the limits of a column: unchanged, coarsest, finest, top, bottom.

Checked here against the column's kind, hierarchy and values before any work, with the way out of
what contradicts them. Widths are cut at multiples of themselves, so the grid of the ends must fit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from shoal.base.errors import SchemaError, format_names
from shoal.base.partition import Bools
from shoal.base.roles import Kind, Role
from shoal.plan.setting import limit_of
from shoal.tables.domain import Taxonomy, numbers
from shoal.tables.grid import AUTO, OFF, SPANS, TailedStep, interval_ends
from shoal.tables.schema import Column

_NESTED = {
    "hour": ("hour",),
    "day": ("hour", "day"),
    "week": ("hour", "day", "week"),
    "month": ("hour", "day", "month"),
    "quarter": ("hour", "day", "month", "quarter"),
    "year": ("hour", "day", "month", "quarter", "year"),
}
"""Spans of time that fill another one without rest."""


def settle_limits(column: Column, values: pl.Series, taxonomies: Mapping[str, Taxonomy]) -> Column:
    """Return a column whose limits fit its kind and values, with a grid that fits them too.

    ``values``: its different known values, ascending. The grid may be automatic still.
    """
    if not column.limited:
        return column
    coarsest, finest = limit_of(column.coarsest), limit_of(column.finest)
    column = replace(column, coarsest=coarsest, finest=finest)
    if fault := _fault(column, values, taxonomies):
        raise SchemaError(f"{_where(column)} {fault}")
    if column.kind is not Kind.ORDERED or column.within:
        return column
    return replace(column, grid=_grid(column, values))


def on_grid(column: Column, series: pl.Series, taxonomies: Mapping[str, Taxonomy]) -> Column:
    """Return a column of the table with its limits checked and the step of its grid settled."""
    if not column.limited:
        return column.on_grid(series)
    values = column.known_values(series)
    column = settle_limits(column, values, taxonomies)
    own = column.grid
    column = column.on_grid(series)
    if own == AUTO and column.kind is Kind.ORDERED and column.grid != OFF:
        tailed = column.grid
        step = tailed.step if isinstance(tailed, TailedStep) else tailed
        fit = fit_step(column, step, whole=values.dtype.is_integer())
        column = replace(column, grid=tailed if fit == step else fit or OFF)
    return column


def _where(column: Column) -> str:
    said = {
        "within": column.within or None,
        "coarsest": column.coarsest,
        "finest": column.finest,
        "top": column.top,
        "bottom": column.bottom,
    }
    told = ", ".join(
        f"{name} = {str(value).lower() if value is True else value!r}"
        for name, value in said.items()
        if value is not None
    )
    return f"Column {column.name!r} has the limit {told}:"


def _fault(column: Column, values: pl.Series, taxonomies: Mapping[str, Taxonomy]) -> str | None:
    if column.role is not Role.QUASI:
        return (
            f"its role is {column.role.value}, and only quasi-identifiers have limits. Make it one "
            "(--quasi), or leave the limit out."
        )
    coded = column.top is not None or column.bottom is not None
    if column.within:
        if coded or column.coarsest is not None or column.finest is not None:
            return "within publishes it as it is, so that nothing else can bound it. Keep one."
        return None
    if column.kind is Kind.TAXONOMY and column.name in taxonomies:
        return _tree_fault(column, taxonomies[column.name])
    if column.kind is Kind.SET or column.order:
        what = "texts with an order" if column.order else "names without a hierarchy"
        return (
            f"it holds {what}, which have neither levels nor widths. Give it a hierarchy ('shoal "
            "hierarchy'), or publish it as it is (within)."
        )
    return _ordered_fault(column, values)


def _tree_fault(column: Column, tree: Taxonomy) -> str | None:
    levels = len(tree.levels)
    for name, level in (("coarsest", column.coarsest), ("finest", column.finest)):
        if level is not None and (not isinstance(level, int) or not 0 <= level < levels):
            return (
                f"{name} is a level of its hierarchy, from 0 (the values) to {levels - 1} (the "
                f"top). Got {level!r} instead."
            )
    most = levels if column.coarsest is None else column.coarsest
    if isinstance(column.finest, int) and isinstance(most, int) and column.finest > most:
        return "the finest level lies above the coarsest. Give a finest that is no higher."
    for name, end in (("top", column.top), ("bottom", column.bottom)):
        if end is None:
            continue
        together = coded_leaves(tree, column.name, **{name: end})
        if together.any() and coded_node(tree, together) is None:
            beyond = "from there on" if name == "top" else "up to there"
            return (
                f"its hierarchy has no group of just the values {beyond}. Make one that has "
                f"('shoal hierarchy' with ages and a top, or a level of your own), or leave {name} "
                "out."
            )
    return None


def coded_leaves(
    tree: Taxonomy, name: str, *, top: float | None = None, bottom: float | None = None
) -> Bools:
    """Say which leaves of a hierarchy of numbers top or bottom coding publishes as one."""
    points = numbers(tree)
    if points is None:
        raise SchemaError(
            f"Column {name!r} is to be top or bottom coded, and the values of its hierarchy are "
            "not numbers. Leave top and bottom out: levels of the hierarchy do the same (finest)."
        )
    chosen = np.zeros(points.size, np.bool_)
    if top is not None:
        chosen |= points >= top
    if bottom is not None:
        chosen |= points <= bottom
    return chosen


def coded_node(tree: Taxonomy, together: Bools) -> int | None:
    """Return the lowest group of a hierarchy that has just some leaves, if there is one."""
    places = np.flatnonzero(together)
    just = (tree.lo == places[0]) & (tree.hi == places[-1])
    just[: tree.size] = False
    covering = np.flatnonzero(just & (places[-1] - places[0] + 1 == places.size))
    return int(covering[0]) if covering.size else None


def _ordered_fault(column: Column, values: pl.Series) -> str | None:
    timed = isinstance(values.dtype, pl.Date | pl.Datetime)
    if (column.top is not None or column.bottom is not None) and not values.dtype.is_numeric():
        return (
            "it holds no numbers, and only numbers are top or bottom coded. Give it a hierarchy "
            "whose groups end where they should, and a finest level."
        )
    for name, width in (("coarsest", column.coarsest), ("finest", column.finest)):
        if width is None:
            continue
        spans = [span for span in SPANS if span != "hour" or values.dtype != pl.Date]
        if timed and width not in spans:
            return f"{name} of dates is one of {format_names(spans)}. Got {width!r} instead."
        if not timed and (not isinstance(width, int | float) or not 0 < width < math.inf):
            return f"{name} is the width of an interval, a number above 0. Got {width!r} instead."
    if column.top is not None and column.bottom is not None and column.bottom >= column.top:
        return "the bottom lies at or above the top. Give a bottom below it."
    both = column.coarsest is not None and column.finest is not None
    if both and not _fills(column.finest, column.coarsest):
        return (
            "intervals are cut at multiples of the coarsest width, which the finest must fill "
            f"without rest. Give a coarsest that is a multiple of {column.finest!r}."
        )
    return None


def _fills(small: Any, large: Any) -> bool:
    """Tell whether a width, or a number, is a multiple of another one."""
    if isinstance(small, str) or isinstance(large, str):
        return small in _NESTED.get(str(large), ())
    share = large / small
    return math.isclose(share, round(share), abs_tol=1e-9)


def _grid(column: Column, values: pl.Series) -> str | float | TailedStep:
    """Return the step of the ends that its limits are multiples of."""
    asked = (column.finest, column.coarsest, column.top, column.bottom)
    limits = [limit for limit in asked if limit is not None]
    whole = values.dtype.is_integer()
    if whole and any(isinstance(limit, float) and not limit.is_integer() for limit in limits):
        raise SchemaError(f"{_where(column)} it holds whole numbers, so a limit is one too.")
    if column.finest is not None:
        if column.grid not in (AUTO, OFF, column.finest):
            raise SchemaError(
                f"{_where(column)} every interval is a multiple of the finest one, and the grid "
                f"{column.grid!r} was given as well. Leave the grid out."
            )
        step: str | float | TailedStep = column.finest
    elif column.grid == AUTO:
        return AUTO
    else:
        step = column.grid
    return _checked(column, step, limits)


def _checked(
    column: Column, step: str | float | TailedStep, limits: list[Any]
) -> str | float | TailedStep:
    if step != OFF and (wrong := [limit for limit in limits if not _fills(step, limit)]):
        raise SchemaError(
            f"{_where(column)} ends of intervals are multiples of {step!r}, and {wrong[0]!r} is "
            f"none. Give limits that are multiples of {step!r}, or another grid (--grid)."
        )
    return step


def fit_step(column: Column, step: str | float | None, *, whole: bool) -> str | float | None:
    """Return a step for the ends of a limited column, near an automatic one.

    The largest one of at most ``step`` that all limits are multiples of; None: ends stay data.
    """
    asked = (column.coarsest, column.top, column.bottom)
    limits = [limit for limit in asked if limit is not None]
    if column.within or column.finest is not None or not limits or step is None:
        return step
    if isinstance(step, str):
        inside = _NESTED[str(column.coarsest)]
        return step if step in inside else inside[-1]
    tried = [step, *(step / part for part in (2, 2.5, 4, 5, 10))]
    if isinstance(column.coarsest, int | float):
        tried += [column.coarsest / part for part in (1, 2, 5)]
    able = [
        one
        for one in tried
        if all(_fills(one, limit) for limit in limits) and (not whole or one == int(one) > 1)
    ]
    near = [one for one in able if one <= step] or able
    return (max(near) if able and near[0] <= step else min(near)) if able else None


def low_ends(values: pl.Series, width: str | float) -> pl.Series:
    """Return the multiple of a width at or below each value; of dates, where the span begins."""
    return interval_ends(values, width)[0]


def high_ends(values: pl.Series, width: str | float) -> pl.Series:
    """Return where the interval of a width that holds each value ends."""
    low, high = interval_ends(values, width)
    if isinstance(width, str):
        return high if values.dtype == pl.Date else low.dt.offset_by(SPANS[width])
    beyond = int(width) * 3 // 2 if values.dtype.is_integer() else width * 1.5
    return interval_ends(low + beyond, width)[0]


__all__ = [
    "coded_leaves",
    "coded_node",
    "fit_step",
    "high_ends",
    "low_ends",
    "on_grid",
]

"""Tell from published tables which shape of release they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from shoal.base.errors import InputError, SchemaError, listed, nearest
from shoal.releases.anatomy.make import COUNT, GROUP
from shoal.releases.base import Release
from shoal.releases.exact_views import AnatomyView, DummiesView
from shoal.releases.generalized.view import GeneralizedView
from shoal.tables.domain import Taxonomy
from shoal.tables.set_cells import read_sets

_GENERALIZED = r"^\*$|^\[.+-.+\]$|^\{.+\}$"


def open_release(
    frame: pl.DataFrame,
    of: str,
    *,
    table: pl.DataFrame | None = None,
    quasi: Sequence[str] | None = None,
    taxonomies: Mapping[str, Taxonomy] | None = None,
    domains: Mapping[str, pl.Series] | None = None,
) -> Release:
    """Return the release that the tables hold, ready to be asked.

    Parameters
    ----------
    frame
        The published table.
    of
        The sensitive column to ask about.
    table
        Anatomy's second table.
    quasi
        The quasi-identifiers; by default every column but the sensitive ones.
    taxonomies
        The hierarchies of a generalized release: what their labels cover.
    domains
        The values that the columns of a generalized release can have, ascending, when they are
        known; else those that its cells name.
    """
    if table is not None:
        return _anatomy(frame, table, of, quasi)
    if of not in frame.columns:
        hint = ""
        if GROUP in frame.columns:
            hint = f" It has a {GROUP}: give Anatomy's second table with --st as well."
        raise SchemaError(
            f"The release has no column {of!r} to estimate.{nearest(of, frame.columns)} It has: "
            f"{listed(frame.columns)}.{hint}"
        )
    sets = {name: lists for name in frame.columns if (lists := read_sets(frame[name])) is not None}
    if of in sets:
        rest = [name for name in frame.columns if name not in sets]
        return DummiesView(frame, _quasi(frame, quasi, rest), sets)
    if not taxonomies and not domains and not _looks_generalized(frame.drop(of)):
        raise InputError(
            f"This does not look like a release: column {of!r} holds single values, not sets of "
            "them, no other cell is generalized (*, [20-39], {a, b}, or a pair x_lo, x_hi), and "
            "there is no second table of Anatomy. Give a release; one made with hierarchies needs "
            "--hierarchies (hierarchies=...), and exact tables can simply be counted."
        )
    rest = [name for name in _untyped(frame.columns) if name != of]
    return GeneralizedView(
        frame, _quasi(frame, quasi, rest), dict(taxonomies or {}), dict(domains or {})
    )


def _anatomy(
    frame: pl.DataFrame, table: pl.DataFrame, of: str, quasi: Sequence[str] | None
) -> Release:
    if GROUP not in frame.columns or not {GROUP, COUNT} <= set(table.columns):
        raise InputError(
            f"This is not a release of Anatomy: the first table needs a column {GROUP!r}, the "
            f"second {GROUP!r}, a sensitive column and {COUNT!r}. Got {listed(frame.columns)} and "
            f"{listed(table.columns)}."
        )
    known = [name for name in table.columns if name not in (GROUP, COUNT)]
    if of not in known:
        raise SchemaError(
            f"The second table has no sensitive column {of!r}.{nearest(of, known)} It has: "
            f"{listed(known)}."
        )
    rest = [name for name in frame.columns if name != GROUP]
    return AnatomyView(frame, _quasi(frame, quasi, rest), table, of)


def _quasi(
    frame: pl.DataFrame, quasi: Sequence[str] | None, rest: Sequence[str]
) -> tuple[str, ...]:
    if quasi is None:
        return tuple(rest)
    if unknown := [name for name in quasi if name not in rest]:
        raise SchemaError(
            f"The release has no quasi-identifier {unknown[0]!r}.{nearest(unknown[0], rest)} It "
            f"has: {listed(rest)}."
        )
    return tuple(quasi)


def _untyped(columns: Sequence[str]) -> list[str]:
    """Return the columns with the two of a typed pair as the one they stand for."""
    names = []
    for name in columns:
        stem = name[:-3]
        if name.endswith("_lo") and f"{stem}_hi" in columns:
            names.append(stem)
        elif not (name.endswith("_hi") and f"{stem}_lo" in columns):
            names.append(name)
    return names


def _looks_generalized(frame: pl.DataFrame) -> bool:
    if len(_untyped(frame.columns)) < frame.width:
        return True
    texts = [column for column in frame if column.dtype == pl.String]
    return any(column.str.contains(_GENERALIZED).any() for column in texts)

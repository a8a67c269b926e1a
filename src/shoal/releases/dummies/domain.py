"""Find the declared or published domain of a sensitive column."""

from __future__ import annotations

import polars as pl

from shoal.base.errors import InputError, format_names
from shoal.catalog import DOMAIN
from shoal.releases.opened import Opened
from shoal.tables.cells import as_text


def declared_domain(opened: Opened, name: str) -> pl.Series | None:
    """Return the domain of a column: the one declared, else the one published with the release.

    None: nobody says. Then it is the values in the sets, among which every row's own is.
    """
    own = [column.domain for column in opened.columns if column.name == name and column.domain]
    return pl.Series(own[0], dtype=pl.String) if own else _published(opened, name)


def _published(opened: Opened, name: str) -> pl.Series | None:
    table = opened.tables.get(DOMAIN)
    if table is None:
        return None
    if table.columns != ["column", "value"]:
        raise InputError(
            "The table of domains next to the release has the columns "
            f"{format_names(table.columns)}; "
            "'column' and 'value' are needed, as it was published. Correct it, or remove it "
            "and declare the domain: --domain COLUMN=FILE (domain=...)."
        )
    values = as_text(table["value"]).filter(as_text(table["column"]) == name)
    return values.drop_nulls() if len(values) else None


def domain_faults(opened: Opened, name: str) -> list[str]:
    """Compare the domain that is declared with the one that was published."""
    declared, published = declared_domain(opened, name), _published(opened, name)
    if declared is None or published is None:
        return []
    if published.n_unique() < len(published):
        return [f"The published domain of column {name!r} lists a value twice."]
    if set(declared) == set(published):
        return []
    return [
        f"The published domain of column {name!r} has {len(published):,} values and is not the "
        f"declared one of {len(declared):,} values."
    ]

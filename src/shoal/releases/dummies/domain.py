"""From which values the sets of a release were drawn, as far as anybody says."""

from __future__ import annotations

import polars as pl

from shoal.base.errors import InputError, listed
from shoal.catalog import DOMAIN
from shoal.releases.opened import Opened
from shoal.tables.cells import as_text


def declared_domain(opened: Opened, name: str) -> pl.Series | None:
    """Return the domain of a column: the one declared, else the one published with the release.

    None: nobody says. Then it is the values in the sets, among which every row's own is.
    """
    own = [column.domain for column in opened.columns if column.name == name and column.domain]
    return pl.Series(own[0], dtype=pl.String) if own else published_domain(opened, name)


def published_domain(opened: Opened, name: str) -> pl.Series | None:
    """Return the domain of a column that stands beside the release, if one does."""
    table = opened.tables.get(DOMAIN)
    if table is None:
        return None
    if table.columns != ["column", "value"]:
        raise InputError(
            f"The table of domains beside the release has the columns {listed(table.columns)}; "
            "'column' and 'value' are needed, as it was published. Put it right, or take it away "
            "and declare the domain: --domain COLUMN=FILE (domains=...)."
        )
    values = as_text(table["value"]).filter(as_text(table["column"]) == name)
    return values.drop_nulls() if len(values) else None


def domain_faults(opened: Opened, name: str) -> list[str]:
    """Compare the domain that is declared with the one that was published."""
    declared, published = declared_domain(opened, name), published_domain(opened, name)
    faults = []
    if published is not None and published.n_unique() < len(published):
        faults.append(f"The published domain of column {name!r} lists a value twice.")
    if declared is None or published is None or set(declared) == set(published):
        return faults
    return [
        *faults,
        f"The published domain of column {name!r} has {published.n_unique():,} values and is not "
        f"the declared one of {declared.n_unique():,} values.",
    ]

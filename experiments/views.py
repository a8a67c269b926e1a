"""Published tables that are asked without being opened as a release first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from shoal.base.roles import Role
from shoal.releases.base import View
from shoal.releases.opened import Opened, check_release
from shoal.tables.domain import Taxonomy
from shoal.tables.schema import Column


def read_view(
    frame: pl.DataFrame,
    of: str,
    *,
    table: pl.DataFrame | None = None,
    quasi: Sequence[str] | None = None,
    taxonomies: Mapping[str, Taxonomy] | None = None,
    domains: Mapping[str, pl.Series] | None = None,
) -> View:
    """Return the release that the tables hold, ready to be asked about a sensitive column.

    Parameters
    ----------
    frame, table
        The published table, and Anatomy's second one.
    of
        The sensitive column.
    quasi
        The quasi-identifiers; by default every column but the sensitive ones.
    taxonomies, domains
        As for :class:`Opened`.
    """
    tables = {"release": frame} | ({} if table is None else {"st": table})
    columns = [Column(name, Role.QUASI) for name in quasi or ()]
    opened = Opened(tables, tuple(columns), taxonomies or {}, domains or {}).with_sensitive(of)
    check_release(opened, of)
    return opened.view(of)

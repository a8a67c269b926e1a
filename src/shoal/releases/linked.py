"""Check that all rows of a person are published alike."""

from __future__ import annotations

import polars as pl

from shoal.releases.opened import Opened
from shoal.tables.original import Original

_FORM = "^[0-9a-f]{32}$"


def linked_faults(opened: Opened, persons: pl.Series | None, source: Original | None) -> list[str]:
    """Check what was promised of the rows of a person, from the published cells.

    ``persons``: whose row each released row is, where that is known.
    """
    if not opened.plan.release.together or persons is None:
        return []
    faults = []
    trails = pl.DataFrame({"person": persons, "class": opened.published.labels}).unique()
    if several := trails.height - trails["person"].n_unique():
        faults.append(
            f"Rows of one person lie in several classes ({several:,} too many), and all rows of a "
            "person are to be published alike (person_rows = 'together')."
        )
    if opened.plan.release.pseudonym:
        faults += _pseudonym_faults(opened, persons, source)
    return faults


def _pseudonym_faults(opened: Opened, persons: pl.Series, source: Original | None) -> list[str]:
    """Check that a pseudonym stands for one person, and names none."""
    name = opened.pseudonym
    if name is None:
        return ["The release has no column of pseudonyms, which its plan asks for."]
    texts = opened.frame[name].cast(pl.String)
    faults = []
    if not texts.str.contains(_FORM).all():
        faults.append(f"Column {name!r} holds other texts than pseudonyms of 32 digits.")
    if source is not None and texts.is_in(source.schema.persons(source.frame).implode()).any():
        faults.append(f"Column {name!r} holds persons of the original, not pseudonyms.")
    pairs = pl.DataFrame({"person": persons, "pseudonym": texts}).unique()
    if not pairs.height == pairs["person"].n_unique() == pairs["pseudonym"].n_unique():
        faults.append(f"In column {name!r} a pseudonym stands for several people, or one has two.")
    return faults

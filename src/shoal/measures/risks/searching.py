"""Prepare a release so that an attacker's search is fast."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from shoal.base.errors import SchemaError
from shoal.base.partition import Ints
from shoal.measures.risks.knowledge import Draw
from shoal.measures.risks.matching import Items, sides, widths
from shoal.measures.risks.scores import Belief, Target
from shoal.releases.base import Query, View
from shoal.releases.opened import Opened
from shoal.tables.cells import as_text, find_positions, infer_type, missing_to_null
from shoal.tables.schema import Column


def prepare_target(
    opened: Opened,
    columns: Sequence[Column],
    people: Mapping[str, pl.Series],
    beliefs: tuple[Belief, ...],
) -> Target:
    """Make the release ready to be searched, or refuse when its cells are not understood."""
    published, raw = opened.published, opened.shape.exact
    both = sides(people, published.cells, columns, opened.taxonomies, raw=raw, gaps="open")
    for column, side in zip(columns, both, strict=True):
        if (cell := side.senseless()) is not None:
            raise SchemaError(
                f"Column {column.name!r} of the release holds the cell {cell!r}, which fits no "
                f"value of the original (read as kind {column.kind}), so nobody knows which "
                "people it stands for. Give the hierarchies that the release was made with "
                "(--hierarchies), its "
                "plan (--plan), or how another tool wrote its cells (--notation)."
            )
    cells = np.stack([side.cells for side in both], axis=1)
    likely = np.stack([-np.log(widths(side))[side.cells] for side in both])
    return Target(
        both, Items.from_codes(cells, published.sizes.astype(np.float64)), likely, beliefs
    )


def belief_of(name: str, release: View) -> Belief:
    """Return what a release says of a sensitive column."""
    whole = release.expect(Query(name))
    return Belief(name, release.posterior(name), whole / max(float(whole.sum()), 1e-300))


def answers_of(
    name: str,
    source: pl.DataFrame,
    outsiders: pl.DataFrame | None,
    draw: Draw,
    missing: Sequence[str],
    release: View,
) -> list[Ints]:
    """Return the true values of targets and outsiders as positions among those released."""
    values = pl.Series(release.values(name), dtype=pl.String)
    answers = []
    for frame, rows in ((source, draw.chosen), (outsiders, draw.outsiders)):
        if frame is None:
            answers.append(np.empty(0, np.int64))
            continue
        texts = as_text(missing_to_null(frame[name], missing).gather(rows))
        codes = same_values(texts, values)
        codes[texts.is_null().to_numpy()] = -2
        answers.append(codes)
    return answers


def same_values(texts: pl.Series, values: pl.Series) -> Ints:
    """Find texts among values; numbers are equal however they are written."""
    one, other = infer_type(texts), infer_type(values)
    if one.dtype == other.dtype or (one.dtype.is_numeric() and other.dtype.is_numeric()):
        return find_positions(as_text(one), as_text(other))
    return find_positions(texts, values)

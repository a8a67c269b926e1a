"""Show single classes of a run before and after anonymization."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from shoal.base.partition import Floats, Ints
from shoal.ext.web.profiles import clip
from shoal.tables.cells import as_text
from shoal.verbs.anonymize import Made

DEAREST, SPREAD = 20, 20  # classes to pick from: those that lose most, and some of all the others
_ROWS = 30  # of a class that are shown


def row_losses(made: Made) -> Floats:
    """Return what every row of the input loses in every quasi-identifier, 0 to 1."""
    data, groups = made.grouped.data, made.grouped.partition.labels()
    losses = np.zeros((data.rows, len(data.names)))
    for j, join in enumerate(made.grouped.joins):
        counts = (data.codes[:, j] < join.domain.size) & (groups >= 0)  # a gap loses nothing
        losses[counts, j] = join.width[groups[counts]]
    return losses


def pick(made: Made, frame: pl.DataFrame) -> list[dict[str, Any]]:
    """Return some classes with the quasi-identifiers of their rows as they were.

    Only quasi-identifiers: what names a person or must not be learned stays out, as everywhere on
    the page. Number 1 is the class that loses most.
    """
    names = list(made.grouped.data.names)
    labels, order = made.opened.published.labels, made.order
    losses = row_losses(made)[order]
    size = np.bincount(labels)
    cost = np.stack([np.bincount(labels, losses[:, j]) / size for j in range(len(names))], axis=1)
    dearest = np.argsort(-cost.mean(axis=1), kind="stable")
    cells = _cells(made, names)
    return [
        {
            "number": int(rank) + 1,
            "rows": int(size[at]),
            "loss": float(cost[at].mean()),
            "columns": [
                {"name": name, "cell": cells[name][int(at)], "loss": float(cost[at, j])}
                for j, name in enumerate(names)
            ],
            "dear": names[int(np.argmax(cost[at]))],
            "before": _before(frame, names, order[labels == at]),
        }
        for rank, at in ((rank, dearest[rank]) for rank in _ranks(dearest.size))
    ]


def _ranks(many: int) -> Ints:
    rest = np.linspace(DEAREST, many - 1, SPREAD).astype(np.int64)
    return np.unique(np.concatenate([np.arange(min(DEAREST, many)), rest[rest < many]]).clip(0))[
        :many
    ]


def _cells(made: Made, names: list[str]) -> dict[str, list[str | None]]:
    """Return what every class is published as; of a pair of columns both ends."""
    shown = made.opened.published.cells
    texts: dict[str, list[str | None]] = {}
    for name in names:
        if name in shown.columns:
            texts[name] = [None if c is None else clip(c) for c in as_text(shown[name]).to_list()]
        else:
            ends = zip(
                *(as_text(shown[f"{name}_{end}"]).to_list() for end in ("lo", "hi")), strict=True
            )
            texts[name] = [None if low is None else f"{low} to {high}" for low, high in ends]
    return texts


def _before(frame: pl.DataFrame, names: list[str], rows: Ints) -> list[list[str | None]]:
    """Return rows of the table as texts, sorted, so that their order tells nothing."""
    texts = [as_text(frame[name][rows[:_ROWS]]).alias(str(j)) for j, name in enumerate(names)]
    listed = pl.DataFrame(texts).sort([str(j) for j in range(len(names))], nulls_last=True)
    return [[None if cell is None else clip(cell) for cell in row] for row in listed.iter_rows()]

"""Information loss: how much wider the published cells are than their sources (NCP, ILoss)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.base.partition import Partition
from shoal.coding.encode import Encoded
from shoal.coding.joins import Join, joins
from shoal.tables.domain import Domain, Ordered, Taxonomy

Floats = npt.NDArray[np.float64]

_BOUND = r"\s*([+-]?\d+(?:\.\d+)?)\s*"
_INTERVAL = re.compile(rf"[\[(]{_BOUND}[,;:-]{_BOUND}[\])]|{_BOUND}-{_BOUND}")


@dataclass(frozen=True)
class Loss:
    """Loss of a release, as a share of the loss of publishing nothing at all.

    Parameters
    ----------
    rate
        ILossRate: 0 (nothing lost) to 1, over the cells of the *input*;
        ``generalization + removal``.
    generalization
        The part lost by publishing wider cells.
    removal
        The part lost by leaving rows out; a row left out costs all its cells.
    by_column
        Generalization by column; its mean is ``generalization``.
    """

    rate: float
    generalization: float
    removal: float
    by_column: dict[str, float]

    @classmethod
    def none(cls, names: Iterable[str]) -> Loss:
        """Return the loss of a release that has its quasi-identifiers as they were."""
        return cls(0.0, 0.0, 0.0, dict.fromkeys(names, 0.0))


def iloss(data: Encoded, partition: Partition) -> Loss:
    """Return the loss of publishing each group as the join of its members.

    A cell costs the width of what it is published as; nothing when that is the value itself, so a
    missing cell costs nothing. A row left out costs 1 for each of its cells.

    Notes
    -----
    NCP of Xu et al. (2006); the share over all input rows, removed ones included.
    """
    return _loss(data, partition, lambda join, _: join.width)


def relative_loss(data: Encoded, partition: Partition) -> float:
    """Return RL: the loss over the loss of the table with every cell fully generalized.

    Wang, Xu, Wang, Shi 2010. It differs from ILossRate by the cells that are missing already, which
    cannot lose anything more.
    """
    cells = int((~data.missing).sum())
    loss = iloss(data, partition).rate * data.codes.size
    return float(loss / cells) if cells else 0.0


def iloss_paper(data: Encoded, partition: Partition) -> Loss:
    """Return the loss as the KAIM paper counts it: numbers by the integers they span.

    An interval over numbers costs ``(hi - lo + 1) / (max - min + 1)``, with the least and greatest
    value that occur, and at most 1. A taxonomy whose leaves are numbers is counted so too: by the
    bounds that a node's label states (``[20,30)`` in a column that runs from 26 to 48 costs
    ``(30 - 20 + 1) / (48 - 26 + 1) = 11/23``), else by the least and greatest leaf below it.
    All other columns cost as in :func:`iloss`; ``*`` costs 1 everywhere.

    Notes
    -----
    Gong, Yang, Luo (2013). Departure: the paper does not say what a node wider than the data
    costs; the limit of 1 keeps the rate between 0 and 1.
    """
    return _loss(data, partition, _integer_width)


def _loss(
    data: Encoded,
    partition: Partition,
    width: Callable[[Join, npt.NDArray[np.int32]], Floats],
) -> Loss:
    rows = data.rows
    by_column = {
        name: float(width(join, data.codes[:, j]) @ join.known) / rows if rows else 0.0
        for j, (name, join) in enumerate(zip(data.names, joins(data, partition), strict=True))
    }
    generalization = sum(by_column.values()) / len(by_column) if by_column else 0.0
    removal = partition.left_out.size / rows if rows else 0.0
    return Loss(generalization + removal, generalization, removal, by_column)


def _integer_width(join: Join, codes: npt.NDArray[np.int32]) -> Floats:
    points = _points(join.domain)
    present = np.unique(codes[codes < join.domain.size])
    if points is None or not present.size:
        return join.width
    span = float(points[present].max() - points[present].min()) + 1.0
    if isinstance(join.domain, Taxonomy):
        lo, hi = _bounds(join.domain, points)
        extent = hi[join.node] - lo[join.node]
        exact = join.node < join.domain.size
    else:
        last = join.domain.size - 1
        extent = points[np.minimum(join.hi, last)] - points[np.minimum(join.lo, last)]
        exact = join.lo == join.hi
    width = np.where(exact, 0.0, np.minimum((extent + 1.0) / span, 1.0))
    width[join.star] = 1.0
    return width


def _points(domain: Domain) -> Floats | None:
    """Return the values of a domain as numbers, None when they are not numbers."""
    if isinstance(domain, Ordered):
        return domain.points
    if not isinstance(domain, Taxonomy):
        return None
    try:
        points = np.array([float(label) for label in domain.values])
    except ValueError:
        return None
    return points if np.isfinite(points).all() else None


def _bounds(taxonomy: Taxonomy, points: Floats) -> tuple[Floats, Floats]:
    """Return the least and greatest number of every node, by its label or else by its leaves."""
    lo = np.empty(len(taxonomy.labels))
    hi = np.empty(len(taxonomy.labels))
    for node, label in enumerate(taxonomy.labels):
        below = points[taxonomy.lo[node] : taxonomy.hi[node] + 1]
        lo[node], hi[node] = below.min(), below.max()
        stated = _INTERVAL.fullmatch(label)
        if stated and node >= taxonomy.size:
            lo[node], hi[node] = (float(x) for x in stated.groups() if x is not None)
    return lo, hi

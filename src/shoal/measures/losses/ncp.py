"""Information loss: how much wider the published cells are than their sources (NCP, ILoss)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from shoal.base.partition import Floats, Partition
from shoal.coding.encode import Encoded
from shoal.coding.joins import Join
from shoal.measures.losses.grouped import Grouped
from shoal.tables.domain import Ordered, Taxonomy, numbers

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
    by_name
        Every loss of the catalog; none of a release on Spark.
    """

    rate: float
    generalization: float
    removal: float
    by_column: dict[str, float]
    by_name: Mapping[str, float] = field(default_factory=dict)

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
    NCP of Xu et al. (2006); the share over all input rows, removed ones included. Widths are shares
    of the range without outliers (:func:`shoal.tables.grid.usual_range`).
    """
    return in_parts(Grouped(data, partition))


def in_parts(grouped: Grouped) -> Loss:
    """Return the same of a table in groups."""
    return _loss(grouped, _width)


def loss(grouped: Grouped) -> float:
    """Return ILossRate, see :func:`iloss`."""
    return in_parts(grouped).rate


def relative_loss(grouped: Grouped) -> float:
    """Return RL: the loss over the loss of the table with every cell fully generalized.

    Wang, Xu, Wang, Shi 2010. It differs from ILossRate by the cells that are missing already, which
    cannot lose anything more.
    """
    data = grouped.data
    cells = int((~data.missing).sum())
    lost = loss(grouped) * data.codes.size
    return float(lost / cells) if cells else 0.0


def loss_paper(grouped: Grouped) -> float:
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
    return _loss(grouped, _integer_width).rate


def _loss(grouped: Grouped, width: Callable[[Join, npt.NDArray[np.int32]], Floats]) -> Loss:
    data, partition, rows = grouped.data, grouped.partition, grouped.data.rows
    by_column = {
        name: float(width(join, data.codes[:, j]) @ join.known) / rows if rows else 0.0
        for j, (name, join) in enumerate(zip(data.names, grouped.joins, strict=True))
    }
    generalization = sum(by_column.values()) / len(by_column) if by_column else 0.0
    removal = partition.left_out.size / rows if rows else 0.0
    return Loss(generalization + removal, generalization, removal, by_column)


def _width(join: Join, _codes: npt.NDArray[np.int32]) -> Floats:
    return join.width


def _integer_width(join: Join, codes: npt.NDArray[np.int32]) -> Floats:
    points = numbers(join.domain)
    present = np.unique(codes[codes < join.domain.size])
    if points is None or not present.size:
        return join.width
    least, most = float(points[present].min()), float(points[present].max())
    if isinstance(join.domain, Ordered) and join.domain.usual is not None:
        least, most = join.domain.usual
    span = most - least + 1.0
    if isinstance(join.domain, Taxonomy):
        lo, hi = _bounds(join.domain, points)
        extent = hi[join.node] - lo[join.node]
        exact = join.node < join.domain.size
    else:
        last = join.domain.size - 1
        left, right = join.domain.reach if isinstance(join.domain, Ordered) else (points, points)
        extent = right[np.minimum(join.hi, last)] - left[np.minimum(join.lo, last)]
        exact = join.lo == join.hi
    width = np.where(exact, 0.0, np.minimum((extent + 1.0) / span, 1.0))
    width[join.star] = 1.0
    return width


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

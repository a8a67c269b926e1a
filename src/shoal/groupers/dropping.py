"""Which rows make their classes wide: those that a suppression budget may leave out."""

from __future__ import annotations

import numpy as np

from shoal.base.partition import Floats, Ints, Partition
from shoal.coding.encode import Encoded
from shoal.coding.joins import joins
from shoal.tables.domain import Domain, Nominal, Ordered, Taxonomy


def loss_rate(data: Encoded, partition: Partition) -> float:
    """Return the loss of a partition per cell of the input; a row left out costs all its cells."""
    cells = data.rows * len(data.domains)
    lost = sum(float(join.width @ join.known) for join in joins(data, partition))
    return (lost + len(data.domains) * partition.left_out.size) / max(cells, 1)


def costly(data: Encoded, partition: Partition) -> Ints:
    """Return the rows whose absence would narrow their class most, the most costly first.

    A row costs what it loses itself, and what the others of its class lose because of it: in a
    column where it alone has the least or the greatest position, or is the only one missing.
    """
    saved = np.zeros(data.rows)
    rows, starts, sizes = partition.rows, partition.starts[:-1], partition.sizes
    if not rows.size:
        return np.empty(0, np.int64)
    label = np.repeat(np.arange(partition.groups), sizes)
    last = partition.starts[1:] - 1
    for j, (domain, join) in enumerate(zip(data.domains, joins(data, partition), strict=True)):
        own = data.codes[rows, j].astype(np.int64)
        order = np.lexsort((own, label))
        sorted_, who = own[order], rows[order]
        saved[rows] += join.width[label]
        several = np.flatnonzero(sizes > 2)
        for edge, next_ in ((starts, starts + 1), (last, last - 1)):
            first, second = sorted_[edge[several]], sorted_[next_[several]]
            alone = several[first != second]
            lo = np.where(edge is starts, sorted_[next_[alone]], sorted_[starts[alone]])
            hi = np.where(edge is starts, sorted_[last[alone]], sorted_[next_[alone]])
            narrower = np.minimum(_width(domain, lo, hi), join.width[alone])
            others = sizes[alone] - 1
            saved[who[edge[alone]]] += (join.width[alone] - narrower) * others
    order = np.argsort(-saved[rows], kind="stable")
    return rows[order]


def _width(domain: Domain, lo: Ints, hi: Ints) -> Floats:
    """Return how wide the join of positions from ``lo`` to ``hi`` is."""
    known = hi < domain.size
    wide = np.ones(lo.size)
    if isinstance(domain, Taxonomy):
        return np.asarray(domain.width[domain.cover(lo, hi)])
    if isinstance(domain, Ordered):
        wide[known] = domain.width(lo[known], hi[known])
    elif isinstance(domain, Nominal):
        wide[known] = (hi[known] - lo[known]) / max(domain.size - 1, 1)
    return wide

"""Turn domains into flat arrays with the width of every join."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.coding.encode import Encoded
from shoal.kernels.boxes.geometry import CLIMB, ORDERED, SET, TABLE, TABLE_LIMIT, Boxes
from shoal.tables.domain import Domain, Ordered, Taxonomy

Floats = npt.NDArray[np.float64]


def node_widths(domain: Taxonomy, codes: npt.NDArray[np.int32], objective: str) -> Floats:
    """Return the width of every node: its share of the leaves, or of the column's entropy."""
    if objective == "ncp":
        return domain.width
    running = np.concatenate(([0.0], np.cumsum(_surprise(codes, domain.size))))
    width = (running[domain.hi + 1] - running[domain.lo]) / (running[-1] or 1.0)
    width[: domain.size] = 0.0
    return np.asarray(width)


def places(domain: Ordered, codes: npt.NDArray[np.int32], objective: str) -> tuple[Floats, Floats]:
    """Return where intervals from and to each value begin and end, between 0 and 1.

    Measured by number, or by the entropy below.
    """
    if objective == "ncp" or domain.size < 2:
        left, right = ((reach - domain.measured[0]) / domain.span for reach in domain.reach)
        return left, right
    running = np.cumsum(_surprise(codes, domain.size))
    spot = np.asarray((running - running[0]) / (running[-1] - running[0] or 1.0))
    first, last = domain.covered
    return spot[first], spot[last]


def _surprise(codes: npt.NDArray[np.int32], size: int) -> Floats:
    share = np.bincount(codes[codes < size], minlength=size) / max(int((codes < size).sum()), 1)
    return np.asarray(-share * np.log(np.maximum(share, 1e-300)))


def make_boxes(data: Encoded, weights: Floats, objective: str = "ncp") -> Boxes:
    """Return the boxes of all columns."""
    kinds, parts = [], []
    for j, (domain, weight) in enumerate(zip(data.domains, weights, strict=True)):
        kind, widths = _part(domain, data.codes[:, j], objective)
        if kind == CLIMB:  # of each node only its width; parents and positions stay as they are
            widths[0] *= weight
            widths[1::3] *= weight
        else:
            widths *= weight
        kinds.append(kind)
        parts.append(widths)
    off = np.concatenate(([0], np.cumsum([widths.size for widths in parts[:-1]]))).astype(np.int64)
    size = np.array([domain.size for domain in data.domains], np.int64)
    return Boxes(np.array(kinds, np.int64), size, off, np.concatenate(parts))


def _part(domain: Domain, codes: npt.NDArray[np.int32], objective: str) -> tuple[int, Floats]:
    if domain.kind == 2:
        return SET, np.array([1.0, 1.0 / max(domain.size - 1, 1)])
    if isinstance(domain, Ordered):
        left, right = places(domain, codes, objective)
        if domain.size > TABLE_LIMIT:
            return ORDERED, np.concatenate(([1.0], left, right))
        upper = np.triu(right[None, :] - left[:, None])
        return TABLE, _table(upper + upper.T)
    assert isinstance(domain, Taxonomy)
    width = node_widths(domain, codes, objective)
    if domain.size > TABLE_LIMIT:
        nodes = np.column_stack((width, domain.up, domain.hi))
        return CLIMB, np.append(1.0, nodes)
    pairs = np.ones((domain.size, domain.size))
    for node in np.argsort(domain.lo - domain.hi, kind="stable"):  # narrow ones last
        inside = slice(domain.lo[node], domain.hi[node] + 1)
        pairs[inside, inside] = width[node]
    return TABLE, _table(pairs)


def _table(pairs: Floats) -> Floats:
    """Add the row and column of missing, whose join with anything else is ``*``."""
    table = np.ones((len(pairs) + 1, len(pairs) + 1))
    table[:-1, :-1] = pairs
    np.fill_diagonal(table, 0.0)
    return table.ravel()

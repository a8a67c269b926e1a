"""Turn domains and a measure into the flat arrays that kernels use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from shoal.base.partition import Floats, Ints, Partition
from shoal.coding.encode import Encoded
from shoal.kernels.space.costs import Space
from shoal.kernels.space.covers import cover_groups, new_covers
from shoal.tables.domain import SET, Domain, Ordered, Taxonomy

Measure = Literal["ncp", "entropy"]

UNSEEN = 1e-12
"""Share given to a value that does not occur, so that nothing divides by zero."""


def make_space(
    data: Encoded,
    measure: Measure = "ncp",
    weights: Sequence[float] | Floats | None = None,
    *,
    counted: bool = False,
) -> Space:
    """Return the arrays in which joining a value to a group is priced.

    Parameters
    ----------
    measure
        ``"ncp"``: the growth of the loss; ``"entropy"``: KAIM's D(t, G).
    weights
        One factor per column; the importance of the columns when not given.
    counted
        Whether D(t, G) counts GenRate(t*, t*), as KAIM's equation 12 does.
    """
    parts = [
        _ncp(domain) if measure == "ncp" else _entropy(domain, data.codes[:, j])
        for j, domain in enumerate(data.domains)
    ]
    domains = data.domains
    taxa = [domain if isinstance(domain, Taxonomy) else None for domain in domains]
    empty = np.empty(0, np.int32)
    nodes = [taxon.up.size if taxon else 0 for taxon in taxa]
    factor = data.weights if weights is None else np.asarray(weights, np.float64)
    return Space(
        kind=np.array([domain.kind for domain in domains], np.int8),
        size=np.array([domain.size for domain in domains], np.int32),
        weight=factor,
        full=np.array([part.full for part in parts]),
        relative=measure == "entropy",
        counted=counted,
        first=_starts([domain.size + 1 for domain in domains]),
        inv=np.concatenate([part.inv for part in parts]),
        base=np.concatenate([part.base for part in parts]),
        left=np.concatenate([part.left for part in parts]),
        right=np.concatenate([part.right for part in parts]),
        node0=_starts(nodes),
        up=np.concatenate([taxon.up if taxon else empty for taxon in taxa]),
        lo=np.concatenate([taxon.lo if taxon else empty for taxon in taxa]),
        hi=np.concatenate([taxon.hi if taxon else empty for taxon in taxa]),
        num=np.concatenate([part.num for part in parts]),
        node_inv=np.concatenate([part.node_inv for part in parts]),
        node_base=np.concatenate([part.node_base for part in parts]),
        root=np.array([taxon.root if taxon else 0 for taxon in taxa], np.int32),
    )


def balanced_weights(data: Encoded) -> Floats:
    """Return KAIM's weights that give every column's distance the same average.

    w_j = 1 / (average over the known cells of GenRate(leaf, root)); 1 for a column without known
    cells, whose distance is the same for every pair of rows.
    """
    weights = np.ones(len(data.domains))
    for j, domain in enumerate(data.domains):
        codes = data.codes[:, j]
        known = codes[codes < domain.size]
        if known.size:
            part = _entropy(domain, codes)
            weights[j] = 1.0 / (part.full * part.inv[known].mean())
    return weights


def loss_of(data: Encoded, partition: Partition) -> float:
    """Return what a partition loses: the width of every known cell as it would be released."""
    space = make_space(data)
    covers = new_covers(space, partition.groups + 1)  # one to spare, for single rows
    cover_groups(space, covers, data.codes, partition.rows, partition.starts)
    known = np.add.reduceat(~data.missing[partition.rows], partition.starts[:-1], dtype=np.int64)
    return float((covers.num[:-1] * known).sum())


class _Part:
    """The share of one column in the arrays of :class:`Space`."""

    def __init__(self, size: int, full: float) -> None:
        self.full = full
        self.inv: Floats = np.ones(size + 1)
        self.base: Floats = np.zeros(size + 1)
        self.left: Floats = np.zeros(size + 1)
        self.right: Floats = np.zeros(size + 1)
        self.num: Floats = np.empty(0)
        self.node_inv: Floats = np.empty(0)
        self.node_base: Floats = np.empty(0)


def _ncp(domain: Domain) -> _Part:
    part = _Part(domain.size, 1.0)
    part.base[-1] = 1.0
    if isinstance(domain, Taxonomy):
        part.num = part.node_base = domain.width
        part.node_inv = np.ones(domain.width.size)
    elif isinstance(domain, Ordered):
        part.left[:-1], part.right[:-1] = (reach / domain.span for reach in domain.reach)
    return part


def _entropy(domain: Domain, codes: npt.NDArray[np.int32]) -> _Part:
    """Price a column by the entropy of what is hidden (Gong, Yang, Luo 2013, section 4).

    A free interval has the Info of the values it spans; a set is not defined here and comes as a
    flat taxonomy.
    """
    if domain.kind == SET:
        msg = "the entropy measure needs sets as flat taxonomies"
        raise ValueError(msg)
    counts = np.bincount(codes[codes < domain.size], minlength=domain.size)
    share = np.maximum(counts / max(int(counts.sum()), 1), UNSEEN)
    e = np.abs(share * np.log(share))
    e = np.maximum(e, UNSEEN)  # a column with one value only has p = 1 and e = 0
    running = np.concatenate(([0.0], np.cumsum(e)))
    part = _Part(domain.size, float(running[-1]) or 1.0)
    part.inv[:-1] = 1.0 / e
    part.inv[-1] = 1.0 / part.full
    if isinstance(domain, Taxonomy):
        info = running[domain.hi + 1] - running[domain.lo]
        part.node_inv = 1.0 / np.maximum(info, UNSEEN)
        part.node_inv[: domain.size] = 1.0 / e
        part.num = info
        part.num[: domain.size] = 0.0
        part.node_base = np.zeros(info.size)
    else:
        assert isinstance(domain, Ordered)
        first, last = domain.covered
        part.left[:-1], part.right[:-1] = running[first], running[last + 1]
    return part


def _starts(sizes: Sequence[int]) -> Ints:
    return np.concatenate(([0], np.cumsum(sizes)[:-1])).astype(np.int64)

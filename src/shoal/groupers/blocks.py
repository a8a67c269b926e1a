"""Cut a large table into blocks that are grouped in parallel.

A table is cut where it costs most to join what lies on either side, so that hardly any group would
have reached across: between the sexes rather than between two ages. Where the cuts are depends on
the table alone, never on the number of cores.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.base.threads import share
from shoal.coding.encode import Encoded
from shoal.coding.tuples import entries
from shoal.kernels.space.costs import Space
from shoal.tables.domain import Domain, Ordered, Taxonomy

Ints = npt.NDArray[np.int64]
Tags = npt.NDArray[np.int32]
Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]

BLOCK = 30_000
"""Entries up to which a table is grown in one piece; a larger one is cut into blocks of at most so
many."""
FAIR = 0.2
"""Share of the entries that either side of a cut must have."""


@dataclass(frozen=True, eq=False)
class Block:
    """Neighbouring rows that are grown together; inside, rows are numbered as they stand here.

    Parameters
    ----------
    rows
        Row numbers of the table, in random order.
    entry
        Entry of each row: a row of ``codes``, ``tag`` and ``count``.
    """

    rows: Ints
    entry: Ints
    codes: Codes
    tag: Tags
    count: Ints


def cut_blocks(
    data: Encoded, space: Space, tags: Tags, rows: Ints, most: int = BLOCK
) -> list[Block]:
    """Collapse rows of equal quasi-identifiers and tag, and cut them into blocks."""
    distinct, entry, count = entries(np.column_stack((data.codes[rows], tags[rows])))
    codes, tag = np.ascontiguousarray(distinct[:, :-1]), np.ascontiguousarray(distinct[:, -1])
    if count.size <= most:
        return [Block(rows, entry, codes, tag, count)]
    block_of = _cut(data.domains, space, codes, most)
    place, chosen = _listed(block_of)
    local = np.empty(count.size, np.int64)
    local[place] = np.concatenate([np.arange(block.size) for block in chosen])
    _, owned = _listed(block_of[entry])

    def one(pair: tuple[Ints, Ints]) -> Block:
        block, own = pair
        return Block(rows[own], local[entry[own]], codes[block], tag[block], count[block])

    return share(one, zip(chosen, owned, strict=True))


def _listed(block_of: Ints) -> tuple[Ints, list[Ints]]:
    """Return the places ordered by block, as one array and block by block, ascending in each."""
    order = np.argsort(block_of.astype(np.min_scalar_type(int(block_of.max()))), kind="stable")
    return order, np.split(order, np.cumsum(np.bincount(block_of))[:-1])


def _cut(domains: tuple[Domain, ...], space: Space, codes: Codes, most: int) -> Ints:
    """Return the block of every entry."""
    block_of = np.zeros(codes.shape[0], np.int64)
    todo, made = [np.arange(codes.shape[0])], 0
    while todo:
        chosen = todo.pop()
        own_codes = codes[chosen]
        best = (-1.0, 0.0, 0, 0)
        if chosen.size > most:
            for j, domain in enumerate(domains):
                price, size, split = _dearest(domain, space, j, own_codes[:, j])
                best = max(best, (price, size, -j, split))
        price, _, j, split = best
        if price < 0.0:
            block_of[chosen] = made
            made += 1
            continue
        below = own_codes[:, -j] < split
        todo += [chosen[~below], chosen[below]]
    return block_of


def _dearest(domain: Domain, space: Space, j: int, column: Codes) -> tuple[float, float, int]:
    """Return the price of the dearest fair cut of a column, the smaller side, and its place.

    The price is what joining the last position before the cut and the first after it costs.
    """
    counts = np.bincount(column, minlength=domain.size + 1)
    here = np.flatnonzero(counts)
    share = np.cumsum(counts[here])[:-1] / column.size
    small = np.minimum(share, 1.0 - share)
    fair = small >= FAIR
    if not fair.any():
        return -1.0, 0.0, 0
    p, q, small = here[:-1][fair], here[1:][fair], small[fair]
    price = np.where(q == domain.size, space.full[j], _joined(domain, space, j, p, q))
    at = np.lexsort((small, np.round(price, 9)))[-1]
    return float(price[at] * space.weight[j]), float(small[at]), int(q[at])


def _joined(domain: Domain, space: Space, j: int, p: Ints, q: Ints) -> Floats:
    """Return ``num`` of the joins of known positions."""
    if isinstance(domain, Taxonomy):
        node = domain.cover(p, np.minimum(q, domain.size - 1))
        return np.asarray(space.num[space.node0[j] + node])
    if isinstance(domain, Ordered):
        return np.asarray(space.right[space.first[j] + q] - space.left[space.first[j] + p])
    return np.full(p.size, 1.0 / max(domain.size - 1, 1))

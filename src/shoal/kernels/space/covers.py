"""What finished groups are released as, and what it costs to join two of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.kernels import inlined, inner, kernel
from shoal.kernels.space.costs import ORDERED, SET, TAXONOMY, Space


class Covers(NamedTuple):
    """The joins of some groups, a row each."""

    size: npt.NDArray[np.int64]
    """Rows of each group; 0 for a group that is no more."""
    lo: npt.NDArray[np.int32]
    """``[groups, m]``: positions covered; ``hi`` is the position of missing once one is in."""
    hi: npt.NDArray[np.int32]
    node: npt.NDArray[np.int32]
    """``[groups, m]``: taxonomies, the node."""
    num: npt.NDArray[np.float64]
    """``[groups, m]``: ``num`` of each cover."""
    bits: npt.NDArray[np.uint64]
    """``[groups, words]``: set columns, the values in the set."""
    word: npt.NDArray[np.int64]
    """First word of each column, with the number of words at the end."""


def new_covers(space: Space, groups: int) -> Covers:
    """Return room for the covers of ``groups`` groups."""
    m = space.kind.size
    words = np.where(space.kind == SET, space.size // 64 + 1, 0)
    word = np.concatenate(([0], np.cumsum(words))).astype(np.int64)
    return Covers(
        size=np.zeros(groups, np.int64),
        lo=np.zeros((groups, m), np.int32),
        hi=np.zeros((groups, m), np.int32),
        node=np.zeros((groups, m), np.int32),
        num=np.zeros((groups, m)),
        bits=np.zeros((groups, int(word[-1])), np.uint64),
        word=word,
    )


@inner
def count_bits(x: np.uint64) -> int:
    """Return how many bits of a word are set."""
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@inner
def start_cover(space: Space, covers: Covers, g: int, row: npt.NDArray[np.int32]) -> None:
    """Make ``row`` the only member of group ``g``."""
    covers.size[g] = 1
    for w in range(covers.bits.shape[1]):
        covers.bits[g, w] = 0
    for j in range(row.size):
        p, missing = row[j], space.size[j]
        covers.lo[g, j] = covers.hi[g, j] = p
        covers.node[g, j] = p if p < missing else space.root[j]
        covers.num[g, j] = 0.0 if p < missing else space.full[j]
        if space.kind[j] == SET and p < missing:
            covers.bits[g, covers.word[j] + (p >> 6)] = np.uint64(1) << np.uint64(p & 63)


@inlined
def join_num(
    kind: npt.NDArray[np.int8],
    missing: npt.NDArray[np.int32],
    full: npt.NDArray[np.float64],
    first: npt.NDArray[np.int64],
    left: npt.NDArray[np.float64],
    right: npt.NDArray[np.float64],
    node0: npt.NDArray[np.int64],
    up: npt.NDArray[np.int32],
    node_lo: npt.NDArray[np.int32],
    node_hi: npt.NDArray[np.int32],
    node_num: npt.NDArray[np.float64],
    lows: npt.NDArray[np.int32],
    highs: npt.NDArray[np.int32],
    nodes: npt.NDArray[np.int32],
    bits: npt.NDArray[np.uint64],
    word: npt.NDArray[np.int64],
    a: int,
    b: int,
    j: int,
) -> float:
    """Return ``num`` of the join of groups ``a`` and ``b`` in column ``j``.

    It takes the arrays of the space and of the covers one by one and is compiled into its callers:
    a call with all of them would cost more than the arithmetic.
    """
    lo = lows[a, j] if lows[a, j] < lows[b, j] else lows[b, j]
    hi = highs[a, j] if highs[a, j] > highs[b, j] else highs[b, j]
    num = full[j]
    if hi < missing[j]:
        if kind[j] == TAXONOMY:
            at = node0[j] + nodes[a, j]
            while lo < node_lo[at] or hi > node_hi[at]:
                at = node0[j] + up[at]
            num = node_num[at]
        elif kind[j] == ORDERED:
            num = right[first[j] + hi] - left[first[j] + lo] if lo < hi else 0.0
        else:
            held = 0
            for w in range(word[j], word[j + 1]):
                held += count_bits(bits[a, w] | bits[b, w])
            num = (held - 1) / (missing[j] - 1 if missing[j] > 1 else 1)
    return num


@kernel
def join_cost(space: Space, covers: Covers, a: int, b: int, limit: float) -> float:
    """Return the growth of the loss if groups ``a`` and ``b`` are joined; stops above ``limit``."""
    kind, missing, full, weight = space.kind, space.size, space.full, space.weight
    first, left, right = space.first, space.left, space.right
    node0, up, node_lo, node_hi, node_num = space.node0, space.up, space.lo, space.hi, space.num
    total = 0.0
    for j in range(kind.size):
        num = join_num(
            kind,
            missing,
            full,
            first,
            left,
            right,
            node0,
            up,
            node_lo,
            node_hi,
            node_num,
            covers.lo,
            covers.hi,
            covers.node,
            covers.bits,
            covers.word,
            a,
            b,
            j,
        )
        total += weight[j] * (
            covers.size[a] * (num - covers.num[a, j]) + covers.size[b] * (num - covers.num[b, j])
        )
        if total > limit:
            break
    return total


@inner
def join_into(space: Space, covers: Covers, a: int, b: int) -> None:
    """Join group ``b`` into group ``a``; ``b`` is no more."""
    for j in range(space.kind.size):
        covers.num[a, j] = join_num(
            space.kind,
            space.size,
            space.full,
            space.first,
            space.left,
            space.right,
            space.node0,
            space.up,
            space.lo,
            space.hi,
            space.num,
            covers.lo,
            covers.hi,
            covers.node,
            covers.bits,
            covers.word,
            a,
            b,
            j,
        )
        lo, hi = min(covers.lo[a, j], covers.lo[b, j]), max(covers.hi[a, j], covers.hi[b, j])
        covers.lo[a, j], covers.hi[a, j] = lo, hi
        if space.kind[j] == TAXONOMY:
            at, node = space.node0[j], covers.node[a, j]
            if hi == space.size[j]:
                node = space.root[j]
            else:
                while lo < space.lo[at + node] or hi > space.hi[at + node]:
                    node = space.up[at + node]
            covers.node[a, j] = node
        for w in range(covers.word[j], covers.word[j + 1]):
            covers.bits[a, w] |= covers.bits[b, w]
    covers.size[a] += covers.size[b]
    covers.size[b] = 0


@kernel
def cover_groups(
    space: Space,
    covers: Covers,
    codes: npt.NDArray[np.int32],
    rows: npt.NDArray[np.int64],
    starts: npt.NDArray[np.int64],
) -> None:
    """Fill in the covers of the groups ``rows[starts[g]:starts[g + 1]]``.

    ``covers`` has one group more than there are: a place to put single rows.
    """
    spare = starts.size - 1
    for g in range(spare):
        start_cover(space, covers, g, codes[rows[starts[g]]])
        for i in range(starts[g] + 1, starts[g + 1]):
            start_cover(space, covers, spare, codes[rows[i]])
            join_into(space, covers, g, spare)

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
def join_num(space: Space, covers: Covers, a: int, b: int, j: int) -> float:
    """Return ``num`` of the join of groups ``a`` and ``b`` in column ``j``."""
    lo = covers.lo[a, j] if covers.lo[a, j] < covers.lo[b, j] else covers.lo[b, j]
    hi = covers.hi[a, j] if covers.hi[a, j] > covers.hi[b, j] else covers.hi[b, j]
    missing, num = space.size[j], space.full[j]
    if hi < missing:
        if space.kind[j] == TAXONOMY:
            at = space.node0[j] + covers.node[a, j]
            while lo < space.lo[at] or hi > space.hi[at]:
                at = space.node0[j] + space.up[at]
            num = space.num[at]
        elif space.kind[j] == ORDERED:
            at = space.first[j]
            num = space.right[at + hi] - space.left[at + lo] if lo < hi else 0.0
        else:
            held = 0
            for w in range(covers.word[j], covers.word[j + 1]):
                held += count_bits(covers.bits[a, w] | covers.bits[b, w])
            num = (held - 1) / (missing - 1 if missing > 1 else 1)
    return num


@inlined
def join_cost(space: Space, covers: Covers, a: int, b: int, limit: float) -> float:
    """Return the growth of the loss if groups ``a`` and ``b`` are joined; stops above ``limit``."""
    total = 0.0
    for j in range(space.kind.size):
        num = join_num(space, covers, a, b, j)
        mine, theirs = num - covers.num[a, j], num - covers.num[b, j]
        total += space.weight[j] * (covers.size[a] * mine + covers.size[b] * theirs)
        if total > limit:
            break
    return total


@inner
def join_into(space: Space, covers: Covers, a: int, b: int) -> None:
    """Join group ``b`` into group ``a``; ``b`` is no more."""
    for j in range(space.kind.size):
        covers.num[a, j] = join_num(space, covers, a, b, j)
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

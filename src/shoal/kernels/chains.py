"""Which values of a class can belong to somebody who was in earlier releases too.

A class is a box: per column the positions that its cells cover, for sets a bit mask besides. A
person of a class was, in every earlier release, in one class whose box shares a point with all the
others and that has the person's value: a chain of classes, one a release.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.kernels import allocating, inner

Ints = npt.NDArray[np.int64]
Places = npt.NDArray[np.int32]
Masks = npt.NDArray[np.uint64]
Truths = npt.NDArray[np.bool_]


class Regions(NamedTuple):
    """Classes with what their cells cover and the values that they have."""

    lo: Places
    """``[classes, columns]``: first position covered; ``hi`` is the last."""
    hi: Places
    sets: Ints
    """``[classes, set columns]``: which row of ``masks`` its set is."""
    masks: Masks
    """``[sets, words]``: one bit a value; set column ``s`` has the words ``words[s]`` and on."""
    words: Ints
    starts: Ints
    """Class ``c`` has the values ``values[starts[c]:starts[c + 1]]``."""
    values: Places


class Trees(NamedTuple):
    """The classes of every earlier release, in an order in which neighbours lie together.

    Release ``j`` has the classes ``first[j]`` and on. Node ``h`` of its tree, counted as in a heap
    from 1, stands at ``root[j] + h`` and covers all classes below; the leaves are ``depth[j]``
    levels down.
    """

    first: Ints
    root: Ints
    depth: Ints
    lo: Places
    hi: Places


@inner
def _apart(lo: Places, hi: Places, other_lo: Places, other_hi: Places) -> bool:
    apart = False
    for j in range(lo.size):
        apart |= lo[j] > other_hi[j] or other_lo[j] > hi[j]
    return apart


@inner
def _meet(boxes: Regions, b: int, lo: Places, hi: Places, mask: Masks, depth: int) -> bool:
    """Write what a box and class ``b`` share one level deeper; say whether that is anything."""
    for j in range(lo.shape[1]):
        lo[depth + 1, j] = max(lo[depth, j], boxes.lo[b, j])
        hi[depth + 1, j] = min(hi[depth, j], boxes.hi[b, j])
        if lo[depth + 1, j] > hi[depth + 1, j]:
            return False
    for s in range(boxes.sets.shape[1]):
        common = np.uint64(0)
        for w in range(boxes.words[s], boxes.words[s + 1]):
            mask[depth + 1, w] = mask[depth, w] & boxes.masks[boxes.sets[b, s], w]
            common |= mask[depth + 1, w]
        if common == 0:
            return False
    return True


@inner
def _chain(
    boxes: Regions,
    heads: Ints,
    members: Ints,
    turns: Ints,
    at: Ints,
    lo: Places,
    hi: Places,
    mask: Masks,
) -> bool:
    """Say whether one class can be chosen in every release so that all share a point.

    The candidates of release ``j`` are ``members[heads[j]:heads[j + 1]]``; releases are tried in
    the order of ``turns``. Level 0 of ``lo``, ``hi`` and ``mask`` is the box to start from.
    """
    depth = 0
    at[0] = heads[turns[0]]
    while depth >= 0:
        if at[depth] == heads[turns[depth] + 1]:
            depth -= 1
            continue
        b = members[at[depth]]
        at[depth] += 1
        if _meet(boxes, b, lo, hi, mask, depth):
            if depth + 1 == turns.size:
                return True
            depth += 1
            at[depth] = heads[turns[depth]]
    return False


@allocating
def _room(array: Ints, size: int) -> Ints:
    if size < array.size:
        return array
    larger = np.empty(2 * array.size, np.int64)
    larger[: array.size] = array
    return larger


@allocating
def _candidates(
    before: Regions,
    trees: Trees,
    position: Ints,
    lo: Places,
    hi: Places,
    mask: Masks,
    heads: Ints,
) -> Ints:
    """Return the classes that meet a box, by value and release, each as often as it has values.

    ``place``: the number of a value among those of the box, -1 if it has it not. ``heads`` gets
    where the candidates of value ``r`` and release ``j`` begin, at ``r * releases + j``.
    """
    releases = trees.depth.size
    stack = np.empty(128, np.int64)
    key, who = np.empty(1024, np.int64), np.empty(1024, np.int64)
    many = 0
    for j in range(releases):
        size = trees.first[j + 1] - trees.first[j]
        stack[0], top = 1, 1
        while top > 0:
            top -= 1
            h = stack[top]
            node = trees.root[j] + h
            if _apart(lo[0], hi[0], trees.lo[node], trees.hi[node]):
                continue
            leaf = h - (1 << trees.depth[j])
            if leaf < 0:
                stack[top], stack[top + 1] = 2 * h, 2 * h + 1
                top += 2
                continue
            first = trees.first[j] + ((size * leaf) >> trees.depth[j])
            last = trees.first[j] + ((size * (leaf + 1)) >> trees.depth[j])
            for b in range(first, last):
                if not _meet(before, b, lo, hi, mask, 0):
                    continue
                for run in range(before.starts[b], before.starts[b + 1]):
                    if position[before.values[run]] >= 0:
                        key, who = _room(key, many), _room(who, many)
                        key[many] = position[before.values[run]] * releases + j
                        who[many] = b
                        many += 1
    heads[:] = 0
    for i in range(many):
        heads[key[i] + 1] += 1
    for i in range(1, heads.size):
        heads[i] += heads[i - 1]
    members, fill = np.empty(many, np.int64), heads.copy()
    for i in range(many):
        members[fill[key[i]]] = who[i]
        fill[key[i]] += 1
    return members


@allocating
def _shared(before: Regions, members: Ints, position: Ints, sure: Truths) -> None:
    """Say which values of a class all of some classes have."""
    hits = np.zeros(sure.size, np.int64)
    for b in members:
        for run in range(before.starts[b], before.starts[b + 1]):
            if position[before.values[run]] >= 0:
                hits[position[before.values[run]]] += 1
    sure[:] = hits == members.size


@allocating
def possible(
    now: Regions,
    before: Regions,
    trees: Trees,
    span: int,
    begin: int,
    end: int,
    in_all: Truths,
    in_some: Truths,
    sure: Truths,
    pairs: Ints,
) -> None:
    """Mark the values of the classes ``begin .. end`` that an earlier release leaves possible.

    ``in_all``: by run of ``now.values``, whether there is a chain through every release whose
    classes all have the value; ``in_some``: whether one release has such a class. ``sure``: for
    every two values of class ``c``, from ``pairs[c]`` on, whether every class that a person with
    the first can have been in has the second, too. ``span``: number of values.
    """
    releases = trees.depth.size
    columns, words = now.lo.shape[1], now.masks.shape[1]
    lo = np.empty((releases + 1, columns), np.int32)
    hi = np.empty((releases + 1, columns), np.int32)
    mask = np.empty((releases + 1, words), np.uint64)
    at = np.empty(releases, np.int64)
    position = np.full(span, -1, np.int64)
    for c in range(begin, end):
        runs = now.starts[c + 1] - now.starts[c]
        for r in range(runs):
            position[now.values[now.starts[c] + r]] = r
        lo[0], hi[0] = now.lo[c], now.hi[c]
        for s in range(now.sets.shape[1]):
            for w in range(now.words[s], now.words[s + 1]):
                mask[0, w] = now.masks[now.sets[c, s], w]
        heads = np.empty(runs * releases + 1, np.int64)
        members = _candidates(before, trees, position, lo, hi, mask, heads)
        for r in range(runs):
            own = heads[r * releases : (r + 1) * releases + 1]
            in_some[now.starts[c] + r] = own[releases] > own[0]
            # Few candidates first: a release that has none ends the search at once.
            turns = np.argsort(own[1:] - own[:-1])
            in_all[now.starts[c] + r] = _chain(before, own, members, turns, at, lo, hi, mask)
            first = pairs[c] + r * runs
            _shared(before, members[own[0] : own[releases]], position, sure[first : first + runs])
        for r in range(runs):
            position[now.values[now.starts[c] + r]] = -1

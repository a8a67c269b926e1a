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


class Common(NamedTuple):
    """What the classes chosen so far share, a level for each of them; level 0 is where to start."""

    lo: Places
    hi: Places
    mask: Masks


class ChainSearch(NamedTuple):
    """Room for the search of one chain.

    The candidates of release ``j`` are ``members[heads[j]:heads[j + 1]]``. By level: which releases
    are still to be chosen from (``open``), which candidates met the level before (``alive``), the
    release chosen from (``turn``) and its next candidate (``at``).
    """

    heads: Ints
    members: Ints
    open: Truths
    alive: Truths
    turn: Ints
    at: Ints


_ALL, _NONE = -1, -2  # no release is left to choose from; one of them has nothing to choose


@inner
def _apart(lo: Places, hi: Places, other_lo: Places, other_hi: Places) -> bool:
    apart = False
    for j in range(lo.size):
        apart |= lo[j] > other_hi[j] or other_lo[j] > hi[j]
    return apart


@inner
def _meet(boxes: Regions, b: int, box: Common, depth: int) -> bool:
    """Write what a box and class ``b`` share one level deeper; say whether that is anything."""
    lo, hi, mask = box.lo, box.hi, box.mask
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
def _covers(boxes: Regions, b: int, box: Common, depth: int) -> bool:
    """Say whether class ``b`` covers the whole of a box."""
    for j in range(box.lo.shape[1]):
        if boxes.lo[b, j] > box.lo[depth, j] or boxes.hi[b, j] < box.hi[depth, j]:
            return False
    for s in range(boxes.sets.shape[1]):
        for w in range(boxes.words[s], boxes.words[s + 1]):
            if box.mask[depth, w] & ~boxes.masks[boxes.sets[b, s], w]:
                return False
    return True


@inner
def _narrow(boxes: Regions, search: ChainSearch, box: Common, depth: int) -> int:
    """Return the release with the fewest candidates for a box: the next to choose from.

    Candidates that do not meet the box are dropped, and so are releases with one that covers all of
    it: they rule nothing out. -1 if no release is left, -2 if one has no candidate.
    """
    fewest, best = search.members.size + 1, _ALL
    for j in range(search.heads.size - 1):
        if not search.open[depth, j]:
            continue
        count = 0
        for i in range(search.heads[j], search.heads[j + 1]):
            b = search.members[i]
            search.alive[depth + 1, i] = search.alive[depth, i] and _meet(boxes, b, box, depth)
            if search.alive[depth + 1, i]:
                count += 1
                if _covers(boxes, b, box, depth):
                    search.open[depth, j] = False
                    break
        if search.open[depth, j] and count < fewest:
            fewest, best = count, j
    return best if fewest > 0 else _NONE


@inner
def _chain(boxes: Regions, search: ChainSearch, box: Common) -> bool:
    """Say whether one class can be chosen in every release so that all share a point."""
    for j in range(search.heads.size - 1):
        search.open[0, j] = True
    for i in range(search.members.size):
        search.alive[0, i] = True
    depth = 0
    while depth >= 0:
        release = _narrow(boxes, search, box, depth)
        if release == _ALL:
            return True
        if release == _NONE:
            depth -= 1
        else:
            search.turn[depth], search.at[depth] = release, search.heads[release]
        while depth >= 0:  # on to the next candidate, if need be of an earlier choice
            release, i = search.turn[depth], search.at[depth]
            if i == search.heads[release + 1]:
                depth -= 1
                continue
            search.at[depth] += 1
            if search.alive[depth + 1, i]:
                _meet(boxes, search.members[i], box, depth)
                for j in range(search.heads.size - 1):
                    search.open[depth + 1, j] = search.open[depth, j] and j != release
                depth += 1
                break
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
    box: Common,
    heads: Ints,
) -> Ints:
    """Return the classes that meet a box, by value and release, each as often as it has values.

    ``position``: the number of a value among those of the box, -1 if it has it not. ``heads`` gets
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
            if _apart(box.lo[0], box.hi[0], trees.lo[node], trees.hi[node]):
                continue
            leaf = h - (1 << trees.depth[j])
            if leaf < 0:
                stack[top], stack[top + 1] = 2 * h, 2 * h + 1
                top += 2
                continue
            first = trees.first[j] + ((size * leaf) >> trees.depth[j])
            last = trees.first[j] + ((size * (leaf + 1)) >> trees.depth[j])
            for b in range(first, last):
                if not _meet(before, b, box, 0):
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
    # One level more than there are releases: to try a candidate writes a level deeper.
    box = Common(
        np.empty((releases + 2, columns), np.int32),
        np.empty((releases + 2, columns), np.int32),
        np.empty((releases + 2, words), np.uint64),
    )
    turn, at = np.empty(releases + 1, np.int64), np.empty(releases + 1, np.int64)
    still = np.empty((releases + 1, releases), np.bool_)
    position = np.full(span, -1, np.int64)
    for c in range(begin, end):
        runs = now.starts[c + 1] - now.starts[c]
        for r in range(runs):
            position[now.values[now.starts[c] + r]] = r
        box.lo[0], box.hi[0] = now.lo[c], now.hi[c]
        for s in range(now.sets.shape[1]):
            for w in range(now.words[s], now.words[s + 1]):
                box.mask[0, w] = now.masks[now.sets[c, s], w]
        heads = np.empty(runs * releases + 1, np.int64)
        members = _candidates(before, trees, position, box, heads)
        for r in range(runs):
            own = heads[r * releases : (r + 1) * releases + 1]
            in_some[now.starts[c] + r] = own[releases] > own[0]
            mine = members[own[0] : own[releases]]
            alive = np.empty((releases + 2, mine.size), np.bool_)
            search = ChainSearch(own - own[0], mine, still, alive, turn, at)
            in_all[now.starts[c] + r] = _chain(before, search, box)
            first = pairs[c] + r * runs
            _shared(before, mine, position, sure[first : first + runs])
        for r in range(runs):
            position[now.values[now.starts[c] + r]] = -1

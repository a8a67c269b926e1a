"""Peel: take every class that satisfies the rule off the table, cheapest pattern first.

Before that, :func:`screen` finds the entries that patterns may take at all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.kernels import allocating, inner, kernel
from shoal.kernels.boxes.classes import Hashed, new_hashed, signatures, signatures_of, tally
from shoal.kernels.boxes.conditions import Conditions, add, shortfall
from shoal.kernels.boxes.geometry import SET, Boxes, Codes, Ints, cover, span
from shoal.kernels.boxes.lattice import Ladders

Chosen = npt.NDArray[np.int32]


class Entries(NamedTuple):
    """The distinct rows that no class has taken yet, kept compact, in order."""

    codes: Codes
    """``[m, n]``"""
    rows: Ints
    """How many rows each entry stands for."""
    sens: Codes
    """``[n, s]``"""
    number: Ints
    """The entries' own numbers."""


class Workspace(NamedTuple):
    """Room to peel some entries."""

    hashed: Hashed
    chosen: Chosen
    """The entries that are looked at."""
    rows: Ints
    """How many rows each of those stands for."""
    order: Ints
    start: Ints
    hist: Ints
    roof: npt.NDArray[np.int8]


def new_workspace(n: int, columns: int, hist: Ints) -> Workspace:
    """Return room to peel n entries."""
    chosen, rows = np.zeros(n, np.int32), np.zeros(n, np.int64)
    order, start = np.zeros(n, np.int64), np.zeros(n + 2, np.int64)
    return Workspace(new_hashed(n), chosen, rows, order, start, hist, np.zeros(columns, np.int8))


@kernel
def screen(
    ladders: Ladders,
    patterns: npt.NDArray[np.int8],
    first: Ints,
    k: int,
    entries: Entries,
    left: int,
    work: Workspace,
    at: Ints,
    found: Chosen,
) -> tuple[int, int]:
    """Note down the entries that are in a class of k rows at each pattern.

    Patterns `first[g]` to `first[g + 1]` lie under one roof. `at`, [2, patterns], says where each
    one's entries begin and end in `found`; one that may not have room there keeps its -1. Returns
    how much of `found` is in use, and how many entries were looked at.
    """
    used, looked, roof = 0, 0, work.roof
    for g in range(len(first) - 1):
        size, whole = left, True
        if first[g + 1] - first[g] > 1:
            for j in range(len(roof)):
                roof[j] = 0
                for q in range(first[g], first[g + 1]):
                    roof[j] = max(roof[j], patterns[q, j])
            looked += size
            size = _large(ladders, roof, k, entries, left, True, work, work.chosen, 0)
            whole = False
        for q in range(first[g], first[g + 1]):
            if used + size <= len(found):
                looked += size
                at[0, q] = used
                used = _large(ladders, patterns[q], k, entries, size, whole, work, found, used)
                at[1, q] = used
    return used, looked


@inner
def _large(
    ladders: Ladders,
    pattern: npt.NDArray[np.int8],
    k: int,
    entries: Entries,
    size: int,
    whole: bool,
    work: Workspace,
    out: Chosen,
    at: int,
) -> int:
    """Write those of the chosen entries to `out` that are in a class of k rows; return its end.

    `whole`: not the chosen entries, but the first ones.
    """
    total, slot, chosen = work.hashed.total, work.hashed.slot, work.chosen
    if whole:
        signatures(ladders, pattern, entries.codes, size, work.hashed.hashes)
        largest = tally(work.hashed, entries.rows, size)
    else:
        largest = _tallied(ladders, pattern, entries, size, work)
    if largest >= k:
        for i in range(size):
            if total[slot[i]] >= k:
                out[at] = i if whole else chosen[i]
                at += 1
    for i in range(size):
        total[slot[i]] = 0
    return at


@inner
def _tallied(
    ladders: Ladders,
    pattern: npt.NDArray[np.int8],
    entries: Entries,
    size: int,
    work: Workspace,
) -> int:
    """Add up the rows of the chosen entries by class; return those of the largest class."""
    for i in range(size):
        work.rows[i] = entries.rows[work.chosen[i]]
    signatures_of(ladders, pattern, entries.codes, work.chosen, size, work.hashed.hashes)
    return tally(work.hashed, work.rows, size)


@kernel
def peel(
    ladders: Ladders,
    patterns: npt.NDArray[np.int8],
    k: int,
    rule: Conditions | None,
    entries: Entries,
    left: int,
    label: Ints,
    groups: int,
    work: Workspace,
    budget: float,
    begin: Ints,
    end: Ints,
    found: Chosen,
) -> tuple[int, int, float, int]:
    """Walk over patterns; label the entries of every class that satisfies the rule.

    The first `left` of the entries are those not yet placed; pattern q may take `found[begin[q]]`
    to `found[end[q]]`, or any of them. Returns the new `left`, the number of groups, the budget
    (entries left under each pattern) that remains, and how many were looked at; stops when the
    budget is used up.
    """
    total, slot, chosen = work.hashed.total, work.hashed.slot, work.chosen
    alive, looked, before = left, 0, groups
    for q in range(len(patterns)):
        budget -= alive
        size = 0
        for x in range(begin[q] if begin[q] >= 0 else 0, end[q] if begin[q] >= 0 else left):
            i = found[x] if begin[q] >= 0 else x
            if label[entries.number[i]] < 0:
                chosen[size] = i
                size += 1
        looked += size
        if size > 0:
            first = groups
            if _tallied(ladders, patterns[q], entries, size, work) >= k:
                for i in range(size):  # a class to take becomes -1 - its number
                    if total[slot[i]] >= k:
                        total[slot[i]] = -1 - groups
                        groups += 1
                if rule is not None:
                    groups = _reject(rule, entries, size, first, groups, work)
                for i in range(size):
                    if total[slot[i]] < 0:
                        label[entries.number[chosen[i]]] = -1 - total[slot[i]]
                        alive -= 1
            for i in range(size):
                total[slot[i]] = 0
        if alive == 0 or budget <= 0:
            break
    if groups > before:
        _keep(entries, left, label)
    return alive, groups, budget, looked


@inner
def _keep(entries: Entries, left: int, label: Ints) -> None:
    """Move the entries that no class has taken to the front."""
    codes, sens, keep = entries.codes, entries.sens, 0
    for i in range(left):
        if label[entries.number[i]] >= 0:
            continue
        for j in range(len(codes)):
            codes[j, keep] = codes[j, i]
        for c in range(sens.shape[1]):
            sens[keep, c] = sens[i, c]
        entries.rows[keep], entries.number[keep] = entries.rows[i], entries.number[i]
        keep += 1


@inner
def _reject(
    rule: Conditions, entries: Entries, size: int, first: int, groups: int, work: Workspace
) -> int:
    """Check the new classes' histograms; renumber those that pass, unmark the others."""
    total, slot, order, start = work.hashed.total, work.hashed.slot, work.order, work.start
    chosen, rows = work.chosen, work.rows
    for c in range(groups - first + 2):  # one more than needed: it is shifted while it fills
        start[c] = 0
    for i in range(size):
        if total[slot[i]] < 0:
            start[-total[slot[i]] - first + 1] += 1
    for c in range(1, groups - first + 1):
        start[c + 1] += start[c]
    for i in range(size):
        if total[slot[i]] < 0:
            c = -1 - total[slot[i]] - first
            order[start[c + 1]] = i
            start[c + 1] += 1
    passed = first
    for c in range(groups - first):
        for x in range(start[c], start[c + 1]):
            add(rule, entries.sens, chosen[order[x]], rows[order[x]], work.hist)
        good = shortfall(rule, work.hist) == 0.0
        for x in range(start[c], start[c + 1]):
            add(rule, entries.sens, chosen[order[x]], -rows[order[x]], work.hist)
        total[slot[order[start[c]]]] = -1 - passed if good else 1
        passed += good
    return passed


@allocating
def propose(
    boxes: Boxes,
    ladders: Ladders,
    codes: Codes,
    sample: Ints,
    seeds: Ints,
    near: int,
    out: npt.NDArray[np.int8],
) -> None:
    """Fill ``out[s]`` with the finest pattern on which seed s looks like its nearest in the sample.

    With many columns the cheapest patterns are far too fine for most rows, and too many to get
    past; on such a pattern a class of the wanted size is likely. ``codes`` is [m, n]; ``sample``
    and ``seeds`` are places in it; ``near``: how many of the nearest.
    """
    kind, sign, levels = boxes.kind, ladders.sign, ladders.levels
    dist = np.empty(len(sample))
    for s in range(len(seeds)):
        for x in range(len(sample)):
            dist[x] = 0.0
            for j in range(len(kind)):
                v, w = codes[j, seeds[s]], codes[j, sample[x]]
                a, b = cover(boxes, j, v, v, w)
                if kind[j] == SET:
                    a, b = (1, 0) if v == w else (2, 0)
                dist[x] += span(boxes, j, a, b)
        order = np.argsort(dist, kind="mergesort")
        for j in range(len(kind)):
            level, here = 0, codes[j, seeds[s]]
            for x in range(near + 1):  # the seed itself may be in the sample
                there = codes[j, sample[order[x]]]
                while level + 1 < levels[j]:
                    rung = ladders.at[j] + level * ladders.step[j]
                    if sign[rung + here] == sign[rung + there]:
                        break
                    level += 1
            out[s, j] = level

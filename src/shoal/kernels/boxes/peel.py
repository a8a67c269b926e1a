"""Peel: take every class that satisfies the rule off the table, cheapest pattern first."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.kernels import inner, kernel
from shoal.kernels.boxes.classes import Hashed, new_hashed, signatures, tally
from shoal.kernels.boxes.conditions import Conditions, add, shortfall
from shoal.kernels.boxes.geometry import Codes, Ints
from shoal.kernels.boxes.lattice import Ladders


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
    order: Ints
    start: Ints
    hist: Ints


def new_workspace(n: int, values: int) -> Workspace:
    """Return room to peel n entries."""
    order, start = np.zeros(n, np.int64), np.zeros(n + 2, np.int64)
    return Workspace(new_hashed(n), order, start, np.zeros(values, np.int64))


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
) -> tuple[int, int, float]:
    """Walk over patterns; label the entries of every class that satisfies the rule.

    The first `left` of the entries are those not yet placed. Returns the new `left`, the number of
    groups, and the budget (entries looked at) that remains; stops when it is used up.
    """
    total, slot = work.hashed.total, work.hashed.slot
    for q in range(len(patterns)):
        budget -= left
        signatures(ladders, patterns[q], entries.codes, left, work.hashed.hashes)
        largest = tally(work.hashed, entries.rows, left)
        first = groups
        if largest >= k:
            for i in range(left):  # a class to take becomes -1 - its number
                if total[slot[i]] >= k:
                    total[slot[i]] = -1 - groups
                    groups += 1
            if rule is not None:
                groups = _reject(rule, entries, left, first, groups, work)
        keep = left
        if groups > first:
            keep = _keep(entries, left, label, work.hashed)
        for i in range(left):
            total[slot[i]] = 0
        left = keep
        if left == 0 or budget <= 0:
            break
    return left, groups, budget


@inner
def _keep(entries: Entries, left: int, label: Ints, hashed: Hashed) -> int:
    """Label the entries of the classes taken; return how many others are left, now in front."""
    codes, sens, keep = entries.codes, entries.sens, 0
    for i in range(left):
        taken = hashed.total[hashed.slot[i]]
        if taken < 0:
            label[entries.number[i]] = -1 - taken
            continue
        for j in range(len(codes)):
            codes[j, keep] = codes[j, i]
        for c in range(sens.shape[1]):
            sens[keep, c] = sens[i, c]
        entries.rows[keep], entries.number[keep] = entries.rows[i], entries.number[i]
        keep += 1
    return keep


@inner
def _reject(
    rule: Conditions, entries: Entries, left: int, first: int, groups: int, work: Workspace
) -> int:
    """Check the new classes' histograms; renumber those that pass, unmark the others."""
    total, slot, order, start = work.hashed.total, work.hashed.slot, work.order, work.start
    for c in range(groups - first + 2):  # one more than needed: it is shifted while it fills
        start[c] = 0
    for i in range(left):
        if total[slot[i]] < 0:
            start[-total[slot[i]] - first + 1] += 1
    for c in range(1, groups - first + 1):
        start[c + 1] += start[c]
    for i in range(left):
        if total[slot[i]] < 0:
            c = -1 - total[slot[i]] - first
            order[start[c + 1]] = i
            start[c + 1] += 1
    passed = first
    for c in range(groups - first):
        for x in range(start[c], start[c + 1]):
            add(rule.base, entries.sens, order[x], entries.rows[order[x]], work.hist)
        good = shortfall(rule, work.hist) == 0.0
        for x in range(start[c], start[c + 1]):
            add(rule.base, entries.sens, order[x], -entries.rows[order[x]], work.hist)
        total[slot[order[start[c]]]] = -1 - passed if good else 1
        passed += good
    return passed

"""Place: rows that no class took join the groups that they cost least."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.kernels import inner, kernel
from shoal.kernels.boxes.conditions import Conditions, add, shortfall
from shoal.kernels.boxes.geometry import Boxes, Codes, Ints, loss_with
from shoal.kernels.boxes.groups import State, link, measure, unlink


@kernel
def place_leftovers(
    boxes: Boxes,
    rule: Conditions | None,
    codes: Codes,
    sens: Codes,
    state: State,
    rest: int,
    seen: Ints,
    hist: Ints,
    alike: Ints,
    refused: npt.NDArray[np.bool_],
) -> None:
    """Empty group ``rest`` into the others, one row at a time.

    A row that would make every other group break a condition stays where it is. ``hist`` is room
    for a count per sensitive value, all 0. Rows with the same number in ``alike`` have the same
    sensitive values; ``refused[group, number]`` (or nothing of it) says that a group, as it is,
    cannot take one of them.
    """
    chains, size, cost = state.chains, state.size, state.cost
    after, first = chains.after, chains.first
    stamp = 0
    r = first[rest]
    while r >= 0:
        following = after[r]
        best, chosen = np.inf, -1
        for g in range(len(size)):
            if size[g] == 0 or g == rest or (len(refused) > 0 and refused[g, alike[r]]):
                continue
            d = loss_with(boxes, state.extents, g, size[g], codes, r, cost[g] + best)
            if d - cost[g] < best:
                if _takes(rule, sens, after, first[g], r, hist):
                    best, chosen = d - cost[g], g
                elif len(refused) > 0:
                    refused[g, alike[r]] = True
        if chosen >= 0:
            unlink(chains, r)
            link(chains, r, chosen)
            for a in range(refused.shape[1]):
                refused[chosen, a] = False
            stamp += len(boxes.kind)
            size[chosen], cost[chosen] = measure(
                boxes, codes, after, first[chosen], state.extents, chosen, seen, stamp
            )
        r = following


@inner
def _takes(
    rule: Conditions | None, sens: Codes, after: Ints, first: int, r: int, hist: Ints
) -> bool:
    """Say whether a group still meets every condition with row r in it."""
    if rule is None:
        return True
    s = first
    while s >= 0:
        add(rule, sens, s, 1, hist)
        s = after[s]
    add(rule, sens, r, 1, hist)
    good = shortfall(rule, hist) == 0.0
    add(rule, sens, r, -1, hist)
    s = first
    while s >= 0:
        add(rule, sens, s, -1, hist)
        s = after[s]
    return good

"""Place: rows that no class took join the groups that they cost least."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.kernels import kernel
from shoal.kernels.boxes.conditions import Conditions
from shoal.kernels.boxes.geometry import Boxes, Codes, Ints, loss_with
from shoal.kernels.boxes.groups import SeenValues, State, holds, link, measure, unlink


@kernel
def place_leftovers(
    boxes: Boxes,
    rule: Conditions | None,
    codes: Codes,
    sens: Codes,
    state: State,
    rest: int,
    seen: SeenValues,
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
    r = chains.first[rest]
    while r >= 0:
        following = chains.after[r]
        best, chosen = np.inf, -1
        for g in range(len(size)):
            if size[g] == 0 or g == rest or (len(refused) > 0 and refused[g, alike[r]]):
                continue
            d = loss_with(boxes, state.extents, g, size[g], codes, r, cost[g] + best)
            if d - cost[g] < best:
                if rule is None or holds(rule, sens, chains, g, r, hist):
                    best, chosen = d - cost[g], g
                elif len(refused) > 0:
                    refused[g, alike[r]] = True
        if chosen >= 0:
            unlink(chains, r)
            link(chains, r, chosen)
            for a in range(refused.shape[1]):
                refused[chosen, a] = False
            size[chosen], cost[chosen] = measure(
                boxes, codes, chains, chosen, state.extents, chosen, seen
            )
        r = following

"""What a new group takes from the others: the rows that they can spare, or all and they close.

Every row of a group costs the same, so one more group is judged group by group; the search of whole
nodes and that of the nodes that prices name judge alike.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels import inner
from shoal.kernels.boxes.geometry import Floats, Ints

TAKE, CLOSE = 1, 2


class Nodes(NamedTuple):
    """Some nodes, what lies under each (rows or entries), and what it costs a row."""

    start: Ints
    under: Ints
    cost: Floats
    """Its missing cells included; negative until it is asked for."""


class Offer(NamedTuple):
    """What groups have for a new one, by their numbers."""

    touched: Ints
    """The groups that have rows for it: the first places."""
    have: Ints
    """How many rows; 0 in between."""
    each: Floats
    """What one of them loses if it goes there, on average."""
    closing: Floats
    """What the other rows of the group lose if it closes."""
    gives: Ints
    """How many rows the group gives."""
    fate: Ints
    """0, TAKE or CLOSE; 0 in between."""


def new_offer(groups: int) -> Offer:
    """Return room for so many group numbers."""
    ints, floats = np.zeros((4, groups), np.int64), np.zeros((2, groups))
    return Offer(ints[0], ints[1], floats[0], floats[1], ints[2], ints[3])


@inner
def take_gains(offer: Offer, touched: int, size: Ints, k: int) -> tuple[int, float]:
    """Decide what a new group takes because it gains; return how many rows, and the change."""
    taken, change = 0, 0.0
    for x in range(touched):
        g = offer.touched[x]
        each, have = offer.each[g], offer.have[g]
        spare = min(have, size[g] - k)
        offer.gives[g] = 0
        if each >= 0.0:
            continue
        closing = offer.closing[g] + have * each
        if have > spare and closing < spare * each:
            offer.fate[g], offer.gives[g] = CLOSE, have
            change += closing
        elif spare > 0:
            offer.fate[g], offer.gives[g] = TAKE, spare
            change += spare * each
        taken += offer.gives[g]
    return taken, change


@inner
def fill_up(
    offer: Offer, touched: int, size: Ints, k: int, taken: int, change: float, allow: float
) -> bool:
    """Take what loses least up to k rows; say whether the change stays below what is allowed."""
    while taken < k and change < allow:
        best, least, fate, brings = -1, np.inf, TAKE, 0
        for x in range(touched):
            g = offer.touched[x]
            each, have, gives = offer.each[g], offer.have[g], offer.gives[g]
            spare = min(have, size[g] - k)
            if offer.fate[g] == 0 and spare > 0 and each < least:
                best, least, fate, brings = g, each, TAKE, min(spare, k - taken)
            if offer.fate[g] != CLOSE and have > gives:
                dearer = each + offer.closing[g] / (have - gives)
                if dearer < least:
                    best, least, fate, brings = g, dearer, CLOSE, have - gives
        if best < 0:
            return False
        change += least * brings
        taken += brings
        offer.fate[best] = fate
        offer.gives[best] = offer.have[best] if fate == CLOSE else brings
    return change < allow


@inner
def forget(offer: Offer, touched: int) -> None:
    """Make the offer empty again."""
    for x in range(touched):
        offer.have[offer.touched[x]] = offer.fate[offer.touched[x]] = 0

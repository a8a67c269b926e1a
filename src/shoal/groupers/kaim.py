"""KAIM: k-anonymity for incomplete microdata (Gong, Yang, Luo 2013).

Groups grow from random records; the next member is the record whose entropy distance D(t, G) to
the group's centre is smallest. A missing value sits at the root of its taxonomy, so an incomplete
record is grouped like any other and nothing is dropped.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from shoal.base.partition import Partition
from shoal.coding.encode import Encoded
from shoal.coding.space import balanced_weights, loss_of, make_space
from shoal.groupers.growth import grow_groups
from shoal.kernels.limits import EPS
from shoal.privacy import Rule

SMALL = 500
"""Rows up to which it begins anew with other first records, since one more start costs nothing."""
PATIENCE = 16
"""So many starts in a row without a lower loss end that."""


def group(
    data: Encoded,
    rule: Rule,
    rng: np.random.Generator,
    *,
    weights: Literal["balanced", "unit"] = "balanced",
) -> Partition:
    """Split the rows into groups of at least k by entropy distance.

    Parameters
    ----------
    data
        Nominal columns come as flat taxonomies.
    weights
        ``"balanced"``: every column's distance has the same average; ``"unit"``: the paper's
        formula to the letter, in which wide domains drown narrow ones.

    Notes
    -----
    Section 4 of the paper. Choices: an internal node's GenRate divides by its own Info (c = 0); an
    ordered column without a taxonomy has as Info of an interval the sum over the values it spans.
    ``"balanced"`` departs in two more points: D(t, G) leaves out GenRate(t*, t*) of equation 12,
    and a table of few rows is grouped from several random starts, of which the one that loses
    least is kept: on few rows an unlucky first record costs much.
    """
    if weights == "unit":
        return grow_groups(data, make_space(data, "entropy", counted=True), rule, rng)
    space = make_space(data, "entropy", balanced_weights(data) * data.weights)
    best = grow_groups(data, space, rule, rng)
    if data.rows > SMALL:
        return best
    least, idle = loss_of(data, best), 0
    while idle < PATIENCE:
        again = grow_groups(data, space, rule, rng)
        idle, loss = idle + 1, loss_of(data, again)
        if loss < least - EPS:
            best, least, idle = again, loss, 0
    return best

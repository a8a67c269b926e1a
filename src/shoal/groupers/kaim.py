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
from shoal.coding.space import balanced_weights, make_space
from shoal.groupers.growth import grow_groups
from shoal.privacy import Rule


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
    Section 4 of the paper, with three choices. An internal node's GenRate divides by its own Info
    (c = 0). D(t, G) leaves out GenRate(t*, t*), which is the same for every record. An ordered
    column without a taxonomy has as Info of an interval the sum over the values it spans.
    """
    factors = balanced_weights(data) if weights == "balanced" else np.ones(len(data.domains))
    space = make_space(data, "entropy", factors * data.weights)
    return grow_groups(data, space, rule, rng)

"""k-member: greedy clustering by information loss (Byun, Kamra, Bertino, Li 2007)."""

from __future__ import annotations

from typing import Literal

import numpy as np

from shoal.base.errors import Infeasible
from shoal.base.partition import Partition
from shoal.coding.encode import Encoded
from shoal.coding.space import make_space
from shoal.groupers.growth import grow_groups
from shoal.privacy import Rule


def group(
    data: Encoded,
    rule: Rule,
    rng: np.random.Generator,
    *,
    seeds: Literal["random", "furthest"] = "random",
    missing: Literal["keep", "drop"] = "keep",
) -> Partition:
    """Split the rows into groups of at least k, adding the row that increases the loss least.

    Parameters
    ----------
    seeds
        How a new group begins: at a random row, or at the row furthest from the last seed.
    missing
        ``"keep"``: a missing value is ``*`` and its cell costs nothing more; ``"drop"``: leave out
        every row with a missing value, as the literature does, and count it as lost.

    Notes
    -----
    Figure 3 of the paper. The loss that grows is the one of the release: |G u {t}| * NCP(join),
    less what the missing cells of the group count for, which are ``*`` before and after.
    """
    complete = np.flatnonzero(~data.missing.any(axis=1)) if missing == "drop" else None
    if complete is None:
        return grow_groups(data, make_space(data), rule, rng, spread_seeds=seeds == "furthest")
    kept = data.take(complete)
    obstacle = rule.obstacle(kept.whole())
    if obstacle:
        raise Infeasible(
            f"k-member with missing='drop' keeps only the {complete.size} complete rows of "
            f"{data.rows}. {obstacle} Use missing='keep' to group all rows."
        )
    partition = grow_groups(kept, make_space(kept), rule, rng, spread_seeds=seeds == "furthest")
    gone = np.setdiff1d(np.arange(data.rows), complete)
    return Partition(complete[partition.rows], partition.starts, gone)

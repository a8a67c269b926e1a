"""L-clustering: l-diversity by clustering, without hierarchies (Wang, Xu, Wang, Shi 2010)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.base.errors import ParameterError
from shoal.base.partition import Partition
from shoal.coding.encode import Encoded
from shoal.coding.space import make_space
from shoal.groupers.blocks import cut_blocks
from shoal.groupers.growth import stock_of
from shoal.groupers.limits import NO_LIMITS
from shoal.groupers.repair import repair
from shoal.kernels.space.cluster_index import new_index
from shoal.kernels.space.covers import new_covers
from shoal.kernels.space.l_clusters import form_clusters
from shoal.kernels.space.search import new_search
from shoal.kernels.space.settle import new_held, settle
from shoal.privacy import Rule, flatten


def diversity(rule: Rule) -> tuple[str, int]:
    """Return the sensitive column to diversify and how many different values a cluster needs."""
    wanted = [
        (part.diversity, part.column)
        for part in flatten([rule])
        if part.diversity is not None and part.column is not None
    ]
    if not wanted:
        raise ParameterError(
            "The method 'l-clustering' builds clusters of different sensitive values and needs an "
            f"l-diversity rule. Got: {rule.describe()}. Add one (--l 3), or use another method."
        )
    values, column = max(wanted, key=lambda pair: pair[0])
    return column, values


def group(data: Encoded, rule: Rule, rng: np.random.Generator) -> Partition:
    """Split the rows into clusters with at least l different sensitive values each.

    A cluster starts at a random row and takes the nearest row with a value it does not hold yet, or
    swallows the nearest finished cluster when that costs less. Rows that remain when fewer than l
    values are left, and rows whose sensitive value is missing, join their nearest cluster.

    Notes
    -----
    Section 4 of the paper. The distance of two clusters is weighted by their sizes, the true growth
    of the loss. With k-anonymity asked for as well, a cluster that is diverse goes on with the
    nearest rows until it has k; what other rules ask for is met by joining clusters.
    """
    return cluster(data, rule, rng)


def cluster(
    data: Encoded,
    rule: Rule,
    rng: np.random.Generator,
    visits: npt.NDArray[np.int64] | None = None,
) -> Partition:
    """Return the clusters; ``visits`` (one number) grows by the tree nodes and rows looked at."""
    column, values = diversity(rule)
    space = make_space(data)
    none = len(data.sensitive_names[column])
    codes = data.sensitive[column]
    tags = np.where(codes < 0, none, codes).astype(np.int32)
    seeds = rng.permutation(data.rows)
    (block,) = cut_blocks(data, space, tags, seeds, data.rows)
    tree, stock = stock_of(space, block)
    room = data.rows // values + 2
    covers = new_covers(space, room)
    index = new_index(tree, stock.left.size, room, values)
    own = np.full(data.rows, -1, np.int64)  # rows stand in the order of the seeds until the end
    search = new_search(space, tree, visits)
    clusters = form_clusters(
        search,
        covers,
        index,
        stock,
        np.arange(data.rows),
        np.bincount(tags, minlength=none + 1),
        values,
        own,
        np.zeros(none + 1, np.bool_),
        np.empty(max(values, rule.least), np.int64),
    )
    rest, held = np.flatnonzero(own < 0), new_held(NO_LIMITS, room)
    settle(search, covers, index, NO_LIMITS, held, stock.entry_of, rest, clusters, own)
    labels = np.empty(data.rows, np.int64)
    labels[seeds] = own
    return repair(data, Partition.from_labels(labels), rule)

"""Anatomy: groups of rows with different sensitive values, drawn at random."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.base.errors import ParameterError
from shoal.base.partition import Partition, ragged_positions
from shoal.base.random_words import random_below, random_order, random_words
from shoal.coding.encode import Encoded
from shoal.kernels.anatomy import largest_buckets
from shoal.privacy import Rule, flatten


def group(data: Encoded, rule: Rule, rng: np.random.Generator | None) -> Partition:
    """Group rows so that no group has a sensitive value twice.

    Parameters
    ----------
    data
        The encoded table; its quasi-identifiers play no part.
    rule
        Frequency l-diversity of the one sensitive column.
    rng
        None: the operating system's secure source. Groups are published, and whoever could repeat
        the draw could tell more than they say.

    Notes
    -----
    Xiao, Tao 2006, section 5, figure 4. Rows are put into buckets by their value; while at least
    l buckets have rows, a group takes one random row from each of the l fullest; each row that is
    left then joins a random group without its value. If no value has more than 1/l of the rows,
    at most one row is left in fewer than l buckets. Departure: rows whose sensitive value is
    missing join random groups, for they count towards no value. Groups are numbered at random.
    """
    column, l = protected(tuple(data.sensitive), rule)  # noqa: E741 -- the papers' letter
    codes = data.sensitive[column]
    shuffled = random_order(rng, data.rows)
    # Rows of one bucket stand together, in random order; buckets too, so that ties are random.
    names = random_order(rng, max(len(data.sensitive_names[column]), 1))
    rank = np.empty_like(names)
    rank[names] = np.arange(names.size)
    bucket = np.where(codes >= 0, rank[codes], names.size)
    rows = shuffled[np.argsort(bucket[shuffled], kind="stable")]
    count = np.bincount(bucket, minlength=names.size + 1).astype(np.int64)
    first = np.cumsum(count) - count
    taken = largest_buckets(count[:-1].copy(), l)
    groups = taken.shape[0]
    labels = np.full(data.rows, -1, np.int64)
    # The i-th time that a bucket is chosen its i-th row goes.
    flat = taken.ravel()
    by_bucket = np.argsort(flat, kind="stable")
    used = np.bincount(flat, minlength=names.size)
    labels[rows[ragged_positions(first[:-1], used)]] = by_bucket // l
    number = random_order(rng, groups)
    left = np.flatnonzero((labels < 0) & (codes >= 0))
    for row in left:  # fewer than l of them
        free = np.setdiff1d(np.arange(groups), labels[codes == codes[row]])
        labels[row] = free[int(random_below(free.size, random_words(rng, 1))[0])]
    unknown = np.flatnonzero(codes < 0)
    labels[unknown] = random_below(groups, random_words(rng, unknown.size))
    partition = Partition.from_labels(number[labels])
    return Partition(partition.rows, partition.starts, notes={"residue": int(left.size)})


def protected(sensitive: Sequence[str], rule: Rule) -> tuple[str, int]:
    """Return the one sensitive column and its l."""
    rules = flatten([rule])
    if len(sensitive) != 1 or len(rules) != 1:
        raise ParameterError(
            "The method 'anatomy' protects one sensitive column by one rule. Got the sensitive "
            f"columns {', '.join(map(repr, sensitive))} and {len(rules)} rules. Name one "
            "column; a second one needs a release of its own, or the method 'dummies'."
        )
    assert rules[0].column is not None and rules[0].diversity is not None
    return rules[0].column, rules[0].diversity

"""The classic way to m-invariance: buckets of one signature each, cut in halves."""

from __future__ import annotations

import numpy as np

from shoal.base.errors import ParameterError
from shoal.base.partition import Ints, Partition
from shoal.coding.encode import Encoded
from shoal.groupers.repair import repair
from shoal.groupers.signatures import assign_signatures
from shoal.kernels.split_buckets import halve
from shoal.privacy import Rule, flatten


def group(data: Encoded, rule: Rule, rng: np.random.Generator) -> Partition:
    """Divide the rows into buckets and each bucket into groups that have every value once.

    Parameters
    ----------
    data
        The encoded table, of which no value has more than 1 / m: then no counterfeit is needed.
    rule
        m-invariance, or frequency l-diversity with l for m.

    Notes
    -----
    Xiao, Tao 2007, section 5, *assignment* and *split*: a bucket is cut where the widths of both
    halves are least together, with half of the rows of each value on either side, until a part has
    one row of each. Departures: widths are those of positions in taxonomies too, as shares of the
    column; rows without a value join any group, for they count towards no value.
    """
    rules = flatten([rule])
    column, m = rules[0].column, rules[0].diversity
    if len(rules) > 1 or column is None or m is None:
        raise ParameterError(
            "The method 'buckets' keeps one rule on one sensitive column, and got "
            f"{len(rules)}: {', '.join(each.name for each in rules)}. Ask for one of them, or use "
            "another method."
        )
    codes = data.sensitive[column].astype(np.int64)
    known = np.flatnonzero(codes >= 0)
    signed = assign_signatures(codes[known], m, rng)
    size = np.array([domain.size for domain in data.domains], np.int64)
    labels = np.full(data.rows, -1, np.int64)
    groups = 0
    for number in range(len(signed.signatures)):
        rows = known[signed.bucket == number]
        rows = rows[np.argsort(codes[rows], kind="stable")].reshape(-1, _depth(codes[rows]))
        halve(data.codes, rows, size)
        labels[rows] = groups + np.arange(rows.shape[1])
        groups += rows.shape[1]
    gaps = np.flatnonzero(codes < 0)
    labels[gaps] = rng.permutation(gaps.size) % max(groups, 1)
    made = Partition.from_labels(labels)
    return made if data.people is None else repair(data, made, rule)


def _depth(values: Ints) -> int:
    """Return how many rows of each value there are."""
    return int(np.unique(values, return_counts=True)[1][0])

"""L-clustering: the paper's example, its naive twin, and its bad input."""

import numpy as np
import polars as pl
import pytest

from shoal.base.errors import ParameterError
from shoal.base.partition import Partition
from shoal.coding.encode import Encoded
from shoal.coding.space import make_space
from shoal.groupers import l_clustering
from shoal.groupers.blocks import cut_blocks
from shoal.groupers.growth import stock_of
from shoal.measures.losses.grouped import Grouped
from shoal.measures.losses.ncp import iloss, relative_loss
from shoal.privacy import All, KAnonymity, LDiversity
from shoal.tables.domain import Ordered
from tests.naive import joins
from tests.naive import l_clustering as naive
from tests.tables import encoded


def as_sets(partition):
    return {
        frozenset(partition.rows[a:b].tolist())
        for a, b in zip(partition.starts, partition.starts[1:], strict=False)
    }


def twin(data, l, seed, k=0):  # noqa: E741
    seeds = np.random.default_rng(seed).permutation(data.rows)
    codes = data.sensitive["s0"]
    tags = np.where(codes < 0, len(data.sensitive_names["s0"]), codes).astype(np.int32)
    space = make_space(data)
    (block,) = cut_blocks(data, space, tags, seeds)
    _, stock = stock_of(space, block)
    entry = np.empty(data.rows, np.int64)
    entry[block.rows] = stock.entry_of
    values = [None if c < 0 else int(c) for c in codes]
    groups = naive.cluster(
        range(data.rows),
        l,
        seeds.tolist(),
        entry.tolist(),
        values,
        joins.NcpCost(data),
        joins.JoinCost(data),
        k,
    )
    return {frozenset(group) for group in groups}


@pytest.mark.parametrize("seed", range(40))
def test_equals_its_twin(seed):
    rng = np.random.default_rng(seed)
    kinds = ["os", "tos", "o", "s", "tto", "sso"][seed % 6]
    data = encoded(rng, int(rng.integers(10, 40)), kinds, missing=0.1, sensitive=(5,))
    codes = data.sensitive["s0"]
    if seed % 2:
        codes[rng.random(codes.size) < 0.2] = -1
    l = int(rng.integers(2, len(np.unique(codes[codes >= 0])) + 1))  # noqa: E741
    got = l_clustering.group(data, LDiversity(l, "s0"), np.random.default_rng(seed))
    assert as_sets(got) == twin(data, l, seed)


@pytest.mark.slow
def test_a_diverse_cluster_takes_rows_up_to_k_and_swallows_nobody():
    compared = 0
    for seed in range(8):
        data = encoded(np.random.default_rng(seed), 36, "to", missing=0.1, sensitive=(4,))
        expected = twin(data, 2, seed, k=6)
        rule = All((KAnonymity(6), LDiversity(2, "s0")))
        got = as_sets(l_clustering.group(data, rule, np.random.default_rng(seed)))
        if min(map(len, expected)) >= 6:  # else the repair joins clusters
            assert got == expected
            compared += 1
    assert compared > 3


def patients():
    """The ten rows of the paper: age, zip, disease."""
    age = [51, 50, 51, 54, 54, 54, 55, 52, 52, 53]
    zips = [12562, 12552, 12532, 12555, 12555, 12555, 12532, 12561, 12533, 12553]
    disease = ["Heart", "Cancer", "Heart", "Cancer", "Heart", "Tracheitis", "Cancer"]
    disease += ["Tracheitis"] * 3
    names = ("Cancer", "Heart", "Tracheitis")
    columns, domains = [], []
    for values in (age, zips):
        points, codes = np.unique(np.array(values, float), return_inverse=True)
        columns.append(codes.astype(np.int32))
        domains.append(Ordered(pl.Series(points), points))
    return Encoded(
        ("age", "zip"),
        np.ascontiguousarray(np.stack(columns, axis=1)),
        tuple(domains),
        {"disease": np.array([names.index(d) for d in disease], np.int32)},
        {"disease": names},
    )


def test_the_papers_example_is_three_diverse_and_no_worse():
    data = patients()
    theirs = Partition.from_labels(np.array([0, 0, 1, 2, 2, 2, 1, 0, 1, 2]))
    losses = []
    for seed in range(10):
        part = l_clustering.group(data, LDiversity(3, "disease"), np.random.default_rng(seed))
        assert LDiversity(3, "disease").holds(data.stats(part)).all()
        losses.append(iloss(data, part).rate)
    assert min(losses) <= iloss(data, theirs).rate


def test_a_further_rule_is_kept():
    data = encoded(np.random.default_rng(1), 200, "to", sensitive=(5,))
    rule = All((KAnonymity(7), LDiversity(3, "s0")))
    part = l_clustering.group(data, rule, np.random.default_rng(1))
    assert rule.holds(data.stats(part)).all()


def test_needs_an_l_diversity_rule():
    data = encoded(np.random.default_rng(1), 20, "to", sensitive=(5,))
    with pytest.raises(ParameterError, match="needs an l-diversity rule"):
        l_clustering.group(data, KAnonymity(3), np.random.default_rng(1))


@pytest.mark.parametrize("seed", range(5))
def test_loss_is_additive_along_chains(seed):
    """L(t, t**) = L(t, t*) + L(t*, t**) for every column, missing values included."""
    rng = np.random.default_rng(seed)
    data = encoded(rng, 12, "os", missing=0.2)
    for j, domain in enumerate(data.domains):
        codes = [int(p) for p in data.codes[:, j]]
        widths = [joins.width(domain, joins.cover(domain, codes[:i])) for i in (1, 4, 12)]
        t, star, double = widths
        assert (double - t) == pytest.approx((star - t) + (double - star))
        assert t <= star <= double


def test_relative_loss_leaves_out_what_is_missing():
    data = encoded(np.random.default_rng(2), 40, "os", missing=0.3)
    everything = Partition.from_labels(np.zeros(40, np.int64))
    known = int((~data.missing).sum())
    total = iloss(data, everything).rate * data.codes.size
    assert relative_loss(Grouped(data, everything)) == pytest.approx(total / known)
    assert relative_loss(Grouped(data, everything)) == pytest.approx(1.0)
    apart = Partition.from_labels(np.arange(40))
    assert relative_loss(Grouped(data, apart)) == 0.0

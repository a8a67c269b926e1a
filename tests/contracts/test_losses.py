"""The contract that every loss of the catalog keeps: one suite over all of them."""

import math

import numpy as np
import pytest

from shoal.base.partition import Partition
from shoal.catalog import DEFAULT_LOSS, LOSSES
from shoal.coding.joins import merge
from shoal.measures.losses import measured
from shoal.measures.losses.grouped import Grouped
from shoal.measures.losses.ncp import iloss
from tests.tables import encoded

CASES = [(name, seed) for name in LOSSES for seed in range(8)]


def table(seed, rows=60):
    rng = np.random.default_rng(seed)
    return rng, encoded(rng, rows, "tos", missing=0.2)


def loss(name, data, labels):
    return LOSSES[name].load()(Grouped(data, Partition.from_labels(np.asarray(labels))))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "seed"), CASES)
def test_it_stays_within_its_bounds(name, seed):
    rng, data = table(seed)
    for labels in (rng.integers(0, 9, 60), np.zeros(60, np.int64), np.arange(60)):
        for left in (0, 7, 60):
            own = labels.copy()
            own[:left] = -1
            value = loss(name, data, own)
            assert math.isfinite(value)
            assert 0.0 <= value <= LOSSES[name].high


@pytest.mark.parametrize(("name", "seed"), CASES)
def test_less_is_better(name, seed):
    """Joining two groups never makes the table say more."""
    rng, data = table(seed)
    labels = rng.integers(0, 9, 60)
    joined = np.where(labels == 8, 7, labels)
    assert loss(name, data, labels) <= loss(name, data, joined) + 1e-12
    assert loss(name, data, joined) <= loss(name, data, np.zeros(60, np.int64)) + 1e-12


@pytest.mark.slow
@pytest.mark.parametrize(("name", "seed"), CASES)
def test_leaving_rows_out_never_looks_cheap(name, seed):
    """A class that is left out costs at least what it costs when it is published.

    Of single rows that cannot be asked: without an outlier the rest of its group says more.
    """
    rng, data = table(seed)
    labels = rng.integers(0, 9, 60)
    part = Partition.from_labels(labels)
    classes = merge(Grouped(data, part).joins, part)[labels]
    without = labels.copy()
    for one in rng.permutation(np.unique(classes)):
        before = loss(name, data, without)
        without[classes == one] = -1
        assert loss(name, data, without) >= before - 1e-9
    assert loss(name, data, without) >= loss(name, data, np.zeros(60, np.int64)) - 1e-9


@pytest.mark.parametrize("name", LOSSES)
def test_it_is_in_what_a_release_says_of_its_loss(name):
    _, data = table(1)
    part = Partition.from_labels(np.arange(60) % 7)
    found = measured(Grouped(data, part))
    assert found.by_name[name] == loss(name, data, np.arange(60) % 7)
    assert found.by_name[DEFAULT_LOSS] == iloss(data, part).rate == found.rate
    assert f"{found.by_name[name]:{LOSSES[name].form}}"

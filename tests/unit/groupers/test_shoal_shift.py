"""Rows find the best places under the boxes of their groups, by ways of many steps."""

import numpy as np
import polars as pl
import pytest

from shoal.base.partition import Partition
from shoal.coding.encode import Encoded
from shoal.groupers import shoal
from shoal.groupers.shoal import shift
from shoal.groupers.shoal.efforts import EFFORTS
from shoal.groupers.shoal.task import make_task
from shoal.measures.losses.ncp import iloss
from shoal.privacy import KAnonymity
from shoal.tables.domain import Ordered
from tests.naive import shifting as naive
from tests.tables import encoded

K = 3


def shifted(data, labels, k=K):
    return shift.shifted(make_task(data, KAnonymity(k), EFFORTS["normal"]), labels)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("kinds", ["tt", "tot", "s", "ts"])
def test_no_other_places_under_the_same_boxes_lose_less(seed, kinds):
    rng = np.random.default_rng(seed)
    data, labels = encoded(rng, 18, kinds, missing=0.15 * (seed % 2)), rng.permutation(18) % 4
    pays = naive.prices(data, labels.tolist())
    found = shifted(data, labels)
    assert np.bincount(found, minlength=4).min() >= K
    loss = sum(row[g] for row, g in zip(pays, found.tolist(), strict=True))
    assert loss == pytest.approx(naive.least(pays, K))


def test_a_row_goes_a_way_of_two_steps():
    """The dear group can spare a row, and only the one between takes it: that one gives another."""
    points = np.array([0.0, 1.0, 3.0, 7.0])
    codes = np.array([[0], [1], [1], [2], [2], [3], [3]], np.int32)
    data = Encoded(("x",), codes, (Ordered(pl.Series(points), points),), {}, {})
    found = shifted(data, np.array([0, 0, 1, 1, 2, 2, 2]), 2)
    assert found.tolist() == [0, 0, 0, 1, 1, 2, 2]


def test_too_large_a_table_is_left_as_it_is(monkeypatch):
    data = encoded(np.random.default_rng(1), 40, "to")
    labels = np.arange(40) % 5
    assert (shifted(data, labels) != labels).any()
    for limit in ("LOOKS", "PAIRS"):
        with monkeypatch.context() as patch:
            patch.setattr(shift, limit, 1)
            assert (shifted(data, labels) == labels).all()


@pytest.mark.parametrize("effort", ["fast", "normal"])
def test_the_method_leaves_nothing_to_shift(effort):
    data = encoded(np.random.default_rng(7), 900, "ttot", missing=0.1)
    part = shoal.group(data, KAnonymity(5), np.random.default_rng(1), effort=effort)
    again = shifted(data, part.labels(), 5)
    assert iloss(data, Partition.from_labels(again)).rate == pytest.approx(iloss(data, part).rate)

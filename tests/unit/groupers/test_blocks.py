"""Large tables are grown in blocks: what that may change, and what it may not."""

import numpy as np
import polars as pl
import pytest

from shoal.base.errors import ParameterError
from shoal.base.threads import limit, share, workers
from shoal.coding.encode import Encoded
from shoal.coding.space import make_space
from shoal.groupers.blocks import cut_blocks
from shoal.groupers.growth import grow_groups
from shoal.measures.losses.ncp import iloss
from shoal.privacy import All, KAnonymity, LDiversity
from shoal.tables.domain import Ordered
from tests.tables import encoded, nominal


@pytest.fixture(scope="module")
def data():
    return encoded(np.random.default_rng(3), 6000, "ttooos", missing=0.05, sensitive=(5,))


def grown(data, most, rule=None):
    rule = rule or KAnonymity(5)
    return grow_groups(data, make_space(data), rule, np.random.default_rng(1), most=most)


def test_beds_hold_every_row_once_and_are_no_larger_than_asked(data):
    tags = data.sensitive["s0"]
    rows = np.random.default_rng(0).permutation(data.rows)
    found = cut_blocks(data, make_space(data), tags, rows, 500)
    assert len(found) > 5
    assert sorted(np.concatenate([block.rows for block in found])) == list(range(data.rows))
    for block in found:
        assert block.count.size <= 500
        assert (block.codes[block.entry] == data.codes[block.rows]).all()
        assert (block.tag[block.entry] == tags[block.rows]).all()
        assert (np.bincount(block.entry, minlength=block.count.size) == block.count).all()
        place = np.argsort(rows)[block.rows]
        assert (np.diff(place) > 0).all()  # the random order is kept


def test_a_table_is_cut_where_joining_is_dear():
    """The first column parts the table in two halves that cost 1 to join; the other steps 1/7."""
    rows = np.arange(4000)
    points = np.arange(8.0)
    codes = np.column_stack((rows % 2, rows // 2 % 8)).astype(np.int32)
    data = Encoded(("s", "o"), codes, (nominal(2), Ordered(pl.Series(points), points)), {}, {})
    found = cut_blocks(data, make_space(data), np.zeros(4000, np.int32), np.arange(4000), 9)
    assert [len(np.unique(block.codes[:, 0])) for block in found] == [1, 1]


@pytest.mark.parametrize("rule", [KAnonymity(5), All((KAnonymity(5), LDiversity(3, "s0")))])
def test_the_number_of_threads_changes_nothing(data, monkeypatch, rule):
    labels = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("SHOAL_THREADS", threads)
        labels.append(grown(data, 400, rule).labels())
    assert (labels[0] == labels[1]).all()
    assert (labels[0] == labels[2]).all()


def test_beds_cost_little(data):
    whole, parts = (iloss(data, grown(data, most)).rate for most in (data.rows, 800))
    assert parts <= 1.03 * whole


def test_work_per_row_does_not_grow_with_the_table(data):
    """In blocks a row meets as many entries in a large table as in a small one."""
    visits = []
    for most in (data.rows, 800):
        seen = np.zeros(1, np.int64)
        space, rng = make_space(data), np.random.default_rng(1)
        grow_groups(data, space, KAnonymity(5), rng, visits=seen, most=most)
        visits.append(seen[0] / data.rows)
    assert visits[1] < visits[0] < 120


def test_share_keeps_the_order(monkeypatch):
    monkeypatch.setenv("SHOAL_THREADS", "4")
    assert share(lambda x: x * x, range(20)) == [x * x for x in range(20)]


@pytest.mark.parametrize("given", ["0", "-1", "two", "1.5"])
def test_a_number_of_threads_must_be_one(monkeypatch, given):
    monkeypatch.setenv("SHOAL_THREADS", given)
    with pytest.raises(ParameterError, match=r"SHOAL_THREADS must be a whole number .* got"):
        workers()


def test_threads_below_one_are_refused():
    with pytest.raises(ParameterError, match="threads must be at least 1, got 0"):
        limit(0)

"""The contract of every shape of release: one suite over the catalog."""

import polars as pl
import pytest

import shoal
from shoal.catalog import GENERALIZED, METHODS, SHAPES
from shoal.privacy import KAnonymity
from shoal.releases.base import ShapeWords
from shoal.releases.opened import detect_shape
from tests.contracts.test_releases import TREES, people, release

ASKED = ("marked", "hidden", "candidates", "open_view", "estimated", "silent", "sizes")


@pytest.fixture(params=SHAPES, scope="module")
def made(request):
    """A shape, and a release of it as its first method makes it."""
    shape = SHAPES[request.param]
    method = next(entry.name for entry in METHODS.values() if entry.release == shape.name)
    return shape, release(method)[0]


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_has_what_others_ask_it_for(name):
    shape = SHAPES[name]
    assert callable(shape.make.publish)
    assert callable(shape.check.check)
    assert [word for word in ASKED if not hasattr(shape.view, word)] == []
    assert not shape.exact or callable(shape.view.examples)
    assert isinstance(shape.words, ShapeWords)
    assert shape.promise in shoal.rules()
    assert bool(shape.spark) != bool(shape.no_spark)
    assert shape.tables[0] == "release"


@pytest.mark.slow
def test_a_release_is_known_by_its_marks_alone(made):
    shape, outcome = made
    tables = outcome.local_tables.tables
    assert tuple(tables) == shape.tables
    assert detect_shape(tables, ["ill"]) is shape
    others = [other for other in SHAPES.values() if other not in (shape, GENERALIZED)]
    assert not any(other.view.marked(tables, ["ill"]) for other in others)
    # Nothing marks a table that nobody published.
    assert detect_shape({"release": people()}, ["ill"]) is GENERALIZED


def test_a_release_tells_its_sizes_and_gaps(made):
    shape, outcome = made
    opened = outcome.local_tables
    assert int(shape.view.sizes(opened).sum()) == outcome.made.rows_out
    for name in ("age", "sex", "ill"):
        assert 0 <= shape.view.silent(opened, name) <= 1
    assert shape.view.estimated(opened, "ill") == shape.exact


def test_a_check_finds_a_promise_that_is_not_kept(made):
    shape, outcome = made
    assert (
        shape.check.check(outcome.local_tables, [KAnonymity(outcome.made.rows_out + 1)]).holds
        is False
    )


def test_a_check_finds_what_another_table_would_have_given(made):
    _, outcome = made
    table = people()
    opened = shoal.open_release(
        outcome.frame,
        quasi=["age", "sex"],
        sensitive="ill",
        st=outcome.tables.get("st"),
        hierarchies=TREES,
    )
    same = opened.with_original(table).audit(rules=KAnonymity(2)).faults
    other = table.with_columns(age=pl.lit(20), ill=pl.lit("flu"))
    more = opened.with_original(other).audit(rules=KAnonymity(2)).faults
    assert len(more) > len(same)

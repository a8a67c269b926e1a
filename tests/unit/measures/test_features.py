"""Published cells as features, worked out by hand."""

from __future__ import annotations

from datetime import date

import numpy as np
import polars as pl
import pytest

from shoal.base.roles import Kind, Role
from shoal.measures.losses.features import MOST, features, positions, read_beside
from shoal.releases.opened import Opened
from shoal.tables.domain import Taxonomy
from shoal.tables.original import Original
from shoal.tables.schema import Column, Schema

PLACES = Taxonomy.from_rows(
    [("Rome", "Italy", "*"), ("Bari", "Italy", "*"), ("Oslo", "Norway", "*"), ("Bonn", "FRG", "*")],
    "place",
)
AGES = Taxonomy.from_rows(
    [(str(a), "young" if a < 40 else "old", "*") for a in (20, 30, 50)], "age"
)


def made(released, original, *columns, taxonomies=None, exact=False):
    schema = Schema(columns)
    trees = taxonomies or {}
    frame = pl.DataFrame(released)
    source = pl.DataFrame(original)
    table = Original(source, schema, taxonomies=trees)
    reading = read_beside(Opened({"release": frame}, schema.columns), table, raw=exact)
    return features(reading, table)


def quasi(name, kind, **more):
    return Column(name, Role.QUASI, kind, **more)


def unscaled(found, cells):
    """Undo the scaling, with mean and deviation counted by hand."""
    return found.released[:, 0] * np.std(cells) + np.mean(cells), found.original[:, 0] * np.std(
        cells
    ) + np.mean(cells)


def test_an_interval_is_its_middle_and_a_star_the_mean():
    found = made(
        {"a": ["[20-40]", "[20-40]", "60", "*"]},
        {"a": [20, 40, 60, None]},
        quasi("a", Kind.ORDERED),
    )
    released, original = unscaled(found, [30, 30, 60])
    assert released.tolist() == pytest.approx([30, 30, 60, 40])
    assert original.tolist() == pytest.approx([20, 40, 60, 40])


def test_typed_pairs_and_dates_and_ranks_have_middles_too():
    found = made(
        {"a_lo": [1, 5, None], "a_hi": [3, 5, None]}, {"a": [1, 3, 5]}, quasi("a", Kind.ORDERED)
    )
    assert unscaled(found, [2, 5])[0].tolist() == pytest.approx([2, 5, 3.5])
    days = [date(2020, 1, 1), date(2020, 1, 3), date(2020, 1, 9)]
    found = made(
        {"a": ["[2020-01-01-2020-01-03]", "[2020-01-01-2020-01-03]", "2020-01-09"]},
        {"a": days},
        quasi("a", Kind.ORDERED),
    )
    start = (days[0] - date(1970, 1, 1)).days
    middles = [start + 1, start + 1, start + 8]
    assert unscaled(found, middles)[0].tolist() == pytest.approx(middles)
    order = ("low", "middle", "high")
    found = made(
        {"a": ["[low-high]", "[low-high]", "low"]},
        {"a": ["low", "high", "low"]},
        quasi("a", Kind.ORDERED, order=order),
    )
    assert unscaled(found, [1, 1, 0])[1].tolist() == pytest.approx([0, 2, 0])


def test_a_node_is_shared_out_over_its_leaves():
    found = made(
        {"p": ["Italy", "Oslo", "*", "Italy"]},
        {"p": ["Rome", "Oslo", "Bonn", None]},
        quasi("p", Kind.TAXONOMY),
        taxonomies={"p": PLACES},
    )
    # Rome, Bari, Oslo, Bonn in the tree's order; the star is the mean of the three known rows.
    known = [[0.5, 0.5, 0, 0], [0, 0, 1, 0], [0.5, 0.5, 0, 0]]
    mean = np.mean(known, axis=0)
    assert found.released.tolist() == pytest.approx(np.array([known[0], known[1], mean, known[2]]))
    exact = [[1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    assert found.original == pytest.approx(np.array([*exact, mean]))


def test_leaves_that_are_numbers_in_order_are_numbers():
    column = quasi("a", Kind.TAXONOMY)
    assert positions(pl.Series(AGES.values), column).tolist() == [20, 30, 50]
    assert positions(pl.Series(["30", "20", "50"]), column) is None
    assert positions(pl.Series(["007", "008"]), column) is None
    assert positions(pl.Series(["1", "2"]), quasi("a", Kind.SET)) is None
    found = made(
        {"a": ["young", "young", "50"]},
        {"a": [20, 30, 50]},
        column,
        taxonomies={"a": AGES},
    )
    assert unscaled(found, [25, 25, 50])[0].tolist() == pytest.approx([25, 25, 50])


def test_a_set_is_shared_out_over_its_members():
    found = made(
        {"s": ["{b, c}", "{b, c}", "a", "*"]}, {"s": ["b", "c", "a", None]}, quasi("s", Kind.SET)
    )
    mean = [1 / 3, 1 / 3, 1 / 3]
    assert found.released == pytest.approx(np.array([[0, 0.5, 0.5]] * 2 + [[1, 0, 0], mean]))
    assert found.original == pytest.approx(np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0], mean]))


def test_cells_as_they_were_are_no_notation():
    texts = ["*", "[1-2]", "{a, b}", None]
    found = made({"s": texts}, {"s": texts}, quasi("s", Kind.SET), exact=True)
    assert found.released.tolist() == found.original.tolist()
    assert found.released[:3].sum(axis=1).tolist() == [1, 1, 1]
    assert len(np.unique(found.released[:3], axis=0)) == 3
    assert found.released[3].tolist() == pytest.approx([1 / 3] * 3)


def test_columns_passed_through_and_columns_without_any_value():
    found = made(
        {"q": ["*", "*"], "n": [1.0, 3.0], "t": ["x", None], "gone": [None, None]},
        {"q": [None, None], "n": [3.0, None], "t": ["y", "x"], "gone": [None, None]},
        quasi("q", Kind.SET),
        Column("n", Role.KEEP),
        Column("t", Role.KEEP),
        Column("gone", Role.KEEP),
    )
    # n scaled, then t as x and y; what is missing takes the mean of the released rows.
    assert found.released.tolist() == [[-1, 1, 0], [1, 1, 0]]
    assert found.original.tolist() == [[1, 0, 1], [0, 1, 0]]


def test_many_values_go_together():
    many = [f"v{i:03d}" for i in range(100)]
    plain = made({"s": many}, {"s": many}, quasi("s", Kind.SET))
    assert plain.released.shape == (100, MOST)
    assert plain.released.sum(axis=0)[-1] == 100 - (MOST - 1)
    tree = Taxonomy.from_rows([(v, v[:3], "*") for v in many], "s")
    grouped = made({"s": many}, {"s": many}, quasi("s", Kind.TAXONOMY), taxonomies={"s": tree})
    assert grouped.released.shape == (100, 10)
    assert (grouped.released.sum(axis=0) == 10).all()


def test_a_column_passed_through_may_have_changed_its_type():
    """A '?' that means missing keeps the released column text while the original is numbers."""
    found = made(
        {"q": ["*"] * 2, "n": ["1", "?"]},
        {"q": [None] * 2, "n": [1, None]},
        quasi("q", Kind.SET),
        Column("n", Role.KEEP, missing=("?",)),
    )
    assert found.released.tolist() == found.original.tolist()

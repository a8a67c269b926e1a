"""A classifier trained on a release and tested on the original."""

from __future__ import annotations

import builtins

import numpy as np
import polars as pl
import pytest

from experiments.views import read_view
from shoal.base.errors import MissingExtra, SchemaError
from shoal.base.roles import Kind, Role
from shoal.ext.learning import classifier
from shoal.ext.learning.classifier import FEWEST, Score, make_task
from shoal.measures.losses.features import read_beside
from shoal.releases.opened import Opened
from shoal.tables.original import Original
from shoal.tables.schema import Column, Schema

SCHEMA = Schema(
    (
        Column("age", Role.QUASI, Kind.ORDERED),
        Column("town", Role.QUASI, Kind.SET),
        Column("ill", Role.SENSITIVE),
        Column("seen", Role.KEEP),
    )
)


def people(n=400, seed=0):
    """Whoever is old is ill, most of the time; the town says nothing."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 80, n)
    ill = np.where((age > 50) ^ (rng.random(n) < 0.1), "yes", "no")
    town = rng.choice(["a", "b", "c"], n)
    seen = rng.integers(0, 9, n)
    return pl.DataFrame({"age": age, "town": town, "ill": ill, "seen": seen})


@pytest.mark.slow
def test_the_original_teaches_more_than_the_commonest_value():
    frame = people()
    task = make_task(frame, SCHEMA, "ill")
    learnt = classifier.on_original(task, Original(frame, SCHEMA))
    blind = classifier.majority(task)
    assert task.tested.size == int(400 * 0.3)
    assert learnt.accuracy > 0.8 > 0.65 > blind.accuracy
    assert blind.balanced == 0.5


def on_release(task, released, order, frame, blurred=None, exact=False):
    table = Original(frame, SCHEMA)
    reading = read_beside(Opened({"release": released}, SCHEMA.columns), table, raw=exact)
    return classifier.on_release(task, reading, order, table, blurred)


@pytest.mark.slow
def test_generalized_rows_teach_what_is_left_in_them():
    frame = people()
    task = make_task(frame, SCHEMA, "ill")
    order = np.random.default_rng(1).permutation(400)
    cut = pl.when(pl.col("age") > 50).then(pl.lit("[51-79]")).otherwise(pl.lit("[20-50]"))
    halves = frame.with_columns(age=cut)[order]
    stars = frame.with_columns(age=pl.lit("*"), town=pl.lit("*"), seen=pl.lit(1, pl.Int64))[order]
    assert on_release(task, halves, order, frame).accuracy > 0.8
    # Nothing to tell rows apart: everybody gets the commonest value.
    assert on_release(task, stars, order, frame).accuracy == classifier.majority(task).accuracy


@pytest.mark.slow
def test_rows_held_out_are_not_trained_on():
    """Released rows that come from held-out rows lie about everything, and it does not matter."""
    frame = people()
    task = make_task(frame, SCHEMA, "ill")
    order = np.random.default_rng(1).permutation(400)
    lies = pl.when(pl.Series(task.held)).then(pl.lit("yes")).otherwise("ill")
    honest = on_release(task, frame[order], order, frame)
    lied = on_release(task, frame.with_columns(ill=lies)[order], order, frame)
    assert (honest.accuracy, honest.balanced) == (lied.accuracy, lied.balanced)
    assert honest.accuracy == classifier.on_original(task, Original(frame, SCHEMA)).accuracy


@pytest.mark.slow
def test_blurred_values_count_as_much_as_they_are_believed():
    frame = people(600)
    task = make_task(frame, SCHEMA, "ill")
    order = np.arange(600)
    rows = classifier.training_rows(task, order)
    assert not task.held[rows].any()
    # Groups of two of Anatomy, one ill and one not where that is possible: nothing can be learnt.
    ranked = frame.with_row_index("row").sort("ill", "row")
    half = ranked.height // 2
    group = np.empty(600, np.int64)
    group[ranked["row"].to_numpy()] = np.tile(np.arange(half), 2)
    first = frame.drop("ill").with_columns(group_id=pl.Series(group))
    second = (
        pl.DataFrame({"group_id": group, "ill": frame["ill"]})
        .group_by("group_id", "ill")
        .agg(count=pl.len())
    )
    view = read_view(first[rows], "ill", table=second, quasi=["age", "town"])
    found = on_release(task, first, order, frame, view, exact=True)
    learnt = classifier.on_original(task, Original(frame, SCHEMA))
    assert found.accuracy < learnt.accuracy
    # Groups of one say everything: as good as the original.
    alone = frame.drop("ill").with_columns(group_id=pl.Series(np.arange(600)))
    values = pl.DataFrame({"group_id": np.arange(600), "ill": frame["ill"], "count": 1})
    view = read_view(alone[rows], "ill", table=values, quasi=["age", "town", "seen"])
    exactly = on_release(task, alone, order, frame, view, exact=True)
    assert exactly.accuracy == pytest.approx(learnt.accuracy, abs=0.02)


def test_many_values_become_few_classes():
    frame = people(2_000).with_columns(
        ill=pl.Series([f"v{i % 40 if i % 2 else 0}" for i in range(2_000)])
    )
    task = make_task(frame, SCHEMA, "ill")
    assert len(task.classes) == 10
    assert task.classes[0] == "v0"
    # Rows with a rarer value are neither trained on nor tested.
    assert set(task.of_value) == set(task.classes)
    assert (task.truth >= 0).sum() == frame["ill"].is_in(list(task.classes)).sum()
    assert (task.truth[task.tested] >= 0).all()
    numbers = people(2_000).with_columns(ill=pl.Series(range(2_000)))
    task = make_task(numbers, SCHEMA, "ill")
    assert task.classes == ("0 to 499", "500 to 999", "1000 to 1499", "1500 to 1999")
    assert np.bincount(task.truth).tolist() == [500] * 4


def test_why_there_is_nothing_to_predict():
    assert make_task(people(60), SCHEMA, "ill") == (
        "only 60 rows have a value in 'ill', and 67 are needed"
    )
    assert not isinstance(make_task(people(67), SCHEMA, "ill"), str)
    assert FEWEST == 20
    same = people().with_columns(ill=pl.lit("no"))
    assert make_task(same, SCHEMA, "ill") == "'ill' has one value only"
    gone = people().with_columns(ill=pl.lit(None, pl.String))
    assert "only 0 rows" in make_task(gone, SCHEMA, "ill")


def test_the_target():
    assert classifier.choose_target(SCHEMA, None) == "ill"
    assert classifier.choose_target(SCHEMA, "seen") == "seen"
    with pytest.raises(
        SchemaError, match=r"'age' cannot be predicted. It is declared quasi.*'ill'"
    ):
        classifier.choose_target(SCHEMA, "age")
    with pytest.raises(SchemaError, match=r"'il' cannot be predicted. A classifier.*mean 'ill'"):
        classifier.choose_target(SCHEMA, "il")


def test_the_library_is_named_when_it_is_missing(monkeypatch):
    real = builtins.__import__

    def without(name, *rest):
        if name == "sklearn":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    assert not classifier.has_library()
    with pytest.raises(MissingExtra, match=r"pip install 'shoal\[ml\]'.*--no-classifier"):
        classifier.check_library()


def test_scores_by_hand():
    frame = people(100)
    task = make_task(frame, SCHEMA, "ill")
    truth = task.truth[task.tested]
    guess = truth.copy()
    wrong = np.flatnonzero(truth == 0)[:2]
    guess[wrong] = 1
    zeros = int((truth == 0).sum())
    found = classifier._score(task, guess)
    assert found == Score((30 - 2) / 30, ((zeros - 2) / zeros + 1) / 2)

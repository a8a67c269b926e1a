"""Dummy values: every set holds the truth, others are uniform, nothing else changes."""

import json
import re
import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from experiments.views import read_view
from shoal.api.opening import read_table
from shoal.base import random_words
from shoal.base.errors import Infeasible, ParameterError, ShoalWarning
from shoal.privacy import All, KAnonymity, LDiversity
from shoal.releases.dummies.make import draw
from shoal.tables.write_files import write_table
from tests.tables import encoded


def people(rows=60, gaps=0.0):
    rng = np.random.default_rng(5)
    ill = rng.choice(["flu", "cold", "ulcer", "gout"], rows, p=[0.6, 0.2, 0.1, 0.1]).tolist()
    ill = [None if rng.random() < gaps else each for each in ill]
    return pl.DataFrame(
        {
            "age": rng.integers(20, 60, rows),
            "town": rng.choice(["A", "B", None], rows).tolist(),
            "ill": pl.Series(ill, dtype=pl.String),
            "score": rng.integers(1, 12, rows),
        }
    )


def go(frame, **more):
    options = {
        "quasi": ["age", "town"],
        "sensitive": "ill",
        "method": "dummies",
        "rules": [LDiversity(3, "ill")],
    }
    return shoal.anonymize(frame, **(options | more))


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(st.integers(2, 9), st.data(), st.integers(0, 999))
def test_sets_hold_the_truth_and_l_different_values(size, data, seed):
    l = data.draw(st.integers(2, size))  # noqa: E741
    table = encoded(np.random.default_rng(seed), 40, "o", sensitive=[size])
    sets = draw(table, LDiversity(l, "s0"), None).codes["s0"]
    assert sets.shape == (40, l)
    assert (np.diff(sets, axis=1) > 0).all()
    assert sets.min() >= 0
    assert sets.max() < size
    assert (sets == table.sensitive["s0"][:, None]).any(axis=1).all()


def test_others_are_uniform():
    table = encoded(np.random.default_rng(0), 20_000, "o", sensitive=[6])
    sets = draw(table, LDiversity(3, "s0"), np.random.default_rng(1)).codes["s0"]
    for value in range(6):
        counts = np.bincount(sets[table.sensitive["s0"] == value].ravel(), minlength=6)
        others = np.delete(counts, value) / counts[value]
        assert np.allclose(others, 2 / 5, atol=0.05)


def test_quasi_identifiers_stay_and_sets_are_sorted_lists():
    frame = people()
    outcome = go(frame)
    assert outcome.frame.columns == ["age", "town", "ill"]
    assert outcome.frame["ill"].dtype == pl.List(pl.String)
    assert (outcome.frame["ill"].list.sort() == outcome.frame["ill"]).all()
    assert (
        outcome.frame.select("age", "town")
        .sort(pl.all())
        .equals(frame.select("age", "town").sort(pl.all()))
    )
    assert outcome.loss.rate == 0
    assert outcome.achieved == {"l": 3}


def test_without_a_seed_the_secure_source_is_used(monkeypatch):
    asked = []
    real = random_words.os.urandom

    def urandom(count):
        asked.append(count)
        return real(count)

    monkeypatch.setattr(random_words.os, "urandom", urandom)
    first, second = go(people()), go(people())
    assert sum(asked) >= 2 * 60 * 8 * 2
    assert not first.frame.equals(second.frame)
    assert not first.to_dict()["seeded"]


@pytest.mark.slow
def test_a_seed_repeats_is_flagged_and_never_written():
    with pytest.warns(ShoalWarning, match="'dummies' was run with a seed: anyone who knows"):
        first = go(people(), seed=987654321)
    with pytest.warns(ShoalWarning):
        assert first.frame.equals(go(people(), seed=987654321).frame)
    assert first.to_dict()["seeded"] is True
    assert "987654321" not in first.to_json()
    verdict = shoal.audit(first.frame, plan=first.plan)
    assert verdict.models["seeded"] is True
    assert "987654321" not in verdict.to_json()


def test_missing_values_are_hidden_or_kept():
    frame = people(gaps=0.3)
    assert go(frame).frame["ill"].null_count() == 0
    kept = go(frame, options={"missing": "keep"})
    assert kept.frame["ill"].null_count() == frame["ill"].null_count() > 0
    assert (kept.frame["ill"].drop_nulls().list.len() == 3).all()
    assert (
        read_view(kept.frame, "ill").counts("ill", []).rows.sum() == 60 - frame["ill"].null_count()
    )


def test_several_columns_each_with_its_l():
    rules = [LDiversity(3, "ill"), LDiversity(5, "score")]
    released = go(people(), sensitive=["ill", "score"], rules=rules).frame
    assert released["ill"].list.len().unique().to_list() == [3]
    assert released["score"].list.len().unique().to_list() == [5]
    # Numbers stand in the order of their size, not of their texts.
    assert released["score"].list.eval(pl.element().cast(pl.Int64)).list.diff().list.min().min() > 0
    with (
        pytest.warns(ShoalWarning, match="'score'"),
        pytest.raises(ParameterError, match="score has none and would be published as it is"),
    ):
        go(people(), sensitive=["ill", "score"])


def test_requests_that_cannot_be():
    with pytest.raises(Infeasible, match="only 4 different values; the largest l possible is 4"):
        go(people(), rules=[LDiversity(5, "ill")])
    with pytest.raises(ParameterError, match="cannot keep the rule 'k-anonymity'"):
        go(people(), rules=[All((KAnonymity(3), LDiversity(2, "ill")))])


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".tsv", ".parquet", ".arrow"])
def test_files_of_every_kind_come_back(tmp_path, suffix):
    frame = people().with_columns(ill=pl.col("ill").replace("gout", 'a "b", [c]'))
    released = go(frame).frame
    path = tmp_path / f"x{suffix}"
    write_table(released, path)
    view = read_view(read_table(path), "ill")
    assert view.estimators[0] == "iterative"
    assert view.values("ill") == ('a "b", [c]', "cold", "flu", "ulcer")
    assert np.allclose(
        view.counts("ill", []).count, read_view(released, "ill").counts("ill", []).count
    )
    if suffix == ".csv":
        cell = next(iter(path.read_text().splitlines()[1:])).split(",", 2)[2]
        assert json.loads(re.sub('""', '"', cell.strip('"')))


@pytest.mark.slow
def test_frames_of_callers():
    for kind in (people().to_pandas(), people().to_arrow()):
        outcome = go(kind)
        assert type(outcome.frame) is type(kind)
        opened = shoal.open_release(outcome.frame, quasi=["age", "town"], sensitive=["ill"])
        assert opened.shape == "dummies"
        assert opened.audit(l=3).holds
        # Who asks for nothing is told that people can be found in it.
        assert not opened.verdict.holds
        assert opened.verdict.models["reached"] == {"ill": {"l": 3}}


def test_the_posterior_by_hand():
    """Two values a set; the prior follows from the sets, frequent values are the likelier ones."""
    cells = [["a", "b"]] * 6 + [["a", "c"]] * 6 + [["b", "c"]] * 2
    frame = pl.DataFrame({"q": np.arange(14), "s": pl.Series(cells)})
    view = read_view(frame, "s")
    prior = view.counts("s", []).count[0]
    believed = view.posterior("s").beliefs(np.array([0, 6, 13]))
    assert np.allclose(
        believed[0],
        [prior[0] / (prior[0] + prior[1]), prior[1] / (prior[0] + prior[1]), 0],
        atol=1e-6,
    )
    assert np.allclose(believed.sum(axis=1), 1)
    assert view.posterior("s").risk()["worst_posterior"] == pytest.approx(believed.max(), abs=1e-6)
    # Nobody can tell equal rows apart: what is believed of them is the mean.
    same = read_view(frame.with_columns(q=pl.lit(1)), "s")
    assert np.allclose(
        same.posterior("s").beliefs(np.array([0]))[0],
        view.posterior("s").beliefs(np.arange(14)).mean(axis=0),
    )


def test_no_warning_without_a_seed():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        go(people())

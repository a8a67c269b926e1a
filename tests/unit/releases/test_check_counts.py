"""The check from counts agrees with the check of rows, in whatever pieces it is made."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.base.errors import ShoalError
from shoal.base.partition import GroupStats, histogram
from shoal.base.roles import Kind, Role
from shoal.privacy import BetaLikeness, EntropyLDiversity, KAnonymity, LDiversity, TCloseness
from shoal.releases.check_counts import COUNT, class_stats, examine, merge_findings, values_of
from shoal.tables.cells import TYPES, fitting, infer_type
from shoal.tables.schema import Column, Schema
from tests.checking import verify

RULES = [
    KAnonymity(2),
    LDiversity(2, "s"),
    EntropyLDiversity(1.5, "s"),
    TCloseness(0.4, "s", "ordered"),
    TCloseness(0.4, "s"),
    TCloseness(0.4, "s", missing="ignore"),
    BetaLikeness(0.8, "s"),
]

cells = st.sampled_from(["a", "b", "[1-2]", "*", None])
rows = st.lists(
    st.tuples(cells, cells, st.sampled_from(["9", "10", "", None, "flu"])), min_size=1, max_size=40
)


def from_counts(frame, pieces):
    counts = frame.group_by("p", "q", "s").agg(pl.len().alias(COUNT))
    sums = counts.group_by("s").agg(pl.col(COUNT).sum())
    values = {"s": values_of(sums["s"], sums[COUNT].to_numpy().astype(np.int64))}
    piece = counts.select(pl.struct("p", "q").hash(1) % pieces).to_series()
    parts = [counts.filter(piece == i) for i in range(pieces)]
    found = [examine(class_stats(p, ["p", "q"], values), RULES) for p in parts if p.height]
    return merge_findings(found, RULES)


@pytest.mark.slow
@given(rows, st.integers(1, 4))
def test_counts_say_what_rows_say(table, pieces):
    frame = pl.DataFrame(
        table, schema={"p": pl.String, "q": pl.String, "s": pl.String}, orient="row"
    )
    slow, fast = verify(frame, ["p", "q"], RULES), from_counts(frame, pieces)
    assert fast.holds == slow.holds
    assert (fast.rows, fast.classes) == (slow.rows, slow.classes)
    assert [r.failing for r in fast.rules] == [r.failing for r in slow.rules]
    assert fast.faults == slow.faults
    for name, value in slow.achieved.items():
        assert fast.achieved[name] == pytest.approx(value)


def test_a_value_that_was_not_counted_is_no_missing_value():
    counts = pl.DataFrame({"p": ["x"], "s": ["new"], COUNT: [3]})
    values = {"s": values_of(pl.Series("s", ["old"]), np.array([3]))}
    with pytest.raises(ShoalError, match="holds a value that was not counted before"):
        class_stats(counts, ["p"], values)


def test_nothing_keeps_no_promise():
    verdict = merge_findings([], RULES)
    assert verdict.faults == ("The release has no rows: an empty table keeps no promise.",)
    assert not verdict.holds and not any(result.holds for result in verdict.rules)


def of_sizes(*parts):
    """Put together pieces of a release whose classes have these sizes; k is 3."""
    rules = [KAnonymity(3)]
    found = [examine(GroupStats(np.array(sizes)), rules) for sizes in parts]
    return lambda faults=(): merge_findings(found, rules, faults)


def test_classes_of_all_pieces_count():
    good = of_sizes([3, 4], [5])()
    assert good.holds and good.faults == () and good.rules[0].holds
    assert (good.rows, good.classes, good.achieved) == (12, 3, {"k": 3})
    for pieces in (([3, 2], [5]), ([3], [2, 5])):
        bad = of_sizes(*pieces)()
        assert not bad.holds and not bad.rules[0].holds
        assert bad.rules[0].failing == 1 and bad.achieved == {"k": 2}
        assert len(bad.faults) == 1 and bad.faults[0].startswith("1 of 3 classes break the promise")


def test_one_class_is_enough_to_keep_or_to_break_a_promise():
    assert of_sizes([3])().holds and of_sizes([3])().rules[0].holds
    assert not of_sizes([2])().holds


def test_faults_that_others_found_make_a_release_bad():
    verdict = of_sizes([3, 4])(["A cell does not cover its source."])
    assert not verdict.holds and verdict.rules[0].holds
    assert verdict.faults == ("A cell does not cover its source.",)
    both = of_sizes([2])(["A cell does not cover its source."])
    assert not both.holds and len(both.faults) == 2


def test_one_rule_of_two_that_breaks_is_enough():
    rules = [KAnonymity(3), KAnonymity(5)]
    verdict = merge_findings([examine(GroupStats(np.array([4])), rules)], rules)
    assert [result.holds for result in verdict.rules] == [True, False]
    assert not verdict.holds and len(verdict.faults) == 1


def test_values_are_numbered_and_what_means_missing_is_not():
    schema = Schema((Column("s", Role.SENSITIVE, missing=("?",)),))
    column = pl.Series("s", ["10", "9", "?", "*", "", None])
    found = values_of(column, np.array([1, 2, 4, 8, 16, 32]), schema)
    assert found.codes.tolist() == [1, 0, -1, -1, -1, -1]
    assert (found.names, found.whole.tolist()) == (("9", "10"), [2, 1])
    assert values_of(column, np.ones(6, int)).codes.tolist()[2] >= 0  # nothing says what ? means
    other = Schema((Column("q", Role.QUASI, Kind.SET),))
    assert values_of(column, np.ones(6, int), other).codes.tolist()[2] >= 0
    void = values_of(pl.Series("s", [None], dtype=pl.String), np.array([3]))
    assert (void.codes.tolist(), void.whole.tolist(), void.names) == ([-1], [0], ())


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-1, 3), st.integers(1, 5)), max_size=30))
def test_a_histogram_of_weights_is_that_of_repeated_rows(entries):
    labels, codes, weights = (np.array([e[i] for e in entries], np.int64) for i in range(3))
    names = ("a", "b", "c", "d")
    short = histogram(labels, codes, 4, names, weights)
    long = histogram(np.repeat(labels, weights), np.repeat(codes, weights), 4, names)
    for name in ("starts", "values", "counts", "whole"):
        assert np.array_equal(getattr(short, name), getattr(long, name))


texts = st.sampled_from(["1", "007", "2.5", "nan", "true", "2020-01-01", "2020-01-01 10:00", None])


@pytest.mark.slow
@given(st.lists(texts, min_size=1, max_size=8), st.integers(0, 8))
def test_types_found_in_pieces_are_those_of_the_whole(column, cut):
    series = pl.Series(column, dtype=pl.String)
    both = set(fitting(series[:cut])) & set(fitting(series[cut:]))
    found = next((name for name in TYPES if name in both), None)
    whole = infer_type(series)
    if series.null_count() == len(series) or series.drop_nulls().unique().to_list() == ["nan"]:
        return  # nothing is known: a text stays a text
    assert (found is None) == (whole.dtype == pl.String)
    if found is not None:
        read = TYPES[found](series)
        assert (read.fill_nan(None) if read.dtype.is_float() else read).equals(whole)

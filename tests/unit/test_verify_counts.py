"""The check from counts agrees with the check of rows, in whatever pieces it is made."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.base.errors import ShoalError
from shoal.base.partition import histogram
from shoal.privacy import EntropyLDiversity, KAnonymity, LDiversity, TCloseness
from shoal.releases.check_counts import COUNT, class_stats, examine, unite, values_of
from shoal.releases.generalized.check import verify
from shoal.tables.cells import TYPES, fitting, typed

RULES = [
    KAnonymity(2),
    LDiversity(2, "s"),
    EntropyLDiversity(1.5, "s"),
    TCloseness(0.4, "s", "ordered"),
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
    return unite(found, RULES)


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
    assert unite([], RULES).faults == ("The release has no rows: an empty table keeps no promise.",)


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
    whole = typed(series)
    if series.null_count() == len(series) or series.drop_nulls().unique().to_list() == ["nan"]:
        return  # nothing is known: a text stays a text
    assert (found is None) == (whole.dtype == pl.String)
    if found is not None:
        read = TYPES[found](series)
        assert (read.fill_nan(None) if read.dtype.is_float() else read).equals(whole)

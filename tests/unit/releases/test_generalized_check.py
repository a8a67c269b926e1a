"""Verification from published cells alone, and against the source."""

import dataclasses
import typing
import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.base.errors import ParameterError, SchemaError, ShoalError
from shoal.base.params import Param
from shoal.base.roles import Kind, Role
from shoal.privacy import All, KAnonymity
from shoal.releases.generalized.make import generalize
from shoal.tables.schema import Column, Schema
from tests.checking import verify
from tests.published import everything


@dataclasses.dataclass(frozen=True)
class Distinct:
    """At least ``least`` different known values."""

    column: str
    least: int
    name = "distinct"
    params = (Param("least", "how many", int, safer="more"),)
    figures: typing.ClassVar = {"l": "least"}

    def holds(self, stats):
        return stats.histograms[self.column].distinct >= self.least

    def achieved(self, stats):
        return {"l": int(stats.histograms[self.column].distinct.min())}

    def describe(self):
        return f"every class has {self.least} values of {self.column}"


# Groups


def test_a_missing_cell_is_a_value_of_its_own():
    # The peer's fault: a unique row with a missing value must not vanish from the count.
    frame = pl.DataFrame({"a": ["x", "x", None], "b": [1, 1, 1]})
    verdict = verify(frame, ["a", "b"], [KAnonymity(2)])
    assert not verdict.holds
    assert (verdict.achieved, verdict.rows, verdict.classes) == ({"k": 1}, 3, 2)
    assert verdict.worst[0].cells == {"a": "", "b": "1"}
    assert verify(frame.vstack(frame[2:]), ["a", "b"], [KAnonymity(2)]).holds


def test_what_a_reader_can_tell_apart_is_apart():
    zeros = pl.DataFrame({"a": [0.0, -0.0]})
    assert verify(zeros, ["a"], [KAnonymity(2)]).achieved == {"k": 1}
    nans = pl.DataFrame({"a": [float("nan"), float("nan"), None, None]})
    assert verify(nans, ["a"], [KAnonymity(2)]).classes == 2
    texts = pl.DataFrame({"a": ["x", "x "]})
    assert verify(texts, ["a"], [KAnonymity(2)]).classes == 2


def test_typed_pairs_are_understood():
    frame = pl.DataFrame({"x_lo": [1, 1, None, None], "x_hi": [2, 3, None, None]})
    verdict = verify(frame, ["x"], [KAnonymity(2)])
    assert (verdict.achieved, verdict.classes) == ({"k": 1}, 3)
    assert list(verdict.worst[0].cells) == ["x_lo", "x_hi"]


def test_both_ends_of_a_pair_are_needed():
    with pytest.raises(SchemaError, match=r"no quasi-identifier 'x', nor the pair 'x_lo' and"):
        verify(pl.DataFrame({"x_lo": [1]}), ["x"], [KAnonymity(2)])


@pytest.mark.slow
@settings(max_examples=30)
@given(
    st.lists(st.tuples(*[st.sampled_from("ab*")] * 3), min_size=1, max_size=30),
    st.integers(0, 1000),
)
def test_an_outside_judge_agrees_on_complete_tables(rows, seed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pycanon import anonymity
    frame = pl.DataFrame(rows, schema=["a", "b", "c"], orient="row")
    theirs = anonymity.k_anonymity(frame.to_pandas(), ["a", "b", "c"])
    ours = verify(frame, ["a", "b", "c"], [KAnonymity(2)])
    assert ours.achieved == {"k": theirs}
    assert ours.holds == (theirs >= 2)
    # The order of the rows means nothing, not even for what is shown.
    shuffled = frame[np.random.default_rng(seed).permutation(frame.height)]
    assert verify(shuffled, ["a", "b", "c"], [KAnonymity(2)]) == ours


def test_sensitive_values_are_counted_afresh_and_missing_ones_add_nothing():
    frame = pl.DataFrame({"a": list("xxxyyy"), "s": ["1", "2", None, "1", "?", ""]})
    rules = [KAnonymity(3), Distinct("s", 2)]
    verdict = verify(frame, ["a"], rules, missing=["?"])
    assert [result.holds for result in verdict.rules] == [True, False]
    assert verdict.achieved == {"k": 3, "l": 1}
    assert verdict.worst[0].cells == {"a": "y"}
    assert verdict.worst[0].breaks == ("distinct",)
    assert verdict.faults == (
        "1 of 2 classes break the promise that every class has 2 values of s.",
    )
    assert verify(frame, ["a"], rules).holds  # '?' is a value unless it is listed
    assert verify(frame, ["a"], [All((KAnonymity(3), Distinct("s", 1)))]).achieved["l"] == 2


def test_what_the_schema_lists_as_missing_is_missing():
    frame = pl.DataFrame({"a": ["x", "x"], "s": ["1", "?"]})
    quasi = Column("a", Role.QUASI, Kind.SET)
    schema = Schema((quasi, Column("s", Role.SENSITIVE, missing=("?",))))
    assert not verify(frame, ["a"], [Distinct("s", 2)], schema=schema).holds


def test_histograms_equal_plain_counting():
    rng = np.random.default_rng(3)
    frame = pl.DataFrame({"a": rng.integers(0, 5, 80), "s": rng.integers(0, 4, 80) * 1.0})
    frame = frame.with_columns(s=pl.when(pl.col("s") > 0).then("s"))
    seen = {}

    class Spy(Distinct):
        def holds(self, stats):
            seen["stats"] = stats
            return super().holds(stats)

    verify(frame, ["a"], [Spy("s", 1)])
    histogram = seen["stats"].histograms["s"]
    assert histogram.names == ("1", "2", "3")
    assert histogram.whole.tolist() == [(frame["s"] == v).sum() for v in (1, 2, 3)]
    order = frame["a"].unique(maintain_order=True)
    for g, a in enumerate(order):
        rows = frame.filter(pl.col("a") == a)["s"]
        got = slice(histogram.starts[g], histogram.starts[g + 1])
        counts = dict(zip(histogram.values[got], histogram.counts[got], strict=True))
        assert counts == {v - 1: n for v in (1, 2, 3) if (n := (rows == v).sum())}
    assert seen["stats"].sizes.sum() == 80


def test_the_worst_come_first_and_no_more_than_asked():
    frame = pl.DataFrame({"a": list("zzzyyx" + "wwwww")})
    verdict = verify(frame, ["a"], [KAnonymity(5)], worst=2)
    assert [(group.cells["a"], group.size) for group in verdict.worst] == [("x", 1), ("y", 2)]
    assert verdict.rules[0].failing == 3


def test_nothing_is_shown_that_is_not_published():
    frame, schema, taxonomies, data, partition, order = everything()
    release = generalize(frame, schema, data, partition, order=order)
    broken = release.frame.with_columns(age=pl.lit("[40-41]"), note=pl.lit(0.5))
    for known in (release.order, None):
        verdict = verify(
            broken,
            schema.quasi,
            [KAnonymity(50)],
            original=frame,
            schema=schema,
            taxonomies=taxonomies,
            order=known,
        )
        assert not verdict.holds
        published = set(broken.select(schema.quasi).unpivot()["value"])
        assert {cell for group in verdict.worst for cell in group.cells.values()} <= published
        assert all(list(group.cells) == list(schema.quasi) for group in verdict.worst)
        for found in verdict.uncovered or ():
            assert found.example is None or found.example in published
        said = " ".join(verdict.faults)
        assert not any(str(value) in said for value in frame["note"])
        assert "-3" not in said


# Faults and bad use


def test_undeclared_columns_and_identifiers_are_faults():
    schema = Schema((Column("id", Role.IDENTIFIER), Column("x", Role.QUASI, Kind.ORDERED)))
    frame = pl.DataFrame({"id": [1, 2], "x": ["*", "*"], "index": [0, 1]})
    verdict = verify(frame, ["x"], [KAnonymity(2)], schema=schema)
    assert verdict.faults == (
        "The release has the column 'id', whose role is 'identifier': not published. Leave "
        "it out, or change its role.",
        "The release has a column 'index' that was not declared: leave it out, or give it a role.",
    )
    assert not verdict.holds
    pair = pl.DataFrame({"x_lo": [1, 1], "x_hi": [2, 2]})
    assert verify(pair, ["x"], [KAnonymity(2)], schema=schema).holds
    both = pair.with_columns(x=pl.lit("[1-2]"))
    before = pl.DataFrame({"x": [1, 2]})
    assert verify(pair, ["x"], [KAnonymity(2)], schema=schema, original=before).holds
    assert len(verify(both, ["x"], [KAnonymity(2)], schema=schema, original=before).faults) == 2


def test_an_empty_release_keeps_no_promise():
    verdict = verify(pl.DataFrame({"a": []}, schema={"a": pl.String}), ["a"], [KAnonymity(2)])
    assert not verdict.holds
    assert not verdict.rules[0].holds
    assert verdict.faults == ("The release has no rows: an empty table keeps no promise.",)


def test_bad_use_is_told_clearly():
    frame = pl.DataFrame({"age": [1], "zip": [2]})
    with pytest.raises(ParameterError, match="needs at least one rule, got none"):
        verify(frame, ["age"], [])
    with pytest.raises(SchemaError, match=r"at least one quasi-identifier, got none.*'age', 'zip'"):
        verify(frame, [], [KAnonymity(2)])
    with pytest.raises(SchemaError, match=r"no quasi-identifier 'agee'.* Did you mean 'age'"):
        verify(frame, ["agee"], [KAnonymity(2)])
    with pytest.raises(SchemaError, match=r"sensitive column 'zap', which .* Did you mean 'zip'"):
        verify(frame, ["age"], [Distinct("zap", 2)])


def test_bad_comparisons_are_told_clearly():
    schema = Schema((Column("a", Role.QUASI, Kind.TAXONOMY),))
    frame = pl.DataFrame({"a": ["x", "y"]})
    common = {"schema": schema, "rules": [KAnonymity(2)], "quasi": ["a"]}
    with pytest.raises(SchemaError, match="kind taxonomy, but no hierarchy was given"):
        verify(frame, original=frame, **common)
    with pytest.raises(SchemaError, match="The original has no column 'a'; it has: 'b'"):
        verify(frame, original=frame.rename({"a": "b"}), **common)
    with pytest.raises(ShoalError, match="2 rows but the order of its sources has 1"):
        verify(frame, original=frame, order=np.array([0]), **common)
    for order in ([0, 0], [0, 2], [-1, 0]):
        with pytest.raises(ShoalError, match="names a row twice, or one that the original"):
            verify(frame, original=frame, order=np.array(order), **common)

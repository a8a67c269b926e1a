"""Verification from published cells alone, and against the source."""

import ast
import dataclasses
import datetime as dt
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal.coverage
from shoal.domain import Taxonomy
from shoal.encode import encode
from shoal.errors import ParameterError, SchemaError, ShoalError
from shoal.partition import Partition
from shoal.releases.generalized import generalize
from shoal.rules import All, KAnonymity
from shoal.schema import Column, Kind, Role, Schema
from shoal.verify import verify


@dataclasses.dataclass(frozen=True)
class Distinct:
    """At least ``least`` different known values."""

    column: str
    least: int
    name = "distinct"

    def holds(self, stats):
        return stats.histograms[self.column].distinct >= self.least

    def achieved(self, stats):
        return {"l": int(stats.histograms[self.column].distinct.min())}

    def describe(self):
        return f"every group has {self.least} values of {self.column}"


def everything(rows=60, seed=1):
    """A table with every kind of column, missing values and awkward texts, grouped at random."""
    rng = np.random.default_rng(seed)

    def some(values):
        return [
            values[i] if rng.random() > 0.1 else None for i in rng.integers(0, len(values), rows)
        ]

    frame = pl.DataFrame(
        {
            "id": np.arange(rows),
            "age": some([-3, 0, 17, 40, 41]),
            "weight": some([0.1, 50.5, 1e-7, 80.0]),
            "born": some([dt.date(1960 + 7 * i, 1 + i, 3) for i in range(6)]),
            "seen": some([dt.datetime(2020, 1, 1 + i, i) for i in range(6)]),
            "city": some(["Rome", "*", "[1-2]", "{a}", 'a, "b"', "Oslo"]),
            "job": some(["nurse", "judge", "clerk"]),
            "size": some(["small", "mid-size", "large"]),
            "disease": some(["flu", "gout", "?"]),
            "note": rng.random(rows),
        }
    )
    tree = [("nurse", "care", "Any"), ("judge", "law", "Any"), ("clerk", "law", "Any")]
    kinds = {"age": "ordered", "weight": "ordered", "born": "ordered", "seen": "ordered"}
    kinds |= {"city": "set", "job": "taxonomy"}
    schema = Schema(
        (
            Column("id", Role.IDENTIFIER),
            *(Column(name, Role.QUASI, Kind(kind)) for name, kind in kinds.items()),
            Column("size", Role.QUASI, Kind.ORDERED, order=("small", "mid-size", "large")),
            Column("disease", Role.SENSITIVE, missing=("?",)),
            Column("note", Role.OTHER),
        )
    )
    taxonomies = {"job": Taxonomy.from_rows(tree, "job")}
    labels = rng.permutation(np.arange(rows) % (rows // 3))
    data = encode(frame, schema, taxonomies)
    return frame, schema, taxonomies, data, Partition.from_labels(labels), rng.permutation(rows)


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
        "1 of 2 classes break the promise that every group has 2 values of s.",
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


# Against the source


@pytest.mark.parametrize("typed", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_an_honest_release_is_covered(typed, seed):
    frame, schema, taxonomies, data, partition, order = everything(seed=seed)
    release = generalize(frame, schema, data, partition, typed=typed, order=order)
    for known in (release.order, None):
        verdict = verify(
            release.frame,
            schema.quasi,
            [KAnonymity(3)],
            original=frame,
            schema=schema,
            taxonomies=taxonomies,
            order=known,
        )
        assert verdict.faults == ()
        assert verdict.holds
        assert verdict.uncovered == (() if known is not None else None)


WRONG = {
    "age": "[40-41]",
    "weight": "50.5",
    "born": "[1960-01-03-1967-02-03]",
    "seen": "[2020-01-01 00:00:00-2020-01-02 01:00:00]",
    "city": '{"*", Rome}',
    "job": "law",
    "size": '["mid-size"-large]',
}


@pytest.mark.parametrize("column", WRONG)
def test_a_cell_that_does_not_cover_its_source_is_found(column):
    frame, schema, taxonomies, data, partition, order = everything()
    release = generalize(frame, schema, data, partition, order=order)
    broken = release.frame.with_columns(pl.lit(WRONG[column]).alias(column))
    inside = {
        "age": [40, 41],
        "weight": [50.5],
        "born": sorted(frame["born"].drop_nulls().unique())[:2],
        "seen": sorted(frame["seen"].drop_nulls().unique())[:2],
        "city": ["*", "Rome"],
        "job": ["judge", "clerk"],
        "size": ["mid-size", "large"],
    }
    wrong = frame.height - frame[column].is_in(inside[column]).fill_null(value=False).sum()
    verdict = verify(
        broken,
        schema.quasi,
        [KAnonymity(2)],
        original=frame,
        schema=schema,
        taxonomies=taxonomies,
        order=release.order,
    )
    (found,) = verdict.uncovered
    assert (found.column, found.cells, found.example) == (column, wrong, WRONG[column])
    said = f"In column {column!r} {wrong} released cells do not cover the source, for instance"
    assert verdict.faults[-1].startswith(said)
    from_files = verify(
        broken,
        schema.quasi,
        [KAnonymity(2)],
        original=frame,
        schema=schema,
        taxonomies=taxonomies,
    )
    assert "rows of the original are covered by no released row" in str(from_files.faults)


def test_only_a_star_covers_a_missing_value():
    frame = pl.DataFrame({"a": [1, None], "s": ["x", None], "t": ["u", None]})
    kinds = {"a": Kind.ORDERED, "s": Kind.SET, "t": Kind.TAXONOMY}
    schema = Schema(tuple(Column(name, Role.QUASI, kind) for name, kind in kinds.items()))
    taxonomies = {"t": Taxonomy.from_rows([("u", "all", "Any"), ("v", "all", "Any")], "t")}
    narrow = pl.DataFrame({"a": ["[0-9]"] * 2, "s": ["{w, x}"] * 2, "t": ["all"] * 2})
    star = pl.DataFrame({"a": ["*"] * 2, "s": ["*"] * 2, "t": ["*"] * 2})
    strange = pl.DataFrame({"a": ["[x-9]"] * 2, "s": ["w"] * 2, "t": ["Any"] * 2})

    def uncovered(released):
        verdict = verify(
            released,
            schema.quasi,
            [KAnonymity(2)],
            original=frame,
            schema=schema,
            taxonomies=taxonomies,
            order=np.arange(2),
        )
        return [(entry.column, entry.cells) for entry in verdict.uncovered]

    assert uncovered(narrow) == [("a", 1), ("s", 1), ("t", 1)]
    assert uncovered(star) == []
    assert uncovered(strange.with_columns(a=pl.lit("2.5"))) == [("a", 2), ("s", 2), ("t", 2)]
    assert uncovered(star.with_columns(a=pl.lit(None, pl.String))) == [("a", 2)]


def test_a_half_null_pair_covers_nothing():
    frame = pl.DataFrame({"a": [1, 2]})
    schema = Schema((Column("a", Role.QUASI, Kind.ORDERED),))
    released = pl.DataFrame({"a_lo": [1, 1], "a_hi": [None, None]}, schema_overrides={"a_hi": int})
    verdict = verify(
        released, ["a"], [KAnonymity(2)], original=frame, schema=schema, order=np.arange(2)
    )
    assert verdict.uncovered[0].cells == 2


def test_numbers_spelled_otherwise_in_the_hierarchy_are_found():
    frame = pl.DataFrame({"a": [2.5, 3.0]})
    schema = Schema((Column("a", Role.QUASI, Kind.TAXONOMY),))
    taxonomies = {"a": Taxonomy.from_rows([("2.50", "*"), ("3", "*")], "a")}
    data = encode(frame, schema, taxonomies)
    release = generalize(frame, schema, data, Partition.from_labels(np.arange(2)))
    verdict = verify(
        release.frame,
        ["a"],
        [KAnonymity(2)],
        original=frame,
        schema=schema,
        taxonomies=taxonomies,
        order=release.order,
    )
    assert verdict.uncovered == ()


def test_passed_columns_must_be_unchanged():
    frame, schema, taxonomies, data, partition, order = everything()
    release = generalize(frame, schema, data, partition, order=order)
    flipped = release.frame.with_columns(note=pl.col("note").reverse())
    common = {"original": frame, "schema": schema, "taxonomies": taxonomies}
    verdict = verify(flipped, schema.quasi, [KAnonymity(2)], order=release.order, **common)
    assert [entry.column for entry in verdict.uncovered] == ["note"]
    assert "60 released cells differ from the source" in verdict.faults[0]
    changed = release.frame.with_columns(disease=pl.lit("flu"))
    verdict = verify(changed, schema.quasi, [KAnonymity(2)], **common)
    assert "combinations of values of 'disease', 'note' do not occur as often" in str(
        verdict.faults
    )


def test_from_files_rows_cannot_be_added_and_some_may_be_left_out():
    frame, schema, taxonomies, data, partition, order = everything()
    release = generalize(frame, schema, data, partition, order=order)
    common = {"schema": schema, "taxonomies": taxonomies}
    fewer = verify(release.frame, schema.quasi, [KAnonymity(2)], original=frame[:59], **common)
    assert "The release has 60 rows, its original only 59." in fewer.faults
    kept = partition.labels() > 3
    part = Partition.from_labels(np.where(kept, partition.labels() - 4, -1))
    some = generalize(frame, schema, data, part, order=order)
    assert verify(some.frame, schema.quasi, [KAnonymity(3)], original=frame, **common).holds


def test_from_files_a_class_must_cover_as_many_as_it_has():
    frame = pl.DataFrame({"a": [1, 2, 3, 4]})
    schema = Schema((Column("a", Role.QUASI, Kind.ORDERED),))
    released = pl.DataFrame({"a": ["[1-2]", "[1-2]", "[1-2]", "[1-4]"]})
    verdict = verify(released, ["a"], [KAnonymity(1 + 1)], original=frame, schema=schema)
    assert "1 of 2 released classes looked at cover fewer rows" in str(verdict.faults)


def test_large_tables_are_sampled(monkeypatch):
    monkeypatch.setattr(shoal.coverage, "BUDGET", 100)
    frame, schema, taxonomies, data, partition, order = everything()
    release = generalize(frame, schema, data, partition, order=order)
    common = {"original": frame, "schema": schema, "taxonomies": taxonomies}
    assert verify(release.frame, schema.quasi, [KAnonymity(3)], **common).faults == ()
    broken = release.frame.with_columns(age=pl.lit("40"))
    faults = str(verify(broken, schema.quasi, [KAnonymity(2)], **common).faults)
    assert "cover fewer rows" in faults
    assert "covered by no released row" in faults


def test_originals_covered_by_sets_match_plain_loops():
    rng = np.random.default_rng(8)
    for _ in range(20):
        frame = pl.DataFrame({"s": rng.choice(list("abcde"), 9), "a": rng.integers(0, 5, 9)})
        schema = Schema((Column("s", Role.QUASI, Kind.SET), Column("a", Role.QUASI, Kind.ORDERED)))
        sets = [set(rng.choice(list("abcde"), 2, replace=False)) for _ in range(9)]
        ends = np.sort(rng.integers(0, 5, (9, 2)))
        released = pl.DataFrame(
            {
                "s": ["{" + ", ".join(sorted(one)) + "}" for one in sets],
                "a": [f"[{lo}-{hi}]" for lo, hi in ends],
            }
        )
        lost = sum(
            not any(s in one and lo <= a <= hi for one, (lo, hi) in zip(sets, ends, strict=True))
            for s, a in frame.rows()
        )
        verdict = verify(released, ["s", "a"], [KAnonymity(2)], original=frame, schema=schema)
        said = f"{lost} rows of the original are covered by no released row."
        assert (said in verdict.faults) == (lost > 0)


# Faults and bad use


def test_undeclared_columns_and_identifiers_are_faults():
    schema = Schema((Column("id", Role.IDENTIFIER), Column("x", Role.QUASI, Kind.ORDERED)))
    frame = pl.DataFrame({"id": [1, 2], "x": ["*", "*"], "index": [0, 1]})
    verdict = verify(frame, ["x"], [KAnonymity(2)], schema=schema)
    assert verdict.faults == (
        "The release has the identifier 'id': identifiers are left out.",
        "The release has a column 'index' that was not declared: leave it out, or give it a role.",
    )
    assert not verdict.holds
    pair = pl.DataFrame({"x_lo": [1, 1], "x_hi": [2, 2]})
    assert verify(pair, ["x"], [KAnonymity(2)], schema=schema).holds
    both = pair.with_columns(x=pl.lit("[1-2]"))
    assert len(verify(both, ["x"], [KAnonymity(2)], schema=schema).faults) == 2


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
    with pytest.raises(SchemaError, match="needs the role and kind of every column"):
        verify(frame, ["age"], [KAnonymity(2)], original=frame)


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


def test_verification_imports_nothing_of_the_algorithms():
    source = Path(shoal.coverage.__file__).parent
    forbidden = ("groupers", "kernels", "releases", "encode", "space", "losses")
    for name in ("verify", "coverage", "readback", "published", "notation"):
        for node in ast.walk(ast.parse((source / f"{name}.py").read_text())):
            if isinstance(node, ast.ImportFrom):
                assert not any(part in forbidden for part in (node.module or "").split("."))

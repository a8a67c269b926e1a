"""Verification against the source: every released cell covers what it stands for."""

import numpy as np
import polars as pl
import pytest

import shoal.releases.generalized.coverage
from shoal.base.partition import Partition
from shoal.base.roles import Kind, Role
from shoal.coding.encode import encode
from shoal.privacy import KAnonymity
from shoal.releases.generalized.make import generalize
from shoal.tables.domain import Taxonomy
from shoal.tables.schema import Column, Schema
from tests.checking import verify
from tests.published import everything

# Against the source


@pytest.mark.slow
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


@pytest.mark.slow
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
    # The top of a hierarchy covers every value, and no gap.
    assert uncovered(strange.with_columns(a=pl.lit("2.5"))) == [("a", 2), ("s", 2), ("t", 1)]
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


@pytest.mark.slow
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
    monkeypatch.setattr(shoal.releases.generalized.coverage, "BUDGET", 100)
    frame, schema, taxonomies, data, partition, order = everything()
    release = generalize(frame, schema, data, partition, order=order)
    common = {"original": frame, "schema": schema, "taxonomies": taxonomies}
    assert verify(release.frame, schema.quasi, [KAnonymity(3)], **common).faults == ()
    broken = release.frame.with_columns(age=pl.lit("40"))
    faults = str(verify(broken, schema.quasi, [KAnonymity(2)], **common).faults)
    assert "cover fewer rows" in faults
    assert "covered by no released row" in faults


@pytest.mark.slow
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

"""The Spark engine with its grouping on the driver: the same answer as the local engine's."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import shoal
from shoal.coding.encode import encode
from shoal.ext.spark.columns import _blanked
from shoal.ext.spark.group_tuples import canonical_order
from shoal.tables.cells import missing_to_null
from shoal.tables.find_hierarchies import find_hierarchies
from shoal.tables.open_table import load_table, merge_plan, resolve_schema
from tests.ext.spark.conftest import ROLES, counted, people, to_polars, to_spark

PUBLISHED = ["age", "sex", "zip", "weight", "disease"]


def in_canonical_order(frame, **given):
    """The rows in the order in which the Spark engine hands them to a method."""
    plan = merge_plan(None, **ROLES, missing=given["missing"])
    table = load_table(frame, plan)
    plan, schema = resolve_schema(table, plan, find_hierarchies(plan, table))
    return frame[canonical_order(encode(table, schema))]


CASES = {
    "mondrian": {"k": 5, "method": "mondrian"},
    "typed, rows dropped": {
        "k": 3,
        "method": "k-member",
        "typed": True,
        "options": {"missing": "drop"},
    },
    "diverse": {"rules": [shoal.KAnonymity(3), shoal.LDiversity(2, "disease")]},
    "rows left out": {"k": 4, "method": "incognito", "options": {"suppression": 0.3}},
}


@pytest.mark.parametrize("case", CASES)
def test_same_partition_as_local(spark, case):
    frame = people()
    given = {**ROLES, "missing": ["?"], "seed": 7, **CASES[case]}
    local = shoal.anonymize(in_canonical_order(frame, **given), **given)
    outcome = shoal.anonymize(to_spark(spark, frame.sample(600, shuffle=True, seed=1)), **given)
    # Rows that agree in the quasi-identifiers and what a rule speaks of are interchangeable.
    free = {"note"} if "rules" in given else {"note", "disease"}
    columns = [name for name in local.frame.columns if name not in free]
    released = to_polars(outcome.frame)
    assert_frame_equal(counted(released, columns), counted(local.frame, columns))
    assert released.columns == local.frame.columns
    assert outcome.loss.rate == pytest.approx(local.loss.rate, abs=1e-12)
    assert outcome.achieved == local.achieved
    assert outcome.made.groups == local.made.groups
    assert outcome.made.rows_in == local.made.rows_in
    assert outcome.made.rows_out == local.made.rows_out
    assert outcome.plan == local.plan
    assert outcome.made.notes["tuples"] <= 600
    if outcome.made.rows_out == 600:
        assert sorted(released["note"]) == sorted(frame["note"])


def test_the_order_of_rows_is_that_of_a_hash_of_published_cells(spark):
    """Two inputs in different orders and pieces: no trace of either in the release's order."""
    frame = people(300).with_columns(note=pl.lit(1))
    given = {**ROLES, "missing": ["?"], "seed": 7, "k": 5, "method": "mondrian"}
    source = to_spark(spark, frame.sort("id")).repartition(1)
    released = to_polars(shoal.anonymize(source, **given).frame)
    # Equal rows have equal hashes, so in the one order that carries nothing they stand together.
    runs = released.select(pl.struct(pl.all()).rle_id().max() + 1).item()
    assert runs <= released.unique().height + 3, "equal rows stand apart: an order shows through"


def test_missing_texts_are_found_between_any_spaces(spark):
    spaces = ["", " ", "\t", "\xa0", "\x85", "\u2003", "\u3000", " \u2028\n"]
    words = ["", "?", "NA", "?x", "NAN", "a", "é", "\x7f", "~", "!", "A?"]
    texts = [a + word + b for word in words for a in spaces for b in spaces]
    frame = pl.DataFrame({"place": range(len(texts)), "text": texts})
    rows = _blanked(to_spark(spark, frame), {"text": ["?", "NA"]})
    found = to_polars(rows).sort("place")["text"]
    assert found.equals(missing_to_null(frame["text"], ["?", "NA"]))
    assert 0 < found.null_count() < len(texts)


def test_roles_are_not_guessed(spark):
    with pytest.raises(shoal.SchemaError, match=r"does not guess roles.*It has: 'id', 'age'"):
        shoal.anonymize(to_spark(spark, people(60)))
    with pytest.raises(shoal.SchemaError, match=r"has no column 'aage'.*Did you mean 'age'"):
        shoal.anonymize(to_spark(spark, people(60)), quasi=["aage"])


def test_a_name_that_is_a_pattern_is_refused(spark):
    with pytest.raises(shoal.InputError, match=r"The frame has column names .* patterns: '\^x\$'"):
        shoal.anonymize(to_spark(spark, people(60).rename({"age": "^x$"})), quasi=["sex"], k=2)

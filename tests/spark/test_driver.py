"""The Spark engine with its grouping on the driver: the same answer as the local engine's."""

import pytest
from polars.testing import assert_frame_equal

import shoal
from shoal.encode import encode
from shoal.engines.assigning import canonical_order
from shoal.prepare import gather, load, merge, resolve
from shoal.schema import Role
from tests.spark.conftest import ROLES, counted, people, to_polars, to_spark

PUBLISHED = ["age", "sex", "zip", "weight", "disease"]


def in_canonical_order(frame, **given):
    """The rows in the order in which the Spark engine hands them to a method."""
    roles = {Role(role): names for role, names in ROLES.items()}
    plan = merge(None, roles=roles, missing=given["missing"])
    table = load(frame, plan)
    plan, schema = resolve(table, plan, gather(plan, table))
    return frame[canonical_order(encode(table, schema))]


CASES = {
    "mondrian": {"k": 5, "method": "mondrian"},
    "shoal": {"k": 4},
    "k-member typed": {"k": 3, "method": "k-member", "typed": True},
    "diverse": {"method": "shoal", "rules": [shoal.KAnonymity(3), shoal.LDiversity(2, "disease")]},
    "rows left out": {"k": 4, "method": "incognito", "options": {"suppression": 0.3}},
    "rows dropped": {"k": 3, "method": "k-member", "options": {"missing": "drop"}},
}


@pytest.mark.parametrize("case", CASES)
def test_same_partition_as_local(spark, case):
    frame = people()
    given = {**ROLES, "missing": ["?"], "seed": 7, **CASES[case]}
    local = shoal.anonymize(in_canonical_order(frame, **given), **given)
    outcome = shoal.anonymize(to_spark(spark, frame.sample(600, shuffle=True, seed=1)), **given)
    # Rows that agree in the quasi-identifiers and what a rule speaks of are interchangeable.
    free = {"note"} if "rules" in given else {"note", "disease"}
    columns = [name for name in local.release.columns if name not in free]
    released = to_polars(outcome.release)
    assert_frame_equal(counted(released, columns), counted(local.release, columns))
    assert released.columns == local.release.columns
    assert outcome.loss.rate == pytest.approx(local.loss.rate, abs=1e-12)
    assert outcome.achieved == local.achieved
    assert outcome.groups == local.groups
    assert (outcome.rows_in, outcome.rows_out) == (local.rows_in, local.rows_out)
    assert outcome.plan == local.plan
    assert outcome.notes["tuples"] <= 600
    if outcome.rows_out == 600:
        assert sorted(released["note"]) == sorted(frame["note"])

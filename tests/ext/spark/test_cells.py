"""What cells give away, on Spark: grids, sets, slack, ends of intervals, what can be read off."""

import pytest

import shoal
from shoal.measures.deduced_values import read_off
from shoal.tables.makers import intervals
from tests.ext.spark.conftest import ROLES, counted, people, to_polars, to_spark
from tests.ext.spark.test_driver import in_canonical_order

GIVEN = {**ROLES, "missing": ["?"], "seed": 2**80 + 7, "k": 4, "method": "mondrian"}


def trees(frame):
    return {"age": intervals(frame["age"], "age")}


@pytest.mark.filterwarnings("ignore::shoal.base.errors.ShoalWarning")
def test_a_tree_of_intervals_is_published_as_its_ends(spark):
    frame = people()
    given = {**GIVEN, "typed": True, "hierarchies": trees(frame), "sets": "never"}
    engine = shoal.Spark(driver_tuples=100)
    made = shoal.anonymize(to_spark(spark, frame), **given, engine=engine)
    released = to_polars(made.frame)
    assert {"age_lo", "age_hi"} <= set(released.columns)
    assert released["age_lo"].dtype.is_integer()
    assert not released["sex"].str.starts_with("{").any()
    # What is told of the classes is what the files say.
    found = shoal.open_release(released, plan=made.plan, hierarchies=trees(frame))
    assert found.audit().holds
    assert made.made.read_off == read_off(found.opened)


@pytest.mark.filterwarnings("ignore::shoal.base.errors.ShoalWarning")
def test_what_can_be_read_off_is_told_as_on_one_machine(spark):
    frame = people()
    given = {**GIVEN, "grid": {"age": "off", "weight": "off"}}
    local = shoal.anonymize(in_canonical_order(frame, **given), **given)
    made = shoal.anonymize(to_spark(spark, frame), **given)
    told = made.made.read_off
    assert told == local.made.read_off
    assert told.known > 0
    assert told.warns == any("be deduced" in text for text in made.warnings)


def test_slack_widens_on_spark_too(spark):
    given = {**GIVEN, "method": "mondrian", "slack": 1.0}
    frame = people()
    loose = shoal.anonymize(to_spark(spark, frame), **given)
    tight = shoal.anonymize(to_spark(spark, frame), **{**given, "slack": 0.0})
    assert loose.loss.rate > tight.loss.rate
    assert loose.made.read_off.known == 0
    assert counted(to_polars(loose.frame)).height > 0


def test_the_middle_is_refused_by_name(spark):
    with pytest.raises(
        shoal.ShoalError, match=r"^mid = true was asked for, and that is carried out on one"
    ):
        shoal.anonymize(to_spark(spark, people(50)), **GIVEN, mid=True)


@pytest.mark.parametrize("most", [1_000_000, 20])
def test_labels_that_name_a_rare_value_are_refused_there_too(spark, most):
    frame = people()
    ages = sorted(frame["age"].unique().to_list())
    rare = frame["age"].value_counts(sort=True)["age"][-1]
    rows = [(str(age), f"old, {rare}, 7 and 8" if age >= rare else "young", "*") for age in ages]
    given = {**GIVEN, "k": 50, "hierarchies": {"age": shoal.Taxonomy.from_rows(rows, "age")}}
    with pytest.raises(shoal.ShoalError, match="1 label spells out a value that fewer than 50"):
        shoal.anonymize(to_spark(spark, frame), **given, engine=shoal.Spark(driver_tuples=most))


@pytest.mark.filterwarnings("ignore::shoal.base.errors.ShoalWarning")
def test_sets_whose_rare_values_nobody_counts_are_named(spark):
    made = shoal.anonymize(to_spark(spark, people()), **GIVEN)
    assert any("On Spark, Shoal does not count" in text for text in made.warnings)
    never = shoal.anonymize(to_spark(spark, people()), **{**GIVEN, "sets": "never"})
    assert not any("On Spark, Shoal does not count" in text for text in never.warnings)

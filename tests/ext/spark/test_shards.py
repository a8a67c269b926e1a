"""Tables with more tuples than one process may group: cut into shards, refused by name."""

from types import SimpleNamespace

import polars as pl
import pytest

import shoal
from shoal.catalog import METHODS, find_method
from shoal.ext.spark import shards
from tests.ext.spark.conftest import ROLES, people, to_polars, to_spark

GIVEN = {**ROLES, "missing": ["?"], "seed": 7}


@pytest.fixture
def adaptive(spark):
    """Queries planned anew as they run, as on a cluster: pieces may then be put together."""
    spark.conf.set("spark.sql.adaptive.enabled", "true")
    yield
    spark.conf.set("spark.sql.adaptive.enabled", "false")


def test_shards_together_are_a_release(spark, adaptive):
    frame = people(300)
    rules = [shoal.KAnonymity(4), shoal.LDiversity(2, "disease")]
    given = {**GIVEN, "method": "mondrian", "rules": rules}
    engine = shoal.Spark(driver_tuples=120)
    outcome = shoal.anonymize(to_spark(spark, frame), **given, engine=engine)
    local = shoal.anonymize(frame, **given)
    assert outcome.made.notes["shards"] > 2
    assert outcome.made.rows_out == 300
    released = to_polars(outcome.frame)
    assert sorted(released["note"]) == sorted(frame["note"])
    verdict = shoal.audit(released, quasi=ROLES["quasi"], sensitive=["disease"], rules=rules)
    assert verdict.holds
    assert outcome.achieved["k"] >= 4
    assert outcome.achieved["l"] >= 2
    # The shards' losses add up to what the release says, and cutting costs little.
    assert outcome.loss.rate == pytest.approx(local.loss.rate, rel=0.25)


def refusal(method, *rules):
    job = SimpleNamespace(rules=rules, settings=shoal.Spark(driver_tuples=10))
    with pytest.raises(shoal.ParameterError) as raised:
        shards.check_shardable(find_method(method), job, SimpleNamespace(size=99, total=100))
    return str(raised.value)


@pytest.mark.parametrize("method", ["incognito", "l-incognito", "simanony", "tp", "tp+"])
def test_methods_that_need_the_whole_table_are_refused_by_name(method):
    text = refusal(method, shoal.KAnonymity(3))
    assert f"the method {method!r} cannot be cut into shards: " in text
    assert "99 distinct tuples in 100 rows" in text
    assert "Raise --driver-tuples" in text


def test_rules_on_the_whole_table_are_refused_by_name():
    for rule in (shoal.TCloseness(0.5, "disease"), shoal.BetaLikeness(1.0, "disease")):
        assert f"the rule {rule.name!r} compares with the whole table" in refusal("shoal", rule)


def test_every_other_method_that_generalizes_is_sharded():
    able = [m for m in METHODS.values() if m.release == "generalized" and not m.whole]
    job = SimpleNamespace(rules=[shoal.KAnonymity(3)], settings=shoal.Spark())
    for entry in able:
        shards.check_shardable(entry, job, SimpleNamespace(size=99, total=100))
    assert {m.name for m in able} >= {"shoal", "kaim", "k-member", "mondrian", "alpha-k"}


def test_a_part_that_cannot_be_cut_is_named(spark):
    frame = pl.DataFrame({"x": list(range(30))})
    with pytest.raises(shoal.ParameterError, match="cannot be cut so that both sides keep"):
        shoal.anonymize(
            to_spark(spark, frame), quasi=["x"], k=10, engine=shoal.Spark(driver_tuples=9)
        )


def test_memory_counts_too():
    engine = shoal.Spark(driver_tuples=1000, driver_bytes=10_000_000)
    assert engine.fits(900, 900, 8)
    assert not engine.fits(1001, 1001, 8)
    assert not engine.fits(900, 10_000_000, 8)
    with pytest.raises(shoal.ParameterError, match=r"'driver_tuples'.*\[1, inf\). Got 0"):
        shoal.Spark(driver_tuples=0)

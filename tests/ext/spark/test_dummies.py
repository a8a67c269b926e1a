"""Dummy values drawn on the executors."""

import numpy as np
import polars as pl
import pytest

import shoal
from tests.ext.spark.conftest import ROLES, people, to_polars, to_spark


def test_every_row_gets_a_set_of_its_own(spark):
    frame = people(2000)
    given = {
        **ROLES,
        "missing": ["?"],
        "method": "dummies",
        "rules": [shoal.LDiversity(3, "disease")],
    }
    outcome = shoal.anonymize(to_spark(spark, frame), **given)
    released = to_polars(outcome.frame)
    assert outcome.achieved == {"l": 3}
    assert outcome.made.rows_out == released.height == 2000
    assert released["disease"].list.len().unique().to_list() == [3]
    assert released.columns == ["age", "sex", "zip", "weight", "disease", "note"]
    kept = ["age", "zip", "weight", "note"]
    source = frame.with_columns(pl.col("weight").fill_nan(None))
    assert released.select(kept).sort(kept).equals(source.select(kept).sort(kept))
    # Drawn afresh: a second run hides the values in other sets, and shows the same estimates.
    again = to_polars(shoal.anonymize(to_spark(spark, frame), **given).frame)
    columns = [*kept, "disease"]
    texts = [each.select(pl.col("disease").list.join(","), *kept) for each in (released, again)]
    assert not texts[0].sort(columns).equals(texts[1].sort(columns))
    truth = frame["disease"].drop_nulls().value_counts().sort("disease")["count"].to_numpy()
    found = shoal.estimate(outcome.frame, "disease")
    assert found.counts.count.sum() == pytest.approx(2000)
    known = found.counts.count.ravel()
    # A missing value hides behind any other; shares of the known ones come back.
    assert np.allclose(known / known.sum(), truth / truth.sum(), atol=0.15)


def test_sets_are_drawn_from_a_declared_domain(spark):
    frame = people(300)
    every = [*frame["disease"].drop_nulls().unique().to_list(), "plague", "scurvy"]
    given = {**ROLES, "missing": ["?"], "method": "dummies", "l": 3}
    outcome = shoal.anonymize(to_spark(spark, frame), **given, domain={"disease": every})
    drawn = to_polars(outcome.frame)["disease"].explode().unique()
    assert set(drawn) == set(every)
    assert set(outcome.to_dict()["plan"]["columns"]["disease"]["domain"]) == set(every)
    found = shoal.estimate(outcome.frame, "disease", domain={"disease": [*every, "leprosy"]})
    assert dict(zip(found.counts.values, found.counts.count[0], strict=True))["leprosy"] == 0
    with pytest.raises(shoal.SchemaError, match="The domain of column 'disease' lacks 1 of the"):
        shoal.anonymize(to_spark(spark, frame), **given, domain={"disease": every[1:]})


def test_what_dummies_refuse(spark):
    table = to_spark(spark, people(60))
    rules = [shoal.LDiversity(3, "disease")]
    with pytest.raises(shoal.ParameterError, match="takes no seed on Spark"):
        shoal.anonymize(table, **ROLES, method="dummies", rules=rules, seed=1)
    roles = {**ROLES, "sensitive": ["disease", "note"], "keep": []}
    with pytest.raises(shoal.ParameterError, match="needs an l for every sensitive column; note"):
        shoal.anonymize(table, **roles, method="dummies", rules=rules)
    with pytest.raises(shoal.Infeasible, match="l-diversity"):
        shoal.anonymize(table, **ROLES, method="dummies", rules=[shoal.LDiversity(9, "disease")])

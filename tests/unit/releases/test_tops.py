"""The top of a hierarchy is published by its own name, and ``*`` is a gap."""

import warnings

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.catalog import METHODS
from shoal.tables.domain import Taxonomy

GENERALIZING = [entry.name for entry in METHODS.values() if entry.release == "generalized"]


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", shoal.ShoalWarning)
        yield


def sexes(top="Person"):
    return {"sex": Taxonomy.from_rows([("m", top), ("f", top)], "sex")}


def people(sex):
    ill = [("flu", "cold")[place % 2] for place in range(len(sex))]
    return pl.DataFrame({"sex": pl.Series(sex, dtype=pl.String), "ill": ill})


def published(frame, top="Person", k=2, method="incognito", **more):
    return shoal.anonymize(
        frame, quasi="sex", sensitive="ill", hierarchies=sexes(top), k=k, method=method, **more
    )


@pytest.mark.slow
def test_a_generalized_value_is_the_top_and_a_gap_is_a_star():
    assert set(published(people(["m", "f"])).frame["sex"]) == {"Person"}
    assert set(published(people([None, None])).frame["sex"]) == {"*"}
    # A class has one cell in a column: join(*, v) = *.
    assert set(published(people(["m", None])).frame["sex"]) == {"*"}
    assert set(published(people(["m", "f"]), top="*").frame["sex"]) == {"*"}


def test_telling_them_apart_makes_two_classes_that_both_keep_the_promise():
    frame = pl.DataFrame(
        {
            "sex": ["m", "f", None, "m"],
            "town": ["A", "A", "A", "A"],
            "ill": ["flu", "cold", "flu", "cold"],
        }
    )
    for top, cells, classes in (("Person", {"Person", "*"}, 2), ("*", {"*"}, 1)):
        released = pl.DataFrame(
            {"sex": [top, top, "*", "*"], "town": ["A"] * 4, "ill": frame["ill"]}
        )
        opened = shoal.open_release(
            released, quasi=["sex", "town"], sensitive="ill", hierarchies=sexes(top)
        )
        assert set(opened.frame["sex"]) == cells
        assert opened.classes.max() + 1 == classes
        assert opened.with_original(frame).audit(k=2).holds
        assert opened.audit(k=3).holds == (top == "*")


def test_the_top_covers_every_value_and_no_gap():
    frame = people(["m", "f", None, None])
    wrong = pl.DataFrame({"sex": ["Person"] * 4, "ill": frame["ill"]})
    roles = {"quasi": "sex", "sensitive": "ill", "hierarchies": sexes(), "k": 2}
    assert not shoal.audit(wrong, original=frame, **roles).holds
    right = wrong.with_columns(sex=pl.Series(["Person", "Person", "*", "*"]))
    assert shoal.audit(right, original=frame, **roles).holds


@pytest.mark.slow
@pytest.mark.parametrize("method", GENERALIZING)
def test_only_the_name_differs(method):
    """The same seed gives the same release, whatever the top is called."""
    rng = np.random.default_rng(4)
    rows = 60
    frame = pl.DataFrame(
        {
            "age": rng.integers(20, 40, rows),
            "sex": rng.choice(["m", "f", None], rows, p=[0.5, 0.45, 0.05]).tolist(),
            "ill": rng.choice(["flu", "cold", "gout", "ulcer"], rows),
        }
    )
    promise = {"tp": {"l": 2, "l_kind": "frequency"}, "l-clustering": {"l": 2}}
    promise |= {"tp+": promise["tp"], "buckets": promise["tp"]}
    promise |= {key: {"alpha": 0.8, "k": 3} for key in ("simanony", "singanony", "multianony")}
    promise["l-incognito"] = {"l": 2}
    both = [
        shoal.anonymize(
            frame,
            quasi=["age", "sex"],
            sensitive="ill",
            hierarchies=sexes(top),
            method=method,
            seed=2**70,
            **promise.get(method, {"k": 6}),
        )
        for top in ("Person", "*")
    ]
    own, starred = (release.frame for release in both)
    assert own.with_columns(pl.col("sex").replace("Person", "*")).equals(starred)
    assert both[0].loss.rate == both[1].loss.rate
    gaps = frame.height - frame["sex"].count()
    assert (own["sex"] == "*").sum() >= gaps
    assert both[0].verdict.holds


@pytest.mark.slow
def test_what_is_read_from_a_top():
    """Counts, beliefs, attacks and figures take the top for any value, as they take a star."""
    frame = people(["m", "f"] * 10)
    made, starred = (published(frame, top, k=20).with_original(frame) for top in ("Person", "*"))
    for release in (made, starred):
        assert release.estimate("ill", "sex").counts.count.ravel().tolist() == [5.0] * 4
        assert release.plot.gaps()["after"].to_list() == [1.0, 0.0]
        assert "No cell of this column says anything" in release.plot.distribution("sex").text
        assert "Person" in release.page() or release is starred
    assert made.risk().to_dict() == starred.risk().to_dict()
    assert made.attack(seed=1).to_dict() == starred.attack(seed=1).to_dict()

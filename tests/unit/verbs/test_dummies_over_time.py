"""Dummy values over time: who is released again with the same value keeps the set."""

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.releases.history.check import check_history
from shoal.releases.history.store import History

pytestmark = pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
ROLES = {"quasi": ["age", "sex"], "sensitive": ["ill", "job"], "person": "id", "keep": "mark"}
ASKED = {**ROLES, "method": "dummies", "l": 3}
ILLS, JOBS = ["flu", "cold", "gout", "hiv", "acne", "asthma"], list("abcde")


def people(rng, before=None):
    """Return a random table: people stay, change, leave and come; some values are missing."""
    ids = [f"p{number}" for number in rng.choice(60, 40, replace=False)]
    frame = pl.DataFrame(
        {
            "id": ids,
            "age": rng.integers(20, 24, 40).tolist(),
            "sex": rng.choice(list("fm"), 40).tolist(),
            "ill": rng.choice([*ILLS, None], 40).tolist(),
            "job": rng.choice(JOBS, 40).tolist(),
        }
    )
    if before is not None:
        old = {row["id"]: row for row in before.to_dicts()}
        rows = frame.to_dicts()
        for row in rows:
            if row["id"] in old and rng.random() < 0.7:
                row.update({name: old[row["id"]][name] for name in ("ill", "job")})
        frame = pl.DataFrame(rows, schema=frame.schema)
    twice = frame.head(3).with_columns(age=pl.col("age") + 1)  # people with two rows
    return pl.concat([frame, twice]).with_row_index("mark").with_columns(pl.col("mark").cast(int))


def attacked(seed, folder, releases=4, missing="hide"):
    """Release a random series and return what is wrong with it, found with plain Python."""
    rng = np.random.default_rng(seed)
    told, sets, table = [], {}, None
    folder.mkdir()
    for number in range(releases):
        table = people(rng, table)
        made = shoal.anonymize(table, **ASKED, options={"missing": missing}, history=folder)
        truth = {row["mark"]: row for row in table.to_dicts()}
        for row in made.frame.to_dicts():
            for name in ("ill", "job"):
                own, published = truth[row["mark"]][name], row[name]
                if own is None and missing == "keep":
                    told += [] if published is None else ["a gap was filled"]
                    continue
                if len(set(published)) != 3 or (own is not None and own not in published):
                    told.append(f"{published} is no set of three with its value")
                key = (truth[row["mark"]]["id"], name, own)
                if sets.setdefault(key, published) != published:
                    told.append(f"release {number}: {key} has another set than before")
        told += check_history(made.local_tables, History.read(folder))
    # What an attacker is left with who has all releases: while nothing changes, the whole set.
    assert len(sets) > 60
    return told


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "missing"), [(1, "hide"), (2, "keep")])
def test_random_series_keep_every_set_for_life(tmp_path, seed, missing):
    assert attacked(seed, tmp_path / "history", missing=missing) == []


@pytest.fixture
def series(tmp_path):
    rng = np.random.default_rng(5)
    table = people(rng)
    folder = tmp_path / "history"
    folder.mkdir()
    return table, folder, shoal.anonymize(table, **ASKED, history=folder)


@pytest.mark.slow
def test_a_value_that_nobody_has_any_more_stays_in_the_sets(series):
    table, folder, first = series
    rare = table.with_columns(pl.col("ill").replace("hiv", "flu"))
    second = shoal.anonymize(rare, **ASKED, history=folder)
    assert second.made.notes["sets kept"] > 60
    assert "hiv" in second.frame["ill"].list.explode().to_list()
    before, now = (
        release.frame.filter(pl.col("mark").is_in(table.filter(pl.col("ill") == "cold")["mark"]))
        for release in (first, second)
    )
    assert before.sort("mark")["ill"].to_list() == now.sort("mark")["ill"].to_list()


def test_a_release_with_other_sets_is_found_out(series):
    _table, folder, first = series
    history = History.read(folder)
    assert check_history(first.local_tables, history) == []
    spoilt = history.records.with_columns(pl.col("signature").list.head(2))
    other = History(folder, history.heads, spoilt, history.digest)
    found = check_history(first.local_tables, other)
    assert any("without their value" in text for text in found)
    assert any("not those that the history says" in text for text in found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"l": 2}, "its l is '3 of ill', '3 of job', and here it is '2 of ill', '2 of job'"),
        ({"person": None}, "no column says whose row"),
        ({"sensitive": "ill"}, "one of another series"),
        ({"method": "shoal", "m": 2, "l": None, "sensitive": "ill", "keep": None}, "its rule is"),
        ({"domain": {"ill": ["flu", "cold", "gout"]}}, "lacks"),
        ({"method": "anatomy", "l_kind": "frequency", "person": None}, "nothing asked for needs"),
    ],
)
def test_another_series_is_refused(series, asked, said):
    table, folder, _ = series
    table = table.with_columns(pl.col("ill").fill_null("flu")).unique("id", keep="last")
    if "domain" in asked:
        table = table.with_columns(pl.lit("flu").alias("ill"))
    names = sorted(path.name for path in folder.iterdir())
    with pytest.raises(shoal.ShoalError, match=said):
        shoal.anonymize(table, **{**ASKED, "history": folder, **asked})
    assert sorted(path.name for path in folder.iterdir()) == names

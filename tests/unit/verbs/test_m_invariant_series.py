"""Series of releases under m-invariance: signatures for life, counterfeits, the history."""

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.groupers.signatures import assign_signatures, fills
from shoal.kernels.split_buckets import closest, halve
from shoal.releases.history import check
from shoal.releases.history.store import History, digest
from tests.naive import invariance as naive

pytestmark = pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
ROLES = {"quasi": ["age", "sex"], "sensitive": "ill", "person": "id"}


def people(ids, ills, ages=None):
    rng = np.random.default_rng(len(ids))
    ages = rng.integers(20, 60, len(ids)).tolist() if ages is None else ages
    sexes = ["fm"[number % 2] for number in range(len(ids))]
    return pl.DataFrame({"id": ids, "age": ages, "sex": sexes, "ill": ills})


def released(frame, folder, m=2, **asked):
    return shoal.anonymize(frame, m=m, history=folder, **ROLES, **asked)


def as_told(release, folder):
    """Return a release and its people as plain Python has them, from the files."""
    history = History.read(folder)
    cells = [json.dumps(row) for row in release.frame.select("age", "sex").rows()]
    classes = {}
    for key, value in zip(cells, release.frame["ill"], strict=True):
        classes.setdefault(key, []).append(value)
    who = history.classes(len(history.heads) - 1)
    inside = {person: (cell, value) for person, value, cell in who.iter_rows()}
    signatures = {
        (person, value): set(values) for _, person, value, values in history.records.iter_rows()
    }
    return (classes, inside), signatures


# The values of a table, and how they are divided


def test_a_series_worked_by_hand():
    """Four people, two values each: one leaves, and the one who hid behind her stays hidden."""
    values = np.array([0, 0, 1, 1])
    rng = np.random.default_rng(0)
    first = assign_signatures(values, 2, rng)
    assert first.signatures == ((0, 1),)
    assert first.bucket.tolist() == [0, 0, 0, 0]
    assert not first.lacking.size
    # The second row of value 0 has left: its bucket lacks one, and nobody new has that value.
    second = assign_signatures(
        np.array([0, 1, 1, 2]), 2, rng, np.array([0, 0, 0, -1]), first.signatures
    )
    assert second.bucket[:3].tolist() == [0, 0, 0]
    assert [0, 0] in second.lacking.tolist()
    # Somebody new has it: no counterfeit is needed for the bucket.
    third = assign_signatures(
        np.array([0, 1, 1, 0]), 2, rng, np.array([0, 0, 0, -1]), first.signatures
    )
    assert third.bucket.tolist() == [0, 0, 0, 0]
    assert not third.lacking.size


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**6))
def test_every_bucket_is_balanced_and_signatures_last(seed):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 5))
    span = m + int(rng.integers(1, 5))
    gap = span if rng.random() < 0.3 else -1
    values = np.concatenate((np.arange(span), rng.integers(0, span + (gap > 0), 30)))
    kept, signatures = None, ()
    for _ in range(3):
        signed = assign_signatures(values, m, rng, kept, signatures, gap=gap)
        for number, signature in enumerate(signed.signatures):
            own = values[signed.bucket == number].tolist()
            own += signed.lacking[signed.lacking[:, 0] == number, 1].tolist()
            assert {own.count(value) for value in signature} == {len(own) / len(signature)}
            assert len([value for value in signature if value != gap]) >= m
        assert kept is None or (signed.bucket[kept >= 0] == kept[kept >= 0]).all()
        stay = rng.random(values.size) < 0.7
        fresh = rng.integers(0, span, 9)
        kept = np.concatenate((signed.bucket[stay], np.full(fresh.size, -1)))
        values, signatures = np.concatenate((values[stay], fresh)), signed.signatures


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6))
def test_as_many_new_rows_fill_gaps_as_can_be_spared(seed):
    """Beside every choice there is: what is left can be divided, and no choice spares more."""
    rng = np.random.default_rng(seed)
    supply, wanted = rng.integers(0, 4, 3), rng.integers(0, 4, 3)
    known = np.ones(3, bool)

    def fine(filled):
        rest = supply - filled
        return rest.max() * 2 <= rest.sum()

    able = [range(min(s, w) + 1) for s, w in zip(supply, wanted, strict=True)]
    every = [np.array((a, b, c)) for a in able[0] for b in able[1] for c in able[2]]
    possible = [choice.sum() for choice in every if fine(choice)]
    filled = fills(supply, wanted, 2, known)
    assert (filled <= np.minimum(supply, wanted)).all()
    if possible:
        assert fine(filled)
        assert filled.sum() == max(possible)


def test_halves_have_one_row_of_every_value_and_are_narrow():
    rng = np.random.default_rng(4)
    codes = np.concatenate((rng.integers(0, 5, (8, 2)), rng.integers(50, 55, (8, 2))))
    codes = codes.astype(np.int32)
    codes.setflags(write=False)  # as those of a table, for which the kernel is compiled
    rows = np.array([[0, 8, 1, 9, 2, 10, 3, 11], [4, 12, 5, 13, 6, 14, 7, 15]])
    halve(codes, rows, np.array([60, 60]))
    assert sorted(rows[0].tolist()) == [0, 1, 2, 3, 8, 9, 10, 11]
    # Far apart rows are in different groups.
    assert all((a < 8) == (b < 8) for a, b in rows.T)


@pytest.mark.slow
def test_the_closest_pairs_are_those_of_a_loop():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 9, (14, 2)).astype(np.int32)
    codes.setflags(write=False)
    size = np.array([8, 8])  # the position after the last is a gap
    rows, places = np.arange(6), np.arange(6, 14)

    def far(a, b):
        each = [
            0 if x == y else 1 if max(x, y) >= 8 else abs(int(x) - int(y)) / 7
            for x, y in zip(codes[a], codes[b], strict=True)
        ]
        return np.float32(sum(each))

    pairs = sorted((far(a, b), i, j) for i, a in enumerate(rows) for j, b in enumerate(places))
    wanted, gone, filled = [], set(), set()
    for _, i, j in pairs:
        if i not in gone and j not in filled and len(wanted) < 5:
            wanted.append([i, j])
            gone.add(i)
            filled.add(j)
    assert closest(codes, rows, places, size, 5).tolist() == wanted


# Series of releases


@pytest.mark.slow
@pytest.mark.parametrize("method", ["shoal", "buckets", "mondrian"])
def test_random_series_keep_every_signature(tmp_path, method):
    rng = np.random.default_rng(7)
    ills = np.array(["flu", "cold", "gout", "hiv", None], object)
    pool = {f"p{i}": rng.choice(ills, p=[0.28, 0.3, 0.2, 0.2, 0.02]) for i in range(130)}
    told = []
    for number in range(4):
        if number == 2:
            for person in list(pool)[::9]:
                pool[person] = rng.choice(ills[:4])
        there = [person for person in pool if rng.random() < 0.75]
        frame = people(there, [pool[person] for person in there])
        release = released(frame, tmp_path, method=method)
        told.append(as_told(release, tmp_path)[0])
        (_, inside), signatures = as_told(release, tmp_path)
        assert {p: v for p, (_, v) in inside.items()} == {p: pool[p] for p in there}
        assert (
            release.made.rows_out - len(there)
            == release.tables["counterfeits"]["counterfeits"].sum()
        )
        assert release.verdict.people == len(there)
    assert naive.violations(told, signatures, 2) == []
    assert naive.left(told, 2) == []


@pytest.mark.slow
def test_who_returns_and_who_changes_back_has_the_signature_from_before(tmp_path):
    ids, ills = [f"p{i}" for i in range(8)], ["flu", "cold", "gout", "hiv"] * 2
    released(people(ids, ills), tmp_path)
    first = as_signed(tmp_path)
    released(people(ids[1:], ["hiv", *ills[2:]]), tmp_path)  # p0 leaves, p1 changes
    released(people(ids, ills), tmp_path)  # p0 returns, p1 is as before
    last = as_signed(tmp_path)
    assert {key: last[key] for key in first} == first
    assert ("p1", "hiv") in last


def as_signed(folder):
    records = History.read(folder).records
    return {(person, value): tuple(own) for _, person, value, own in records.iter_rows()}


@pytest.mark.slow
def test_a_counterfeit_looks_like_everybody(tmp_path):
    """By type, by cell and by place: only the history and the count beside the release tell."""
    rng = np.random.default_rng(2)
    ids = [f"p{i}" for i in range(60)]
    ills = rng.integers(1, 5, 60).tolist()
    released(people(ids, ills), tmp_path)
    second = released(people(ids[:40], ills[:40]), tmp_path)
    many = int(second.tables["counterfeits"]["counterfeits"].sum())
    assert many == second.made.rows_out - 40 > 0
    assert second.made.notes["counterfeits"] == many
    assert second.frame["ill"].dtype == pl.Int64
    assert second.frame.columns == ["age", "sex", "ill"]
    assert second.frame.null_count().sum_horizontal().item() == 0
    # Somewhere in the order, not at its end: their classes are spread over the file.
    text = second.frame.write_csv() + second.tables["counterfeits"].write_csv()
    assert "\x00" not in text
    assert not any(person in text for person in ids)
    assert "p1" not in json.dumps(second.to_dict())
    assert str(tmp_path) not in json.dumps(second.to_dict())


@pytest.mark.slow
def test_a_value_that_nobody_has_any_more_is_still_hidden_among(tmp_path):
    ids = [f"p{i}" for i in range(6)]
    released(people(ids, [1, 2, 1, 2, 3, 4]), tmp_path)
    second = released(people([*ids[::2], "p9"], [1, 1, 3, 4]), tmp_path)
    assert 2 in second.frame["ill"].to_list()
    assert second.frame["ill"].dtype == pl.Int64


@pytest.mark.slow
def test_the_check_finds_what_is_wrong(tmp_path):
    ids, ills = [f"p{i}" for i in range(12)], ["flu", "cold", "gout"] * 4
    release = released(people(ids, ills), tmp_path)
    history = History.read(tmp_path)
    records, classes = history.records, history.classes(0)

    def faults(opened=release.local_tables, m=2, records=records, classes=classes, before=records):
        return check.invariance_faults(opened, "ill", m, records, classes, before)

    assert faults() == []
    assert "fewer than 4 values" in faults(m=4)[0]
    other = records.with_columns(pl.col("signature").list.reverse().list.head(1))
    assert any("another signature" in fault for fault in faults(before=other))
    assert any("no signature" in fault for fault in faults(records=records[:3], before=None))
    swapped = release.frame.with_columns(pl.Series("ill", ["flu"] * release.frame.height))
    wrong = shoal.open_release(swapped, plan=release.plan).local_tables
    assert any("do not have the values" in fault for fault in faults(wrong))
    told = {"release": release.frame, "counterfeits": release.frame.head(1).select("age", "sex")}
    told["counterfeits"] = told["counterfeits"].with_columns(counterfeits=pl.lit(1))
    assert any("told wrongly" in f for f in faults(replace(release.local_tables, tables=told)))


def test_a_digest_goes_by_what_a_table_says(tmp_path):
    frame = pl.DataFrame({"a": [1, 2, None], "b": ["x", "y", "z"], "c": [0.5, 2.0, 3.25]})
    frame.write_csv(tmp_path / "x.csv")
    frame.write_parquet(tmp_path / "x.parquet")
    texts = [shoal.read_table(tmp_path / name) for name in ("x.csv", "x.parquet")]
    assert {digest(each) for each in [frame, frame[::-1], frame.select("c", "a", "b"), *texts]} == {
        digest(frame)
    }
    assert digest(frame.with_columns(a=pl.Series([1, 2, 3]))) != digest(frame)


# What is refused


TABLE = people([f"p{i}" for i in range(12)], ["flu", "cold", "gout"] * 4)


@pytest.mark.parametrize(
    ("frame", "asked", "words"),
    [
        (TABLE, {"m": 2, "history": None}, "no history was given"),
        (TABLE, {"m": 2, "history": "nowhere"}, "begins with an empty folder"),
        (TABLE, {"m": 4}, "the largest m possible is 3"),
        (TABLE, {"m": 2, "t": 0.3}, "goes with k-anonymity and no other rule"),
        (TABLE, {"m": 2, "method": "incognito"}, "on one level"),
        (TABLE, {"m": 2, "method": "tp"}, "counts rows"),
        (TABLE, {"m": 2, "pseudonym": True}, "a pseudonym would show it"),
        (TABLE, {"m": 2, "person": None}, "no column says whose row"),
        (TABLE, {"k": 3}, "nothing asked for needs one"),
        (
            TABLE.with_columns(x=pl.lit(1)),
            {"m": 2, "keep": "x"},
            "show which rows of a class belong together",
        ),
        (pl.concat([TABLE, TABLE[:2]]), {"m": 2}, "4 rows are of 2 people who have several"),
        (TABLE.with_columns(id=pl.lit(None)), {"m": 2}, "say nothing in 'id'"),
        (TABLE.rename({"age": "counterfeits"}), {"m": 2}, "Rename the column"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_recorded(tmp_path, frame, asked, words):
    asked = {"history": tmp_path} | ROLES | asked
    if asked["history"] == "nowhere":
        asked["history"] = tmp_path / "nowhere"
    if "age" not in frame.columns:
        asked["quasi"] = ["counterfeits", "sex"]
    with pytest.raises(shoal.ShoalError, match=words):
        shoal.anonymize(frame, **asked)
    assert list(tmp_path.iterdir()) == []


def damage(folder, how):
    first, second = (folder / f"000{number}.history" for number in (1, 2))
    if how == "bytes":
        content = bytearray(second.read_bytes())
        content[-40] ^= 1
        second.write_bytes(content)
    elif how == "short":
        second.write_bytes(second.read_bytes()[:-9])
    elif how == "first lost":
        first.unlink()
    elif how == "mixed":
        first.write_bytes(second.read_bytes())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("bytes", "0002.history was changed or cut off"),
        ("short", "0002.history was changed or cut off"),
        ("first lost", "0001.history is missing"),
        ("mixed", "does not follow the file before it"),
    ],
)
def test_a_damaged_history_is_refused(tmp_path, how, words):
    for _ in range(2):
        released(TABLE, tmp_path)
    damage(tmp_path, how)
    with pytest.raises(shoal.InputError, match=words):
        released(TABLE, tmp_path)


def test_the_history_of_another_table_is_refused(tmp_path):
    released(TABLE, tmp_path)
    with pytest.raises(shoal.ParameterError, match="its m is 2, and here it is 3"):
        released(TABLE, tmp_path, m=3)
    strangers = TABLE.with_columns(id="q" + pl.col("id"))
    with pytest.raises(shoal.ParameterError, match="None of the 12 people"):
        released(strangers, tmp_path)
    with pytest.raises(shoal.ParameterError, match="its sensitive column is 'ill'"):
        shoal.anonymize(
            TABLE.rename({"ill": "bad"}), m=2, history=tmp_path, **(ROLES | {"sensitive": "bad"})
        )
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.slow
def test_a_history_older_than_a_release_is_refused(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    for folder in (old, new):
        folder.mkdir()
    first = released(TABLE, new)
    (old / "0001.history").write_bytes((new / "0001.history").read_bytes())
    second = released(TABLE[1:], new, against=[first])
    with pytest.raises(shoal.ParameterError, match="the history is older than it"):
        released(TABLE[2:], old, against=[first, second.frame])
    released(TABLE[2:], new, against=[first, second.frame])


@pytest.mark.slow
def test_without_a_history_a_release_is_held_against_earlier_ones():
    frame = people([f"p{i}" for i in range(60)], [*"abcdef"] * 10).drop("id")
    before = pl.DataFrame({"age": ["*"] * 3, "sex": ["*"] * 3, "ill": [*"abc"]})
    roles = {"quasi": ["age", "sex"], "sensitive": "ill"}
    shoal.anonymize(frame.filter(pl.col("ill") < "d"), l=3, against=[before], **roles)
    with pytest.raises(shoal.NotVerified, match="with the earlier releases"):
        shoal.anonymize(frame, l=3, against=[before], **roles)


@pytest.mark.slow
def test_two_runs_at_once_cannot_both_be_the_next(tmp_path):
    history = History.read(tmp_path)
    made = [shoal.open(TABLE, **ROLES).anonymize(m=2, history=history) for _ in range(2)]
    made[0].recorded()
    with pytest.raises(shoal.OutputError, match="already exists"):
        made[1].recorded()


def test_a_plan_names_its_history_and_its_figures_do_not(tmp_path):
    (tmp_path / "h").mkdir()
    plan = shoal.Plan.from_toml(
        '[data]\nhistory = "h"\n[[rules]]\nname = "m-invariance"\nm = 2\n', folder=tmp_path
    )
    release = shoal.anonymize(TABLE, plan=plan, **ROLES)
    assert len(History.read(tmp_path / "h").heads) == 1
    assert "history" not in release.to_dict()["plan"]["data"]

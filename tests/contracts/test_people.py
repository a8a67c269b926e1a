"""Every method counts people where a column says whose row it is, or refuses by name."""

import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.base.errors import Infeasible, ParameterError
from shoal.catalog import METHODS
from shoal.privacy import (
    All,
    AlphaK,
    BetaLikeness,
    EntropyLDiversity,
    FrequencyLDiversity,
    KAnonymity,
    LDiversity,
    RecursiveLDiversity,
    TCloseness,
    flatten,
)
from tests.naive.people import classes_of, keeps

QUASI = ["age", "town", "sex"]
RULES = {
    "k": KAnonymity(4),
    "l": All((KAnonymity(3), LDiversity(3, "ill"))),
    "l alone": LDiversity(2, "ill"),
    "entropy": EntropyLDiversity(2.0, "ill"),
    "recursive": RecursiveLDiversity(2, 3.0, "ill"),
    "frequency": FrequencyLDiversity(2, "ill"),
    "alpha": AlphaK(0.7, 4, "ill"),
    "alpha one": AlphaK(0.5, 3, "ill", ("a",)),
    "t": All((KAnonymity(3), TCloseness(0.4, "ill"))),
    "t ordered": TCloseness(0.3, "ill", "ordered"),
    "beta": BetaLikeness(1.5, "ill"),
    "beta enhanced": All((KAnonymity(2), BetaLikeness(2.0, "ill", enhanced=True))),
}


def table(n=120, people=45, seed=0, gaps=0.1):
    """Few people with many rows each, some with one value throughout, gaps in every column."""
    rng = np.random.default_rng(seed)
    whose = np.sort(rng.integers(0, people, n))
    home = rng.integers(0, 6, people)
    ill = np.where(rng.random(n) < 0.5, whose % 5, rng.integers(0, 5, n))
    columns = {
        "age": pl.Series(20 + whose % 40 + rng.integers(0, 3, n)),
        "town": pl.Series([f"t{home[who]}" for who in whose]),
        "sex": pl.Series(["fm"[who % 2] for who in whose]),
        "ill": pl.Series(["abcde"[value] for value in ill]),
    }
    holed = {
        name: column.set(pl.Series(rng.random(n) < gaps), None) for name, column in columns.items()
    }
    return pl.DataFrame({"who": [f"p{who}" for who in whose], "row": np.arange(n), **holed})


def released(frame, method, rule, seed=1, **options):
    """Return the published rows beside whose they are."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        release = shoal.anonymize(
            frame, quasi=QUASI, sensitive=["ill"], keep=["row"], person="who",
            method=method, rules=rule, seed=seed, **options,
        )  # fmt: skip
    out = release.frame
    assert "who" not in out.columns
    return out, frame["who"].gather(out["row"]).to_list(), release


def serves(name, rule):
    entry = METHODS[name]
    names = [part.name for part in flatten([rule])]
    able = entry.rules is None or all(part in entry.rules for part in names)
    return able and (not entry.needs or any(part in entry.needs for part in names))


def broken(out, persons, rule):
    """Return the classes that break the rule, counted in plain loops from the published cells."""
    rows = classes_of(out.select(QUASI).rows(), persons, out["ill"].to_list())
    whole = [row for each in rows for row in each]
    return [each for each in rows for part in flatten([rule]) if not keeps(part, each, whole)]


COUNTING = [
    (name, wish)
    for name, entry in METHODS.items()
    for wish, rule in RULES.items()
    if entry.release == "generalized" and not entry.rows_only and serves(name, rule)
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "wish"), COUNTING)
def test_no_class_breaks_its_rule_when_people_are_counted(name, wish):
    quick = {"effort": "fast"} if name == "shoal" and wish != "k" else {}
    out, persons, release = released(table(), name, RULES[wish], options=quick)
    assert not broken(out, persons, RULES[wish])
    assert release.verdict.people == len(set(persons))


@pytest.mark.parametrize("name", [name for name, entry in METHODS.items() if entry.rows_only])
def test_who_counts_rows_refuses(name):
    rule = next(rule for rule in RULES.values() if serves(name, rule))
    with pytest.raises(
        ParameterError, match=f"The method '{name.replace('+', '.')}' counts rows, and 'who'"
    ):
        released(table(), name, rule)


@pytest.mark.slow
def test_rows_alone_would_break_it():
    """Without the person the same run leaves classes of few people: the test above can fail."""
    frame = table()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        out = shoal.anonymize(frame, quasi=QUASI, sensitive=["ill"], keep=["row"], k=4, seed=1)
    persons = frame["who"].gather(out.frame["row"]).to_list()
    assert broken(out.frame, persons, RULES["k"])


@pytest.mark.slow
def test_dummies_give_the_rows_of_a_person_with_one_value_one_set():
    out, persons, _ = released(table(), "dummies", LDiversity(3, "ill"))
    truth = table()["ill"].gather(out["row"]).to_list()
    sets = {}
    for person, value, cell in zip(persons, truth, out["ill"].to_list(), strict=True):
        sets.setdefault((person, value), set()).add(tuple(cell))
    assert len(sets) < len(persons)
    assert all(len(own) == 1 for own in sets.values())


@pytest.mark.parametrize("name", ["shoal", "mondrian", "incognito"])
def test_one_person_with_all_rows_is_refused(name):
    frame = table().with_columns(who=pl.lit("p"))
    with pytest.raises(Infeasible, match="the table has only 1 person; no k is possible"):
        released(frame, name, KAnonymity(4))


@pytest.mark.parametrize("name", ["incognito", "k-member"])
def test_rows_left_out_are_not_counted(name):
    options = {"suppression": 0.3} if name == "incognito" else {"missing": "drop"}
    out, persons, _ = released(table(n=200, people=80), name, KAnonymity(4), options=options)
    assert not broken(out, persons, KAnonymity(4))


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    people=st.integers(4, 60),
    name=st.sampled_from(["shoal", "mondrian", "k-member", "alpha-k", "kaim"]),
    wish=st.sampled_from([wish for wish, rule in RULES.items()]),
)
def test_no_table_passes_with_a_broken_class(seed, people, name, wish):
    frame = table(80, people, seed)
    try:
        out, persons, _ = released(
            frame, name, RULES[wish], options={"effort": "fast"} if name == "shoal" else {}
        )
    except Infeasible:
        return
    assert not broken(out, persons, RULES[wish])

"""A declared domain: dummies come from all of it, the release carries it, estimates use it."""

import warnings

import numpy as np
import polars as pl
import pytest

import shoal

ILL = ("flu", "cold", "gout")
EVERY = (*ILL, "ulcer", "plague")


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", shoal.ShoalWarning)
        yield


def people(rows=40):
    rng = np.random.default_rng(3)
    return pl.DataFrame({"age": rng.integers(20, 60, rows), "ill": rng.choice(ILL, rows)})


def opened(frame=None, domain=EVERY, **more):
    frame = people() if frame is None else frame
    return shoal.open(frame, quasi="age", sensitive="ill", domain={"ill": domain}, **more)


def made(frame=None, l=4, domain=EVERY, **more):  # noqa: E741
    return opened(frame, domain).anonymize(l=l, method="dummies", **more)


def test_table_4_can_come_out():
    """Every value of S is drawn in the end, also those that nobody has."""
    drawn = set()
    for _ in range(100):
        drawn |= set(made(people(4), l=2).frame["ill"].explode())
        if drawn == set(EVERY):
            return
    pytest.fail(f"Only {drawn} were drawn.")


def test_the_domain_gives_each_value_the_same_chance():
    frame = pl.DataFrame({"age": [1] * 20_000, "ill": ["flu", "cold"] * 10_000})
    sets = made(frame, l=3, seed=2**70).frame["ill"].explode().value_counts(name="n")
    counts = dict(sets.iter_rows())
    assert set(counts) == set(EVERY)
    others = [counts[name] for name in ("gout", "ulcer", "plague")]
    assert np.allclose(others, 20_000 * 2 / 4, rtol=0.05)


def test_an_l_that_only_the_domain_allows():
    with pytest.raises(shoal.Infeasible, match="only 3 different values"):
        shoal.anonymize(people(), quasi="age", sensitive="ill", method="dummies", l=5)
    assert made(l=5).achieved == {"l": 5}
    with pytest.raises(shoal.Infeasible, match=r"only 5 different values; the largest l .* is 5"):
        made(l=6)
    # What no class can have helps no other method.
    with pytest.raises(shoal.Infeasible, match="only 3 different values"):
        opened().anonymize(l=5, method="mondrian")


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".csv.gz", ".feather"])
def test_the_domain_stands_beside_the_file(tmp_path, ending):
    made(people(2), l=2).write(tmp_path / f"x{ending}")
    table = shoal.read_table(tmp_path / f"x.domain{ending}")
    assert table.rows() == [("ill", value) for value in sorted(EVERY)]
    found = shoal.open_release(tmp_path / f"x{ending}", quasi="age", sensitive="ill")
    assert found.estimate("ill").counts.values == tuple(sorted(EVERY))
    assert found.audit(l=2).holds
    # Without it the reader can only take the values in the sets.
    (tmp_path / f"x.domain{ending}").unlink()
    alone = shoal.estimate(tmp_path / f"x{ending}", "ill").counts.values
    assert set(alone) < set(EVERY)
    given = shoal.estimate(tmp_path / f"x{ending}", "ill", domain={"ill": EVERY})
    assert given.counts.values == tuple(sorted(EVERY))


def test_neither_table_nor_figures_tell_which_values_nobody_has():
    release = made(l=2, domain=tuple(reversed(EVERY)))
    assert release.tables["domain"]["value"].to_list() == sorted(EVERY)
    assert release.to_dict()["plan"]["columns"]["ill"]["domain"] == sorted(EVERY)


def test_the_estimate_uses_the_domain():
    """Ten rows, l = 2 of 5 values: q is 1/4, and not 1/2 as for the three in the sets."""
    frame = pl.DataFrame(
        {"age": [1] * 10, "ill": ['["cold", "flu"]'] * 8 + ['["flu", "gout"]'] * 2}
    )
    three = shoal.estimate(frame, "ill", estimator="closed").counts
    five = shoal.estimate(frame, "ill", estimator="closed", domain={"ill": EVERY}).counts
    assert np.allclose(three.count[0], np.array([6, 10, 0]) * 10 / 16)
    assert five.values == ("cold", "flu", "gout", "plague", "ulcer")
    assert np.allclose(five.count[0], np.array([5.5, 7.5, 0, 0, 0]) * 10 / 13)
    even = shoal.estimate(frame, "ill", estimator="even", domain={"ill": EVERY}).counts
    assert even.count[0].tolist() == [4, 5, 1, 0, 0]


def test_a_large_eps_stops_at_once():
    release = made(people(400), l=2)
    counts = [release.estimate("ill", eps=eps).counts.count for eps in (1e6, 1.0, 0.01, None)]
    even = release.estimate("ill", estimator="even").counts.count
    assert np.abs(counts[0] - even).max() > 0  # one step
    assert np.abs(counts[2] - counts[1]).max() > 0
    assert (counts[2] == counts[3]).all()


def test_an_audit_finds_sets_from_elsewhere():
    frame = made().frame
    verdict = shoal.audit(frame, quasi="age", sensitive="ill", l=4, domain={"ill": EVERY[1:]})
    assert verdict.faults == (
        "The sets of column 'ill' hold 1 values that its domain lacks: every value of a set must "
        "come from it.",
    )
    assert shoal.audit(frame, quasi="age", sensitive="ill", l=4, domain={"ill": EVERY}).holds
    with pytest.raises(shoal.InputError, match=r"hold 1 values that its domain lacks: 'flu'. Give"):
        shoal.estimate(frame, "ill", domain={"ill": EVERY[1:]})


def test_an_audit_compares_the_declared_domain_with_the_published_one(tmp_path):
    made().write(tmp_path / "x.csv")
    roles = {"quasi": "age", "sensitive": "ill"}
    wide = {"ill": [*EVERY, "scurvy"]}
    assert shoal.audit(tmp_path / "x.csv", **roles, l=4, domain=wide).faults == (
        "The published domain of column 'ill' has 5 values and is not the declared one of 6 "
        "values.",
    )
    with (tmp_path / "x.domain.csv").open("a") as stream:
        stream.write("ill,flu\n")
    found = shoal.audit(tmp_path / "x.csv", **roles, l=4)
    assert found.faults == ("The published domain of column 'ill' lists a value twice.",)
    (tmp_path / "x.domain.csv").write_text("a,b\n1,2\n")
    with pytest.raises(shoal.InputError, match="has the columns 'a', 'b'; 'column' and 'value'"):
        shoal.audit(tmp_path / "x.csv", **roles, l=4)


def test_a_domain_is_read_from_a_file_and_kept_in_a_plan(tmp_path):
    (tmp_path / "all.txt").write_text("flu\ncold\n\ngout\nplague\n", encoding="utf-8-sig")
    table = opened(domain=tmp_path / "all.txt")
    text = table.plan.to_toml()
    assert 'domain = ["flu", "cold", "gout", "plague"]' in text
    plan = shoal.Plan.from_toml(text)
    release = shoal.anonymize(
        people(), plan=plan, rules=shoal.LDiversity(4, "ill"), method="dummies"
    )
    assert set(release.frame["ill"].explode()) == {"flu", "cold", "gout", "plague"}
    assert any("A domain is declared" in said for said in release.warnings)


def test_numbers_have_a_domain_too():
    frame = people().with_columns(ill=pl.Series(range(40)) % 3)
    release = made(frame, domain=[0, 1, 2, 10, 11])
    assert release.estimate("ill").counts.values == ("0", "1", "2", "10", "11")


def test_texts_that_look_like_numbers_stay_as_they_are(tmp_path):
    texts = ("1.50", "007", "2.5")
    frame = pl.DataFrame({"age": [1, 2, 3], "group_id": [1, 2, 3], "ill": texts})
    table = shoal.open(
        frame, quasi="age", sensitive="ill", keep="group_id", domain={"ill": [*texts, "3.0"]}
    )
    table.anonymize(l=2, method="dummies").write(tmp_path / "x.csv")
    opened = shoal.open_release(tmp_path / "x.csv", quasi="age", sensitive="ill")
    assert opened.audit(l=2).holds
    assert opened.estimate("ill").counts.values == ("1.50", "2.5", "3.0", "007")


@pytest.mark.parametrize(
    ("domain", "said"),
    [
        (EVERY[1:], r"lacks 1 of the 3 values that the table has there: 'flu'. Add them"),
        ((), r"the domain of column 'ill' lists no value. List every value"),
        ((*EVERY, "flu"), r"the domain of column 'ill' lists 'flu' more than once. List each once"),
        ((*EVERY, " "), r"lists an empty text, which means missing. Leave it out"),
        ("nothing.txt", r"cannot be read from 'nothing.txt': .* one value a line"),
    ],
)
def test_bad_domains_are_refused(domain, said):
    with pytest.raises(shoal.ShoalError, match=said):
        made(l=2, domain=domain)


def test_only_a_sensitive_column_has_a_domain():
    with pytest.raises(shoal.SchemaError, match="declares a domain but its role is quasi"):
        shoal.open(people(), quasi=["age", "ill"], domain={"ill": EVERY})
    with pytest.raises(shoal.PlanError, match="The domain of column 'il' was given, and the colu"):
        shoal.open(people(), quasi="age", sensitive="ill", domain={"il": EVERY})


def test_a_fault_in_a_plan_has_its_line():
    text = '[columns.age]\nrole = "quasi"\n[columns.ill]\nrole = "sensitive"\ndomain = []\n'
    with pytest.raises(shoal.PlanError, match="plan, line 5: the domain of column 'ill' lists no"):
        shoal.Plan.from_toml(text)


def test_eps_needs_something_that_iterates():
    release = made()
    with pytest.raises(shoal.ParameterError, match=r"estimated by 'closed', which has none. Leave"):
        release.estimate("ill", estimator="closed", eps=1.0)
    with pytest.raises(shoal.ParameterError, match=r"'eps' parameter .* \(0, inf\). Got 0.0"):
        release.estimate("ill", eps=0.0)
    wide = opened().anonymize(k=5, method="mondrian")
    with pytest.raises(shoal.ParameterError, match="estimated by 'uniform', which has none"):
        wide.estimate("ill", eps=1.0)

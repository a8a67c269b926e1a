"""Every method says how its paper has it, and runs that way by one switch."""

import polars as pl
import pytest

import shoal
from shoal.catalog import METHODS
from shoal.plan.plan import Plan
from shoal.tables import papers
from tests.inprocess import shoal as cli

ROLES = {"quasi": ["age", "zipcode"], "sensitive": "disease"}
RULES = {
    "l-diversity": {"l": 2},
    "alpha-k-anonymity": {"k": 2, "alpha": 0.5},
    "frequency-l-diversity": {"l": 2, "l_kind": "frequency"},
}
PAPERS = [name for name, entry in METHODS.items() if entry.paper is not None]


def promise(entry):
    for name, flags in RULES.items():
        if name in entry.needs:
            return flags
    return {"l": 2, "l_kind": "frequency"} if entry.rules else {"k": 2}


def test_a_method_has_a_paper_or_says_why_not():
    for entry in METHODS.values():
        assert (entry.paper is None) == bool(entry.ours)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PAPERS)
def test_as_in_paper_takes_all_that_the_catalog_declares(name):
    entry = METHODS[name]
    table = shoal.open(papers.L_CLUSTERING_1, **ROLES)
    asked = promise(entry)
    release = table.anonymize(**asked, method=name, as_in_paper=True)
    assert release.verdict.holds
    declared = release.plan.method.options
    assert entry.paper.options.items() <= declared.items()
    if entry.paper.exact_ends:
        assert {part.grid for part in release.plan.columns.values()} == {"off", None}
    # The plan of the run repeats it, as every plan does.
    again = Plan.from_toml(release.plan.to_toml())
    assert again.release.as_in_paper
    assert again.final().method == release.plan.method
    assert shoal.audit(release.frame, **ROLES, **asked, st=release.tables.get("st")).holds


def test_an_option_that_contradicts_the_paper_is_refused():
    table = shoal.open(papers.KAIM_1, quasi=["age", "zipcode"])
    with pytest.raises(shoal.ShoalError, match=r"weights = balanced of 'kaim'.*it is unit.*Leave"):
        table.anonymize(method="kaim", options={"weights": "balanced"}, as_in_paper=True)


def test_our_own_methods_are_refused():
    table = shoal.open(papers.KAIM_1, quasi=["age", "zipcode"])
    with pytest.raises(shoal.ShoalError, match=r"no paper has 'shoal'.*own\. Leave it out.*'kaim'"):
        table.anonymize(as_in_paper=True)
    with pytest.raises(shoal.ShoalError, match="'singanony' and 'multianony' are the paper's"):
        table.anonymize(method="alpha-k", as_in_paper=True)


@pytest.mark.filterwarnings("ignore")
def test_the_estimate_as_in_the_paper_stops_at_one_row():
    sets = papers.DUMMIES_1.with_columns(disease=pl.Series([list(p) for p in papers.DUMMIES_4]))
    release = shoal.open_release(
        sets.select("gender", "disease"),
        quasi="gender",
        sensitive="disease",
        domain={"disease": papers.DUMMIES_DOMAIN},
    )
    theirs = release.estimate("disease=HIV", by="gender=F", as_in_paper=True).counts.count
    assert theirs[0, 0] == pytest.approx(1.127273, abs=1e-6)
    with pytest.raises(shoal.ShoalError, match=r"'iterative' with eps = 1\. Got 'em'\. Leave"):
        release.estimate("disease", estimator="em", as_in_paper=True)


@pytest.mark.slow
def test_the_command_prints_what_the_paper_sets(tmp_path):
    table = tmp_path / "x.csv"
    papers.L_CLUSTERING_1.write_csv(table)
    out = tmp_path / "y.csv"
    flags = ["--quasi", "age,zipcode", "--sensitive", "disease", "--l", "3", "-o", str(out)]
    done = cli(tmp_path, "anonymize", table, *flags, "--method", "l-clustering", "--as-in-paper")
    assert "As in Wang, Xu, Wang, Shi 2010: intervals end at values" in done.stdout
    listed = cli(tmp_path, "methods").stdout
    assert "--as-in-paper: weights = unit; the top of a hierarchy is published as *" in listed

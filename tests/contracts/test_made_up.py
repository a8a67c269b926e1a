"""A rule, a method and a loss of nobody's, walked through the whole program.

Nothing but their module and their entries is written for them: whatever does not know them keeps a
list of its own.
"""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.base.errors import ParameterError
from shoal.base.partition import GroupStats, histogram
from shoal.catalog import RULES
from shoal.measures.models import models
from shoal.plan.plan import Plan
from shoal.privacy import All, LDiversity
from shoal.releases.verdict import figures_shown, model_table
from shoal.report.comparison import render_comparison
from tests.contracts.made_up import ENTRIES, METHOD, RULE, Coverage

# Two sensitive columns of a few rows are unique beside the quasi-identifiers: not asked here.
pytestmark = pytest.mark.filterwarnings(
    "ignore:Someone who also knows a person's 'ill' and 'job':shoal.ShoalWarning"
)

ROOT = Path(__file__).parent.parent.parent
SPEC = {"name": "coverage", "p": 5.0}


@pytest.fixture(autouse=True)
def catalog(monkeypatch):
    for table, entry in ENTRIES:
        monkeypatch.setitem(table, entry.name, entry)


def people(rows=100):
    rng = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "age": rng.integers(20, 60, rows),
            "sex": rng.choice(["f", "m"], rows),
            "ill": rng.choice(["flu", "cold", "gout", None], rows, p=[0.5, 0.2, 0.2, 0.1]).tolist(),
            "job": rng.choice(["cook", "smith"], rows),
        }
    )


def made(**options):
    return shoal.anonymize(
        people(), quasi=["age", "sex"], sensitive=["ill", "job"], plan=plan(**options)
    )


def plan(method="mondrian", rules=(SPEC,)):
    return Plan().changed({"promised": list(rules), "method": {"name": method}})


def two_columns(first, second):
    """One class with so many percent of the known values of each of two columns, and the rest."""
    sizes = np.array([7, 93], np.int64)
    labels = np.repeat([0, 1], sizes)
    found = {}
    for name, percent in (("ill", first), ("job", second)):
        codes = np.zeros(100, np.int32)
        codes[percent:7] = -1
        found[name] = histogram(labels, codes, 2, ("a",))
    return GroupStats(sizes, found)


def test_two_columns_reach_what_the_weaker_one_does():
    rules = (Coverage(1.0, "ill"), Coverage(1.0, "job"))
    stats = two_columns(2, 7)
    reached = All(rules).achieved(stats)
    assert reached == {"coverage_p": pytest.approx(100 * 2 / 95)}
    assert rules[1].achieved(stats) == {"coverage_p": pytest.approx(7)}


def test_every_model_is_measured():
    found = models(two_columns(2, 7), ["age"])
    assert figures_shown()["coverage_p"] == "coverage p"
    assert found["columns"]["job"]["coverage_p"] == pytest.approx(7)
    assert found["coverage"] == {"p": pytest.approx(100 * 2 / 95)}


def test_a_run_keeps_it_and_says_so():
    outcome = made()
    assert outcome.verdict.holds
    classes = outcome.frame.group_by("age", "sex").agg(pl.col("ill", "job").count())
    shares = [classes[name].min() / people()[name].count() for name in ("ill", "job")]
    assert outcome.achieved["coverage_p"] == pytest.approx(100 * min(shares))
    assert outcome.achieved["coverage_p"] >= 5
    assert 0 < outcome.loss.by_name["crowding"] < 1
    assert outcome.to_dict()["losses"]["crowding"] == outcome.loss.by_name["crowding"]


@pytest.mark.slow
def test_refinement_repairs_what_it_cannot_check():
    outcome = made(method="shoal", rules=[SPEC, {"name": "k-anonymity", "k": 3}])
    assert outcome.verdict.holds
    assert outcome.achieved["coverage_p"] >= 5


def test_the_audit_measures_it():
    verdict = shoal.audit(made().frame, quasi=["age", "sex"], sensitive=["ill", "job"], plan=plan())
    assert verdict.holds
    assert [result.promise for result in verdict.rules] == [
        "every class has at least 5 % of the known values of 'ill'",
        "every class has at least 5 % of the known values of 'job'",
    ]
    assert verdict.models["columns"]["job"]["coverage_p"] >= 5


@pytest.mark.slow
def test_the_report_shows_the_models_that_the_command_line_shows():
    quasi, sensitive = ["age", "sex"], ["ill", "job"]
    release = made().frame
    verdict = shoal.audit(release, quasi=quasi, sensitive=sensitive, plan=plan())
    table = model_table(verdict.models)
    assert {"enhanced beta", "coverage p"} <= set(table.heads)
    assert [row[0] for row in table.rows] == sensitive
    page = shoal.open_release(release, quasi=quasi, sensitive=sensitive).page(attacks=False)
    assert [head for head in table.heads if f">{head}</bdi>" not in page] == []


def test_a_plan_reads_and_writes_it():
    text = plan("lump").to_toml()
    again = Plan.from_toml(text)
    assert again.rules[0].spec == SPEC
    assert again.final().method.options == {"sign": "plain"}
    fault = r"'p' parameter of coverage must be a number in \[0, 100\]"
    with pytest.raises(shoal.ShoalError, match=fault):
        Plan.from_toml(text.replace("5.0", "500.0"))


def test_the_k_of_k_anonymity_is_that_of_rules_that_speak_of_crowds(monkeypatch):
    both = [{"name": "k-anonymity", "k": 3}, {"name": "alpha-k-anonymity", "alpha": 0.5}]
    assert Plan().changed({"promised": both}).final().rules[-1].spec["k"] == 3
    # The same letter in a rule that means something else by it is not the same number.
    other = replace(RULES["alpha-k-anonymity"], crowd=None)
    monkeypatch.setitem(RULES, "alpha-k-anonymity", other)
    assert Plan().changed({"promised": both}).final().rules[-1].spec["k"] == 10


@pytest.mark.slow
def test_the_report_explains_it():
    outcome = made()
    page = outcome.page(audience="steward")
    assert RULE.plain in page
    assert "largest crowd" in page
    assert f"{outcome.loss.by_name['crowding']:.3f}" in page


@pytest.mark.slow
def test_compare_weighs_by_it():
    found = shoal.compare(
        people(),
        quasi=["age", "sex"],
        sensitive=["ill", "job"],
        methods=["lump", "mondrian:cuts=relaxed"],
        rule_values={"coverage": [5.0, 20.0]},
        cost="crowding",
        queries=0,
        classifier=False,
        risk="highest",
        threshold=1.0,
    )
    frame = found.frame()
    assert frame["verified"].all()
    crowding = dict(zip(frame["method"], frame["crowding"], strict=False))
    assert crowding["lump"] == 1.0
    assert frame["crowding"].min() == found.recommended.figures["crowding"]
    assert "largest crowd" in found.why
    page = render_comparison(found)
    assert "crowding" in page
    assert "1.000" in page


def test_the_page_offers_it_and_knows_its_limit():
    from shoal.ext.web.feasible import feasibility
    from shoal.ext.web.forms import method_box, rule_choices, rule_rows
    from shoal.ext.web.state import title

    said = feasibility(plan(), ["ill", "job"], _one_group())
    assert {case["best"] for case in said[0]["cases"]} == {
        "largest p possible: 100 (the whole table as one group)"
    }
    assert all(case["ok"] for case in said[0]["cases"])
    draft = {
        "columns": {name: {"role": "sensitive"} for name in ("ill", "job")},
        "rules": [SPEC],
        "method": {"name": "lump", "sign": "bold"},
    }
    assert RULE.name in [choice["name"] for choice in rule_choices({**draft, "rules": []})]
    assert rule_rows(draft, said)[0]["fields"][0]["high"] == 100
    assert "lump" in [choice["name"] for choice in method_box(draft)["choices"]]
    assert title(plan("lump")) == "p = 5 · lump"


def _one_group():
    codes = np.zeros(100, np.int32)
    labels = np.zeros(100, np.int64)
    return GroupStats(
        np.array([100]),
        {name: histogram(labels, codes, 1, ("a",)) for name in ("ill", "job")},
    )


def test_spark_refuses_what_shards_cannot_answer():
    from shoal.ext.spark.shards import check_shardable

    settings = SimpleNamespace(driver_tuples=10)
    tuples = SimpleNamespace(size=20, total=30)
    by_rule = SimpleNamespace(rules=(Coverage(5.0, "ill"),), settings=settings)
    with pytest.raises(ParameterError, match="the rule 'coverage' compares with the whole table"):
        check_shardable(METHOD, by_rule, tuples)
    by_method = SimpleNamespace(rules=(LDiversity(2, "ill"),), settings=settings)
    with pytest.raises(ParameterError, match="'lump' cannot be cut into shards: it looks at all"):
        check_shardable(METHOD, by_method, tuples)


def shoal_with_it(folder, *commands):
    """Run commands in a process whose catalog has the three; return what each says."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.contracts.made_up", json.dumps(commands)],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT), "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [code for code, _, _ in answers] == [0] * len(commands), answers
    return [" ".join(said.split()) for _, said, _ in answers]


COLUMNS = ("--quasi", "age,sex", "--sensitive", "ill,job")
COMMANDS = [
    ("methods",),
    (
        *("anonymize", "people.csv", *COLUMNS, "--coverage", "5", "--method", "lump"),
        *("-o", "out.csv", "--json", "out.json", "--report", "out.html"),
    ),
    ("audit", "out.csv", *COLUMNS, "--coverage", "5"),
    (
        *("compare", "people.csv", *COLUMNS, "--methods", "lump,mondrian", "--coverage", "5,20"),
        *("--cost", "crowding", "--no-queries", "--no-classifier", "--threshold", "1"),
    ),
]


@pytest.mark.slow
def test_the_command_line_has_it(tmp_path):
    people().write_csv(tmp_path / "people.csv")
    listed, said, audited, compared = shoal_with_it(tmp_path, *COMMANDS)
    assert "coverage (--coverage): every class has at least p percent" in listed
    assert "lump: puts all rows into one group" in listed
    assert "at least 5 % of the known values of 'ill'; reached: coverage_p = 100" in said
    assert json.loads((tmp_path / "out.json").read_text())["losses"]["crowding"] == 1.0
    assert RULE.plain in (tmp_path / "out.html").read_text()
    assert "coverage p" in audited
    assert "The file keeps its promise." in audited
    assert "crowding" in compared
    assert "least largest crowd" in compared

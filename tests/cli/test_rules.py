"""Rules from the command line: what they promise, what an audit says, what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Run

Refused = Callable[..., str]
OUT = ("-o", "out.csv")
# Mondrian serves any rule.
MAKE = ("anonymize", "jobs.csv", "--quasi", "age,sex", "--seed", "1", "--method", "mondrian")
INCOME = (*MAKE, "--sensitive", "income")

JOBS = "\n".join(
    [
        "age,sex,income,job,pay,empty",
        *(
            f"{20 + i % 17},{'fm'[i % 2]},{'>50K' if i % 4 == 0 else '<=50K'},"
            f"{('cook', 'nurse', 'clerk', 'smith', '')[i % 5]},{8 + i % 4},"
            for i in range(60)
        ),
    ]
)


@pytest.fixture(autouse=True)
def jobs(folder: Path) -> None:
    (folder / "jobs.csv").write_text(JOBS + "\n")


@pytest.mark.parametrize(
    ("flags", "promise"),
    [
        (["--l", "3"], "at least 3 different values of 'job' (distinct l-diversity)"),
        (["--l", "2.5", "--l-kind", "entropy"], "as mixed as 2.5 equally frequent ones"),
        (["--l", "3", "--l-kind", "recursive", "--c", "4"], "less than 4 times as often"),
        (["--l", "2", "--l-kind", "frequency"], "more than 1/2 of the known values of a class"),
        (
            ["--alpha", "0.5", "--k", "4"],
            "at least 4 rows, and no value of 'job' has more than a share of 0.5",
        ),
        (
            [
                "--alpha",
                "0.4",
                "--k",
                "4",
                "--alpha-value",
                "job=cook",
                "--alpha-value",
                "job=smith",
            ],
            "no protected value of 'job' (2 are named) has more than a share of 0.4",
        ),
        (
            ["--k", "4", "--alpha-value", "job=cook:0.4", "--alpha-value", "job=smith:0.5"],
            "'job' (1 is named) has more than a share of 0.4",
        ),
        (["--t", "0.5"], "within 0.5 of the published table's (equal distance, t-closeness)"),
        (["--t", "0.3", "--t-distance", "ordered"], "(ordered distance, t-closeness)"),
        (
            ["--beta", "2"],
            "3 times as frequent as in the published table (basic beta-likeness, beta = 2)",
        ),
        (["--beta", "2", "--beta-enhanced"], "(enhanced beta-likeness, beta = 2)"),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else "",
)
def test_a_rule_by_its_flags_is_kept_and_audited(
    shoal: Run, flags: list[str], promise: str
) -> None:
    done = shoal(*MAKE, "--sensitive", "job", *flags, *OUT, "--json", "out.json")
    assert done.returncode == 0, done.stderr
    assert promise in " ".join(done.stdout.split())
    # k-anonymity is promised only if it was asked for, and (alpha, k) includes it.
    assert "(k-anonymity)" not in done.stdout
    look = ("audit", "out.csv", "--quasi", "age,sex", "--sensitive", "job", *flags)
    checked = shoal(*look)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert promise in " ".join(checked.stdout.split())


def test_several_rules_on_several_columns_and_the_plan_of_it(shoal: Run, folder: Path) -> None:
    flags = ("--k", "5", "--l", "2", "--alpha", "0.6", "--alpha-value", "income=>50K")
    done = shoal(*MAKE, "--sensitive", "income,job", *flags, *OUT, "--json", "out.json")
    assert done.returncode == 0, done.stderr
    rules = json.loads((folder / "out.json").read_text())["plan"]["rules"]
    assert rules == [
        {"name": "l-diversity", "l": 2},
        {"name": "alpha-k-anonymity", "alpha": 0.6, "k": 5},
        {
            "name": "alpha-k-anonymity",
            "column": "income",
            "alpha": 0.6,
            "k": 5,
            "values": [">50K"],
        },
    ]
    promises = json.loads((folder / "out.json").read_text())["promised"]
    assert len(promises) == 4  # l twice, alpha for all jobs and for one income
    plan = "\n".join(
        [
            "seed = 1",
            *(f'[columns.{name}]\nrole = "quasi"' for name in ("age", "sex")),
            *(f'[columns.{name}]\nrole = "sensitive"' for name in ("income", "job")),
            '[method]\nname = "mondrian"',
            '[[rules]]\nname = "k-anonymity"\nk = 5',
            '[[rules]]\nname = "l-diversity"\nl = 2',
            '[[rules]]\nname = "alpha-k-anonymity"\nalpha = 0.6',
            '[[rules]]\nname = "alpha-k-anonymity"\ncolumn = "income"\nalpha = 0.6',
            'values = [">50K"]',
        ]
    )
    # Said apart or in one, k is k.
    (folder / "plan.toml").write_text(plan)
    again = shoal("anonymize", "jobs.csv", "--plan", "plan.toml", "-o", "again.csv")
    assert again.returncode == 0, again.stderr
    assert (folder / "again.csv").read_bytes() == (folder / "out.csv").read_bytes()


def test_audit_measures_every_model(shoal: Run, folder: Path) -> None:
    assert shoal(*INCOME, "--keep", "pay", "--k", "5", *OUT).returncode == 0
    look = ("audit", "out.csv", "--quasi", "age,sex", "--sensitive", "income,pay", "--k", "5")
    done = shoal(*look, "--json", "audit.json")
    assert done.returncode == 0, done.stderr
    assert "All privacy models, " in done.stdout
    found = json.loads((folder / "audit.json").read_text())
    assert found["verdict"]["holds"] is True
    assert found["k_anonymity"]["k"] >= 5
    assert set(found["columns"]) == {"income", "pay"}
    assert found["columns"]["pay"]["t"] == found["columns"]["pay"]["t_ordered"]
    assert found["columns"]["income"]["t"] == found["columns"]["income"]["t_equal"]
    # The figures are written when the promise is broken too; a file there is not replaced.
    broken = shoal(*look[:-1], "50", "--json", "broken.json")
    assert broken.returncode == 1
    assert not json.loads((folder / "broken.json").read_text())["verdict"]["holds"]
    taken = shoal(*look, "--json", "audit.json")
    assert taken.returncode == 2
    assert "--force" in taken.stderr


def test_l_above_the_number_of_values(refused: Refused) -> None:
    message = refused(*INCOME, "--l", "3", *OUT)
    assert "l-diversity with l=3 cannot be met: column 'income' has only 2 different" in message
    assert "the largest l possible is 2." in message


def test_alpha_below_the_largest_share(refused: Refused) -> None:
    message = refused(*INCOME, "--alpha", "0.5", "--k", "3", *OUT)
    assert "'<=50K' has a share of 75.00% of the whole table" in message
    assert "the smallest alpha possible is 0.75." in message
    message = refused(*INCOME, "--alpha", "0.2", "--alpha-value", "income=>50K", *OUT)
    assert "'>50K' has a share of 25.00%" in message
    assert "the smallest alpha possible is 0.25." in message


@pytest.mark.parametrize(
    "flags",
    [
        ["--l", "2"],
        ["--l", "2", "--l-kind", "entropy"],
        ["--l", "2", "--l-kind", "recursive"],
        ["--l", "2", "--l-kind", "frequency"],
        ["--alpha", "0.5"],
        ["--t", "0.5"],
        ["--beta", "1"],
    ],
    ids=" ".join,
)
def test_a_sensitive_column_that_is_all_missing(refused: Refused, flags: list[str]) -> None:
    message = refused(*MAKE, "--sensitive", "empty", *flags, *OUT)
    assert "cannot be met: the sensitive column 'empty' has no known value at all." in message
    assert "Name another sensitive column, or drop the rule." in message


def test_a_sensitive_column_also_named_quasi(refused: Refused) -> None:
    message = refused(*MAKE, "--sensitive", "age", "--l", "2", *OUT)
    assert "Column 'age' has 2 roles (quasi, sensitive). Choose one." in message


@pytest.mark.parametrize("t", ["0", "-0.1", "1.01", "nan"])
def test_t_out_of_range(refused: Refused, t: str) -> None:
    message = refused(*INCOME, "--t", t, *OUT)
    assert f"'t' parameter of t-closeness must be a number in (0, 1]. Got {float(t)}" in message


def test_a_value_to_protect_that_does_not_occur(refused: Refused) -> None:
    message = refused(*INCOME, "--alpha", "0.8", "--alpha-value", "income=>50k", *OUT)
    assert "The value '>50k' to protect does not occur in column 'income'" in message
    assert "it has '<=50K', '>50K'." in message
    assert "Did you mean '>50K'?" in message


def test_rules_without_what_they_need(refused: Refused) -> None:
    assert "needs a sensitive column and none is declared" in refused(*MAKE, "--l", "2", *OUT)
    message = refused(*INCOME, "--alpha", "0.8", "--alpha-value", "jobs=cook", *OUT)
    assert "names the column 'jobs', which is not declared sensitive" in message
    message = refused(*INCOME, "--alpha", "0.8", "--alpha-value", "cook", *OUT)
    assert "--alpha-value takes COLUMN=VALUE" in message
    message = refused(*INCOME, "--l", "2", "--l-kind", "distnct", *OUT)
    assert "Did you mean 'distinct'?" in message
    message = refused(*INCOME, "--l", "2.5", *OUT)
    assert "must be a whole number in [2, inf). Got 2.5 instead." in message
    message = refused(*INCOME, "--l", "2", "--c", "3", *OUT)
    assert "--c only refines a rule that was not asked for" in message


def test_all_that_is_wrong_with_the_rules_at_once(refused: Refused) -> None:
    message = refused(*INCOME, "--k", "61", "--l", "3", "--alpha", "0.5", *OUT)
    for part in ("largest k possible is 60", "largest l possible is 2", "alpha possible is 0.75"):
        assert part in message


def test_a_run_says_which_rules_were_not_asked_for(shoal: Run, folder: Path) -> None:
    size, inside = "no rule says how large a class must be", "no rule of the plan protects 'income'"
    alone = shoal(*INCOME, "--l", "2", *OUT).stdout
    assert size in alone and inside not in alone
    plain = shoal(*INCOME, "--k", "5", *OUT, "--force").stdout
    assert size not in plain and inside in plain
    both = shoal(*INCOME, "--k", "5", "--l", "2", *OUT, "--force").stdout
    assert size not in both and inside not in both

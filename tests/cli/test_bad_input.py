"""Everything that can be wrong: a clear message, exit code 2, nothing written."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import PEOPLE, QUASI

Refused = Callable[..., str]
OUT = ("-o", "out.csv", "--json", "out.json")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", ["bad.csv", "empty"]),
        (b"age,sex,zip\n", ["bad.csv", "no rows"]),
        (gzip.compress(PEOPLE.encode())[:-40], ["bad.csv", "gzip"]),
        (b"age,sex,zip\n1,f,2\n1,f\n2,m,3\n", ["bad.csv", "line 3"]),
        (b"age,age,zip\n1,2,3\n4,5,6\n", ["duplicate", "'age'"]),
        (b"age,sex,zip\n1,\x81\xfe,3\n", ["UTF-8"]),
    ],
    ids=["empty", "header only", "truncated gzip", "ragged", "duplicate names", "not utf-8"],
)
def test_unreadable_tables(
    refused: Refused, folder: Path, content: bytes, words: list[str]
) -> None:
    (folder / "bad.csv").write_bytes(content)
    message = refused("anonymize", "bad.csv", *QUASI, "--k", "2", *OUT)
    for word in words:
        assert word in message


def test_a_table_that_does_not_exist(refused: Refused) -> None:
    message = refused("anonymize", "nowhere.csv", *QUASI, *OUT)
    assert "nowhere.csv does not exist" in message


def test_an_unknown_quasi_identifier_suggests_the_nearest_name(refused: Refused) -> None:
    message = refused("anonymize", "people.csv", "--quasi", "agee,sex,zpi", "--k", "2", *OUT)
    # Both faults at once.
    assert "no column 'agee'" in message
    assert "Did you mean 'age'?" in message
    assert "Did you mean 'zip'?" in message


def test_k_above_the_number_of_rows(refused: Refused) -> None:
    message = refused("anonymize", "people.csv", *QUASI, "--k", "41", *OUT)
    assert "k=41 cannot be met" in message
    assert "the largest k possible is 40" in message


@pytest.mark.parametrize("k", ["1", "0", "-3"])
def test_k_below_two(refused: Refused, k: str) -> None:
    message = refused("anonymize", "people.csv", *QUASI, "--k", k, *OUT)
    assert f"must be a whole number in [2, inf). Got {k} instead." in message


def test_k_that_is_no_number(refused: Refused) -> None:
    assert "--k" in refused("anonymize", "people.csv", *QUASI, "--k", "ten", *OUT)


@pytest.mark.parametrize("flag", ["--within", "--quasi", "--sensitive", "--person"])
@pytest.mark.parametrize("text", ["", " ", ","])
def test_a_list_of_names_that_is_empty(refused: Refused, flag: str, text: str) -> None:
    quasi = () if flag == "--quasi" else QUASI
    message = refused("anonymize", "people.csv", *quasi, flag, text, "--k", "2", *OUT)
    assert f"{flag} takes a list with commas. Got {text!r} instead" in message
    assert f"or leave {flag} out" in message


@pytest.mark.parametrize("flag", ["--methods", "--k"])
def test_a_list_to_compare_that_is_empty(refused: Refused, flag: str) -> None:
    message = refused("compare", "people.csv", *QUASI, flag, "")
    assert f"{flag} takes a list with commas. Got '' instead" in message


def test_an_unknown_method(refused: Refused) -> None:
    message = refused("anonymize", "people.csv", *QUASI, "--method", "kiam", *OUT)
    assert "no method 'kiam'" in message
    assert "'k-member'" in message
    assert "Did you mean 'kaim'?" in message


def test_an_unknown_option_of_a_method(refused: Refused) -> None:
    kaim = ["anonymize", "people.csv", *QUASI, "--method", "kaim"]
    message = refused(*kaim, "--option", "wieghts=unit", *OUT)
    assert "kaim has no parameter 'wieghts'" in message
    assert "Did you mean 'weights'?" in message
    message = refused(*kaim, "--option", "weights=heavy", *OUT)
    assert "must be one of 'balanced', 'unit'. Got 'heavy' instead." in message
    assert "NAME=VALUE" in refused("anonymize", "people.csv", *QUASI, "--option", "unit", *OUT)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("m;*\n", ["'sex'", "'f'", "20 rows"]),
        ("m;x;*\nf;x;*\ng;x;*\nm;y;*\n", ["'m'", "twice"]),
        ("m;a;p;*\nf;a;q;*\n", ["gives 'a' two parents, 'p' and 'q'"]),
        ("m;a;*\nf;*\n", ["uneven", "row 2"]),
        ("m;a;m;*\nf;a;m;*\n", ["cycle"]),
        ("", ["empty"]),
    ],
    ids=["value lacks a leaf", "twice", "two parents", "uneven", "cycle", "empty"],
)
def test_broken_hierarchies(refused: Refused, folder: Path, rows: str, words: list[str]) -> None:
    (folder / "trees").mkdir()
    (folder / "trees" / "sex.csv").write_text(rows)
    message = refused("anonymize", "people.csv", *QUASI, "--hierarchies", "trees", "--k", "2", *OUT)
    assert "'sex'" in message
    for word in words:
        assert word in message


def test_a_plan_reports_all_faults_with_lines_and_nearest_names(
    refused: Refused, folder: Path
) -> None:
    (folder / "plan.toml").write_text(
        'sede = 1\n\n[columns.age]\nrole = "quazi"\n\n[columns.sex]\nrole = "quasi"\nknd = "set"\n'
        '\n[method]\nname = "kaim"\nweights = "x"\n\n[[rules]]\nname = "k-anonymity"\nk = 1\n'
        '\n[[rules]]\nname = "k-anonimity"\n'
    )
    message = refused("anonymize", "people.csv", "--plan", "plan.toml", *OUT)
    for words in (
        "plan.toml, line 1: unknown key 'sede'",
        "Did you mean 'seed'?",
        "line 4: 'columns.age.role' must be one of",
        "Got 'quazi' instead. Did you mean 'quasi'?",
        "line 8: unknown key 'columns.sex.knd'",
        "Did you mean 'kind'?",
        "line 12: The 'weights' parameter of kaim must be one of",
        "line 16: The 'k' parameter of k-anonymity must be a whole number in [2, inf). Got 1",
        "line 19: there is no rule 'k-anonimity'",
    ):
        assert words in message


def test_a_plan_that_is_not_toml_or_not_there(refused: Refused, folder: Path) -> None:
    (folder / "plan.toml").write_text("seed = = 1\n")
    message = refused("anonymize", "people.csv", "--plan", "plan.toml", *OUT)
    assert "plan.toml is not valid TOML" in message
    assert "line 1" in message
    message = refused("anonymize", "people.csv", "--plan", "none.toml", *OUT)
    assert "'none.toml' does not exist" in message
    assert "shoal init" in message


def test_the_output_is_the_input(refused: Refused, folder: Path) -> None:
    (folder / "link.csv").symlink_to("people.csv")
    (folder / "hard.csv").hardlink_to(folder / "people.csv")
    for name in ("people.csv", "./people.csv", "link.csv", "hard.csv"):
        message = refused("anonymize", "people.csv", *QUASI, "--k", "2", "-o", name, "--force")
        assert "is the input" in message


def test_outputs_that_cannot_be(refused: Refused, folder: Path) -> None:
    (folder / "there.csv").write_text("mine")
    head = ("anonymize", "people.csv", *QUASI, "--k", "2")
    assert "already exists" in refused(*head, "-o", "there.csv")
    assert "already exists" in refused(*head, "-o", "new.csv", "--json", "there.csv")
    assert "does not exist" in refused(*head, "-o", "no/such/folder/out.csv")
    assert "is a directory" in refused(*head, "-o", folder)
    assert "format" in refused(*head, "-o", "out.docx")
    assert "does not exist" in refused(*head, "-o", "/proc/self/nothing/out.csv")


def test_the_figures_may_not_go_where_the_release_goes(refused: Refused) -> None:
    head = ("anonymize", "people.csv", *QUASI, "--k", "2", "-o", "out.csv")
    assert "--out and --json both name out.csv" in refused(*head, "--json", "out.csv")


def test_a_column_with_two_roles(refused: Refused) -> None:
    message = refused("anonymize", "people.csv", *QUASI, "--sensitive", "age", "--k", "2", *OUT)
    assert "Column 'age' has 2 roles (quasi, sensitive). Choose one." in message


def test_nothing_to_guess(refused: Refused, folder: Path) -> None:
    (folder / "plain.csv").write_text("a,b\n1,2\n1,2\n")
    message = refused("anonymize", "plain.csv", "--k", "2", *OUT)
    assert "No quasi-identifier was declared" in message
    assert "--quasi" in message


def test_audit_bad_use(refused: Refused) -> None:
    assert "needs the quasi-identifiers" in refused("audit", "people.csv", "--k", "2")
    message = refused("audit", "people.csv", "--quasi", "aeg", "--k", "2")
    assert "Did you mean 'age'?" in message
    assert "Got 1 instead" in refused("audit", "people.csv", *QUASI, "--k", "1")


def test_hierarchy_make_bad_use(refused: Refused) -> None:
    head = ("hierarchy", "make", "people.csv")
    message = refused(*head, "aeg", "--how", "intervals", "-o", "x.csv")
    assert "Did you mean 'age'?" in message
    message = refused(*head, "age", "--how", "interval", "-o", "x.csv")
    assert "Did you mean 'intervals'?" in message
    message = refused(*head, "age", "--how", "dates", "--drop", "1", "-o", "x.csv")
    assert "--drop does not go with --how dates" in message
    message = refused(*head, "age", "--how", "intervals", "--widths", "5,x", "-o", "x.csv")
    assert "Got '5,x' instead" in message
    message = refused(*head, "disease", "--how", "intervals", "-o", "x.csv")
    assert "is not a number" in message


def test_unknown_commands_and_flags(refused: Refused) -> None:
    assert "anonymise" in refused("anonymise", "people.csv")
    assert "--qausi" in refused("anonymize", "people.csv", "--qausi", "age", *OUT)

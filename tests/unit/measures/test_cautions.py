"""What is allowed and still a risk is said, in the same words at every door."""

import polars as pl
import pytest

import shoal
from shoal.measures.cautions import cautions_of_plan

ROWS = 40
GRID = {"grid": {"age": 2}}  # four ages would be read off else


def people(**columns):
    base = {
        "age": [20 + i % 4 for i in range(ROWS)],
        "ill": [("flu", "gout", "cold")[i % 3] for i in range(ROWS)],
    }
    return pl.DataFrame(base | columns)


def warned(table, **settings):
    """Return what a run warns of, besides how unique columns are together."""
    settings = {"quasi": "age", "sensitive": "ill", "k": 4} | settings
    with pytest.warns(shoal.ShoalWarning):
        texts = shoal.anonymize(table, **settings).warnings
    return tuple(text for text in texts if not text.startswith("Someone who also knows"))


def test_a_table_without_risk_is_not_warned_about():
    outcome = shoal.anonymize(
        people(ward=["a", "b"] * 20), quasi="age", sensitive="ill", keep="ward", k=4, strict=True
    )
    assert outcome.warnings == ()
    assert outcome.to_dict()["warnings"] == []


def test_a_unique_column_that_is_passed_through():
    table = people(visit=[f"v{i}" for i in range(ROWS - 2)] + ["v0", None])
    assert warned(table, keep="visit") == (
        "Column 'visit' is passed through as it is, and 38 of its 39 cells differ: anyone who "
        "knows a person's cell finds the row. Make it an identifier (left out), or a "
        "quasi-identifier.",
    )


def test_rows_in_the_order_of_the_input():
    plan = shoal.Plan(release={"shuffle": False})
    (text,) = warned(people(), plan=plan)
    assert text.startswith("The rows are released in the order of the input (shuffle = false)")


def test_a_sensitive_column_without_a_rule_beside_one_with():
    table = people(job=["a", "b"] * 20)
    rules = [shoal.KAnonymity(4), shoal.LDiversity(2, "ill")]
    (text,) = warned(table, k=None, rules=rules, sensitive=["ill", "job"])
    assert text.startswith("The sensitive column 'job' has no rule of its own, others have")


@pytest.mark.slow
@pytest.mark.parametrize("word", ["unknown", "NULL", "N/A", "other", "?", "-", " Unknown "])
def test_placeholders_that_count_as_values(word):
    table = people(ill=["flu", "gout", "cold", word] * 10)
    rules = [shoal.KAnonymity(4), shoal.LDiversity(2, "ill")]
    (text,) = warned(table, k=None, rules=rules, grid={"age": 2})
    assert f"holds {word.strip()!r}, which counts as a value like any other" in text
    assert f"--missing (missing=[{word.strip()!r}])" in text
    again = shoal.anonymize(
        table,
        quasi="age",
        sensitive="ill",
        rules=rules,
        missing=[word.strip()],
        strict=True,
        grid={"age": 2},
    )
    assert again.warnings == ()


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["04.07.1966", "11.06.1966"], "dates such as 31.12.2024"),
        (["01.02.2024 12:00", "10.05.2024 20:24"], "dates such as 31.12.2024"),
        (["7/4/66", "6/11/66"], "dates such as 31.12.2024"),
        (["22,48", "24,39"], "numbers with a decimal comma"),
    ],
)
def test_values_in_a_notation_that_is_not_read(texts, said):
    table = people(born=texts * 20)
    (text,) = warned(table, quasi=["age", "born"])
    assert text.startswith(f"Column 'born' holds {said}, which are read as names without an order")
    with pytest.raises(shoal.ShoalError, match="warnings are errors here"):
        shoal.anonymize(table, quasi=["age", "born"], sensitive="ill", k=4, strict=True)


def test_strict_runs_end_in_an_error():
    table = people(visit=range(ROWS))
    with pytest.raises(shoal.Cautioned) as refused:
        shoal.anonymize(table, quasi="age", keep="visit", k=4, strict=True)
    assert str(refused.value).startswith(
        "Nothing was released, because warnings are errors here (--strict, strict=True):\n"
        "Column 'visit' is passed through"
    )


def test_cells_that_a_spreadsheet_would_run():
    note = ["=1+1", "@x", "+a", "-b", "\tc", "\rd"] * 2 + ["-1.5", "+47 22 33", "-", "a=b"] * 7
    (text,) = warned(people(note=note), keep="note")
    assert text.startswith("12 cells of column 'note' begin with =, +, -, @, a tab or a line break")
    assert "--csv-safe (csv_safe=True)" in text
    note = ["=1+1", "'=1", "x", "y"] * 10
    settings = {"quasi": "age", "sensitive": "ill", "keep": "note", "k": 4}
    safe = shoal.anonymize(people(note=note), **settings, csv_safe=True, strict=True)
    assert safe.made.notes["texts quoted for spreadsheets"] == 20


def test_names_of_columns_that_a_spreadsheet_would_run():
    (text,) = warned(people(**{"=a": ["x", "y"] * 20}), keep="=a")
    assert text.startswith("The names of the columns '=a' begin with =, +, -, @")


def test_numbers_and_plain_texts_are_no_formulas():
    note = ["-1.5", "+7", "-2e-3", "x"] * 10
    frame = people(note=note)
    outcome = shoal.anonymize(frame, quasi="age", sensitive="ill", keep="note", k=4, strict=True)
    assert outcome.warnings == ()


def test_dummies_are_told_to_be_published_once():
    asked = {"quasi": "age", "sensitive": "ill", "l": 2, "method": "dummies"}
    texts = shoal.anonymize(people(), **asked).warnings
    assert any(text.startswith("Publish a table with dummy values once") for text in texts)
    with pytest.warns(shoal.ShoalWarning, match="was run with a seed"):
        seeded = shoal.anonymize(people(), **asked, seed=2**70 + 1).warnings
    assert not any(text.startswith("Publish a table") for text in seeded)


def test_what_the_plan_alone_tells():
    rules = (shoal.LDiversity(2, "ill"),)
    table = shoal.open(people(job=["a", "b"] * 20), quasi="age", sensitive=["ill", "job"])
    order, bare = cautions_of_plan(table.schema, shoal.Plan(release={"shuffle": False}), rules)
    assert "in the order of the input" in order
    assert "'job' has no rule of its own" in bare


SPELLINGS = {
    "spaces": ["flu", "flu ", "gout"],
    "capitals": ["flu", "Flu", "gout"],
    "numbers": ["1.5", "1.50", "2 mg"],
    "other characters": ["\uff46lu", "flu", "gout"],
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", SPELLINGS)
def test_spellings_of_one_value_are_told_at_every_door(kind, tmp_path):
    values = SPELLINGS[kind]
    table = people(ill=[values[i % 3] for i in range(ROWS)])
    rules = [shoal.KAnonymity(4), shoal.LDiversity(2, "ill")]
    (text,) = warned(table, k=None, rules=rules)
    assert text.startswith("In the sensitive column 'ill' 1 of 3 values differ from another one")
    with pytest.raises(shoal.Cautioned, match="Spell every value in one way first"):
        shoal.anonymize(table, quasi="age", sensitive="ill", rules=rules, strict=True)
    opened = shoal.open_release(table, quasi="age", sensitive="ill")
    assert opened.audit().to_dict()["cautions"] == [text]
    opened.report(tmp_path / "audit.html")
    assert "Spell every value in one way first" in (tmp_path / "audit.html").read_text()


@pytest.mark.slow
def test_large_numbers_that_differ_are_no_spellings_of_one():
    values = [2**53, 2**53 + 1, 2**53 + 2, 7]
    texts = ["1e999", "1e998", "nano", "7 mg"]
    rules = [shoal.KAnonymity(4), shoal.LDiversity(2, "ill")]
    for ill in (values, list(map(str, values)), texts):
        table = people(ill=ill * 10)
        shoal.anonymize(table, quasi="age", sensitive="ill", rules=rules, strict=True, **GRID)


def test_sets_and_second_tables_are_looked_at_too():
    sets = people(ill=[["Flu", "flu"], ["N/A", "flu"]] * 20)
    (missing, spelled) = shoal.audit(sets, quasi="age", sensitive="ill", l=2).models["cautions"]
    assert "holds 'N/A'" in missing
    assert "1 of 2 values differ from another one" in spelled
    first = pl.DataFrame({"age": [1, 2], "group_id": [1, 1]})
    second = pl.DataFrame({"group_id": [1, 1], "ill": ["flu ", "flu"], "count": [1, 1]})
    opened = shoal.open_release(first, quasi="age", sensitive="ill", st=second)
    (spelled,) = opened.audit(l=2).models["cautions"]
    assert "1 of 2 values differ from another one" in spelled


def test_a_suppressed_value_adds_no_diversity():
    table = people(ill=["flu", "*"] * 20)
    asked = {"quasi": "age", "sensitive": "ill"}
    rules = [shoal.KAnonymity(2), shoal.LDiversity(2, "ill")]
    with pytest.raises(shoal.Infeasible):
        shoal.anonymize(table, **asked, rules=rules)
    assert not shoal.audit(table, **asked, rules=rules).holds
    sets = people(ill=[["*", "flu"]] * ROWS)
    assert not shoal.audit(sets, **asked, l=2).holds
    first = pl.DataFrame({"age": [1, 2], "group_id": [1, 1]})
    second = pl.DataFrame({"group_id": [1, 1], "ill": ["*", "flu"], "count": [1, 1]})
    assert not shoal.open_release(first, **asked, st=second).audit(l=2).holds


def test_declared_texts_add_no_diversity_in_sets_and_second_tables():
    asked = {"quasi": "age", "sensitive": "ill", "missing": ["?"]}
    sets = people(ill=[["?", "flu"]] * ROWS)
    assert not shoal.open_release(sets, **asked).audit(l=2).holds
    first = pl.DataFrame({"age": [1, 2], "group_id": [1, 1]})
    second = pl.DataFrame({"group_id": [1, 1], "ill": ["?", "flu"], "count": [1, 1]})
    assert not shoal.open_release(first, **asked, st=second).audit(l=2).holds

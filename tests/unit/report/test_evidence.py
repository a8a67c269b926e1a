"""The part of a report that a board signs."""

from __future__ import annotations

import re

import polars as pl
import pytest

import shoal
from shoal.plan.plan import Plan
from shoal.report.evidence import DIGESTS, HIPAA, fill_digests

PLAN = """
[columns.name]
role = "identifier"
[columns.age]
role = "quasi"
[columns.contact]
role = "keep"
[columns.ill]
role = "sensitive"
[[rules]]
name = "k-anonymity"
k = 4
[evidence]
purpose = "A study of <influenza>"
why = "The board's limit"
"""


@pytest.fixture(scope="module")
def release():
    table = pl.DataFrame(
        {
            "name": [f"N{i}" for i in range(40)],
            "age": [20 + i % 20 for i in range(40)],
            "contact": ["a@example.org", "b@example.org"] * 20,
            "ill": ["flu", "cold", "gout", "flu"] * 10,
        }
    )
    opened = shoal.open(table, plan=Plan.from_toml(PLAN))
    with pytest.warns(shoal.ShoalWarning):
        return opened.anonymize(seed=1).with_original(opened)


def text(page):
    return " ".join(re.sub(r"<[^>]+>", " ", page.split('id="evidence"')[1]).split())


@pytest.mark.slow
def test_it_answers_what_a_board_asks(release):
    said = text(release.page())
    assert "A study of &lt;influenza&gt;" in said and "The board&#39;s limit" in said
    assert "Singling out" in said and "Highest risk of a row" in said
    assert re.search(r"linkage: [0-9.]+ % of 40 tried, a guess [0-9.]+ %", said)
    assert re.search(r"inference \(ill\): [0-9.]+ % of 40 tried", said)
    assert "name (identifier, not published)" in said
    assert "picks the right row with a probability of at most" in said
    # What a column holds counts, whatever it is called.
    assert "6. E-mail addresses contact : published as it is" in said
    assert "1. Names name : not published" in said
    assert "Shoal does not claim compliance" in said
    assert not re.search(r"(is|are) (compliant|anonymous under|lawful)", said)


@pytest.mark.slow
def test_empty_fields_are_lines_to_fill_in(release):
    page = release.page()
    assert re.search(r'Legal basis</th><td class="blank"></td>', page)
    assert not re.search(r'Purpose of the release</th><td class="blank">', page)
    assert "Date and signature" in page


def test_the_public_is_not_told(release):
    page = release.page(audience="public")
    assert 'id="evidence"' not in page and "influenza" not in page


def test_attacks_that_were_not_tried_are_not_answered(release):
    said = text(release.page(attacks=False))
    assert said.count("Not measured: the attack needs the original") == 2


def test_digests_come_when_the_release_is_written(release):
    page = release.page(attacks=False)
    assert page.count(DIGESTS) == 1
    done = fill_digests(page, {"r<.csv": {"sha256": "abc"}})
    assert DIGESTS not in done and "r&lt;.csv: abc" in done


def test_there_are_18_identifiers():
    assert len(HIPAA) == 18
    names = [re.search(HIPAA[0][1], word) for word in ("name", "last_name", "filename", "surname")]
    assert [bool(found) for found in names] == [True, True, False, True]


def test_evidence_changes_no_byte_and_is_in_no_manifest(tmp_path, release):
    release.write(tmp_path / "a.csv")
    assert "influenza" not in (tmp_path / "a.csv.manifest.json").read_text()
    again = Plan.from_toml(release.plan.to_toml())
    assert again.evidence.purpose == "A study of <influenza>"
    with pytest.raises(shoal.PlanError, match="purpos"):
        Plan.from_toml('[evidence]\npurpos = "x"\n')


def test_what_is_published_exactly_is_not_called_generalized():
    """Anatomy leaves quasi-identifiers as they are; a board must not read otherwise."""
    table = pl.DataFrame(
        {"zip": [1000 + i % 9 for i in range(40)], "ill": ["flu", "cold", "gout", "ache"] * 10}
    )
    opened = shoal.open(table, quasi="zip", sensitive="ill")
    made = opened.anonymize(method="anatomy", l=2, l_kind="frequency")
    said = text(made.with_original(opened).page())
    assert "2. Places smaller than a state zip : published as it is" in said
    assert "generalized; see" not in said


@pytest.mark.parametrize("name", ["Fallnummer", "PatNr", "pat_id", "Aktenzeichen", "case", "mrn"])
def test_numbers_of_cases_are_named_among_the_identifiers_of_hipaa(name: str) -> None:
    pattern = next(names for title, names, _ in HIPAA if title == "Medical record numbers")
    assert re.search(pattern, name.lower())
    assert not re.search(pattern, "spatial")

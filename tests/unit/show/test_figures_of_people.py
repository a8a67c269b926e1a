"""Figures about people, counted by hand on a table in which people have several rows."""

from __future__ import annotations

import html
import re

import polars as pl
import pytest

import shoal
from shoal.report.sections import try_attacks

# Aged 21 to 25: seven rows of five people, four of them with flu. Aged 61 to 66: nine rows of six
# people, of the five with a known value three with burn and three with asthma.
PEOPLE = {
    "p1": (21, ["flu", "flu"]), "p2": (22, ["asthma", "flu"]), "p3": (23, ["flu"]),
    "p4": (24, ["burn"]), "p5": (25, ["flu"]), "p6": (61, ["flu", "burn"]),
    "p7": (62, ["burn", "burn"]), "p8": (63, ["asthma"]), "p9": (64, ["asthma", "burn"]),
    "p10": (65, ["asthma"]), "p11": (66, [None]),
}  # fmt: skip
TABLE = pl.DataFrame(
    [(who, age, ill) for who, (age, ills) in PEOPLE.items() for ill in ills],
    schema=["patient", "age", "ill"],
    orient="row",
)
ASKED = {"quasi": ["age"], "sensitive": ["ill"], "person": "patient"}


@pytest.fixture(scope="module")
def release():
    made = shoal.anonymize(TABLE, **ASKED, k=5)
    assert sorted(made.frame.group_by("age").len()["len"]) == [7, 9]
    return made


def text(page: str) -> str:
    page = re.sub(r"<(style|script|svg).*?</\1>", " ", page, flags=re.S)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", page)))


def test_the_public_is_told_the_risk_of_people_and_rows_are_called_rows(release) -> None:
    page = text(release.page(audience="public"))
    assert "highest risk 20 %" in page and "14.3 %" not in page
    assert "smallest: 5 different people" in page
    assert "every class holds at least 5 different people" in page
    assert "7 rows look alike" in page and "people look alike" not in page
    assert "71.4 % at worst" in page  # of the rows: whose they are is not published
    assert "Counted in rows, of which one person may have several" in page


def test_the_steward_is_told_figures_of_people(release) -> None:
    page = text(release.page())
    assert "highest risk 20 %" in page
    assert "7 rows of 5 different people" in page and "9 rows of 6 different people" in page
    # Two classes and eleven people in them; flu: 4 of 5; 0.8 for five people, 0.6 for five.
    assert "a person is found with probability 18.2 % on average, 20 % at most" in page
    assert "believed with 70 % on average, 80 % at worst" in page
    assert "right in 50 %" in page and "Counted in people." in page
    assert "one divided by the number of different people who fit" in page
    assert "Highest risk of a person: 20 %" in page


def test_beliefs_are_of_people_where_people_are_counted(release) -> None:
    (belief,) = release.plot.beliefs()
    assert (belief.worst, belief.mean, belief.prior) == pytest.approx((0.8, 0.7, 0.5))
    assert belief.counted == "people" and belief.to_dict()["counted"] == "people"
    found = shoal.risk(TABLE, **ASKED).attributes["ill"]
    assert (found.worst, found.certain, found.prior, found.counted) == (1, 1, 0.5, "people")
    rows = shoal.risk(release.frame, quasi=["age"], sensitive=["ill"]).attributes["ill"]
    assert rows.counted == "rows"
    assert (rows.worst, rows.prior) == pytest.approx((5 / 7, 6 / 15))
    compared = shoal.compare(TABLE, **ASKED, k=[5], methods=["shoal"])
    assert compared.settings[0].figures["belief_worst"] == pytest.approx(0.8)


def test_a_report_attacks_as_many_people_as_there_are(release) -> None:
    attacks, why = try_attacks(release.local_tables, TABLE)
    assert not why or "11 people" not in why
    assert attacks is None or attacks.targets <= 11

"""Roles on the page, what is told of the table while they are given, and what may be ordered."""

from __future__ import annotations

import polars as pl
import pytest

import shoal
from shoal.catalog import RULES
from shoal.ext.web import drafts, read_options, tasks
from shoal.plan.plan import Plan
from shoal.verbs.first_plan import first_plan
from tests.ext.web.test_flow import Steward, steward

__all__ = ["steward"]

# Four classes by (town): Aa has one value, Bb two, Cc is a single row, Dd a single gap.
ROWS = [("Aa", "flu"), ("Aa", "flu"), ("Bb", "flu"), ("Bb", "cold"), ("Cc", "cold"), ("Dd", None)]
CLINIC = "town,tag,diagnosis,code\n" + "\n".join(
    f"{town},{'xyz'[i % 3]},{ill or ''},c{i}" for i, (town, ill) in enumerate(ROWS)
)


@pytest.fixture
def place(steward) -> str:
    return steward.open("clinic.csv", CLINIC.encode())


def roles(steward: Steward, place: str) -> dict[str, str]:
    return {row["name"]: row["role"] for row in steward.get(f"{place}/decide")["rows"]}


def test_what_is_learned_of_a_sensitive_value_is_told_by_hand(steward) -> None:
    tasks._last.update(standing={})
    frame = pl.DataFrame(ROWS, ["town", "ill"], orient="row")
    told = tasks._belief(frame, ["town"], "ill")
    # 5 rows with a value. Certain: two of Aa and the one of Cc. Likeliest: 2 + 1 + 1 of 5.
    assert told == {"column": "ill", "alone": 3 / 5, "belief": 4 / 5, "guess": 3 / 5}
    nobody = tasks._belief(frame, [], "ill")
    assert (nobody["alone"], nobody["belief"]) == (0, 3 / 5)
    strange = frame.rename({"town": "*", "ill": "^t.*$"})
    assert tasks._belief(strange, ["*"], "^t.*$")["belief"] == 4 / 5


def test_roles_are_given_where_the_table_is_seen_and_taken_back(steward, place) -> None:
    columns = {c["name"]: c for c in steward.get(f"{place}/see")["profile"]["columns"]}
    before = roles(steward, place)
    number = columns["town"]["number"]
    seen = steward.post(f"{place}/roles", **{f"role.{number}": "sensitive"}).json()
    now = {c["name"]: c for c in seen["profile"]["columns"]}
    assert now["town"]["role"] == "sensitive"
    assert now["town"]["suggested"] == before["town"]
    at = [c["name"] for c in seen["profile"]["columns"]].index("town")
    assert {row[at] for row in seen["profile"]["sample"]} == {"hidden"}
    assert roles(steward, place) == before | {"town": "sensitive"}
    # Whatever was guessed to harm stays hidden, also when somebody calls it harmless.
    number = columns["diagnosis"]["number"]
    seen = steward.post(f"{place}/roles", **{f"role.{number}": "keep"}).json()
    at = [c["name"] for c in seen["profile"]["columns"]].index("diagnosis")
    assert {row[at] for row in seen["profile"]["sample"]} == {"hidden"}
    for _ in range(2):
        assert seen["can_undo"]
        seen = steward.post(f"{place}/roles", do="undo").json()
    assert not seen["can_undo"]
    assert roles(steward, place) == before


def test_a_role_is_taken_back_on_the_decide_page_and_nothing_else_is(steward, place) -> None:
    form = steward.fields(place) | {"rule.0.k": "3"}
    before = roles(steward, place)
    steward.post(f"{place}/decide", **(form | {"role.0": "drop"}))
    assert roles(steward, place)[next(iter(before))] == "drop"
    form = steward.fields(place) | {"rule.0.k": "2"}
    seen = steward.post(f"{place}/decide", **form, do="undo").json()
    assert {row["name"]: row["role"] for row in seen["rows"]} == before
    assert seen["rules"][0]["fields"][0]["value"] == 2


def test_undecided_columns_are_counted_as_if_they_were_known(steward, place) -> None:
    names = [c["name"] for c in steward.get(f"{place}/see")["profile"]["columns"]]
    wanted = {"town": "quasi", "tag": "undecided", "diagnosis": "sensitive", "code": "identifier"}
    fields = {f"role.{names.index(name)}": role for name, role in wanted.items()}
    seen = steward.post(f"{place}/roles", **fields).json()
    assert seen["undecided"] == ["tag"]
    assert seen["standing"]["below"]["2"] == 2  # Cc and Dd
    assert seen["known_too"]["below"]["2"] == 6
    page = steward.client.get(f"{place}/see", headers={"accept": "text/html"}).text
    assert "if others know the undecided columns too" in page
    fields |= {f"role.{names.index('town')}": "undecided"}
    seen = steward.post(f"{place}/roles", **fields).json()
    page = steward.client.get(f"{place}/see", headers={"accept": "text/html"}).text
    assert "no column is a quasi-identifier" in page
    assert "0.0 %" not in page.split('id="roles"')[0]


def test_nothing_is_offered_that_cannot_be_kept(steward, place) -> None:
    names = [c["name"] for c in steward.get(f"{place}/see")["profile"]["columns"]]
    wanted = {"town": "quasi", "tag": "keep", "diagnosis": "sensitive", "code": "identifier"}
    fields = {f"role.{names.index(name)}": role for name, role in wanted.items()}
    steward.post(f"{place}/roles", **fields)
    form = steward.fields(place) | {"rule.0.k": "7"}
    seen = steward.post(f"{place}/decide", **form).json()
    assert not seen["ready"]
    assert [rule["name"] for rule in seen["rules"]] == ["k-anonymity", "l-diversity"]
    assert not seen["unprotected"], "a rule comes with the role"
    page = steward.client.get(f"{place}/decide", headers={"accept": "text/html"}).text
    assert 'id="go"' not in page
    assert "Check again" in page
    page = steward.client.get(f"{place}/runs", headers={"accept": "text/html"}).text
    assert "Run as decided" not in page
    steward.post(f"{place}/runs", 422)
    assert not steward.get(f"{place}/runs")["runs"]
    seen = steward.post(f"{place}/decide", **form | {"rule.0.k": "2"}, remove="1").json()
    assert seen["ready"]
    assert seen["unprotected"] == ["diagnosis"]
    page = steward.client.get(f"{place}/decide", headers={"accept": "text/html"}).text
    assert "no promise protects diagnosis" in page
    assert "<b>Ready.</b>" not in page


def test_a_rule_is_added_once_for_each_column_it_can_speak_of() -> None:
    once = [{"name": "k-anonymity", "k": 5}, {"name": "l-diversity", "l": 2}]
    assert not {"k-anonymity", "l-diversity"} & {*drafts.addable(once, ["ill"])}
    assert "k-anonymity" in drafts.addable([], ["ill"])
    assert "l-diversity" in drafts.addable(once, ["ill", "wage"])
    twice = [*once, {"name": "l-diversity", "l": 3, "column": "wage"}]
    assert "l-diversity" not in drafts.addable(twice, ["ill", "wage"])
    # A rule over all releases needs a history, which the page does not keep.
    assert {*RULES} - {*drafts.addable([], [])} == {"m-invariance"}
    form = {"rule.0.name": "l-diversity", "rule.0.l": "2", "do": "add", "add": "l-diversity"}
    assert len(drafts._rules(form, ["ill"])) == 1
    assert drafts._rules(form, ["ill", "wage"])[1]["column"] == "ill"


def test_the_column_that_numbers_people_is_suggested_as_the_person(steward) -> None:
    rows = "patient_id,age,diagnosis\n" + "\n".join(
        f"P{i % 40},{20 + i % 9},{'flu' if i % 2 else 'cold'}" for i in range(120)
    )
    place = steward.open("visits.csv", rows.encode())
    profile = steward.get(f"{place}/see")["profile"]
    assert [column["role"] for column in profile["columns"]] == ["person", "quasi", "sensitive"]
    assert profile["columns"][0]["shape"] is None, "its values are not shown"
    assert not profile["not_people"]
    told = read_options.on_the_page("Name it with --person (person='id'), and people are counted.")
    assert told == "Give it the role 'person', and people are counted."


def test_a_table_is_ready_as_it_was_opened_and_promises_what_start_promises(steward) -> None:
    ills = ("flu", "cold")
    rows = [f"{20 + i % 40},{'fm'[i % 2]},{'abc'[i % 3]},{ills[i % 2]}" for i in range(240)]
    raw = "\n".join(["age,sex,town,diagnosis", *rows]).encode()
    place = steward.open("people.csv", raw)
    seen = steward.get(f"{place}/decide")
    assert seen["ready"], seen["faults"]
    assert not seen["unprotected"]
    assert {row["name"]: row["hierarchy"] for row in seen["rows"] if row["hierarchy"]} == {
        "sex": "hierarchies/sex.csv",
        "town": "hierarchies/town.csv",
    }
    first = first_plan(shoal.inspect(pl.read_csv(raw)), Plan())
    promised = [
        {"name": rule["name"], **{f["label"]: f["value"] for f in rule["fields"]}}
        for rule in seen["rules"]
    ]
    assert promised == [rule.spec for rule in first.plan.rules]
    steward.post(f"{place}/decide", **steward.fields(place), do="run")
    view = steward.run(place)["view"]
    release = shoal.start(pl.read_csv(raw))
    assert view["summary"]["loss"]["rate"] == pytest.approx(release.loss.rate, rel=0.2)
    assert view["summary"]["achieved"].keys() == release.achieved.keys()


def test_the_page_refuses_a_person_that_counts_rows(steward) -> None:
    rows = "visit_id,patient_id,age\n" + "\n".join(
        f"V{i},P{i % 40},{20 + i % 9}" for i in range(120)
    )
    place = steward.open("visits.csv", rows.encode())
    numbers = {row["name"]: row["number"] for row in steward.get(f"{place}/decide")["rows"]}
    roles = {"visit_id": "person", "patient_id": "identifier", "age": "quasi"}
    form = {f"role.{numbers[name]}": role for name, role in roles.items()}
    form |= {"rule.0.name": "k-anonymity", "rule.0.k": "4", "method": "shoal"}
    told = str(steward.post(f"{place}/decide", **form).json()) + str(steward.get(f"{place}/decide"))
    assert "'visit_id' has a value of its own in 120 of 120 rows" in told
    assert "identifier 'patient_id' repeats" in told and "give it the role 'person'" in told


def test_limits_are_decided_on_the_page(steward, place) -> None:
    number = steward.get(f"{place}/decide")["rows"][0]["number"]
    form = {f"role.{number}": "quasi", f"within.{number}": "yes", "suppress": "1%"}
    form |= {"rule.0.name": "k-anonymity", "rule.0.k": "2", "method": "shoal"}
    told = steward.post(f"{place}/decide", **form).json()
    assert told["rows"][0]["limits"] == {"within": True}
    shown = steward.client.get(f"{place}/decide", headers={"accept": "text/html"})
    assert shown.status_code == 200 and f'name="within.{number}"' in shown.text
    assert 'name="suppress" value="1%"' in shown.text

"""An uploaded plan is the page's draft: saving a form changes only what the form shows."""

from __future__ import annotations

import shlex
from html.parser import HTMLParser
from typing import Any

from shoal.plan.parts import TABLES
from shoal.plan.plan import Plan
from shoal.plan.setting import declared_settings
from tests.contracts.test_settings import sample
from tests.ext.web.test_flow import Steward, steward  # noqa: F401

TABLE = b"age,town,ill,id\n" + b"".join(
    f"{20 + i % 9},t{i % 3},{'xyz'[i % 3]},p{i // 2}\n".encode() for i in range(60)
)
QUASI = {"domain", "hierarchy"}  # what is said of a quasi-identifier is all but these


class Form(HTMLParser):
    """The fields of the form of decisions, as a browser sends them back."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.fields: dict[str, str] = {}
        self.inside = self.area = self.select = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given: dict[str, Any] = dict(attrs)
        if tag == "form":
            self.inside = given.get("id", "")
        if self.inside != "decisions" or "disabled" in given:
            return
        if tag == "input" and (given.get("type") != "checkbox" or "checked" in given):
            self.fields[given["name"]] = given.get("value", "")
        elif tag == "select":
            self.select = given["name"]
        elif tag == "option" and (self.select not in self.fields or "selected" in given):
            self.fields[self.select] = given.get("value", "")
        elif tag == "textarea":
            self.area = given["name"]
            self.fields[self.area] = ""

    def handle_data(self, data: str) -> None:
        if self.area:
            self.fields[self.area] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":
            self.area = ""


def whole() -> dict[str, Any]:
    """A plan with every key that it may have, but for those that the page refuses."""
    tree: dict[str, Any] = {
        table: {key: sample(table, key) for key in part.model_fields}
        for table, part in TABLES.items()
        if table != "columns"
    }
    for key, setting in declared_settings(TABLES["data"]).items():
        if setting.files or key in ("history", "hierarchies"):
            del tree["data"][key]
    tree["data"] |= {"delimiter": ",", "encoding": "latin1", "dates": "off", "decimal": "point"}
    age = {key: sample("columns", key) for key in TABLES["columns"].model_fields}
    age = {key: value for key, value in age.items() if key not in QUASI} | {"role": "quasi"}
    return tree | {
        "seed": 7,
        "columns": {
            "age": age,
            "town": {"role": "quasi", "kind": "set", "sets": "allowed"},
            "ill": {"role": "sensitive", "domain": ["x", "y", "z", "w"], "missing": ["?"]},
            "id": {"role": "person"},
        },
        "method": {"name": "mondrian"},
        "rules": [
            {"name": "k-anonymity", "k": 3},
            {"name": "alpha-k-anonymity", "alpha": {"x": 0.8, "y": 0.9}, "k": 2, "column": "ill"},
        ],
    }


def upload(page: Steward, place: str, plan: Plan, status: int = 200) -> Any:
    file = ("plan.toml", plan.to_toml().encode())
    return page.post(f"{place}/plan", status, files={"plan": file})


def plan_of(page: Steward, place: str) -> Plan:
    bench = page.client.app.state.bench  # type: ignore[attr-defined]
    plan: Plan = bench.tables[int(place.rsplit("/", 1)[1])].plan()
    return plan


def test_the_page_carries_every_key_of_a_plan(steward: Steward) -> None:  # noqa: F811
    plan = Plan().replaced(**whole())
    place = steward.open("people.csv", TABLE)
    upload(steward, place, plan)
    assert plan_of(steward, place).tree() == plan.final().tree()
    form = Form(steward.client.get(f"{place}/decide").text).fields
    steward.post(f"{place}/decide", **form)
    assert plan_of(steward, place).tree() == plan.final().tree(), "saved as it is shown"
    steward.post(f"{place}/decide", **form | {"rule.0.k": "4", "suppress": ""})
    other = plan.final().tree()
    other["rules"][0]["k"] = 4
    del other["release"]["suppress"]
    assert plan_of(steward, place).tree() == other


def test_a_run_of_the_page_keeps_what_its_plan_protects(steward: Steward) -> None:  # noqa: F811
    release = {"person_rows": "together", "pseudonym": True, "sets": "never", "suppress": 0.5}
    columns = {"town": {"role": "quasi"}, "ill": {"role": "sensitive"}, "id": {"role": "person"}}
    table = b"town,ill,id\n" + b"".join(
        f"t{i // 2 % 3},{'xyz'[i % 3]},p{i // 2}\n".encode() for i in range(60)
    )
    plan = Plan().replaced(
        columns=columns,
        release=release,
        rules=[{"name": "k-anonymity", "k": 3}],
        method={"name": "mondrian"},
        evidence={"purpose": "a test"},
    )
    place = steward.open("visits.csv", table)
    upload(steward, place, plan)
    form = Form(steward.client.get(f"{place}/decide").text).fields
    steward.post(f"{place}/decide", **form | {"do": "run"})
    assert steward.run(place)["told"]["status"] == "done"
    made = Plan.from_toml(steward.client.get(f"{place}/runs/1/files/plan.toml").text)
    assert made.release == plan.release
    assert made.evidence == plan.evidence
    head = steward.client.get(f"{place}/runs/1/files/release.csv").text.splitlines()[0]
    assert "id" in head.split(","), "the pseudonym is published"
    words = shlex.split(steward.get(f"{place}/runs/1")["told"]["command"])
    assert words[3:5] == ["--plan", "plan.toml"], "no flag says the purpose"


def test_what_the_page_cannot_carry_is_refused_by_name(steward: Steward) -> None:  # noqa: F811
    place = steward.open("people.csv", TABLE)
    before = plan_of(steward, place).tree()
    columns = {"age": {"role": "quasi"}, "ward": {"role": "quasi", "within": True}}
    plan = Plan().replaced(columns=columns, data={"hierarchies": "trees", "history": "series"})
    answer = upload(steward, place, plan, 422).json()["text"]
    for part in ("'ward'", "history under [data]", "hierarchies under [data]", "kind of 'age'"):
        assert part in answer
    unread = Plan().replaced(columns={"age": {"role": "quasi"}}, data={"encoding": "klingon"})
    assert "klingon" in upload(steward, place, unread, 422).json()["text"]
    steward.until(f"{place}/see", lambda seen: "profile" in seen)
    assert plan_of(steward, place).tree() == before


def test_every_setting_of_the_release_and_of_columns_is_on_the_page(steward: Steward) -> None:  # noqa: F811
    place = steward.open("people.csv", TABLE)
    columns = {"age": {"role": "quasi", "kind": "ordered"}, "ill": {"role": "sensitive"}}
    upload(steward, place, Plan().replaced(columns=columns))
    form = Form(steward.client.get(f"{place}/decide").text).fields
    for key in TABLES["release"].model_fields:
        assert key in form, key
    for key in TABLES["columns"].model_fields:
        number = 2 if key == "domain" else 0
        assert f"{key}.{number}" in form or key == "hierarchy", key
    said = {"slack": "0.25", "sets": "never", "person_rows": "together", "shuffle": ""}
    said |= {"sets.0": "allowed", "domain.2": "x,y,z", "evidence.why": "a board asked"}
    said |= {"missing.0": "-1,-2", "csv_safe": "yes", "suppress": "5%"}
    steward.post(f"{place}/decide", **form | said)
    plan = plan_of(steward, place)
    assert (plan.release.slack, plan.release.sets, plan.release.shuffle) == (0.25, "never", False)
    assert (plan.release.person_rows, plan.release.csv_safe) == ("together", True)
    assert plan.release.suppress == 0.05
    assert plan.columns["age"].missing == ("-1", "-2")
    assert plan.columns["age"].sets == "allowed"
    assert plan.columns["ill"].domain == ("x", "y", "z")
    assert plan.evidence.why == "a board asked"
    again = Form(steward.client.get(f"{place}/decide").text).fields
    steward.post(f"{place}/decide", **again | {"sets": "", "evidence.why": "", "shuffle": "yes"})
    plan = plan_of(steward, place)
    assert (plan.release.sets, plan.evidence.why, plan.release.shuffle) == (None, None, True)


def test_a_field_that_shows_less_than_the_plan_says_changes_nothing(steward: Steward) -> None:  # noqa: F811
    tree = whole()
    tree["release"] |= {"suppress": 0.0123456789, "slack": 1 / 3}
    tree["evidence"]["why"] = " a board\nasked "
    tree["columns"]["ill"] |= {"domain": ["x", "y", "z", " w"]}
    tree["rules"][1]["alpha"] = {"x": 0.87654321, "y": 0.9}
    plan = Plan().replaced(**tree)
    place = steward.open("people.csv", TABLE)
    upload(steward, place, plan)
    steward.post(f"{place}/decide", **Form(steward.client.get(f"{place}/decide").text).fields)
    assert plan_of(steward, place).tree() == plan.final().tree()


def test_settings_that_no_column_of_a_role_has_are_refused(steward: Steward) -> None:  # noqa: F811
    place = steward.open("people.csv", TABLE)
    before = plan_of(steward, place).tree()
    ill = {"role": "sensitive", "within": True, "top": 3.0}
    plan = Plan().replaced(columns={"age": {"role": "quasi"}, "ill": ill})
    said = upload(steward, place, plan, 422).json()["text"]
    assert "'ill'" in said and "sensitive" in said and "'within'" in said and "'top'" in said, said
    assert plan_of(steward, place).tree() == before


def test_a_plan_is_compared_with_the_table_as_the_plan_reads_it(steward: Steward) -> None:  # noqa: F811
    place = steward.open("people.csv", TABLE)
    before = plan_of(steward, place).tree()
    columns = {"age": {"role": "quasi", "kind": "ordered"}, "ill": {"role": "sensitive"}}
    tab = Plan().replaced(columns=columns, data={"delimiter": "\t"})
    assert "'age'" in upload(steward, place, tab, 422).json()["text"]
    assert plan_of(steward, place).tree() == before
    other = steward.open("odd.csv", TABLE.replace(b",", b"#"))
    pipe = Plan().replaced(columns=columns, data={"delimiter": "#"})
    upload(steward, other, pipe)
    assert plan_of(steward, other).tree() == pipe.final().tree()


def test_reading_a_table_in_another_way_keeps_what_was_decided(steward: Steward) -> None:  # noqa: F811
    place = steward.open("people.csv", TABLE.replace(b"20,", b"?,"))
    assert plan_of(steward, place).columns["age"].role == "quasi"
    columns = {
        "age": {"role": "quasi", "kind": "ordered"},
        "town": {"role": "quasi", "kind": "set", "within": True, "sets": "allowed"},
        "ill": {"role": "sensitive", "domain": ["x", "y", "z"]},
    }
    plan = Plan().replaced(columns=columns, data={"missing": ["", "?"]})
    upload(steward, place, plan)
    steward.post(f"{place}/see", None, encoding="utf-16")  # as which it cannot be read
    steward.until(f"{place}/see", lambda _: False)
    steward.post(f"{place}/see", None, encoding="")
    steward.until(f"{place}/see", lambda seen: "profile" in seen)
    steward.post(f"{place}/see", None, mark="27")  # read at once, or not yet
    steward.until(f"{place}/see", lambda seen: "profile" in seen)
    now = plan_of(steward, place)
    assert now.data.missing == ("", "?", "27")
    left_out = {"id": {"role": "drop", "importance": 1.0}}
    assert now.tree()["columns"] == plan.final().tree()["columns"] | left_out

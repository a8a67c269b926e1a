"""Work is saved as one file and opened again; runs have names, and a deleted one comes back."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest

from tests.ext.web.test_flow import Steward, steward  # noqa: F401

TABLE = b"age,town,ill\n" + b"".join(
    f"{20 + i % 9},Zuid{i % 3},{'xyz'[i % 3 - i % 2]}\n".encode() for i in range(60)
)


@pytest.fixture
def place(steward: Steward) -> str:  # noqa: F811
    place = steward.open("my people.csv", TABLE)
    steward.post(f"{place}/columns/1", do="make", how="flat")
    fields = steward.fields(place) | {"role.2": "sensitive", "rule.0.k": "5"}
    steward.post(f"{place}/decide", **fields)
    steward.post(f"{place}/runs")
    assert steward.run(place)["told"]["status"] == "done"
    steward.post(f"{place}/runs/1", do="name", name=" for the <registry> ")
    steward.post(f"{place}/notes", notes="Asked the board.\r\nThey agreed.")
    return place


def saved(page: Steward, place: str, **query: str) -> bytes:
    answer = page.client.get(f"{place}/project.zip", params=query)
    assert answer.status_code == 200, answer.text
    assert "my_people.shoal.zip" in answer.headers["content-disposition"]
    return answer.content


def parts(raw: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(raw)) as box:
        return {name: box.read(name) for name in box.namelist()}


def packed(held: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as box:
        for name, raw in held.items():
            box.writestr(name, raw)
    return out.getvalue()


def given(raw: bytes) -> dict[str, Any]:
    return {"project": ("p.zip", raw)}


def test_a_project_holds_decisions_and_no_data(steward, place) -> None:  # noqa: F811
    held = parts(saved(steward, place))
    assert sorted(held) == ["hierarchies/1.csv", "project.json"]
    told = json.loads(held["project.json"])
    assert told["notes"] == "Asked the board.\nThey agreed."
    assert told["runs"][0]["name"] == "for the <registry>"
    assert 0 <= told["runs"][0]["loss"] <= 1
    assert "Zuid" not in held["project.json"].decode(), "the plan names no value"
    assert parts(saved(steward, place, table="yes"))["table"] == TABLE


def test_it_is_opened_again_with_its_table_or_for_one(steward, place) -> None:  # noqa: F811
    before = steward.get(f"{place}/decide")
    for address, raw in (
        ("/project", saved(steward, place, table="yes")),
        (f"{steward.open('other.csv', TABLE)}/project", saved(steward, place)),
    ):
        answer = steward.post(address, files=given(raw))
        there = answer.url.path.removesuffix("/decide").partition("/tables/")[2]
        there = f"/tables/{there}"
        after = steward.get(f"{there}/decide")
        for key in ("rows", "rules", "method", "release", "ready"):
            assert after[key] == before[key], key
        seen = steward.get(f"{there}/runs")
        run = seen["runs"][0]
        was = steward.get(f"{place}/runs")["runs"][0]
        assert (run["loss"], run["highest"]) == (was["loss"], was["highest"])
        assert seen["notes"] == "Asked the board.\nThey agreed."
        assert (run["name"], run["status"]) == ("for the <registry>", "saved")
        assert seen["recommended"] is None, "nothing of it was verified here"
        html = steward.client.get(f"{there}/runs", headers={"accept": "text/html"}).text
        assert "not verified here" in html
        assert "<registry>" not in html
        assert steward.get(f"{there}/runs/1")["view"] is None
        assert steward.get(f"{there}/runs/1/files/release.csv", 404)
        steward.post(f"{there}/runs/1", do="decide")
        steward.post(f"{there}/runs")
        assert steward.run(there, 2)["told"]["status"] == "done"


def test_figures_of_another_table_are_not_shown(steward, place) -> None:  # noqa: F811
    other = steward.open("half.csv", TABLE[: len(TABLE) // 2].rpartition(b"\n")[0])
    steward.post(f"{other}/project", files=given(saved(steward, place)))
    assert steward.get(f"{other}/runs")["runs"][0]["loss"] is None
    assert "another number" in steward.get(f"{other}/decide")["notes"][0]


def test_a_project_without_a_table_says_what_to_do(steward, place) -> None:  # noqa: F811
    answer = steward.post("/project", 422, files=given(saved(steward, place)))
    assert "Open its table (my people.csv) first" in answer.text
    wrong = steward.open("wrong.csv", b"a,b\n" + b"1,x\n" * 30)
    answer = steward.post(f"{wrong}/project", 422, files=given(saved(steward, place)))
    assert "columns that this table does not have" in answer.text
    assert steward.get(f"{wrong}/runs")["runs"] == []


def changed(told: dict[str, Any], **new: Any) -> dict[str, Any]:
    return {**told, **new}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"project": 2}, "'project' cannot be read"),
        ({"more": 1}, "'more' cannot be read"),
        ({"rows": -1}, "'rows' cannot be read"),
        ({"hierarchies": {"town": "../../etc/passwd"}}, "no project of Shoal"),
        ({"plan": "rules = 7"}, "rules"),
        ({"runs": [{"plan": "", "status": "done", "seconds": 1, "loss": 7}]}, "runs.0.loss"),
        ({"runs": [{"plan": "[[", "status": "done", "seconds": 1}]}, "TOML"),
    ],
)
def test_what_is_wrong_in_a_project_is_refused(steward, place, change, said) -> None:  # noqa: F811
    held = parts(saved(steward, place))
    told = changed(json.loads(held["project.json"]), **change)
    held["project.json"] = json.dumps(told).encode()
    before = steward.get(f"{place}/runs")["runs"]
    answer = steward.post(f"{place}/project", None, files=given(packed(held)))
    assert answer.status_code in (400, 422)
    assert said in answer.text
    assert steward.get(f"{place}/runs")["runs"] == before


def test_what_is_no_project_or_too_large_is_refused(steward, place) -> None:  # noqa: F811
    for raw in (
        b"PK\x03\x04broken",
        b"",
        packed({"a": b"b"}),
        packed({"project.json": b"[" * 9999}),
    ):
        answer = steward.post(f"{place}/project", 400, files=given(raw))
        assert "no project" in answer.text
    held = parts(saved(steward, place)) | {"hierarchies/1.csv": b"a;*\n" * (1 << 25)}
    answer = steward.post(f"{place}/project", 400, files=given(packed(held)))
    assert "64 MiB" in answer.text
    assert steward.post(f"{place}/project", None).status_code == 400


def test_named_earlier_releases_are_asked_for_again(steward, place) -> None:  # noqa: F811
    held = parts(saved(steward, place))
    told = json.loads(held["project.json"]) | {"earlier": ["2024.csv"]}
    held["project.json"] = json.dumps(told).encode()
    steward.post(f"{place}/project", files=given(packed(held)))
    assert "2024.csv" in steward.get(f"{place}/decide")["notes"][0]


def test_a_deleted_run_comes_back_and_only_the_last_one_is_kept(steward, place) -> None:  # noqa: F811
    steward.post(f"{place}/runs")
    steward.run(place, 2)
    bench = steward.client.app.state.bench
    table = bench.table(int(place.rpartition("/")[2]))
    folders = {number: run.folder for number, run in table.runs.items()}
    steward.post(f"{place}/runs/1", do="drop")
    seen = steward.get(f"{place}/runs")
    assert ([run["number"] for run in seen["runs"]], seen["dropped"]) == ([2], 1)
    steward.get(f"{place}/runs/1", 404)
    steward.post(f"{place}/runs", do="undo")
    seen = steward.get(f"{place}/runs")
    assert ([run["number"] for run in seen["runs"]], seen["dropped"]) == ([1, 2], None)
    assert steward.client.get(f"{place}/runs/1/files/release.csv").status_code == 200
    steward.post(f"{place}/runs/1", do="drop")
    steward.post(f"{place}/runs/2", do="drop")
    assert not folders[1].exists()
    assert folders[2].exists()
    steward.post(f"{place}/runs", do="undo")
    assert [run["number"] for run in steward.get(f"{place}/runs")["runs"]] == [2]
    steward.post(f"{place}/close")
    assert not folders[2].exists()

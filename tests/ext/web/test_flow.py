"""The whole way through the page, request by request, with the real workers."""

from __future__ import annotations

import io
import os
import shlex
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from shoal.base.workers import Died
from shoal.ext.web.app import build
from shoal.ext.web.security import AllowedHosts, Keys
from shoal.tables import demo
from tests.ext.web.conftest import TestClient

BASE = "http://127.0.0.1:8124"
KEYS = Keys(8124)
SHOAL = Path(sys.executable).with_name("shoal")


def where(answer: Any) -> str:
    """Return the path of an answer behind the secret part that all of them begin with."""
    path: str = answer.url.path
    return path.removeprefix(KEYS.root)


class Steward:
    """Somebody at the page: asks for JSON, fills in forms."""

    def __init__(self, client: TestClient) -> None:
        self.client = client

    def get(self, path: str, status: int = 200) -> dict[str, Any]:
        answer = self.client.get(path, headers={"accept": "application/json"})
        assert answer.status_code == status, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def post(self, path: str, status: int | None = 200, files: Any = None, **fields: Any) -> Any:
        answer = self.client.post(
            path,
            data={"key": KEYS.form, **fields},
            files=files,
            headers={"origin": BASE, "accept": "application/json"},
        )
        assert status is None or answer.status_code == status, answer.text
        return answer

    def open(self, name: str, raw: bytes) -> str:
        answer = self.post("/open", files={"table": (name, raw)}, status=None)
        place = where(answer).removesuffix("/see")
        self.until(f"{place}/see", lambda seen: "profile" in seen)
        return place

    def until(self, path: str, done: Any, patience: float = 200) -> dict[str, Any]:
        end = time.monotonic() + patience
        while time.monotonic() < end:
            answer = self.client.get(path, headers={"accept": "application/json"})
            if answer.status_code >= 400 or done(answer.json()):
                found: dict[str, Any] = answer.json()
                return found
            time.sleep(0.05)
        raise AssertionError(f"{path} never came to an end")

    def fields(self, place: str) -> dict[str, Any]:
        """Return the Decide form as a browser would send it back unchanged."""
        seen = self.get(f"{place}/decide")
        form: dict[str, Any] = {"method": seen["method"]["chosen"]}
        form["method-was"] = form["method"]
        for row in seen["rows"]:
            form[f"role.{row['number']}"] = row["role"]
            if row["kind"]:
                form[f"kind.{row['number']}"] = row["kind"]
        for rule in seen["rules"]:
            form[f"rule.{rule['place']}.name"] = rule["name"]
            form |= {f["name"]: f["value"] for f in rule["fields"] if f["value"] != ""}
        return form | {f["name"]: f["value"] for f in seen["method"]["fields"]}

    def run(self, place: str, number: int = 1) -> dict[str, Any]:
        return self.until(
            f"{place}/runs/{number}",
            lambda seen: seen["told"]["status"] not in ("running", "waiting"),
        )


@pytest.fixture(scope="module")
def steward(tmp_path_factory) -> Iterator[Steward]:
    app = build(tmp_path_factory.mktemp("page"), KEYS, AllowedHosts("127.0.0.1", 8124))
    with TestClient(app, base_url=BASE + KEYS.root) as client:
        client.get("/", params={"token": KEYS.tickets.issue()})
        yield Steward(client)


@pytest.fixture(scope="module")
def patients(steward) -> str:
    steward.post("/open", demo="yes")
    place = "/tables/1"
    steward.until(f"{place}/see", lambda seen: "profile" in seen)
    return place


def test_the_table_is_shown_but_not_what_names_or_harms(steward, patients) -> None:
    seen = steward.get(f"{patients}/see")["profile"]
    columns = {column["name"]: column for column in seen["columns"]}
    assert columns["patient"]["role"] == "identifier"
    assert columns["patient"]["shape"] is None
    assert columns["age"]["shape"]["how"] == "bins"
    assert columns["diagnosis"]["role"] == "sensitive"
    frame = pl.read_csv(demo.TABLE)
    shown = {cell for row in seen["sample"] for cell in row}
    assert not shown & set(frame["patient"].cast(pl.String))
    assert not shown & set(frame["diagnosis"].drop_nulls())
    assert len(seen["sample"]) <= 8


def test_the_page_shows_what_singles_people_out(steward, patients) -> None:
    seen = steward.get(f"{patients}/see")["profile"]["singling"]
    alone = {each["columns"][0]: each for each in seen["columns"]}
    assert alone["patient"]["unique"] == 5000
    assert alone["sex"]["unique"] == 0
    assert "patient" not in seen["tried"]
    assert seen["together"][0]["columns"] == ["admitted", "age"]
    shown = {tuple(one["columns"]): one["unique"] for one in seen["shown"]}
    assert min(shown.values()) > 0, "what singles nobody out is not shown"
    for names, rows in shown.items():
        within = [own for other, own in shown.items() if {*other} < {*names}]
        assert rows > max(within, default=0), "a column more that singles out no row more"
    page = steward.client.get(f"{patients}/see", headers={"accept": "text/html"}).text
    assert "What singles people out" in page
    assert "Separation" in page


def test_every_step_is_a_page_too(steward, patients) -> None:
    for step in ("see", "decide", "runs"):
        page = steward.client.get(f"{patients}/{step}", headers={"accept": "text/html"})
        assert page.status_code == 200
        assert "<main" in page.text


def test_from_decision_to_an_audited_release(steward, patients, tmp_path) -> None:
    form = steward.fields(patients) | {"rule.0.k": "5", "option.effort": "fast"}
    seen = steward.post(f"{patients}/decide", **form, do="run").json()
    assert seen["step"] == "run"
    run = steward.run(patients)
    view = run["view"]
    assert run["told"]["status"] == "done", run
    assert view["summary"]["verified"]
    assert view["groups"]["smallest"] >= 5
    assert view["risk"]["after"]["prosecutor_highest"] <= 0.2
    assert (
        view["risk"]["after"]["prosecutor_highest"] <= view["risk"]["before"]["prosecutor_highest"]
    )
    tried = {attack["name"]: attack for attack in view["attacks"]}
    assert tried["linkage"]["success"] <= 0.2
    assert all(each["low"] <= each["success"] <= each["high"] for each in tried.values())
    drawn = {chart["key"] for chart in view["charts"]}
    assert {"loss", "classes", "risk", "attacks", "belief", "missing", "column-0"} <= drawn
    names = {file["name"] for file in steward.get(f"{patients}/runs/1/take")["files"]}
    assert {"release.csv", "release.parquet", "plan.toml", "result.json"} <= names
    assert {"report.html", "report.public.html"} <= names

    sent = steward.client.get(f"{patients}/runs/1/files/to-send.zip")
    with zipfile.ZipFile(io.BytesIO(sent.content)) as archive:
        assert set(archive.namelist()) == {
            "release.csv",
            "release.csv.manifest.json",
            "report.public.html",
        }
    box = steward.client.get(f"{patients}/runs/1/files/to-keep.zip")
    with zipfile.ZipFile(io.BytesIO(box.content)) as archive:
        archive.extractall(tmp_path)
    shown = shlex.split(steward.get(f"{patients}/runs/1/take")["audit"])
    assert shown[:3] == ["shoal", "audit", "release.csv"]
    sending = tmp_path / "sent"
    with zipfile.ZipFile(io.BytesIO(sent.content)) as archive:
        assert set(shown[2:]) - {"--manifest"} <= set(archive.namelist())
        archive.extractall(sending)
    done = subprocess.run([str(SHOAL), *shown[1:]], cwd=sending, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    audit = [str(SHOAL), "audit", "release.csv", "--plan", "plan.toml", "--original"]
    done = subprocess.run([*audit, str(demo.TABLE)], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    steward_report = (tmp_path / "report.html").read_text()
    assert "shoal anonymize" in steward_report  # the command that repeats the run
    assert "shoal anonymize" not in (tmp_path / "report.public.html").read_text()
    text = (tmp_path / "release.csv").read_text()
    (tmp_path / "release.csv").write_text(text + text.splitlines()[1].replace("*", "0") + "\n")
    done = subprocess.run([*audit, str(demo.TABLE)], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1, "a changed release must not pass"

    # The command that is shown does run, next to what was taken away.
    words = shlex.split(run["command"])
    assert words[:2] == ["shoal", "anonymize"]
    words[words.index("-o") + 1] = "again.csv"
    done = subprocess.run([str(SHOAL), *words[1:]], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_files_need_the_cookie(steward, patients) -> None:
    path = f"{patients}/runs/1/files/release.csv"
    assert steward.client.get(path).status_code == 200
    kept = dict(steward.client.cookies)
    steward.client.cookies.clear()
    try:
        assert steward.client.get(path).status_code == 403
    finally:
        steward.client.cookies.update(kept)


def test_feasibility_names_the_best_and_what_limits_it(steward, patients) -> None:
    form = steward.fields(patients)
    seen = steward.post(f"{patients}/decide", **form, do="add", add="alpha-k-anonymity").json()
    case = seen["rules"][-1]["cases"][0]
    counts = pl.read_csv(demo.TABLE)["diagnosis"].drop_nulls().value_counts(sort=True)
    assert repr(counts["diagnosis"][0]) in case["best"]
    share = counts["count"][0] / counts["count"].sum()
    assert f"smallest alpha possible: {share:.3f}"[:-1] in case["best"]
    place = seen["rules"][-1]["place"]
    form = steward.fields(patients) | {f"rule.{place}.alpha": "0.001"}
    seen = steward.post(f"{patients}/decide", status=422, **form, do="run").json()
    assert not seen["ready"]
    assert "cannot be met" in seen["rules"][-1]["cases"][0]["text"]
    form = steward.fields(patients)
    seen = steward.post(f"{patients}/decide", **form, remove=str(place)).json()
    assert seen["ready"]


def test_what_was_mistyped_comes_back_with_the_reason(steward, patients) -> None:
    form = steward.fields(patients) | {"rule.0.k": "many"}
    seen = steward.post(f"{patients}/decide", **form).json()
    assert "must be a whole number" in seen["faults"][0]
    assert seen["rules"][0]["fields"][0]["value"] == "many"
    steward.post(f"{patients}/decide", **(form | {"rule.0.k": "5"}))


def test_every_method_of_the_catalog_is_offered_with_its_options(steward, patients) -> None:
    from shoal.catalog import METHODS

    form = steward.fields(patients)
    offered = {m["name"] for m in steward.get(f"{patients}/decide")["method"]["choices"]}
    assert offered == set(METHODS)
    for name, entry in METHODS.items():
        seen = steward.post(f"{patients}/decide", **(form | {"method": name})).json()
        assert [f["label"] for f in seen["method"]["fields"]] == [p.name for p in entry.params]
        form["method-was"] = name
    steward.post(f"{patients}/decide", **(form | {"method": "shoal"}))


def test_a_job_that_is_killed_is_shown_and_the_next_one_runs(steward, patients) -> None:
    bench = steward.client.app.state.bench
    steward.post(f"{patients}/runs")
    number = max(bench.tables[1].runs)
    run = bench.tables[1].runs[number]
    while run.status == "waiting" or bench.press.pid is None:
        time.sleep(0.01)
    os.kill(bench.press.pid, signal.SIGKILL)
    told = steward.run(patients, number)["told"]
    assert told["status"] == "failed"
    assert "SIGKILL" in told["error"]
    assert not run.folder.exists()
    assert not Path(f"{run.folder}.part").exists()
    steward.post(f"{patients}/runs")
    assert steward.run(patients, number + 1)["told"]["status"] == "done"


def test_an_order_that_a_kill_met_is_refused_with_the_reason(
    steward, patients, monkeypatch
) -> None:
    desk = steward.client.app.state.bench.desk
    ask, met = desk.ask, []

    async def once(do, *args, **settings):
        if do == "check" and not met:
            met.append(do)
            raise Died(-signal.SIGKILL)
        return await ask(do, *args, **settings)

    monkeypatch.setattr(desk, "ask", once)
    before = len(steward.get(f"{patients}/runs")["runs"])
    form = steward.fields(patients)
    met.clear()
    seen = steward.post(f"{patients}/decide", 422, **form, do="run").json()
    assert "SIGKILL" in seen["faults"][0]
    assert not seen["ready"]
    assert len(steward.get(f"{patients}/runs")["runs"]) == before


@pytest.mark.parametrize(("kills", "status"), [(1, 200), (2, 422)])
def test_a_table_whose_reading_was_killed_is_read_once_more(
    steward, patients, monkeypatch, kills, status
) -> None:
    bench = steward.client.app.state.bench
    table, ask, met = bench.tables[1], bench.desk.ask, []

    async def killed(do, *args, **settings):
        if do == "look" and len(met) < kills:
            met.append(do)
            raise Died(-signal.SIGKILL)
        return await ask(do, *args, **settings)

    async def reopen():
        bench.reopen(table)

    monkeypatch.setattr(bench.desk, "ask", killed)
    steward.client.portal.call(reopen)
    while not (table.profile or table.error):
        time.sleep(0.01)
    seen = steward.client.get(f"{patients}/see", headers={"accept": "application/json"})
    assert (seen.status_code, "SIGKILL" in seen.text) == (status, status == 422)
    met.extend(["look"] * kills)
    steward.client.portal.call(reopen)
    while not (table.profile or table.error):
        time.sleep(0.01)
    assert not table.error


def test_cancel_ends_the_work_and_keeps_nothing(steward, patients) -> None:
    bench = steward.client.app.state.bench
    form = steward.fields(patients) | {"option.effort": "max"}
    steward.post(f"{patients}/decide", **form, do="run")
    number = max(bench.tables[1].runs)
    run = bench.tables[1].runs[number]
    while run.status == "waiting":
        time.sleep(0.01)
    steward.post(f"{patients}/runs/{number}", do="cancel")
    assert run.status == "cancelled"
    assert run.ended
    assert not [p for p in bench.tables[1].folder.iterdir() if f"run-{number}" in p.name]


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"", "is empty"),
        (b"a,b\n1,2\n3\n", "line 3 has 1 cell for 2 column names"),
        (b"PK\x03\x04rest", "zip archive or a spreadsheet"),
        (b"\x1f\x8b\x08broken", "damaged or truncated gzip"),
    ],
    ids=["empty", "ragged", "spreadsheet", "gzip"],
)
def test_a_bad_file_says_what_is_wrong_by_its_own_name(steward, raw, text) -> None:
    answer = steward.post("/open", files={"table": ("../../bad.csv", raw)}, status=None)
    seen = answer.json()
    if answer.status_code != 422:  # it is still being read
        seen = steward.until(where(answer), lambda seen: "text" in seen)
    assert text in seen["text"]
    assert seen["text"].startswith("bad.csv")
    assert "table-" not in seen["text"]

"""Runs of every shape, plans that come in, and methods that are told to stop looking."""

from __future__ import annotations

import polars as pl
import pytest

from shoal.tables import demo
from tests.ext.web.test_flow import KEYS, Steward, steward

__all__ = ["steward"]


@pytest.fixture(scope="module")
def patients(steward, tmp_path_factory) -> str:
    """Open every fifth patient of the demo: a dozen runs follow."""
    some = tmp_path_factory.mktemp("demo") / "patients.csv.gz"
    pl.read_csv(demo.TABLE, infer_schema=False).gather_every(5).write_csv(some, compression="gzip")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo, "TABLE", some)
        steward.post("/open", demo="yes")
    steward.until("/tables/1/see", lambda seen: "profile" in seen)
    return "/tables/1"


CHOSEN = {"rule.0.l": "3", "option.cuts": "relaxed", "option.small": "refuse"}


def decided(steward: Steward, place: str, rule: str, method: str, **fields: str) -> int:
    """Decide on one rule and one method, run, and return the number of the run."""
    form = steward.fields(place)
    form = {k: v for k, v in form.items() if not k.startswith(("rule.", "option."))}
    form |= {"rule.0.name": rule, "method": method, "method-was": method, **fields}
    steward.post(f"{place}/decide", **form, do="run")
    return max(run["number"] for run in steward.get(f"{place}/runs")["runs"])


@pytest.mark.parametrize(
    ("rule", "method", "fields"),
    [
        ("frequency-l-diversity", "anatomy", {"rule.0.l": "3"}),
        ("l-diversity", "dummies", {"rule.0.l": "3", "option.missing": "hide"}),
        (
            "k-anonymity",
            "mondrian",
            {"rule.0.k": "4", "typed": "yes", "kind.1": "ordered", "seed": "3"},
        ),
    ],
    ids=["anatomy", "dummies", "typed"],
)
def test_every_shape_is_shown_and_handed_out(steward, patients, rule, method, fields) -> None:
    number = decided(steward, patients, rule, method, **fields)
    run = steward.run(patients, number)
    assert run["told"]["status"] == "done", run["told"]["error"]
    assert run["view"]["summary"]["verified"]
    assert run["view"]["groups"]["classes"]
    page = steward.client.get(f"{patients}/runs/{number}")
    assert page.status_code == 200
    exact = "publishes every quasi-identifier as it is" in page.text
    assert exact == (method != "mondrian")
    assert ("What a class reveals of single values" in page.text) == (method == "mondrian")
    names = {file["name"] for file in steward.get(f"{patients}/runs/{number}/take")["files"]}
    assert ("release.st.csv" in names) == (method == "anatomy")
    take = steward.client.get(f"{patients}/runs/{number}/take")
    assert ("knows the order of the rows" in take.text) == ("seed" in fields)
    assert ("age_lo" in run["view"]["groups"]["columns"]) == ("typed" in fields)


def test_a_method_that_refines_can_be_told_that_it_is_enough(steward, patients) -> None:
    # All patients: no machine is done with them before it can be asked to stop.
    steward.post("/open", demo="yes")
    place = "/tables/2"
    steward.until(f"{place}/see", lambda seen: "profile" in seen)
    fields = {"rule.0.k": "5", "option.effort": "max", "option.objective": "ncp"}
    number = decided(steward, place, "k-anonymity", "shoal", **fields)
    steward.until(f"{place}/runs/{number}", lambda seen: seen["told"]["can_stop"])
    steward.post(f"{place}/runs/{number}", do="enough")
    run = steward.run(place, number)
    assert run["told"]["status"] == "done"
    assert run["told"]["enough"]
    assert run["view"]["summary"]["verified"]


def test_a_plan_comes_back_as_the_decisions_it_was_made_from(steward, patients) -> None:
    number = decided(steward, patients, "l-diversity", "mondrian", **CHOSEN, seed="")
    steward.run(patients, number)
    plan = steward.client.get(f"{patients}/runs/{number}/files/plan.toml").content
    before = steward.get(f"{patients}/decide")
    form = steward.fields(patients) | {"method": "k-member", "rule.0.l": "2"}
    steward.post(f"{patients}/decide", **form)
    assert steward.get(f"{patients}/decide") != before
    steward.post(f"{patients}/plan", files={"plan": ("plan.toml", plan)})
    assert steward.get(f"{patients}/decide") == before
    answer = steward.post(f"{patients}/plan", 400, files={"plan": ("x.toml", b"method = 3")})
    assert "x.toml" in answer.json()["text"]


def test_a_sweep_orders_one_run_each_and_refuses_nonsense(steward, patients) -> None:
    form = steward.fields(patients)
    form = {k: v for k, v in form.items() if not k.startswith("rule.")}
    steward.post(f"{patients}/decide", **form, **{"rule.0.name": "k-anonymity", "rule.0.k": "3"})
    before = len(steward.get(f"{patients}/runs")["runs"])
    fields = {"do": "sweep", "sizes": "3, 9", "methods": ["mondrian", "incognito"]}
    seen = steward.post(f"{patients}/runs", **fields).json()
    fresh = seen["runs"][before:]
    assert [run["title"] for run in fresh] == [
        "k = 3 · mondrian",
        "k = 9 · mondrian",
        "k = 3 · incognito",
        "k = 9 · incognito",
    ]
    done = [steward.run(patients, run["number"])["view"] for run in fresh]
    least = [view["groups"]["smallest"] for view in done]
    assert all(size >= k for size, k in zip(least, (3, 9, 3, 9), strict=True))
    chart = steward.get(f"{patients}/runs")["frontier"]
    for run in fresh:
        assert f'href="{KEYS.root}{patients}/runs/{run["number"]}"' in chart
    for sizes in ("", "1", "5, x", "2.5"):
        answer = steward.post(f"{patients}/runs", 400, do="sweep", sizes=sizes)
        assert "whole numbers from 2" in answer.json()["text"]
    many = ", ".join(map(str, range(2, 40)))
    assert "at most" in steward.post(f"{patients}/runs", 400, do="sweep", sizes=many).text


def test_a_run_can_be_dropped_and_a_table_closed(steward, patients) -> None:
    number = steward.get(f"{patients}/runs")["runs"][0]["number"]
    steward.post(f"{patients}/runs/{number}", do="drop")
    steward.get(f"{patients}/runs/{number}", 404)
    other = steward.open("small.csv", b"age,zip\n1,2\n3,4\n")
    bench = steward.client.app.state.bench
    kept = bench.tables[int(other.rsplit("/", 1)[1])]
    assert kept.path.exists()
    steward.post(f"{other}/close")
    steward.get(f"{other}/see", 404)
    assert not kept.folder.exists()
    assert not kept.path.exists()  # an upload goes with its table
    assert KEYS.form not in steward.client.get("/open.json").text


def test_cautions_are_shown_and_a_spreadsheet_can_be_kept_from_running_cells(steward) -> None:
    rows = "".join(f"{20 + i % 4},{'=cmd' if i % 2 else 'x'}\n" for i in range(40))
    place = steward.open("notes.csv", b"age,note\n" + rows.encode())
    fields = {"rule.0.k": "4", "role.1": "keep", "role.0": "quasi"}
    texts, pages = [], []
    for safe in ({}, {"csv_safe": "yes"}):
        number = decided(steward, place, "k-anonymity", "mondrian", **fields, **safe)
        assert steward.run(place, number)["told"]["status"] == "done"
        texts.append(steward.client.get(f"{place}/runs/{number}/files/release.csv").text)
        pages.append(steward.client.get(f"{place}/runs/{number}").text)
    assert texts[0].count(",=cmd\n") == texts[1].count(",'=cmd\n") == 20
    assert "20 cells of column &#39;note&#39; begin with =" in pages[0]
    assert "begin with =" not in pages[1]
    assert "--csv-safe" in steward.client.get(f"{place}/runs/{number}/files/command.txt").text


def test_a_plan_nested_without_end_is_refused(steward, patients) -> None:
    plan = ("plan.toml", b"x = " + b"[" * 3000 + b"]" * 3000)
    answer = steward.post(f"{patients}/plan", 400, files={"plan": plan})
    assert "nested hundreds deep" in answer.json()["text"]


def test_runs_are_recommended_for_a_recipient_and_only_among_the_same_columns(steward) -> None:
    rows = [
        f"{20 + i % 40},{'fm'[i % 2]},{'abc'[i % 3]},{('flu', 'cold')[i % 2]}" for i in range(240)
    ]
    place = steward.open("people.csv", "\n".join(["age,sex,town,diagnosis", *rows]).encode())
    form = steward.fields(place) | {"option.effort": "fast"}
    for number, k in enumerate(("5", "20"), 1):
        steward.post(f"{place}/decide", **form | {"rule.0.k": k}, do="run")
        assert steward.run(place, number)["told"]["status"] == "done"
    assert steward.get(f"{place}/runs?recipient=internal")["recommended"] == 1
    assert steward.get(f"{place}/runs?recipient=public")["recommended"] in (2, None)
    page = steward.client.get(
        f"{place}/runs?recipient=public", headers={"accept": "text/html"}
    ).text
    assert '<option value="public" selected>the public</option>' in page
    number = next(
        r["number"] for r in steward.get(f"{place}/decide")["rows"] if r["name"] == "town"
    )
    steward.post(f"{place}/decide", **form | {f"role.{number}": "drop"}, do="run")
    steward.run(place, 3)
    seen = steward.get(f"{place}/runs?recipient=internal")
    assert seen["differing"] == {"1": ["town"], "2": ["town"]}
    page = steward.client.get(f"{place}/runs", headers={"accept": "text/html"}).text
    assert "the last run treats columns differently" in page

"""A small study from end to end: workers, store, verdicts, pages."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from experiments import caching
from experiments.caching import Store
from experiments.claims import Claim
from experiments.judging import HOLDS
from experiments.pages import write_paper, write_summary
from experiments.plans import read_study
from experiments.running import reproduce
from experiments.sources import Sources
from experiments.worker import answer
from experiments.working import Crew, Task, WorkerFailed
from tests.experiments.test_plans import people

PLAN = """
title = "A small study"
citation = "Nobody 2026"
about = "Made up."
[base]
data = "adult"
quasi = ["age", "sex", "race"]
hierarchies = "all"
rule = "k"
columns = 3
repeats = 2
[quick]
at_most = 100
repeats = 2
[series.kaim]
label = "KAIM"
method = "kaim"
[series.k-member]
label = "k-member"
method = "k-member"
[[figures]]
id = "by-k"
title = "Loss against k"
y = "loss"
x = "k"
xs = [2, 8]
series = ["kaim", "k-member"]
[[figures]]
id = "by-n"
title = "Loss against rows"
y = "loss"
x = "n"
xs = [100, 5000]
series = ["kaim"]
fixed = { k = 4 }
"""
CLAIM = Claim("c", "It grows.", "it does", "grows", ("by-k",), "kaim", "figure 4", main=True)


@pytest.fixture(scope="module")
def crew():
    with Crew(1) as found:
        yield found


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("study")
    people(250).write_csv(folder / "adult.csv")
    (folder / "plan.toml").write_text(PLAN)
    return folder


def run(place: Path, crew: Crew, study=None):
    study = study or read_study("kaim", folder=place)
    sources = Sources(str(place / "adult.csv"))
    return reproduce(study, sources, Store(place / "cache"), crew, claims=[CLAIM])


def test_a_study_is_measured_once(place: Path, crew):
    found = run(place, crew)
    assert found.measured_now == 6 + 5  # the points, and whole runs of those that can be
    assert found.verdicts[0].verdict == HOLDS
    dots = {(dot.figure, dot.series, dot.x): dot for dot in found.dots}
    grown = dots["by-k", "kaim", 8]
    assert grown.repeats == 2
    assert grown.low <= grown.mean <= grown.high
    assert dots["by-n", "kaim", 5000].mean is None
    assert "needs as many; the table has 250" in dots["by-n", "kaim", 5000].reason
    again = run(place, crew)
    assert (again.measured_now, again.dots) == (0, found.dots)


def test_of_other_code_the_first_repeat_is_measured_again(place: Path, crew, monkeypatch):
    before = run(place, crew)
    points = [json.loads(path.read_text()) for path in sorted((place / "cache").glob("*/*.json"))]
    assert sum(len(each.get("repeats", ())) for each in points) == 10
    monkeypatch.setattr(caching, "code_digest", lambda _point: "renamed")
    renamed = run(place, crew)
    # In full: the point without repeats, and the whole runs, which are one each.
    assert renamed.measured_now == 1 + 5
    assert renamed.dots == before.dots
    assert run(place, crew).measured_now == 0
    # Where the first repeat comes out otherwise, all of them are measured again.
    for wrong in place.glob("cache/*/*.json"):
        kept = json.loads(wrong.read_text())
        if kept["point"].get("k") == 8 and kept.get("repeats"):
            kept["repeats"] = [{**each, "loss": each["loss"] + 1e-12} for each in kept["repeats"]]
            wrong.write_text(json.dumps(kept))
    monkeypatch.setattr(caching, "code_digest", lambda _point: "renamed again")
    assert run(place, crew).measured_now == 1 + 2 + 5
    assert run(place, crew).dots == before.dots


def test_times_are_always_measured_again(place: Path, crew, monkeypatch):
    run(place, crew)
    study = read_study("kaim", folder=place)
    clock = replace(study.figures[0], id="clock", y="seconds", series=("kaim",))
    monkeypatch.setattr(caching, "code_digest", lambda _point: "other")
    run(place, crew, replace(study, figures=(study.figures[0],)))
    timed = run(place, crew, replace(study, figures=(clock,)))
    assert timed.measured_now == 2
    assert all(dot.mean > 0 for dot in timed.dots)


def test_a_dismissed_crew_starts_no_process_again():
    with Crew(1) as crew:
        pass
    with pytest.raises(WorkerFailed, match="dismissed"):
        list(crew.measured([Task("late", {"point": {}})]))
    assert crew.workers[0].pid is None


def test_whole_runs_agree_to_the_last_digit(place: Path, crew):
    found = run(place, crew)
    assert len(found.confirmations) == 5
    assert all(each.agrees for each in found.confirmations)
    assert not replace(found.confirmations[0], again=0.0).agrees
    assert not replace(found.confirmations[0], verified=False).agrees


def test_only_what_changed_is_measured_again(place: Path, crew):
    run(place, crew)
    study = read_study("kaim", folder=place)
    wider = replace(study.figures[0], xs=(2, 5, 8))
    assert run(place, crew, replace(study, figures=(wider,))).measured_now >= 2
    assert run(place, crew, replace(study, figures=(wider,))).measured_now == 0
    changed = people(250, seed=1)
    changed.write_csv(place / "other.csv")
    sources = Sources(str(place / "other.csv"))
    one = replace(study, figures=(replace(study.figures[0], xs=(2,), series=("kaim",)),))
    found = reproduce(one, sources, Store(place / "cache"), crew, claims=[])
    assert found.measured_now == 2


def test_the_page_has_everything(place: Path, crew, tmp_path: Path):
    found = run(place, crew)
    shown = write_paper(found, tmp_path).read_text()
    assert shown.startswith("<!DOCTYPE html>")
    assert shown.count("<svg") == 2
    assert "<strong>holds</strong>" in shown
    page = (tmp_path / "kaim" / "index.md").read_text()
    assert "| It grows. | it does | figure 4 | **holds** |" in page
    assert "![Loss against k](by-k.svg)" in page
    assert "Not measured: KAIM at 1 points (a sample of 5,000 rows needs as many" in page
    assert "5 of 5 were verified and lost exactly what the figure says" in page
    numbers = pl.read_csv(tmp_path / "kaim" / "by-k.csv")
    assert numbers.columns == [
        "k",
        "method",
        "loss",
        "least",
        "greatest",
        "repeats",
        "values",
        "reason",
    ]
    assert numbers.height == 4
    assert (tmp_path / "kaim" / "by-k.svg").read_text().startswith("<?xml")
    record = json.loads((tmp_path / "kaim" / "verdicts.json").read_text())
    assert record["verdicts"][0]["verdict"] == "holds"
    # What a former run drew and this one does not is gone.
    (tmp_path / "kaim" / "old.svg").write_text("<svg/>")
    write_paper(found, tmp_path)
    assert not (tmp_path / "kaim" / "old.svg").exists()
    summary = write_summary(tmp_path).read_text()
    assert "## [A small study](kaim/index.md)" in summary
    assert "| [Nobody 2026](kaim/index.md) | It grows. | figure 4 | **holds** |" in summary
    assert "Of 1 claims, 1 hold." in summary
    assert "| It grows. | it does | figure 4 | **holds** |" in summary


def test_one_figure_is_measured_and_the_others_stay(place: Path, crew, tmp_path: Path):
    found = run(place, crew)
    write_paper(found, tmp_path)
    study = read_study("kaim", folder=place)
    sources = Sources(str(place / "adult.csv"))
    asked = {"claims": [CLAIM], "published": tmp_path}
    store = Store(place / "cache")
    one = reproduce(study, sources, store, crew, only=["by-n"], **asked)
    assert {(dot.figure, dot.series, dot.x) for dot in one.dots} == {
        (dot.figure, dot.series, dot.x) for dot in found.dots
    }
    assert one.verdicts[0].verdict == HOLDS
    none = reproduce(study, sources, store, crew, only=[], **asked)
    assert none.measured_now == 0
    means = [[dot.mean or 0.0 for dot in each.dots] for each in (none, found)]
    assert means[0] == pytest.approx(means[1], rel=1e-5)
    assert none.code == found.code == found.present
    # A run that was made again is one run.
    write_paper(reproduce(study, sources, store, crew, only=["by-n"], **asked), tmp_path)
    twice = reproduce(study, sources, store, crew, only=["by-n"], **asked)
    points = [str(sorted(each.point.items())) for each in twice.confirmations]
    assert len(points) == len(set(points)) >= len(found.confirmations)
    write_paper(found, tmp_path)
    # What other code measured keeps the digest of that code.
    mark = tmp_path / "kaim" / "verdicts.json"
    mark.write_text(mark.read_text().replace(found.code["by-k"], "0" * 16, 1))
    old = reproduce(study, sources, store, crew, only=["by-n"], **asked)
    assert old.code["by-k"] == "0" * 16 != old.present["by-k"]
    write_paper(old, tmp_path)
    assert "Measured by earlier code: Loss against k." in (
        (tmp_path / "kaim" / "index.md").read_text()
    )
    (tmp_path / "kaim" / "by-k.csv").unlink()
    gone = reproduce(study, sources, store, crew, only=[], **asked)
    assert gone.verdicts[0].verdict == "not measured"
    assert gone.verdicts[0].reason == "not measured yet"


def test_a_table_that_is_not_here(place: Path, crew, tmp_path: Path):
    text = PLAN.replace('data = "adult"', 'data = "census"')
    (tmp_path / "plan.toml").write_text(text)
    found = run(place, crew, read_study("kaim", folder=tmp_path))
    assert {dot.reason for dot in found.dots} == {"the table census is not here"}
    assert found.verdicts[0].verdict == "not measured"


def order(place: Path, **more):
    study = read_study("kaim", folder=place)
    point = {**next(study.spots()).point, **more}
    return {"point": point, "sources": Sources(str(place / "adult.csv")).to_dict()}


def test_a_point_that_takes_too_long_is_given_up(place: Path, crew):
    tasks = [
        Task("slow", order(place, repeats=100_000, limit=0.3)),
        Task("quick", order(place)),
    ]
    answers = {task.name: got for task, got in crew.measured(tasks)}
    assert answers["slow"] == {"gave_up": 0.3}
    assert len(answers["quick"]["repeats"]) == 2


def test_an_infeasible_point_says_why(place: Path, crew):
    assert "251" in answer(order(place, k=251))["skipped"]
    assert "There is no method 'nothing'" in answer(order(place, method="nothing"))["failed"]


def test_a_worker_that_breaks_is_told(place: Path, crew):
    broken = {"point": {"method": "kaim"}, "sources": {}}
    with pytest.raises(WorkerFailed, match=r"an answer: .*foresee.*is kept"):
        list(crew.measured([Task("broken", broken)]))

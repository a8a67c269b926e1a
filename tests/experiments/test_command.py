"""`python -m experiments` on made-up people and on a sample of Adult."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from experiments import PAPERS
from experiments.sources import find_sources, shared_folder
from tests.cli.conftest import SHOAL
from tests.experiments.conftest import COMMAND
from tests.experiments.test_plans import people
from tests.processes import alive, children

SHARED = shared_folder()


def verdicts(folder: Path, paper: str) -> dict[str, str]:
    record = json.loads((folder / paper / "verdicts.json").read_text())
    assert record["quick"]
    assert all(each["agrees"] for each in record["confirmed"])
    return {each["id"]: each["verdict"] for each in record["verdicts"]}


@pytest.mark.deep
def test_a_paper_on_made_up_people(shoal, folder: Path) -> None:
    people(150).write_csv(folder / "adult.csv")
    words = ("dummies", "--quick", "--data", "adult.csv", "--cache", "kept")
    done = shoal(*words, "--out", "out", "--jobs", "1")
    assert done.returncode == 0, done.stderr
    found = verdicts(folder / "out", "dummies")
    assert found["example"] != "not measured"
    # The census sample does not come with a file of Adult.
    assert found["lowest-by-g"] == "not measured"
    assert "the table census is not here" in (folder / "out" / "dummies" / "index.md").read_text()
    assert "(0 measured now)" not in done.stdout
    again = shoal(*words, "--out", "out", "--jobs", "1")
    assert "(0 measured now)" in again.stdout


@pytest.mark.deep
@pytest.mark.shared_data
@pytest.mark.skipif(SHARED is None, reason="the shared data are not here")
def test_claims_that_hold_on_a_sample_of_adult(shoal, folder: Path) -> None:
    find_sources(shared=SHARED).frame("adult").sample(1000, seed=1).write_csv(folder / "adult.csv")
    done = shoal(
        *("all", "--quick", "--data", "adult.csv", "--cache", "kept", "--out", "out"),
        *("--hierarchies", str(SHARED / "hierarchies" / "adult"), "--jobs", "1"),
    )
    assert done.returncode == 0, done.stderr
    summary = (folder / "out" / "README.md").read_text()
    assert all(f"({paper}/index.md)" in summary for paper in PAPERS)
    kaim = verdicts(folder / "out", "kaim")
    for name in ("grows-with-k", "removal-climbs", "share-falls", "shoal-below"):
        assert kaim[name] == "holds", name
    assert verdicts(folder / "out", "l_clustering")["below-l-incognito"] == "holds"
    alpha_k = verdicts(folder / "out", "alpha_k")
    for name in ("one-below-sing", "sing-grows-with-k"):
        assert alpha_k[name] == "holds", name


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_a_stopped_run_goes_on(folder: Path, environment) -> None:
    people(400).write_csv(folder / "adult.csv")
    words = [
        "kaim",
        "--quick",
        "--data",
        "adult.csv",
        "--cache",
        "kept",
        "--out",
        "out",
        "--jobs",
        "1",
    ]
    running = subprocess.Popen(
        [*COMMAND, *words],
        cwd=folder,
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    wait = time.monotonic() + 120
    while not list(folder.glob("kept/*/*.json")) and time.monotonic() < wait:
        time.sleep(0.05)
    workers = children(running.pid)
    assert len(workers) == 1
    os.kill(running.pid, signal.SIGINT)
    _, said = running.communicate(timeout=30)
    assert running.returncode != 0
    assert "What is measured is kept: run the command again to go on." in said
    assert "Traceback" not in said
    kept = len(list(folder.glob("kept/*/*.json")))
    assert kept
    assert not (folder / "out").exists()
    assert not any(alive(pid) for pid in workers)


def test_what_is_refused(refused, folder: Path) -> None:
    assert "only one of them" in refused("kaim", "--fetch", "--data", "people.csv")
    assert "not the Adult table" in refused("kaim", "--data", "people.csv")
    (folder / "out" / "kaim").mkdir(parents=True)
    (folder / "out" / "kaim" / "mine.txt").write_text("mine")
    assert "holds something that is not ours" in refused("kaim", "--out", "out")


@pytest.mark.parametrize("words", [(), ("kaim", "--quick", "--out", "x"), ("--help",)])
def test_the_old_command_says_where_it_went(folder: Path, words) -> None:
    done = subprocess.run([SHOAL, "reproduce", *words], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 2
    assert "python -m experiments PAPER" in " ".join(done.stderr.split())
    assert not done.stdout

"""The results of the papers that are kept in `experiments/`: whole, and in step with the claims."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import polars as pl
import pytest

from experiments import OVER_TIME, PAPERS
from experiments.claims import read_claims
from experiments.pages import MARK, write_summary
from experiments.plans import HERE, read_study
from experiments.questions import KINDS

EVERY = (*PAPERS, OVER_TIME)
RESULTS = Path(__file__).parents[2] / "experiments"


@pytest.mark.parametrize("paper", EVERY)
def test_every_claim_has_its_verdict(paper: str) -> None:
    record = json.loads((RESULTS / paper / MARK).read_text())
    claims = read_claims(HERE / paper / "claims.toml", KINDS)
    assert [(each["id"], each["claim"], each["reported"]) for each in record["verdicts"]] == [
        (each.id, each.text, each.reported) for each in claims
    ], f"run: python -m experiments {paper}"
    assert not record["quick"]
    # A claim that was asked for the first time waits for the next measurement of its figures.
    for each in record["verdicts"]:
        assert each["verdict"] != "not measured" or "not measured yet" in each["reason"]
    assert all(each["agrees"] for each in record["confirmed"])


@pytest.mark.parametrize("paper", EVERY)
def test_every_figure_has_its_numbers_and_its_picture(paper: str) -> None:
    page = (RESULTS / paper / "index.md").read_text()
    for target in re.findall(r"\]\(([^)]+)\)", page):
        assert (RESULTS / paper / target).is_file(), target
    for figure in read_study(paper).figures:
        assert (RESULTS / paper / f"{figure.id}.csv").is_file()
        assert f"({figure.id}.csv)" in page
        numbers = pl.read_csv(RESULTS / paper / f"{figure.id}.csv", infer_schema=False)
        waits = (numbers["reason"] == "not measured yet").all()
        assert waits or list((RESULTS / paper).glob(f"{figure.id}*.svg"))


def test_the_summary_is_current(tmp_path: Path) -> None:
    for paper in EVERY:
        (tmp_path / paper).mkdir()
        shutil.copy(RESULTS / paper / MARK, tmp_path / paper / MARK)
    assert write_summary(tmp_path).read_text() == (RESULTS / "README.md").read_text()


def test_the_results_stay_small() -> None:
    files = (path for path in RESULTS.rglob("*") if path.suffix != ".pyc")
    assert sum(path.stat().st_size for path in files) < 3_000_000

"""The page on the papers: its verdicts, its commands and its citation are true."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

import shoal
from shoal.catalog import METHODS
from shoal.cli.demo_paper import PAPERS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "papers.md").read_text()
CLAIMS = {
    "kaim": ("k-member-loses-everything", "below-k-member-text"),
    "l_clustering": ("below-l-incognito", "thousands-of-times"),
    "alpha_k": ("sing-lowest", "multi-grows-with-alpha"),
    "dummies": ("serves-more", "lowest-by-g"),
}


@pytest.mark.parametrize("paper", CLAIMS)
def test_the_verdicts_are_those_of_the_pages(paper: str) -> None:
    record = json.loads((ROOT / "experiments" / paper / "verdicts.json").read_text())
    found = {each["id"]: each["verdict"] for each in record["verdicts"]}
    (row,) = re.findall(rf"^\|.*experiments/{paper}/index\.md.*\|$", PAGE.split("## ")[0], re.M)
    assert re.findall(r"\*\*(.*?)\*\*", row) == [found[name] for name in CLAIMS[paper]]


def test_every_paper_has_its_command() -> None:
    table = PAGE.split("## ")[0]
    assert re.findall(r"\| `shoal demo --paper (\S+)` \|", table) == list(PAPERS)
    for name in re.findall(r"--method (\S+?)`", PAGE):
        assert name in METHODS


def test_the_citation_has_the_version() -> None:
    cited = (ROOT / "CITATION.cff").read_text()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert f"version: {shoal.__version__}\n" in cited
    assert f"license: {project['license']}\n" in cited
    for page in ("kaim", "l-clustering", "alpha-k", "dummies"):
        text = (ROOT / "docs" / "methods" / f"{page}.md").read_text()
        assert "## How to cite" in text
        assert f"$ shoal demo --paper {page}\n" in text.split("## ")[0]

"""The documentation site: what its pages show is what the commands say, and it asks nobody else."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tools import run_docs, site

ROOT = Path(__file__).parent.parent.parent
NAV = (ROOT / "mkdocs.yml").read_text()
SITE = find_spec("mkdocs") is not None


# Each page is a dozen commands in processes of their own, like the tour of the README, which every
# test run takes (test_docs.py).
@pytest.mark.deep
@pytest.mark.slow
@pytest.mark.parametrize("page", run_docs.PAGES, ids=lambda page: page.stem)
def test_a_page_shows_what_its_commands_say(page: Path) -> None:
    now = run_docs.filled(page)
    assert run_docs.alike(now, page.read_text()), f"run: make docs\n{now}"


def test_pages_are_compared_but_for_figures() -> None:
    assert run_docs.alike("loss 0.21, 905 classes\n ──── ", "loss 0.3, 1,024 classes ──")
    assert not run_docs.alike("905 classes", "905 groups")


@pytest.mark.deep
@pytest.mark.slow
@pytest.mark.skipif(SITE, reason="the site is built below, which runs the notebooks too")
@pytest.mark.parametrize("notebook", site.NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(notebook: Path) -> None:
    assert "```text" in site.shown(notebook)


def test_the_site_has_every_page() -> None:
    """Every page is an entry of the navigation, or a page that is one links to it."""
    docs = ROOT / "docs"
    pages = {path.relative_to(docs).as_posix(): path.read_text() for path in docs.rglob("*.md")}
    entries = {page for page in pages if re.search(rf"\s{page}$", NAV, re.MULTILINE)}
    linked = {
        (docs / page).parent.joinpath(target).resolve().relative_to(ROOT).as_posix()
        for page in entries
        for target in re.findall(r"\]\(([^)#:]+)", pages[page])
    }
    notebooks = [f"notebooks/{path.name}" for path in site.NOTEBOOKS]
    assert len(notebooks) == 3
    assert [p for p in [*pages, *notebooks] if p not in entries and f"docs/{p}" not in linked] == []


@pytest.mark.slow
@pytest.mark.deep
@pytest.mark.skipif(not SITE, reason="the site needs: pip install --group docs")
def test_the_site_is_built_and_asks_no_other_host(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", tmp_path],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    loaded = re.compile(
        r"""<(?:script|img|link|iframe)[^>]*(?:src|href)=["']?(?:https?:)?//[^>]*>"""
    )
    for page in tmp_path.rglob("*.html"):
        asked = [tag for tag in loaded.findall(page.read_text()) if 'rel="canonical"' not in tag]
        assert not asked, f"{page}: {asked[:3]}"
    assert (tmp_path / "tutorial.html").exists()
    # What the search needs when the site is opened from a folder.
    assert (tmp_path / "search" / "search_index.js").exists()
    assert "assets/iframe-worker.js" in (tmp_path / "tutorial.html").read_text()
    for notebook in site.NOTEBOOKS:
        page = (tmp_path / "notebooks" / f"{notebook.stem}.html").read_text()
        cells = json.loads(notebook.read_text())["cells"]
        code = sum(cell["cell_type"] == "code" for cell in cells)
        assert page.count('<div class="highlight') > code, f"{notebook.stem}: no cell answers"

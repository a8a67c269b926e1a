"""Docs that cannot rot: pages are current, the tour runs, links lead somewhere."""

from __future__ import annotations

import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.catalog import METHODS, RULES
from shoal.cli.app import COMMANDS
from shoal.releases.history import store
from shoal.tables import demo
from shoal.verbs import manifest
from tests import inprocess
from tests.test_house import LAYERS
from tools import draw_benchmark, draw_house, make_arguments

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text()
MAKER = runpy.run_path(str(ROOT / "tools" / "make_cli_docs.py"))


def test_generated_pages_are_current() -> None:
    assert (ROOT / "docs" / "cli.md").read_text() == MAKER["page"](), "run: make docs"
    assert MAKER["readme"](README) == README, "run: make docs"
    plan = MAKER["PLAN_PAGE"].read_text()
    assert MAKER["plan_page"](plan) == plan, "run: make docs"
    assert make_arguments.TARGET.read_text() == make_arguments.module(), "run: make docs"


def test_the_chart_of_the_benchmark_shows_the_table(tmp_path: Path) -> None:
    chart = draw_benchmark.chart()
    assert chart.table.height == 5
    chart.save(tmp_path / "chart.svg")
    assert (tmp_path / "chart.svg").read_text() == draw_benchmark.TARGET.read_text(), "make docs"


def test_what_stays_the_same_names_the_formats_of_today() -> None:
    page = (ROOT / "docs" / "stability.md").read_text()
    assert f'| Manifest | {manifest.FORMAT} (`"shoal_manifest": {manifest.FORMAT}`)' in page
    assert f'| History | {store.FORMAT} (`"format": {store.FORMAT}`)' in page


@pytest.mark.slow
def test_the_drawing_of_the_house_is_current() -> None:
    drawn = (ROOT / "docs" / "house.svg").read_text()
    assert drawn == draw_house.drawing(), "run: make docs"
    for floor in LAYERS:
        assert f"`{floor}`" in (ROOT / "docs" / "how_it_works.md").read_text(), floor


def test_every_command_opens_with_its_sentence_and_has_an_example() -> None:
    for name, command in MAKER["commands"]():
        paragraphs = command.help.split("\n\n")
        assert paragraphs[0].strip().endswith("."), name
        assert any(p.strip().startswith(f"Example: {name}") for p in paragraphs), name
        assert all(getattr(p, "help", "x") for p in command.params), f"{name}: a flag without help"
        top = name.split()[1]
        if len(name.split()) == 2:
            assert " ".join(paragraphs[0].split()) == COMMANDS[top]


def test_examples_in_the_help_name_real_flags() -> None:
    for name, command in MAKER["commands"]():
        example = re.search(r"Example: (.*)", command.help)
        assert example is not None
        known = {opt for param in command.params for opt in param.opts}
        used = re.findall(r"(?<= )(--?[a-z]+)", example[1].removeprefix(name))
        assert set(used) <= known, name


@pytest.mark.slow
def test_the_tour_of_the_readme_runs(tmp_path: Path) -> None:
    """Every indented command after the installation, in order, in one folder."""
    tour = README.split("## Sixty seconds")[1].split("## Methods")[0]
    shell = re.sub(r"```.*?```", "", tour, flags=re.DOTALL)
    blocks = re.findall(r"(?:^    .*\n)+", shell, flags=re.MULTILINE)
    code = re.search(r"```python\n(.*?)```", tour, flags=re.DOTALL)
    assert code is not None
    # In this process, which spares ten times a second: tests/cli/test_commands.py starts real ones.
    folder, asked = tmp_path, 0
    for line in "".join(blocks).replace("\\\n", " ").splitlines():
        command, *words = shlex.split(line)
        if command == "cd":
            folder /= words[0]
            continue
        assert command == "shoal", "teach this test to run it"
        done = inprocess.shoal(folder, *words)
        assert done.returncode == 0, done.stderr
        asked += 1
    assert asked >= 5
    assert all(f"    make {target} " in README for target in ("demo", "test"))
    done = subprocess.run(
        [sys.executable, "-c", code[1]], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    made = {path.name for path in (tmp_path / "demo").iterdir()}
    stem = {f"patients.{end}" for end in ("release.csv", "report.html", "plan.toml")}
    assert {*stem, "from_python.csv"} <= made
    _check_attacks(tmp_path / "demo")


@pytest.mark.slow
def test_the_examples_of_the_four_papers_run(tmp_path: Path) -> None:
    """The last column of the table of papers."""
    shown = re.findall(r"^\|.*20\d\d \|.*\| `shoal (demo .*)` \|$", README, re.MULTILINE)
    assert len(shown) == 4
    for words in shown:
        done = inprocess.shoal(tmp_path, *shlex.split(words))
        assert done.returncode == 0, done.stderr


def test_the_picture_shows_patients_of_the_demo_before_and_after() -> None:
    drawn = (ROOT / "docs" / "before_after.svg").read_text()
    tables = {
        name: re.findall(r'<text class="(?:own|same|secret)"[^>]*>([^<]*)<', body)
        for name, body in re.findall(r'<g id="(\w+)">(.*?)</g>', drawn, re.DOTALL)
    }
    patients = pl.read_csv(demo.TABLE, infer_schema=False).fill_null("–").rows()
    before = _rows(tables["before"], 8)
    assert len(before) == 5
    assert set(before) <= set(patients)
    after = _rows(tables["after"], 7)
    assert [row[-1] for row in after] == [row[-1] for row in before]
    assert len({row[:-1] for row in after}) == 1


def _rows(cells: list[str], width: int) -> list[tuple[str, ...]]:
    return [tuple(cells[i : i + width]) for i in range(0, len(cells), width)]


def _check_attacks(folder: Path) -> None:
    """Somebody who knows every column but the sensitive one finds at most one person in k."""
    known = pl.read_csv(folder / "patients.csv").columns
    for name in ("patients.release.csv", "from_python.csv"):
        released = pl.read_csv(folder / name, infer_schema=False).columns
        assert released == [column for column in known if column != "patient"]
        found = shoal.attack(
            folder / name,
            original=folder / "patients.csv",
            plan=folder / "patients.plan.toml",
            known=[column for column in released if column != "diagnosis"],
            attacks=["linkage"],
            seed=1,
        )
        assert found.results[0].success <= 1 / 10


@pytest.mark.parametrize(
    "page", [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")], ids=lambda page: page.name
)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target


def test_every_entry_of_the_catalog_tells_its_story() -> None:
    for entry in [*METHODS.values(), *RULES.values()]:
        assert entry.story
        assert re.search(r"\d{4}", entry.citation), f"{entry.name}: a citation has a year"
        assert callable(entry.load())
    for method in METHODS.values():
        assert f"`{method.name}`" in README

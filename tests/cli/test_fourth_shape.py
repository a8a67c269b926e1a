"""A fourth shape is one package and one entry of the catalog: every command knows it then."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from shoal.catalog import METHODS, SHAPES
from tests.cli.conftest import QUASI, Run

ROOT = Path(__file__).parents[2]

# Dummy values with a column of their own beside them: the least that differs in every module.
PACKAGE = {
    "__init__": "",
    "make": """
import polars as pl
from shoal.releases.dummies import make

def publish(*given, **options):
    tables, rows = make.publish(*given, **options)
    frame = tables["release"].with_columns(pl.lit(4).alias("made_up"))
    return tables | {"release": frame}, rows
""",
    "check": """
from dataclasses import replace
from shoal.releases.dummies import check as dummies

def check(opened, rules, source=None):
    bare = replace(opened, tables={"release": opened.frame.drop("made_up")})
    return dummies.check(bare, rules, source)
""",
    "view": """
from shoal.releases.dummies.view import *
from shoal.releases.dummies import view

def marked(tables, sensitive):
    return "made_up" in tables["release"].columns

def candidates(tables, of):
    return [name for name in view.candidates(tables, of) if name != "made_up"]
""",
    "words": """
from dataclasses import replace
from shoal.releases.dummies import words

WORDS = replace(words.WORDS, made="values hidden in a made-up way", classes="made-up classes")
""",
}


@pytest.fixture
def fourth(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Add a shape and a method that publishes it, and take both away again."""
    home = tmp_path_factory.mktemp("fourth")
    (home / "made_up_shape").mkdir()
    for name, text in PACKAGE.items():
        (home / "made_up_shape" / f"{name}.py").write_text(text)
    before = dict(SHAPES)
    entry = replace(SHAPES["dummies"], name="made-up", package="made_up_shape", spark="")
    entry = replace(entry, no_spark="it is made up")
    SHAPES.clear()
    SHAPES.update({"made-up": entry, **before})
    METHODS["made-up"] = replace(METHODS["dummies"], name="made-up", release="made-up")
    sys.path.insert(0, str(home))
    yield "made-up"
    sys.path.remove(str(home))
    del METHODS["made-up"]
    SHAPES.clear()
    SHAPES.update(before)
    for name in [name for name in sys.modules if name.startswith("made_up_shape")]:
        del sys.modules[name]


def test_every_command_takes_a_fourth_shape(shoal: Run, folder: Path, fourth: str) -> None:
    asked = (*QUASI, "--sensitive", "disease", "--l", "2")
    done = shoal(
        *("anonymize", "people.csv", *asked, "--method", fourth, "-o", "x.csv"),
        *("--report", "x.html"),
    )
    assert done.returncode == 0, done.stderr
    assert (folder / "x.csv").read_text().startswith("age,sex,zip,disease,made_up\n")
    assert "values hidden in a made-up way" in (folder / "x.html").read_text()
    done = shoal("audit", "x.csv", *asked, "--original", "people.csv", "--report", "a.html")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "made-up classes" in (folder / "a.html").read_text()
    assert shoal("audit", "x.csv", *QUASI, "--sensitive", "disease").returncode == 1
    done = shoal("attack", "people.csv", "x.csv", "--known", "age,sex,zip", *asked[2:4])
    assert f"40 rows, {fourth}." in done.stdout
    done = shoal("estimate", "x.csv", "--of", "disease", *QUASI)
    assert f"{fourth} release, 40 rows" in done.stdout
    assert shoal("risk", "x.csv", *asked[:4], "--original", "people.csv").returncode == 0
    done = shoal("compare", "people.csv", *asked, "--methods", f"{fourth},mondrian")
    assert done.returncode == 0, done.stderr
    done = shoal(
        *("anonymize", "people.csv", *asked, "--method", fourth, "--engine", "spark", "-o", "y")
    )
    assert done.returncode == 2
    assert "cannot run on Spark: it is made up" in done.stderr


def test_nothing_outside_asks_for_a_shape_by_name() -> None:
    packages = [shape.package.rpartition(".")[2] for shape in SHAPES.values()]
    own = [ROOT / "src" / "shoal" / "releases" / name for name in packages]
    own.append(ROOT / "src" / "shoal" / "catalog")
    # Two explain the word; the others name the methods of papers, not their shapes.
    known = {"base/roles.py", "report/words.py"}
    known |= {"cli/demo_paper.py", "tables/papers.py", "verbs/estimate.py"}
    asked = [
        str(path.relative_to(ROOT / "src" / "shoal"))
        for path in (ROOT / "src" / "shoal").rglob("*.py")
        if not any(path.is_relative_to(folder) for folder in own)
        if any(f'"{name}"' in path.read_text() for name in SHAPES)
    ]
    assert set(asked) <= known

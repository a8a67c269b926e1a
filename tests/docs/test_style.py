"""Seven phrases that are never right here (docs/contributing/style.md), in all that people read."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
SOURCE = ROOT / "src" / "shoal"
STYLE = ROOT / "docs" / "contributing" / "style.md"
PHRASES = ("whoever", "besides", "anew", "afresh", "of then", "meant is", "let pass")
NEVER = re.compile(rf"\b({'|'.join(PHRASES)})\b".replace(" ", r"\s+"), re.IGNORECASE)
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").rglob("*.ipynb")]
# Where docstrings are read as well: the help of commands, and the reference of Python.
READ = ("cli", "api", "tables/makers.py", "base/errors.py")


def in_code(path: Path) -> Iterator[str]:
    """Yield the texts of a module, and its docstrings where users read them."""
    tree = ast.parse(path.read_text())
    alone = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    documented = path.relative_to(SOURCE).as_posix().startswith(READ)
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and (documented or id(node) not in alone):
            yield node.value


def in_template(path: Path) -> str:
    """Return what a template says, without its tags."""
    return re.sub(r"<[^>]*>", " ", path.read_text())


def test_seven_phrases_are_looked_for_in_every_way_of_writing_them() -> None:
    for text in ("Whoever knows", "and besides, it", "made\nanew", "the plan of  then", "Meant is"):
        assert NEVER.search(text), text
    assert not NEVER.search("beside the table, of them, renewed")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_are_in_plain_english(page: Path) -> None:
    if page != STYLE:
        assert NEVER.findall(page.read_text()) == []


def test_messages_and_help_are_in_plain_english() -> None:
    found = [
        (path.relative_to(SOURCE).as_posix(), met[0])
        for path in SOURCE.rglob("*.py")
        for text in in_code(path)
        if (met := NEVER.search(text))
    ]
    assert found == []


def test_templates_are_in_plain_english() -> None:
    paths = [path for kind in ("*.html", "*.js") for path in SOURCE.rglob(kind)]
    assert paths
    assert [(path.name, met[0]) for path in paths if (met := NEVER.search(in_template(path)))] == []


def test_pages_that_grew_before_stay_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 120
    for page in ("risk", "history", "how_it_works", "trust"):
        assert len((ROOT / "docs" / f"{page}.md").read_bytes()) <= 8 * 1024, page

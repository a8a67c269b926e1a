"""How the command line breaks lines: at spaces, never inside a word or a figure."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from shoal.cli import console

HEADS = ("", "method", "loss", "what it does")
ROWS = [(">", "mondrian", "0.0685*", "cuts the table in two again and again while the rule holds")]


def _shown(monkeypatch: pytest.MonkeyPatch, width: int) -> list[str]:
    screen = io.StringIO()
    monkeypatch.setattr(console, "console", lambda: Console(file=screen, width=width))
    console.table(HEADS, ROWS)
    return screen.getvalue().splitlines()


@pytest.mark.parametrize("width", [24, 30, 40, 60, 80, 120])
def test_no_width_breaks_a_word_or_a_figure(monkeypatch, width) -> None:
    lines = _shown(monkeypatch, width)
    assert max(map(len, lines)) <= width
    told = {word.strip(";") for line in lines for word in line.split()}
    assert {word for row in ROWS for cell in row for word in cell.split()} <= told


def test_a_narrow_table_is_stacked_and_a_wide_one_is_not(monkeypatch) -> None:
    assert _shown(monkeypatch, 30) == [
        "> method mondrian",
        "  loss 0.0685*; what it does",
        "  cuts the table in two again",
        "  and again while the rule",
        "  holds",
        "",
    ]
    assert any("method" in line and "what it does" in line for line in _shown(monkeypatch, 80))


def test_a_sentence_is_broken_at_spaces_and_a_command_is_not() -> None:
    text = "  the rows that the fewest columns single out are these"
    assert console.wrapped(text, 30) == [
        "  the rows that the fewest",
        "  columns single out are these",
    ]
    command = "Check it: shoal audit release.csv --plan plan.toml --k 5"
    assert console.wrapped(command, 30) == [command]

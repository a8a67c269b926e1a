"""The soak: its checker shares nothing with the package and sees what is planted."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[3] / "tools"


def test_the_checker_shares_no_code_with_the_package() -> None:
    names = set()
    for node in ast.walk(ast.parse((TOOLS / "soaking" / "checker.py").read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").split(".")[0])
    assert names - set(sys.stdlib_module_names) == {"pandas"}


@pytest.mark.slow
def test_planted_faults_are_seen_and_a_run_is_right() -> None:
    words = [sys.executable, str(TOOLS / "soak.py"), "--only", "run", "--seed", "5"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads(done.stdout)
    assert figures["planted faults seen"] >= 30
    assert figures["releases"] == 1


@pytest.mark.parametrize(
    ("cell", "value", "fits"),
    [
        ("*", None, True),
        ("[20-39]", 20, True),
        ("[20-39]", 40, False),
        ("[-5--2]", -3, True),
        ("[2020-01-01-2020-02-01]", "2020-01-15", True),
        ("[2020-01-01-2020-02-01]", "2020-03-15", False),
        ('{a, "b, c"}', "b, c", True),
        ('{a, "b, c"}', "b", False),
        ('"[1-2]"', "[1-2]", True),
        ("39", 39.0, True),
        ("39", None, False),
    ],
)
def test_a_cell_is_read_from_the_notation(
    cell: str, value: object, fits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(TOOLS))
    from soaking.checker import covers

    assert covers(cell, value, None) is fits

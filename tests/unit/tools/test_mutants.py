"""The small changes that ``make mutants`` makes: which there are, and that each is one."""

from __future__ import annotations

import ast
import json

import pytest

from tools.mutants import ALIKE, TESTS, drawn
from tools.mutating.changes import changes
from tools.mutating.running import ROOT

SOURCE = '''
"""A module."""

LIMIT = 3


def check(rows: list[int], most: int = 5) -> list[str]:
    """Say what is wrong."""
    faults = [f"{row + 1} is wrong" for row in rows if row > most]
    if not rows and most != 0:
        faults.append("no rows")
        raise ValueError(str(1 + 1))
    return faults
'''


def test_what_decides_is_changed_and_nothing_else() -> None:
    found = {change.what for change in changes(SOURCE)}
    assert {
        "row > most -> comparison: row >= most",
        "row > most -> comparison: row <= most",
        "not rows -> dropped sign: rows",
        "not rows and most != 0 -> and/or: not rows or most != 0",
        "not rows and most != 0 -> part dropped: not rows",
        "if not rows and most != 0: -> always False: if False:",
        "0 -> value: 1",
        "faults.append('no rows') -> dropped",
        "return faults -> nothing: return []",
    } <= found
    assert "[f'{row + 1} is wrong' for row in rows if row > most] -> without its condition: " in (
        " ".join(found)
    )
    # Not the texts of messages, nor types, defaults and what stands outside of functions.
    assert not [what for what in found if "+" in what.split(" -> ")[0] and "for" not in what]
    assert not [what for what in found if what.startswith(("3", "5"))]


def test_every_change_is_one_that_compiles() -> None:
    found = changes(SOURCE)
    sources = {change.source for change in found}
    assert len(sources) == len(found) and ast.unparse(ast.parse(SOURCE)) + "\n" not in sources
    for source in sources:
        compile(source, "changed", "exec")
    assert [change.what for change in changes(SOURCE)] == [change.what for change in found]


def test_a_sample_is_drawn_by_its_seed() -> None:
    module = "releases/linked.py"
    one, same, other = (drawn([module], 5, seed) for seed in (1, 1, 2))
    assert one == same != other and len(one) == 5
    assert len(drawn([module], 0, 1)) > 5


@pytest.mark.parametrize("module", TESTS)
def test_what_is_changed_and_its_tests_are_there(module: str) -> None:
    assert (ROOT / "src" / "shoal" / module).exists()
    assert all((ROOT / test).exists() for test in TESTS[module])


def test_what_is_said_to_change_nothing_is_a_change_with_its_reason() -> None:
    for module, own in json.loads(ALIKE.read_text()).items():
        known = {change.what for change in changes((ROOT / "src/shoal" / module).read_text())}
        assert set(own) <= known and all(own.values()), module

"""Exit codes and keys of figures stay as programs of others know them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.golden.commands import COMMANDS, FILE, keys, outcomes
from tests.golden.runs import prepare

KNOWN = json.loads(FILE.read_text())


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    folder: Path = tmp_path_factory.mktemp("commands")
    prepare(folder)
    return outcomes(folder)


@pytest.mark.parametrize("name", [*COMMANDS, "manifest"])
def test_a_command_keeps_its_exit_code_and_its_keys(
    name: str, found: dict[str, dict[str, Any]]
) -> None:
    now, then = found[name], KNOWN[name]
    assert now.get("exit") == then.get("exit")
    gone = sorted({*then.get("keys", ())} - {*now.get("keys", ())})
    more = sorted({*now.get("keys", ())} - {*then.get("keys", ())})
    assert not gone and not more, f"gone: {gone}; new: {more}. If meant: see commands.py"


def test_every_exit_code_is_there() -> None:
    assert {known["exit"] for known in KNOWN.values() if "exit" in known} == {0, 1, 2, 3}
    assert set(KNOWN) == {*COMMANDS, "manifest"}


def test_keys_are_told_with_their_places() -> None:
    tree = {"a": {"b": [{"c": 1}, {"d": {"e": {}}}]}, "f": 2}
    assert keys(tree) == ["a", "a.b", "a.b.c", "a.b.d", "f"]

"""The `shoal` command in a folder of its own, with a small table in it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests import inprocess
from tests.stages import without

SHOAL = str(Path(sys.executable).with_name("shoal"))
Run = Callable[..., subprocess.CompletedProcess[str]]

PEOPLE = "\n".join(
    [
        "name,age,sex,zip,disease",
        *(
            f"N{i},{20 + i % 30},{'f' if i % 2 else 'm'},{'' if i % 7 == 0 else 100 + i % 9},"
            f"{('flu', 'cold', 'secret')[i % 3]}"
            for i in range(40)
        ),
    ]
)
QUASI = ("--quasi", "age,sex,zip")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text(PEOPLE + "\n")
    return tmp_path


@pytest.fixture
def command(folder: Path) -> Run:
    """Run the installed command in the folder; a plain environment, no terminal."""
    environment = {k: v for k, v in os.environ.items() if k not in ("FORCE_COLOR", "COLUMNS")}

    def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [SHOAL, *map(str, words)],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return run


@pytest.fixture
def shoal(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command as :func:`command` does, in this process.

    Without starting again on small tables: how much is lost is not what these tests ask.
    """
    without(monkeypatch, "restarts")
    monkeypatch.chdir(folder)
    return partial(inprocess.shoal, folder)


@pytest.fixture
def refused(shoal: Run, folder: Path) -> Callable[..., str]:
    """Run a command that must be refused; return its message after checking nothing is left."""

    def run(*words: str | Path, code: int = 2) -> str:
        before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
        done = shoal(*words)
        after = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
        assert done.returncode == code, done.stderr + done.stdout
        assert after == before, "something was written or changed"
        assert "Traceback" not in done.stderr
        # The message may be wrapped or boxed; words and their order are what counts.
        return " ".join(done.stderr.replace("│", " ").split())

    return run

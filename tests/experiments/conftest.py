"""`python -m experiments` as tests/cli runs `shoal`: in a folder of its own, with a small table."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run, folder, refused

__all__ = ["COMMAND", "folder", "refused"]

COMMAND = (sys.executable, "-m", "experiments")
ROOT = Path(__file__).parents[2]


@pytest.fixture
def environment() -> dict[str, str]:
    """A plain environment in which the checkout is found from any folder."""
    kept = {k: v for k, v in os.environ.items() if k not in ("FORCE_COLOR", "COLUMNS")}
    return {**kept, "PYTHONPATH": str(ROOT)}


@pytest.fixture
def shoal(folder: Path, environment: dict[str, str]) -> Run:
    """Run the experiments; under this name `refused` runs them, too."""

    def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*COMMAND, *map(str, words)],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        )

    return run

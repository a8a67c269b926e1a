"""`python -m experiments` as tests/cli runs `shoal`: in a folder of its own, with a small table."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path

import pytest

from tests import inprocess
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
def shoal(folder: Path) -> Run:
    """Run the experiments in this process; under this name `refused` runs them, too."""
    from experiments.__main__ import run

    return partial(inprocess.called, run, folder)

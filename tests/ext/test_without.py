"""Every extension can be left out: what needs it is refused by name, everything else works."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from shoal.catalog.extensions import EXTENSIONS

pytestmark = pytest.mark.deep
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", EXTENSIONS)
def test_contracts_and_commands_without(name: str) -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-p", "tests.ext.without"),
            *("-m", "not deep and not unwatched", "-p", "no:cacheprovider"),
            *("tests/contracts", "tests/cli"),
        ],
        cwd=ROOT,
        env={**os.environ, "SHOAL_WITHOUT": name},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    counts = {what: int(n) for n, what in re.findall(r"(\d+) (passed|skipped)", done.stdout)}
    assert counts["passed"] > 1000
    assert counts.get("skipped", 0) < 0.05 * counts["passed"]

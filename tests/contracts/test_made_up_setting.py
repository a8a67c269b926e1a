"""A setting that is declared in one place at run time goes every way that the others go."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="the page needs pip install 'shoal[web]'")


@pytest.mark.slow
def test_a_made_up_setting_goes_every_way() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.contracts.made_up_setting"],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "....." in done.stdout

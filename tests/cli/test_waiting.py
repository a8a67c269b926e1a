"""What whoever waits gets to see: a progress bar on a terminal, a line while kernels compile."""

from __future__ import annotations

import contextlib
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import QUASI, Run

pytestmark = pytest.mark.unwatched

ARGUMENTS = ["anonymize", "people.csv", *QUASI, "--k", "2", "--method", "kaim", "-o", "out.csv"]
# The real command with a method of our own: slow, but without kernels that may have to compile.
SLOW = """
import sys, time, types
module = types.ModuleType("slow")
def group(data, rule, rng, **options):
    import numpy as np
    from shoal.base.partition import Partition
    time.sleep(2.5)
    return Partition.from_labels(np.arange(data.rows) // 20)
module.group = group
sys.modules["slow"] = module
from dataclasses import replace
from shoal import catalog
catalog.METHODS["kaim"] = replace(catalog.METHODS["kaim"], path="slow:group")
from shoal.cli.main import main
main()
"""
COMPILES = """
import numba
from shoal.groupers import kaim
real = kaim.group
def compiles(data, rule, rng, **options):
    numba.njit(lambda x: x + 1)(1)
    numba.njit(lambda x: x + 2)(1)
    return real(data, rule, rng, **options)
kaim.group = compiles
from shoal.cli.main import main
main()
"""


def start(folder: Path, errors: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", SLOW, *ARGUMENTS],
        cwd=folder,
        env={**os.environ, "TERM": "xterm"},
        stdout=subprocess.DEVNULL,
        stderr=errors,
        text=True,
    )


def test_a_bar_on_a_terminal(folder: Path) -> None:
    ours, theirs = pty.openpty()
    process = start(folder, theirs)
    os.close(theirs)
    shown = b""
    # Read while it runs: a terminal that nobody reads from holds up whoever writes to it.
    with contextlib.suppress(OSError):  # how a terminal says that its other end is closed
        while chunk := os.read(ours, 65536):
            shown += chunk
    os.close(ours)
    assert process.wait(timeout=60) == 0
    assert b"group" in shown
    assert "━".encode() in shown


def test_no_bar_without_a_terminal(folder: Path) -> None:
    process = start(folder, subprocess.PIPE)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0
    assert errors == ""


def test_compiling_is_said_once(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", COMPILES, *ARGUMENTS], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("Compiling Shoal's kernels.") == 1


def test_a_second_process_does_not_compile(command: Run) -> None:
    assert command(*ARGUMENTS).returncode == 0
    again = command(*ARGUMENTS, "--force")
    assert again.returncode == 0
    assert "ompiling" not in again.stderr

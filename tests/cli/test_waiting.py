"""What whoever waits gets to see: a progress bar on a terminal, a line while kernels compile."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

from tests.cli.conftest import QUASI, Run

ARGUMENTS = ["anonymize", "people.csv", *QUASI, "--k", "2", "-o", "out.csv"]
SLOW = """
import time
from shoal.groupers import kaim
real = kaim.group
def slow(data, rule, rng, **options):
    time.sleep(2.5)
    return real(data, rule, rng, **options)
kaim.group = slow
from shoal.cli import main
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
from shoal.cli import main
main()
"""


def slow(folder: Path, errors: int) -> str:
    done = subprocess.run(
        [sys.executable, "-c", SLOW, *ARGUMENTS],
        cwd=folder,
        env={**os.environ, "TERM": "xterm"},
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0
    return done.stderr or ""


def test_a_bar_on_a_terminal(folder: Path) -> None:
    ours, theirs = pty.openpty()
    slow(folder, theirs)
    os.close(theirs)
    shown = b""
    try:
        while chunk := os.read(ours, 65536):
            shown += chunk
    except OSError:  # how a terminal says that its other end is closed
        pass
    os.close(ours)
    assert b"group" in shown
    assert "━".encode() in shown


def test_no_bar_without_a_terminal(folder: Path) -> None:
    assert slow(folder, subprocess.PIPE) == ""


def test_compiling_is_said_once(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", COMPILES, *ARGUMENTS], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("Compiling the search for this machine.") == 1


def test_a_second_process_does_not_compile(shoal: Run) -> None:
    assert shoal(*ARGUMENTS).returncode == 0
    again = shoal(*ARGUMENTS, "--force")
    assert again.returncode == 0
    assert again.stderr == ""

"""Kills, ctrl-C and full disks: the output is whole or not there."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import QUASI, SHOAL, Run

pytestmark = pytest.mark.unwatched

ARGUMENTS = ["anonymize", "people.csv", *QUASI, "--k", "2", "--method", "kaim"]
ARGUMENTS += ["-o", "out.csv", "--json", "out.json"]

# The real command with a method that needs no kernel, so that only the release and its figures are
# written; held up at one point so that a signal meets it exactly there.
PLAIN = """
import sys, types
module = types.ModuleType("plain")
def group(data, rule, rng, **options):
    import numpy as np
    from shoal.base.partition import Partition
    return Partition.from_labels(np.arange(data.rows) // 20)
module.group = group
sys.modules["plain"] = module
from dataclasses import replace
from shoal import catalog
catalog.METHODS["kaim"] = replace(catalog.METHODS["kaim"], path="plain:group")
"""
WRITING = (
    PLAIN
    + """
import os, sys, time
def held(handle):
    sys.stdout.write("here\\n"); sys.stdout.flush(); time.sleep(60)
os.fsync = held
"""
)
GROUPING = (
    PLAIN
    + """
import sys, time
def held(data, rule, rng, **options):
    sys.stdout.write("here\\n"); sys.stdout.flush(); time.sleep(60)
module.group = held
"""
)
REFINING = (
    PLAIN
    + """
import sys, time
def refining(data, rule, rng, stop, **options):
    stop()  # the first word that it refines
    sys.stdout.write("here\\n"); sys.stdout.flush()
    while not stop():
        time.sleep(0.05)
    return real(data, rule, rng)
real = module.group
module.group = refining
catalog.METHODS["kaim"] = replace(catalog.METHODS["kaim"], anytime=True)
"""
)
START = "\nfrom shoal.cli.main import main\nmain()\n"


def stop(
    folder: Path, hold: str, sign: signal.Signals, more: tuple[str, ...] = ()
) -> tuple[int, str]:
    """Start the command, wait until it reaches the point, send the signal."""
    process = subprocess.Popen(
        [sys.executable, "-c", hold + START, *ARGUMENTS, *more],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "here\n"
    process.send_signal(sign)
    _, errors = process.communicate(timeout=20)
    return process.returncode, errors


@pytest.mark.parametrize(
    ("hold", "sign", "code"),
    [
        (WRITING, signal.SIGINT, 130),
        (WRITING, signal.SIGTERM, 143),
        (GROUPING, signal.SIGINT, 130),
    ],
    ids=["ctrl-C while writing", "terminated while writing", "ctrl-C while grouping"],
)
def test_a_stop_ends_cleanly(folder: Path, hold: str, sign: signal.Signals, code: int) -> None:
    returned, errors = stop(folder, hold, sign)
    assert returned == code
    assert "Traceback" not in errors
    assert "Stopped. Nothing was written." in errors
    assert [path.name for path in folder.iterdir()] == ["people.csv"]


def test_a_kill_in_the_middle_of_writing_leaves_no_output(folder: Path) -> None:
    returned, _ = stop(folder, WRITING, signal.SIGKILL)
    assert returned == -signal.SIGKILL
    # Nobody can tidy up after a kill; what is left is hidden and never looks like a release.
    left = [path.name for path in folder.iterdir() if path.name != "people.csv"]
    assert all(name.startswith(".") and name.endswith(".part") for name in left)


def test_a_kill_keeps_the_old_file(folder: Path) -> None:
    (folder / "out.csv").write_text("old")
    (folder / "out.json").write_text("old")
    stop(folder, WRITING, signal.SIGKILL, ("--force",))
    assert (folder / "out.csv").read_text() == "old"


@pytest.mark.parametrize(
    ("size", "lost"), [(300, "out.csv"), (1100, "out.csv.manifest.json"), (3000, "out.json")]
)
def test_a_full_disk_leaves_nothing(folder: Path, size: int, lost: str) -> None:
    """The release does not fit; or it fits, but its figures do not."""
    done = subprocess.run(
        [sys.executable, "-c", PLAIN + START, *ARGUMENTS],
        cwd=folder,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
    )
    assert done.returncode == 2
    assert f"Cannot write {lost}: File too large" in done.stderr
    assert "Nothing was written" in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in folder.iterdir()] == ["people.csv"]


def test_a_device_is_no_output(shoal: Run) -> None:
    done = shoal(*ARGUMENTS[:6], "-o", "/dev/full")
    assert done.returncode == 2
    assert "not a regular file" in done.stderr


def test_a_pipe_that_closes_early_is_no_fault(folder: Path) -> None:
    command = f"{Path(sys.executable).with_name('shoal')} inspect people.csv | head -1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], cwd=folder, capture_output=True, text=True
    )
    assert "Traceback" not in done.stderr
    assert "40 rows" in done.stdout


def test_words_that_cannot_be_said_are_a_fault() -> None:
    with open("/dev/full", "w") as full:  # noqa: PTH123 -- a device, not a file
        done = subprocess.run([SHOAL, "methods"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode != 0


def test_what_waits_for_the_end_is_done() -> None:
    code = (
        "import atexit, sys; atexit.register(print, 'the end'); sys.argv = ['shoal', '--version']\n"
        "from shoal.cli.main import main\nmain()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout.split("\n")[1]) == (0, "the end")


def test_ctrl_c_while_refining_takes_the_best_so_far(folder: Path) -> None:
    code, words = stop(folder, REFINING, signal.SIGINT)
    assert "Taking the best release found so far." in words
    assert code == 0, words
    assert (folder / "out.csv").exists()
    assert (folder / "out.json").exists()

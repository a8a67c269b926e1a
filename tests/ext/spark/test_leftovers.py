"""Folders that hold data are gone when a run fails, and when its process ends, however it ends."""

import atexit
import re
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.ext.spark import driver, files
from tests.ext.spark.conftest import ROLES, people, to_spark

HOLDER = """
import sys
from pathlib import Path
from shoal.ext.spark import files
from shoal.ext.spark.session import session
from shoal.ext.spark.settings import Spark

spark = session(Spark(master="local[1]"), files.__file__)
with files.staging(spark, Spark()) as staged:
    kept = files.kept_folder(spark)
    for folder in (staged, kept):
        Path(folder.removeprefix("file://"), "originals").write_text("secret")
    print("ready", flush=True)
    sys.stdin.read()
"""


def test_nothing_outlives_a_killed_process(spark, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    held = subprocess.Popen(
        [sys.executable, "-c", HOLDER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert held.stdout.readline() == "ready\n"
        assert len(list(tmp_path.glob("shoal-*/originals"))) == 2
        (shuffled,) = tmp_path.glob("*/blockmgr-*")
        assert shuffled.parent.stat().st_mode & 0o077 == 0, "others can read the rows"
        held.send_signal(signal.SIGKILL)
        deadline = time.monotonic() + 30
        while list(tmp_path.glob("shoal-*")) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not list(tmp_path.glob("shoal-*")), "Java left what Python could not delete"
    finally:
        held.kill()
        held.wait()
        for stream in (held.stdin, held.stdout):
            stream.close()


def test_a_release_that_is_only_a_frame_is_deleted_at_exit(spark, tmp_path, monkeypatch):
    at_exit = []
    monkeypatch.setattr(atexit, "register", lambda *call, **named: at_exit.append((call, named)))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = Path(files.kept_folder(spark).removeprefix("file://"))
    (folder / "released").write_text("rows")
    assert folder.parent == tmp_path
    assert folder.stat().st_mode & 0o077 == 0
    for call, named in at_exit:
        call[0](*call[1:], **named)
    assert not folder.exists()


def test_a_release_that_breaks_its_promise_leaves_nothing(spark, tmp_path, monkeypatch):
    """One row in a class of its own, and the zip codes of two classes exchanged."""
    real = driver.assign

    def wrong(*given, **named):
        made = real(*given, **named)
        zips, label, count = made.cells["zip"].to_list(), made.label.copy(), made.count
        other = next(i for i, text in enumerate(zips) if text not in ("*", zips[0]))
        zips[0], zips[other] = zips[other], zips[0]
        cells = made.cells.with_columns(zip=pl.Series(zips))
        alone = int(np.flatnonzero(count == 1)[0])
        label[alone] = cells.height
        stars = dict.fromkeys(cells.columns, "*")
        return replace(made, label=label, cells=pl.concat([cells, pl.DataFrame([stars])]))

    monkeypatch.setattr(driver, "assign", wrong)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(shoal.NotVerified) as raised:
        shoal.anonymize(to_spark(spark, people(60)), **ROLES, missing=["?"], k=3, method="mondrian")
    text = str(raised.value)
    # The row that went away may have left a class of two behind.
    said = r"[12] of \d+ classes? breaks? the promise that every class has at least 3 rows"
    assert re.search(said, text)
    assert "In column 'zip'" in text
    assert "not cover the source" in text
    assert not list(tmp_path.glob("shoal-*"))


def test_what_is_replaced_is_whole_again_when_the_new_one_cannot_be_named(spark, tmp_path):
    old = {"r": "first", "r.manifest.json": "of it"}
    for name, text in old.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(Exception, match="nothing"):
        files.move_into_place(
            files.Files(spark), f"{tmp_path}/nothing", f"{tmp_path}/r", force=True
        )
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == old


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_staged_originals_are_for_their_owner_alone(spark, tmp_path, scheme):
    with files.staging(spark, shoal.Spark(out=f"{scheme}{tmp_path}/out")):
        (folder,) = tmp_path.iterdir()
        assert folder.stat().st_mode & 0o077 == 0
    assert not list(tmp_path.iterdir())

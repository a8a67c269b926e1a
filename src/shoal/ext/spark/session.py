"""Start Spark, or say what is missing to start it."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from shoal.base.errors import InputError, MissingExtra, ShoalError
from shoal.ext.spark.settings import Spark

_SMALL = 8 << 20
"""Bytes up to which a table is small: about a million rows in Parquet."""


def require() -> None:
    """Say what to install when Spark's library or Java is missing."""
    try:
        import pyspark  # noqa: F401
    except ImportError:
        raise MissingExtra(
            "The Spark engine needs the library pyspark, which is not installed. "
            "Install it with: pip install 'shoal[spark]'"
        ) from None


def _require_java() -> None:
    home = os.environ.get("JAVA_HOME")
    installed = (Path(home) / "bin" / "java").exists() if home else shutil.which("java") is not None
    if not installed:
        where = f"JAVA_HOME is {home!r}" if home else "there is no 'java' on the PATH"
        raise MissingExtra(
            f"Spark needs Java 17 or newer, and none was found: {where}. Install it, on Debian "
            "with: apt-get install openjdk-17-jre-headless (or set JAVA_HOME to where it is)."
        )


def session(settings: Spark, source: str) -> Any:
    """Return the running session, or start one for this run on the table at ``source``."""
    require()
    from pyspark.sql import SparkSession

    if (running := SparkSession.getActiveSession()) is not None:
        return running
    _require_java()
    builder = SparkSession.builder.appName("shoal")
    master = settings.master or (None if _configured() else "local[*]")
    if master is not None:
        builder = builder.master(master)
    if master is not None and master.startswith("local"):
        # Workers on this machine need the libraries of this Python.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        for key, value in _on_one_machine(source).items():
            builder = builder.config(key, value)
    try:
        with warnings.catch_warnings(), _own_folder(master or "") as own:
            warnings.simplefilter("ignore")
            started = builder.getOrCreate()
            if own is not None:  # empty by then: Spark deletes what is its own before
                java: Any = started._jvm
                java.java.io.File(own).deleteOnExit()
    except Exception as fault:  # what Java says in many lines
        raise ShoalError(
            f"Spark could not be started on {master or 'the configured master'!r}: "
            f"{first_line(fault)} Check --master and the version of Java (17 or newer)."
        ) from fault
    started.sparkContext.setLogLevel("ERROR")
    if not re.fullmatch(r"local(\[.*\])?", str(started.sparkContext.master)):
        # Executors elsewhere complain when their driver just goes away; threads here do not.
        atexit.register(started.stop)
    return started


def _on_one_machine(source: str) -> dict[str, str]:
    """Return how Spark is set up when we start it on this machine: few, large pieces.

    A small table is read, counted and written in seconds: what Java's second compiler does in that
    time costs more than it saves, and so do queries that Spark plans anew as they run. Most of
    the work is short-lived, so a heap that starts with room for it is swept a few times, not fifty.
    """
    chosen = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        # The default heap of 1 GB is too small for millions of rows.
        "spark.driver.memory": os.environ.get("SPARK_DRIVER_MEMORY", "2g"),
        "spark.sql.shuffle.partitions": "16",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
    }
    path = Path(source.removeprefix("file://"))
    parts = [path] if path.is_file() else [file for file in path.glob("*") if file.is_file()]
    if parts and sum(part.stat().st_size for part in parts) < _SMALL:
        chosen |= {
            "spark.sql.shuffle.partitions": "4",
            "spark.sql.adaptive.enabled": "false",
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC "
            "-XX:InitialRAMPercentage=100 -Xmn600m",
        }
    return chosen


@contextmanager
def _own_folder(master: str) -> Iterator[str | None]:
    """Have Spark started so that nobody else of this machine reads the rows it puts on the disk.

    Its own folders for what it shuffles are open to all. A folder that was chosen outside stays.
    """
    variable = "SPARK_LOCAL_DIRS"
    chosen = variable in os.environ or _said("spark.local.dir")
    if chosen or not master.startswith("local"):
        yield None
        return
    os.environ[variable] = folder = tempfile.mkdtemp(prefix="shoal-spark-")
    try:
        yield folder
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    finally:
        del os.environ[variable]


def _configured() -> bool:
    """Tell whether a master is set outside, by spark-submit or a configuration file."""
    return "MASTER" in os.environ or _said("spark.master", "--master")


def _said(setting: str, flag: str | None = None) -> bool:
    """Tell whether something is set for spark-submit or in a configuration file."""
    if (flag or setting) in os.environ.get("PYSPARK_SUBMIT_ARGS", ""):
        return True
    folder = os.environ.get("SPARK_CONF_DIR")
    file = Path(folder) / "spark-defaults.conf" if folder else None
    return file is not None and file.is_file() and setting in file.read_text()


def session_of(frame: Any) -> Any:
    """Return the session of a frame; Spark Connect has none that we can use."""
    if "connect" in type(frame).__module__:
        raise InputError(
            "This is a frame of Spark Connect, whose driver Shoal cannot reach. Give a frame of a "
            "session in this process, or write the table as Parquet and anonymize that."
        )
    return frame.sparkSession


def first_line(fault: BaseException) -> str:
    """Return what a Java error says in its first line."""
    lines = [line.strip() for line in str(fault).splitlines() if line.strip()]
    line = lines[0] if lines else type(fault).__name__
    return line if line.endswith(".") else f"{line}."

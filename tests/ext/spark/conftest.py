"""One Spark session for all tests here: two cores, small pieces, every task tried up to 3 times."""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest

REASON = None
try:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyspark.sql import SparkSession
except ImportError:
    REASON = "pyspark is not installed (pip install --group spark)"
if REASON is None and not (os.environ.get("JAVA_HOME") or shutil.which("java")):
    REASON = "Spark needs Java, and there is none (apt-get install openjdk-17-jre-headless)"


def pytest_collection_modifyitems(items):
    here = str(Path(__file__).parent)
    for item in items:
        if not str(item.path).startswith(here):
            continue
        # Spark's libraries warn of each other's versions; that is not our news.
        item.add_marker(pytest.mark.filterwarnings("ignore:::pyspark"))
        item.add_marker(pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning"))
        item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))
        # What sets name is not counted on Spark, which every run with sets says.
        item.add_marker(pytest.mark.filterwarnings("ignore:Columns that may be published as sets"))
        # Small made-up tables give nearly everybody away by what is released as it is.
        item.add_marker(pytest.mark.filterwarnings("ignore:Someone who also knows:UserWarning"))


@pytest.fixture(scope="session")
def spark():
    if REASON is not None:
        pytest.skip(REASON)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2,3]").appName("tests")
    for key, value in {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.adaptive.enabled": "false",
        "spark.driver.memory": "1g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        # Short queries on a cold machine: compiling them costs more than running them.
        "spark.sql.codegen.wholeStage": "false",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }.items():
        builder = builder.config(key, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def people(n=600, seed=0):
    """A table with every kind of column, gaps of every spelling, and rows that are equal."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "id": np.arange(n),
            "age": rng.integers(20, 60, n),
            "sex": _drawn(rng, ["m", "f", None, "?", " ? "], n),
            "zip": _drawn(rng, list("abcdef"), n),
            "weight": np.where(rng.random(n) < 0.1, np.nan, rng.integers(50, 60, n) / 2),
            "disease": _drawn(rng, ["flu", "cold", "hiv", "gout", None], n),
            "note": rng.integers(0, 50, n),
        }
    )


ROLES = {
    "quasi": ["age", "sex", "zip", "weight"],
    "sensitive": ["disease"],
    "keep": ["note"],
    "identifier": ["id"],
}


def to_spark(spark, frame):
    return spark.createDataFrame(frame.to_arrow(compat_level=pl.CompatLevel.oldest()))


def to_polars(frame):
    return pl.from_arrow(frame.toArrow())


def counted(frame, columns=None):
    """A table as a multiset of rows."""
    columns = columns or frame.columns
    return frame.group_by(columns).len().sort(columns)


def _drawn(rng, values, n):
    return pl.Series(values, dtype=pl.String).gather(rng.integers(0, len(values), n))

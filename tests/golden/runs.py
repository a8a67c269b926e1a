"""Runs with a fixed seed, through the command line: a few of every kind.

``python -m tests.golden.runs`` writes their digests to ``digests.json``. A digest may change only
in a commit that says why the release changed and, once version 1.0.0 is out, together with a line
in CHANGELOG.md.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.inprocess import shoal

HERE = Path(__file__).parent
DIGESTS = HERE / "digests.json"
ADULT = HERE.parents[2] / "shared" / "data"

SEED = 20261116
SHOAL = str(Path(sys.executable).with_name("shoal"))

_DEMO = ("demo/patients.csv", "--identifier", "patient", "--sensitive", "diagnosis")
_DEMO += ("--quasi", "age,sex,zip,marital,occupation,admitted")
_TREES = ("--hierarchies", "demo/hierarchies")
_OFTEN = ("--l-kind", "frequency")
_ADULT = ("adult.csv", "--quasi", "age,workclass,education,marital-status,race,sex,native-country")
_ADULT += ("--sensitive", "occupation", "--hierarchies", str(ADULT / "hierarchies" / "adult"))

_ON_SPARK = (*_DEMO, *_TREES, "--method", "mondrian", "--k", "5", "--engine", "spark")
RUNS: dict[str, tuple[str, ...]] = {
    "demo: shoal": (*_DEMO, "--k", "5"),
    "demo: kaim": (*_DEMO, "--method", "kaim", "--k", "5"),
    "demo: l-clustering": (*_DEMO, "--method", "l-clustering", "--l", "3"),
    "demo: alpha-k": (*_DEMO, "--method", "alpha-k", "--k", "5", "--alpha", "0.5"),
    "demo: dummies": (*_DEMO, "--method", "dummies", "--l", "3"),
    "demo typed": (*_DEMO, "--typed", "--k", "5"),
    "demo without a grid": (*_DEMO, "--grid", "age=off", "--grid", "admitted=off", "--k", "5"),
    "demo with trees: shoal t": (*_DEMO, *_TREES, "--k", "5", "--t", "0.4"),
    "demo with trees: mondrian": (*_DEMO, *_TREES, "--method", "mondrian", "--k", "5"),
    "demo with trees: incognito": (*_DEMO, *_TREES, "--method", "incognito", "--k", "5"),
    "demo with trees: anatomy": (*_DEMO, *_TREES, "--method", "anatomy", "--l", "3", *_OFTEN),
    "adult: shoal": (*_ADULT, "--k", "5"),
    "spark: mondrian": _ON_SPARK,
}
"""A handful: one of every shape, family of kernels, engine and notation."""


def prepare(folder: Path) -> None:
    """Put the tables of the runs into a folder."""
    import polars as pl

    assert shoal(folder, "demo", "--out", "demo").returncode == 0
    if ADULT.exists():
        # Fewer rows: what differs between versions differs here too, at a tenth of the time.
        pl.read_csv(ADULT / "adult.csv.gz", infer_schema=False).head(6000).write_csv(
            folder / "adult.csv"
        )


def digest(folder: Path, name: str, words: tuple[str, ...]) -> str:
    """Carry out a run and return a digest of every file that it wrote."""
    out = folder / "".join(c if c.isalnum() else "-" for c in name)
    out.mkdir()
    # The bytes of Spark's own Parquet file name the version of a library; its rows do not.
    target = out / ("release.parquet" if "spark" in words else "release.csv")
    words = ("anonymize", *words, "--seed", str(SEED), "-o", str(target))
    if "spark" in words:  # a process of its own: Spark leaves its own one changed
        done = subprocess.run([SHOAL, *words], cwd=folder, capture_output=True, text=True)
    else:
        done = shoal(folder, *words)
    if done.returncode:
        return f"exit {done.returncode}: {done.stderr[-2000:]}"
    if target.suffix == ".parquet":
        return digest_of_rows(target)
    whole = hashlib.sha256()
    for path in sorted(out.iterdir()):
        if path.name.endswith(".manifest.json"):  # it has the time, and this very digest
            continue
        whole.update(path.name.encode() + b"\0" + path.read_bytes())
    return whole.hexdigest()


def digest_of_rows(path: Path) -> str:
    """Return a digest of the rows of a Parquet file, whatever its bytes."""
    import polars as pl

    return hashlib.sha256(pl.read_parquet(path).write_csv().encode()).hexdigest()


def main() -> None:
    """Write the digests of all runs."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        prepare(folder)
        found = {name: digest(folder, name, words) for name, words in RUNS.items()}
    DIGESTS.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()

"""Runs with a fixed seed, through the command line: a few of every kind.

``python -m tests.golden.runs`` writes their outcomes to ``digests.json``. One may change only
in a commit that says why the release changed and, once version 1.0.0 is out, together with a line
in CHANGELOG.md.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from pathlib import Path
from typing import Any

from tests.inprocess import shoal

HERE = Path(__file__).parent
DIGESTS = HERE / "digests.json"
ADULT = HERE.parents[2] / "shared" / "data"

SEED = 20261116

_DEMO = ("demo/patients.csv", "--identifier", "patient", "--sensitive", "diagnosis")
_DEMO += ("--quasi", "age,sex,zip,marital,occupation,admitted")
_TREES = ("--hierarchies", "demo/hierarchies")
_OFTEN = ("--l-kind", "frequency")
_ADULT = ("adult.csv", "--quasi", "age,workclass,education,marital-status,race,sex,native-country")
_ADULT += ("--sensitive", "occupation", "--hierarchies", str(ADULT / "hierarchies" / "adult"))

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


def outcome(folder: Path, name: str, words: tuple[str, ...]) -> dict[str, Any]:
    """Carry out a run; return a digest of every file that it wrote, and what shows a change of it.

    A digest that differs says nothing more; the loss, the classes and the first rows beside it do.
    """
    out = folder / "".join(c if c.isalnum() else "-" for c in name)
    out.mkdir()
    target, figures = out / "release.csv", folder / f"{out.name}.json"
    words = ("anonymize", *words, "--seed", str(SEED), "-o", str(target), "--json", str(figures))
    done = shoal(folder, *words)
    assert done.returncode == 0, done.stderr
    whole = hashlib.sha256()
    for path in sorted(out.iterdir()):
        if path.name.endswith(".manifest.json"):  # it has the time, and this very digest
            continue
        whole.update(path.name.encode() + b"\0" + path.read_bytes())
    told = json.loads(figures.read_text())
    shown = {"loss": round(told["loss"]["rate"], 6), "classes": told["groups"]}
    return {"digest": whole.hexdigest(), **shown, "begins": target.read_text().splitlines()[:4]}


def digest_of_rows(path: Path) -> str:
    """Return a digest of the rows of a Parquet file, whatever its bytes."""
    import polars as pl

    return hashlib.sha256(pl.read_parquet(path).write_csv().encode()).hexdigest()


def main() -> None:
    """Write the outcomes of all runs but those on Spark, whose digest is put in by hand."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        prepare(folder)
        found = json.loads(DIGESTS.read_text())
        found |= {name: outcome(folder, name, words) for name, words in RUNS.items()}
    DIGESTS.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()

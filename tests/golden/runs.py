"""Runs with a fixed seed, through the command line: every method, shape and engine.

``python -m tests.golden.runs`` writes their digests to ``digests.json``. A digest may change only
together with a sentence in the list of changes that says why the release did.
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

SHOAL = str(Path(sys.executable).with_name("shoal"))

_DEMO = ("demo/patients.csv", "--identifier", "patient", "--sensitive", "diagnosis")
_DEMO += ("--quasi", "age,sex,zip,marital,occupation,admitted")
_TREES = ("--hierarchies", "demo/hierarchies")
_ADULT = ("adult.csv", "--quasi", "age,workclass,education,marital-status,race,sex,native-country")
_ADULT += ("--sensitive", "occupation", "--hierarchies", str(ADULT / "hierarchies" / "adult"))

METHODS: dict[str, tuple[str, ...]] = {
    "shoal": ("--k", "5"),
    "shoal fast": ("--method", "shoal", "--effort", "fast", "--k", "4", "--l", "2"),
    "shoal t": ("--method", "shoal", "--k", "5", "--t", "0.4"),
    "shoal entropy": ("--method", "shoal", "--option", "objective=entropy", "--k", "3"),
    "kaim": ("--method", "kaim", "--k", "5"),
    "kaim unit": ("--method", "kaim", "--option", "weights=unit", "--k", "5"),
    "k-member": ("--method", "k-member", "--k", "5"),
    "k-member drop": ("--method", "k-member", "--option", "missing=drop", "--k", "5"),
    "k-member furthest": ("--method", "k-member", "--option", "seeds=furthest", "--k", "5"),
    "l-clustering": ("--method", "l-clustering", "--l", "3"),
    "alpha-k": ("--method", "alpha-k", "--k", "5", "--alpha", "0.5"),
    "mondrian": ("--method", "mondrian", "--k", "5", "--beta", "4"),
    "mondrian relaxed": ("--method", "mondrian", "--option", "cuts=relaxed", "--k", "5"),
    "tp": ("--method", "tp", "--l", "2", "--l-kind", "frequency"),
    "tp+": ("--method", "tp+", "--l", "2", "--l-kind", "frequency"),
    "dummies": ("--method", "dummies", "--l", "3"),
    "anatomy": ("--method", "anatomy", "--l", "3", "--l-kind", "frequency"),
}
TREES_ONLY: dict[str, tuple[str, ...]] = {
    "incognito": ("--method", "incognito", "--k", "5", "--option", "suppression=0.05"),
    "l-incognito": ("--method", "l-incognito", "--l", "2"),
    "simanony": ("--method", "simanony", "--k", "5", "--alpha", "0.6"),
}
SPARK = ("mondrian", "k-member")


def runs(*, adult: bool, spark: bool) -> dict[str, tuple[str, ...]]:
    """Return the words of every run by its name."""
    trees = METHODS | TREES_ONLY
    found = {f"demo: {name}": (*_DEMO, *words) for name, words in METHODS.items()}
    found |= {f"demo with trees: {name}": (*_DEMO, *_TREES, *w) for name, w in trees.items()}
    found["demo typed"] = (*_DEMO, "--typed", "--k", "5")
    if adult:
        found |= {f"adult: {name}": (*_ADULT, *words) for name, words in trees.items()}
    if spark:
        for name in SPARK:
            found[f"spark: {name}"] = (*_DEMO, *_TREES, *METHODS[name], "--engine", "spark")
    return found


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
    words = ("anonymize", *words, "--seed", "20261116", "-o", str(target))
    if "spark" in words:  # a process of its own: Spark leaves its own one changed
        done = subprocess.run([SHOAL, *words], cwd=folder, capture_output=True, text=True)
    else:
        done = shoal(folder, *words)
    if done.returncode:
        return f"exit {done.returncode}: {done.stderr[-2000:]}"
    if target.suffix == ".parquet":
        import polars as pl

        return hashlib.sha256(pl.read_parquet(target).write_csv().encode()).hexdigest()
    whole = hashlib.sha256()
    for path in sorted(out.iterdir()):
        whole.update(path.name.encode() + b"\0" + path.read_bytes())
    return whole.hexdigest()


def main() -> None:
    """Write the digests of all runs."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        prepare(folder)
        found = {
            name: digest(folder, name, words)
            for name, words in runs(adult=ADULT.exists(), spark=True).items()
        }
    DIGESTS.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()

"""Auditing five releases of 300,000 rows together: seconds and memory, on two threads."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import polars as pl

RELEASES, NEW = 5, 0.02
QUASI = ["age", "sex", "marital", "race", "birthplace", "education", "work_class"]


def main() -> None:
    """Release the ACS sample five times, each time with others, and audit the last one."""
    os.environ["SHOAL_THREADS"] = os.environ["POLARS_MAX_THREADS"] = "2"
    import shoal
    from benchmarks.process import run
    from benchmarks.tables import ADULT
    from shoal.api.opening import read_table

    methods = sys.argv[1:] or ["mondrian", "dummies"]
    frame = read_table(ADULT / "acs_occ_300k.parquet").select(*QUASI, "occupation")
    trees = ADULT / "hierarchies" / "acs_occ"
    for method in methods:
        with tempfile.TemporaryDirectory() as folder:
            paths = [Path(folder) / f"{number}.parquet" for number in range(RELEASES)]
            for number, path in enumerate(paths):
                stay = frame.sample(fraction=1 - NEW, seed=number)
                fill = frame.sample(frame.height - stay.height, seed=100 + number)
                release = shoal.anonymize(
                    pl.concat([stay, fill]),
                    quasi=QUASI,
                    sensitive="occupation",
                    hierarchies=trees,
                    method=method,
                    seed=number,
                    **({"l": 5} if method == "dummies" else {"k": 10, "l": 5}),
                )
                release.write(path)
            *before, now = map(str, paths)
            command = [str(Path(sys.executable).with_name("shoal")), "audit", now]
            command += ["--quasi", ",".join(QUASI), "--sensitive", "occupation", "--l", "5"]
            command += ["--hierarchies", str(trees)]
            command += [word for path in before for word in ("--against", path)]
            run(command)  # compiles
            alone, took = run(command[: command.index("--against")]), run(command)
            sys.stdout.write(
                f"{method}: {frame.height:,} rows x {RELEASES} releases: {took.wall:.1f} s "
                f"({took.cpu:.1f} s of processor time), {took.peak_mb:,.0f} MB; without the "
                f"earlier ones {alone.wall:.1f} s\n"
            )


if __name__ == "__main__":
    main()

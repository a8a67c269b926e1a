"""Which columns single people out: processor time on 300,000 rows and 20 columns, two threads."""

from __future__ import annotations

import os
import sys
import time

import numpy as np
import polars as pl

ROWS, COLUMNS = 300_000, 20


def main() -> None:
    """Make the ACS table twenty columns wide and look at all its combinations."""
    os.environ["SHOAL_THREADS"] = os.environ["POLARS_MAX_THREADS"] = "2"
    from benchmarks.tables import ADULT
    from shoal.api.opening import read_table
    from shoal.measures.singling import singling_out

    frame = read_table(ADULT / "acs_occ_300k.parquet")
    rng = np.random.default_rng(1)
    # Copies in another order keep their values and lose their neighbours.
    more = [
        pl.Series(f"{name} again", frame[name].gather(rng.permutation(frame.height)))
        for name in frame.columns[: COLUMNS - frame.width]
    ]
    frame = frame.with_columns(more)
    singling_out(frame.head(100), frame.columns)  # compiles
    began, processor = time.perf_counter(), time.process_time()
    found = singling_out(frame, frame.columns)
    sys.stdout.write(
        f"{frame.height:,} rows, {frame.width} columns, {len(found.tried)} put together: "
        f"{time.perf_counter() - began:.1f} s, {time.process_time() - processor:.1f} s of "
        f"processor time; {found.unique:,} rows are unique by at most three columns\n"
    )


if __name__ == "__main__":
    main()

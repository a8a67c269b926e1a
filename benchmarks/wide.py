"""Reading wide CSV files: processor time must grow with the cells, not with their square."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from shoal.api.opening import read_table

ROWS = 20
COLUMNS = (5_000, 10_000, 20_000, 40_000)


def seconds(folder: Path, columns: int) -> float:
    """Return the processor time of reading so many columns: numbers, texts and dates in turn."""
    path = folder / f"{columns}.csv"
    cells = ("{}", "text {}", "2020-01-{:02}")
    rows = [
        ",".join(cells[column % 3].format(row + 1) for column in range(columns))
        for row in range(ROWS)
    ]
    path.write_text("\n".join([",".join(f"c{i}" for i in range(columns)), *rows]) + "\n")
    start = time.process_time()
    read_table(path)
    return time.process_time() - start


def main() -> None:
    """Print a line for each width."""
    print("| columns | processor seconds | per 1,000 columns |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for columns in COLUMNS:
            took = seconds(Path(folder), columns)
            print(f"| {columns:,} | {took:.2f} | {1000 * took / columns:.3f} |", flush=True)


if __name__ == "__main__":
    main()

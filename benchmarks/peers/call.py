"""Our own command inside a Python that has loaded its libraries, timed as the peers' jobs are."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numba  # noqa: F401 -- loaded before the clock runs, as pandas is for the peers
import pyarrow.csv  # noqa: F401

import shoal.verbs.anonymize  # noqa: F401
from shoal.cli.app import build


def main() -> None:
    """Run the words of a command line; the last argument says where the figure goes."""
    *words, goal = sys.argv[1:]
    begun = time.perf_counter()
    build(words[0])(words, prog_name="shoal", standalone_mode=False)
    Path(goal).write_text(json.dumps({"seconds": {"total": time.perf_counter() - begun}}))


if __name__ == "__main__":
    main()

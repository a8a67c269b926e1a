"""The settings of the Spark engine. Imports no Spark."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from shoal.base.errors import ParameterError
from shoal.base.system import total_memory

DRIVER_TUPLES = 2_000_000
_ASSUMED = 8 << 30  # bytes of memory, where the system does not say how much there is


@dataclass(frozen=True)
class Spark:
    """Carry a plan out on Spark: ``shoal.anonymize(..., engine=Spark(master="local[2]"))``.

    Parameters
    ----------
    master
        Where Spark runs, for instance ``"local[2]"``; None: what Spark is configured for, else
        all cores of this machine. A frame brings its own session, and this is ignored.
    driver_tuples
        How many distinct tuples one process may group at once. A table with more is cut into
        shards, which the executors group.
    driver_bytes
        How much memory that grouping may need by our estimate (:func:`estimated_bytes`); half of
        this machine's memory by default.
    staging
        A folder that the driver and all executors can write to, for what must be on a disk before
        it is checked. Not needed on one machine, nor with ``out``, which is staged next to it.
    out
        Where to write the release: a folder, or one file when the name ends in ``.csv``,
        ``.csv.gz``, ``.tsv`` or ``.parquet``. None: the release is only a frame.
    force
        Replace an existing ``out``.
    here
        Also take the release to this machine, where it can then be asked as any other:
        ``release.report(...)`` and ``.risk()``; ``release.with_original(frame)`` for ``.attack()``.
        Refused when the table has more rows than ``driver_tuples`` or ``driver_bytes`` allow.
    """

    master: str | None = None
    driver_tuples: int = DRIVER_TUPLES
    driver_bytes: int | None = None
    staging: str | None = None
    out: str | None = None
    force: bool = False
    here: bool = False

    def __post_init__(self) -> None:
        for name, value in (
            ("driver_tuples", self.driver_tuples),
            ("driver_bytes", self.driver_bytes),
        ):
            if value is not None and (not isinstance(value, int) or value < 1):
                raise ParameterError(
                    f"The parameter '{name}' of the Spark engine must be a whole number in "
                    f"[1, inf). Got {value!r} instead."
                )

    def fits(self, tuples: int, rows: int, columns: int) -> bool:
        """Tell whether one process may group so many tuples, rows and columns."""
        return (
            tuples <= self.driver_tuples and estimated_bytes(tuples, rows, columns) <= self._limit
        )

    def most_tuples(self, columns: int) -> int:
        """Return how many tuples can fit at best, each standing for one row."""
        # Spark counts what it is asked for in 32 bits.
        return min(self.driver_tuples, self._limit // estimated_bytes(1, 1, columns), 2**31 - 2)

    @property
    def _limit(self) -> int:
        if self.driver_bytes is not None:
            return self.driver_bytes
        return (total_memory() or _ASSUMED) // 2


def estimated_bytes(tuples: int, rows: int, columns: int) -> int:
    """Return the memory that grouping needs in one process, measured generously.

    Per tuple the texts of its cells; per row a position in every column and what the methods keep
    of a row.
    """
    return tuples * (columns * 48 + 100) + rows * (columns * 8 + 120)


def address(path: str | Path) -> str:
    """Return a path as Spark wants it: absolute, or with its scheme (``hdfs://``) intact."""
    text = str(path)
    # A Path makes one slash of two.
    if scheme := re.match(r"^([A-Za-z][A-Za-z0-9+.-]+):/+", text):
        rest = text[scheme.end() :]
        return f"{scheme[1]}:///{rest}" if scheme[1] == "file" else f"{scheme[1]}://{rest}"
    return str(Path(text).absolute())

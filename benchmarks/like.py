"""Releases like an earlier one: how many rows find a class, what it costs, and who is undone.

``python -m benchmarks.like``: the second release of every tenth person of the ACS sample, like the
first one and by itself.
"""

from __future__ import annotations

import resource
import warnings
from typing import Any

import polars as pl

import shoal
from benchmarks.series import DATA, tables_of


def told(name: str, release: Any, before: Any, fits: float) -> str:
    """Return a line on a release: loss, classes, and rows undone by who has both."""
    found = release.audit(against=[before]).models["earlier"]["occupation"]["all"]
    undone = max(found["broken"].values())
    note = release.made.notes.get("like", {})
    same = {*release.frame.select(release.here.quasi).rows()}
    same &= {*before.frame.select(release.here.quasi).rows()}
    return (
        f"{name:12} loss {release.loss.rate:.4f}, {release.made.groups:,} classes, "
        f"{len(same):,} with labels of then, rows in them {note.get('rows', 0):,}, "
        f"undone {undone:,} of {found['rows']:,} rows, {fits:.1f} s"
    )


def main() -> None:
    """Print a line for each."""
    warnings.simplefilter("ignore")
    (first, second), roles = tables_of("acs", 2)
    roles = {key: value for key, value in roles.items() if key != "person"}
    tables = [table.drop("id") for table in (first, second)]
    others = pl.read_parquet(DATA / "acs_occ_300k.parquet").gather_every(10, 5)
    tables.append(others.select(tables[0].columns).head(20_000))
    asked: dict[str, Any] = {"k": 10, "l": 5, "effort": "fast", "seed": 1}
    before = shoal.anonymize(tables[0], **roles, **asked)
    for people, table in (("same people", tables[1]), ("other people", tables[2])):
        for name, like in (("alone", None), ("like", before)):
            start = resource.getrusage(resource.RUSAGE_SELF).ru_utime
            release = shoal.anonymize(table, **roles, **asked, like=like)
            took = resource.getrusage(resource.RUSAGE_SELF).ru_utime - start
            print(people, told(name, release, before, took), release.warnings[-1:])


if __name__ == "__main__":
    main()

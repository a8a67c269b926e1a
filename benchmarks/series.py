"""Releases over time: loss, counterfeits, time, and who is exposed when all releases are known.

``python -m benchmarks.series acs 5`` or ``nlswork 5``: so many releases with m = 2, 3, 5, 10.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

import shoal
from experiments.overtime import TABLES

DATA = Path(__file__).parent.parent.parent / "shared" / "data"
EVERY = {"acs": 10, "nlswork": 1}  # of the people of a table, every so many


def tables_of(name: str, releases: int) -> tuple[list[pl.DataFrame], dict[str, Any]]:
    """Return the tables of a series, and their roles."""
    return TABLES[name](DATA, releases, EVERY[name])


def exposed(classes: list[pl.DataFrame], values: list[dict[str, set[str]]], m: int) -> int:
    """Count the records with fewer than m values common to all classes they were in."""
    left: dict[tuple[str, str], set[str]] = {}
    for people, held in zip(classes, values, strict=True):
        for person, value, name in people.iter_rows():
            left[person, value] = left.get((person, value), held[name]) & held[name]
    return sum(len(own) < m for own in left.values())


def series(
    tables: list[pl.DataFrame], roles: dict[str, Any], m: int, method: str
) -> Iterator[tuple[Any, ...]]:
    """Publish a series and yield a line for each release."""
    from shoal.releases.history.check import class_names
    from shoal.releases.history.store import History

    of, classes, values = roles["sensitive"], [], []
    with tempfile.TemporaryDirectory() as folder:
        for number, table in enumerate(tables):
            begin = resource.getrusage(resource.RUSAGE_SELF)
            options = {"effort": "fast"} if method == "shoal" else {}
            asked = {"method": method, "options": options, "seed": number + 10**20}
            release = shoal.anonymize(table, m=m, history=folder, **asked, **roles)
            end = resource.getrusage(resource.RUSAGE_SELF)
            published = release.local_tables.published
            names = class_names(published).gather(published.labels)
            held: dict[str, set[str]] = {}
            for name, value in zip(names, release.frame[of].cast(pl.String), strict=True):
                held.setdefault(name, set()).update([] if value is None else [value])
            classes.append(History.read(folder).classes(number))
            values.append(held)
            seconds = end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime
            false = release.made.notes["counterfeits"]
            loss = round(release.loss.rate, 4)
            yield (
                number + 1,
                table.height,
                loss,
                false,
                round(seconds, 1),
                exposed(classes, values, m),
            )


def alone(tables: list[pl.DataFrame], roles: dict[str, Any], m: int) -> Iterator[tuple[Any, ...]]:
    """Publish each table by itself, distinct l-diversity with l = m; then audit the last one."""
    own = {key: value for key, value in roles.items() if key != "person"}
    made: list[Any] = []
    for number, table in enumerate(tables):
        frame = table.drop(roles["person"])
        made.append(shoal.anonymize(frame, l=m, effort="fast", seed=number + 10**20, **own))
        told = ""
        if number == 1:
            verdict = made[-1].audit(l=m, against=made[:-1])
            told = verdict.models["earlier"][own["sensitive"]]["all"]["broken"]
        yield number + 1, table.height, round(made[-1].loss.rate, 4), told


def main(words: list[str]) -> None:
    """Print a line for each release of each series."""
    tables, roles = tables_of(words[0], int(words[1]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for m in [int(word) for word in words[2:]] or [2, 3, 5, 10]:
            for method in ("shoal", "buckets", "alone"):
                try:
                    told = (
                        alone(tables, roles, m)
                        if method == "alone"
                        else series(tables, roles, m, method)
                    )
                    for line in told:
                        sys.stdout.write(f"{words[0]} m={m} {method} {line}\n")
                        sys.stdout.flush()
                except shoal.Infeasible as fault:
                    sys.stdout.write(f"{words[0]} m={m} {method}: {fault}\n")


if __name__ == "__main__":
    main(sys.argv[1:])

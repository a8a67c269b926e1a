"""What checks share of releases that keep their quasi-identifiers as they were.

Like :mod:`shoal.releases.generalized.check`, this knows nothing of how a release was made: sets
and groups are read and counted afresh, and the rules are asked about those.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from shoal.base.errors import InputError, format_names
from shoal.base.partition import GroupStats
from shoal.base.roles import Role
from shoal.privacy.base import Rule
from shoal.releases.opened import Opened
from shoal.releases.published import occurrences
from shoal.releases.verdict import Verdict, ask_rule, describe_broken, make_verdict
from shoal.tables.cells import as_text
from shoal.tables.original import Original


def judge(
    rules: Sequence[Rule],
    stats: Mapping[str | None, GroupStats],
    faults: Sequence[str],
    rows: int,
    classes: int,
) -> Verdict:
    """Ask every rule about the groups of its column, ``None`` for the classes of rows."""
    results, told = [], list(faults)
    for rule in rules:
        if rule.column not in stats:
            raise InputError(f"The release has no sensitive column {rule.column!r}.")
        own = stats[rule.column]
        many = own.sizes.size
        _, result = ask_rule(rule, [(np.arange(many), own)])
        results.append(result)
        if not result.holds:
            told.append(
                describe_broken(
                    result, many, "classes" if rule.column is None else "groups or sets"
                )
            )
    return make_verdict(rules, results, told, rows, classes)


def compare(released: pl.DataFrame, source: Original, own: Sequence[str] = ()) -> list[str]:
    """Quasi-identifiers and other columns must be as they were; nothing else may be there.

    ``own``: columns that the shape itself adds.
    """
    assert source.order is not None
    faults = []
    for column in source.schema.columns:
        if column.role not in (Role.QUASI, Role.KEEP):
            continue
        if column.name not in released.columns:
            faults.append(f"The release lacks the column {column.name!r}.")
            continue
        before = source.frame[column.name].gather(source.order)
        wrong = int((~before.eq_missing(released[column.name])).sum())
        if wrong:
            faults.append(f"In column {column.name!r} {wrong:,} cells differ from the source.")
    declared = {*source.schema.quasi, *source.schema.keep, *source.schema.sensitive, *own}
    faults += [
        f"The release has a column {name!r} that should not be there."
        for name in released.columns
        if name not in declared
    ]
    return faults


def truth(name: str, source: Original) -> pl.Series:
    """Return the true value of every released row."""
    assert source.order is not None
    column = source.schema[name].clean(source.frame[name])
    return as_text(column).gather(source.order)


def plausible(
    released: pl.DataFrame, original: pl.DataFrame, kept: Sequence[str], sensitive: Sequence[str]
) -> list[str]:
    """Compare with an original whose rows stand in another order, and return the faults found.

    Every combination of the columns that are published as they were must occur as often as before.
    Which row became which is not known, so what is hidden of a row cannot be compared here; inside
    a run it is.
    """
    if lacking := [name for name in (*kept, *sensitive) if name not in original.columns]:
        raise InputError(
            f"The original has no column {format_names(lacking)}; it has: "
            f"{format_names(original.columns)}. "
            "Give the table that the release was made from."
        )
    before, after = occurrences(original, released, kept)
    if wrong := int((before != after).sum()):
        return [
            f"{wrong:,} combinations of {format_names(kept)} do not occur as often in the release "
            "as in the original: these columns must be published as they are."
        ]
    return []


def kept(opened: Opened, source: Original) -> list[str]:
    """Return the columns that must be published as they were."""
    others = [name for name in source.schema.keep if opened.has(name)]
    return [*opened.quasi, *others]

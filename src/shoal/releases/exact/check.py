"""What checks share of releases that keep their quasi-identifiers as they were.

Like :mod:`shoal.releases.generalized.check`, this knows nothing of how a release was made: sets
and groups are read and counted afresh, and the rules are asked about those.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from shoal.base.errors import InputError, ParameterError, listed
from shoal.base.partition import GroupStats
from shoal.base.roles import Role
from shoal.privacy.base import Rule, flatten, promised, weakest
from shoal.releases.opened import Opened
from shoal.releases.verdict import Original, RuleResult, Verdict
from shoal.tables.cells import as_text, blank


def some(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Return the rules one by one; without any there is nothing to check."""
    wanted = flatten(rules)
    if not wanted:
        raise ParameterError(
            "verify needs at least one rule, got none: without a promise there is nothing to "
            "check. Give for instance LDiversity(l=3, column=...)."
        )
    return wanted


def judge(
    rules: Sequence[Rule],
    stats: dict[str | None, GroupStats],
    faults: list[str],
    rows: int,
    classes: int,
) -> Verdict:
    """Ask every rule about the groups of its column, ``None`` for the classes of rows."""
    results = []
    for rule in rules:
        if rule.column not in stats:
            raise InputError(f"The release has no sensitive column {rule.column!r}.")
        own = stats[rule.column]
        passes = np.asarray(rule.holds(own), np.bool_)
        failing = int((~passes).sum())
        holds = failing == 0 and passes.size > 0
        promise = promised(rule, own.unit)
        results.append(RuleResult(rule.name, promise, holds, failing, rule.achieved(own)))
        if not holds:
            what = "classes" if rule.column is None else "groups or sets"
            faults.append(
                f"{failing:,} of {passes.size:,} {what} break the promise that {rule.describe()}."
            )
    if not rows:
        faults.append("The release has no rows: an empty table keeps no promise.")
    return Verdict(
        holds=not faults,
        rules=tuple(results),
        achieved=weakest(
            (rule, result.achieved) for rule, result in zip(rules, results, strict=True)
        ),
        rows=rows,
        classes=classes,
        faults=tuple(faults),
    )


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
            f"The original has no column {listed(lacking)}; it has: {listed(original.columns)}. "
            "Give the table that the release was made from."
        )
    faults = []
    before, after = (
        pl.DataFrame([as_text(blank(frame[name])) for name in kept])
        .group_by(kept)
        .agg(pl.len().cast(pl.Int64).alias("\x00rows"))
        for frame in (original, released)
    )
    wrong = before.join(after, on=list(kept), how="full", nulls_equal=True).filter(
        pl.col("\x00rows").ne_missing(pl.col("\x00rows_right"))
    )
    if wrong.height:
        faults.append(
            f"{wrong.height:,} combinations of {listed(kept)} do not occur as often in the release "
            "as in the original: these columns must be published as they are."
        )
    return faults


def kept(opened: Opened, source: Original) -> list[str]:
    """Return the columns that must be published as they were."""
    others = [name for name in source.schema.keep if opened.has(name)]
    return [*opened.quasi, *others]

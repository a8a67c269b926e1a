"""Does a release keep its promise? Asked of the published cells alone.

Nothing here knows how a release was made: no grouper, no kernel, no encoding, no partition of the
run. Rows are put together again by what a reader of the file can tell apart, every sensitive value
is counted afresh, and the rules are asked about those groups.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.cells import as_text, blank
from shoal.coverage import Uncovered, covers, plausible
from shoal.domain import Taxonomy
from shoal.errors import ParameterError, SchemaError, nearest
from shoal.partition import GroupStats, Histogram, Ints
from shoal.rules.base import Rule, flatten
from shoal.schema import Schema

_CLASS = "\x00class"
_ROW = "\x00row"
_SIZE = "\x00size"


@dataclass(frozen=True)
class RuleResult:
    """How one rule fared: its promise in words, how many classes break it, what is reached."""

    name: str
    promise: str
    holds: bool
    failing: int
    achieved: dict[str, Any]


@dataclass(frozen=True)
class WorstGroup:
    """A class that breaks a rule, told by its published cells and nothing else."""

    cells: dict[str, str]
    size: int
    breaks: tuple[str, ...]


@dataclass(frozen=True)
class Verdict:
    """What was found.

    Parameters
    ----------
    holds
        Every rule holds, every cell that could be compared covers its source, nothing is published
        that was not declared, and there is at least one row.
    rules
        One result per rule.
    achieved
        What the weakest class reaches, by parameter name, over all rules.
    rows, classes
        Number of published rows, and of classes that a reader can tell apart.
    worst
        The classes that break most rules, smallest first.
    uncovered
        Per column how many cells do not cover their source; None when there was nothing to compare
        with.
    faults
        Every reason not to trust the release, a sentence each.
    """

    holds: bool
    rules: tuple[RuleResult, ...]
    achieved: dict[str, Any]
    rows: int
    classes: int
    worst: tuple[WorstGroup, ...] = ()
    uncovered: tuple[Uncovered, ...] | None = None
    faults: tuple[str, ...] = field(default=())


def verify(
    released: pl.DataFrame,
    quasi: Sequence[str],
    rules: Sequence[Rule],
    *,
    original: pl.DataFrame | None = None,
    schema: Schema | None = None,
    taxonomies: Mapping[str, Taxonomy] | None = None,
    order: npt.NDArray[np.integer] | None = None,
    missing: Sequence[str] = (),
    worst: int = 5,
) -> Verdict:
    """Check a release against its rules, and against its source when that is given.

    Parameters
    ----------
    released
        The published table. A quasi-identifier ``x`` may stand there as ``x_lo`` and ``x_hi``.
    quasi
        Names of the quasi-identifiers.
    rules
        The promises to check; at least one.
    original
        The table that was released. Then every released cell must cover its source.
    schema
        Declared columns and their kinds: needed with ``original``. When given, a published column
        that it does not declare, or declares an identifier, is a fault.
    taxonomies
        Taxonomies by column, for the columns of kind taxonomy.
    order
        The input row of every released row, when known: cells are then compared one by one
        (:func:`shoal.coverage.covers`); otherwise the weaker check of
        :func:`shoal.coverage.plausible` is made.
    missing
        Texts that mean missing in a sensitive column, besides null, NaN and the empty text.
    worst
        How many failing classes to show.

    Notes
    -----
    A class is a set of rows equal in every published quasi-identifier, where null is a value like
    any other. Missing sensitive values add no diversity.
    """
    wanted = flatten(rules)
    if not wanted:
        raise ParameterError(
            "verify needs at least one rule, got none: without a promise there is nothing to "
            "check. Give for instance KAnonymity(k=10)."
        )
    cells = published_columns(released, quasi)
    _check_sensitive(released, wanted)
    labels, classes = _classes(released, cells)
    stats = _stats(released, labels, classes, wanted, missing)
    passed = [np.asarray(rule.holds(stats), np.bool_) for rule in wanted]
    results = tuple(
        _result(rule, stats, passes, released.height)
        for rule, passes in zip(wanted, passed, strict=True)
    )
    faults = [
        f"{result.failing} of {classes.height} classes break the promise that {result.promise}."
        for result in results
        if result.failing
    ]
    if not released.height:
        faults.append("The release has no rows: an empty table keeps no promise.")
    if schema is not None:
        faults.extend(_undeclared(released, schema))
    uncovered = None
    if original is not None:
        uncovered, more = _compare(released, original, schema, taxonomies or {}, order)
        faults.extend(more)
    achieved: dict[str, Any] = {}
    for result in results:
        achieved.update(result.achieved)
    return Verdict(
        holds=not faults and all(result.holds for result in results),
        rules=results,
        achieved=achieved,
        rows=released.height,
        classes=classes.height,
        worst=_worst(classes, cells, stats.sizes, wanted, passed, worst),
        uncovered=uncovered,
        faults=tuple(faults),
    )


def published_columns(released: pl.DataFrame, quasi: Sequence[str]) -> list[str]:
    """Return the published columns that hold the quasi-identifiers, typed pairs included."""
    if not quasi:
        raise SchemaError(
            "verify needs at least one quasi-identifier, got none: name the columns by which a "
            f"person could be recognised, out of {', '.join(map(repr, released.columns))}."
        )
    found: list[str] = []
    faults: list[str] = []
    for name in dict.fromkeys(quasi):
        pair = [f"{name}_lo", f"{name}_hi"]
        if name in released.columns:
            found.append(name)
        elif all(end in released.columns for end in pair):
            found.extend(pair)
        else:
            faults.append(
                f"The release has no quasi-identifier {name!r}, nor the pair {pair[0]!r}, "
                f"{pair[1]!r}; its columns are {', '.join(map(repr, released.columns))}."
                f"{nearest(name, released.columns)}"
            )
    if faults:
        raise SchemaError(faults)
    return list(dict.fromkeys(found))


def _check_sensitive(released: pl.DataFrame, rules: Sequence[Rule]) -> None:
    faults = [
        f"The rule {rule.name} speaks of the sensitive column {rule.column!r}, which the release "
        f"does not have; its columns are {', '.join(map(repr, released.columns))}."
        f"{nearest(rule.column, released.columns)}"
        for rule in rules
        if rule.column is not None and rule.column not in released.columns
    ]
    if faults:
        raise SchemaError(faults)


def _seen(column: str, dtype: pl.DataType) -> pl.Expr:
    """Return a column as the reader can tell its cells apart.

    Polars holds -0.0 and 0.0 for equal; in a published file they are not.
    """
    cells = pl.col(column)
    if dtype.is_float():
        return cells.cast(pl.Float64).reinterpret(signed=False)
    return cells


def _classes(released: pl.DataFrame, cells: list[str]) -> tuple[Ints, pl.DataFrame]:
    """Return the class of every row, and one row of cells with its size per class."""
    seen = released.select(_seen(name, released.schema[name]) for name in cells)
    keyed = seen.with_row_index(_ROW).group_by(cells, maintain_order=True).agg(_ROW)
    lists = keyed[_ROW]
    sizes = lists.list.len().to_numpy().astype(np.int64)
    members = lists.explode(empty_as_null=False).to_numpy()
    labels = np.empty(released.height, np.int64)
    labels[members] = np.repeat(np.arange(sizes.size), sizes)
    first = lists.list.first()
    return labels, released.select(cells)[first].with_columns(pl.Series(_SIZE, sizes))


def _stats(
    released: pl.DataFrame,
    labels: Ints,
    classes: pl.DataFrame,
    rules: Sequence[Rule],
    missing: Sequence[str],
) -> GroupStats:
    sensitive = dict.fromkeys(rule.column for rule in rules if rule.column is not None)
    return GroupStats(
        classes[_SIZE].to_numpy(),
        {name: _histogram(released[name], labels, classes.height, missing) for name in sensitive},
    )


def _histogram(column: pl.Series, labels: Ints, classes: int, missing: Sequence[str]) -> Histogram:
    """Count the known values of a sensitive column in every class."""
    frame = pl.DataFrame({"group": labels, "value": as_text(blank(column, ("", *missing)))})
    known = frame.drop_nulls("value")
    names = known["value"].unique().sort()
    number = pl.DataFrame({"value": names, "code": np.arange(len(names), dtype=np.int64)})
    runs = (
        known.group_by("group", "value")
        .agg(pl.len().cast(pl.Int64).alias("count"))
        .join(number, on="value")
        .sort("group", "code")
    )
    whole = runs.group_by("code").agg(pl.col("count").sum()).sort("code")["count"]
    starts = np.searchsorted(runs["group"].to_numpy(), np.arange(classes + 1))
    return Histogram(
        starts.astype(np.int64),
        runs["code"].to_numpy(),
        runs["count"].to_numpy(),
        whole.to_numpy(),
        tuple(names.to_list()),
    )


def _result(rule: Rule, stats: GroupStats, passes: npt.NDArray[np.bool_], rows: int) -> RuleResult:
    failing = int((~passes).sum())
    return RuleResult(
        rule.name, rule.describe(), failing == 0 and rows > 0, failing, rule.achieved(stats)
    )


def _undeclared(released: pl.DataFrame, schema: Schema) -> list[str]:
    """Name the published columns that should not be there."""
    declared = {column.name: column for column in schema.columns}
    typed = {
        name + end
        for name, column in declared.items()
        if column.role == "quasi"
        for end in ("_lo", "_hi")
        if name not in released.columns
    }
    faults = []
    for name in released.columns:
        if name in declared:
            if declared[name].role == "identifier":
                faults.append(f"The release has the identifier {name!r}: it must be left out.")
        elif name not in typed:
            faults.append(
                f"The release has a column {name!r} that the plan does not declare: leave it out "
                "or give it a role."
            )
    return faults


def _compare(
    released: pl.DataFrame,
    original: pl.DataFrame,
    schema: Schema | None,
    taxonomies: Mapping[str, Taxonomy],
    order: npt.NDArray[np.integer] | None,
) -> tuple[tuple[Uncovered, ...], list[str]]:
    if schema is None:
        raise SchemaError(
            "Comparing a release with its original needs to know each column's role and kind: "
            "give the schema (on the command line, the plan)."
        )
    if order is None:
        uncovered, faults = plausible(original, released, schema, taxonomies)
    else:
        uncovered, faults = covers(original, released, order, schema, taxonomies), []
    return uncovered, [*faults, *(entry.describe() for entry in uncovered)]


def _worst(
    classes: pl.DataFrame,
    cells: list[str],
    sizes: Ints,
    rules: Sequence[Rule],
    passed: Sequence[npt.NDArray[np.bool_]],
    limit: int,
) -> tuple[WorstGroup, ...]:
    broken = sum((~passes).astype(np.int64) for passes in passed)
    failing = np.flatnonzero(broken)
    # Cells break the ties, so that what is shown depends on the release and not on row order.
    found = classes[failing].with_columns(
        pl.Series(_CLASS, failing), pl.Series("\x00broken", np.asarray(broken)[failing])
    )
    by = ["\x00broken", _SIZE, *cells]
    found = found.sort(by, descending=[True, False, *[False] * len(cells)]).head(limit)
    shown = []
    for row in found.iter_rows(named=True):
        number = row[_CLASS]
        shown.append(
            WorstGroup(
                {name: "" if row[name] is None else str(row[name]) for name in cells},
                int(sizes[number]),
                tuple(
                    rule.name
                    for rule, passes in zip(rules, passed, strict=True)
                    if not passes[number]
                ),
            )
        )
    return tuple(shown)

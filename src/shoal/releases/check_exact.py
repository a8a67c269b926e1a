"""Do dummy values and Anatomy keep their promise? Asked of the published tables alone.

Like :mod:`shoal.releases.generalized.check`, this knows nothing of how a release was made: sets
and groups are read and counted afresh, and the rules are asked about those.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.base.errors import InputError, ParameterError, listed
from shoal.base.partition import GroupStats, Histogram
from shoal.base.roles import Role
from shoal.privacy.base import Rule, flatten, weakest
from shoal.releases.generalized.check import RuleResult, Verdict
from shoal.releases.published import read
from shoal.tables.cells import as_text, blank, natural
from shoal.tables.schema import Schema
from shoal.tables.set_cells import read_sets

Ints = npt.NDArray[np.int64]
GROUP, COUNT = "group_id", "count"


@dataclass(frozen=True, eq=False)
class Source:
    """The table that was released, and the input row of every released row."""

    frame: pl.DataFrame
    schema: Schema
    order: Ints


@dataclass(frozen=True, eq=False)
class _Sets:
    """The sets of a column: values in order, codes set after set, which rows have a set."""

    names: pl.Series
    codes: Ints
    lengths: Ints
    kept: npt.NDArray[np.bool_]

    @classmethod
    def read(cls, lists: pl.Series, names: pl.Series | None = None) -> _Sets:
        known = lists.drop_nulls()
        flat = known.list.explode(empty_as_null=False)
        names = natural(flat) if names is None else names
        places = pl.Series(np.arange(len(names), dtype=np.int64))
        numbers = flat.replace_strict(names, places, default=None, return_dtype=pl.Int64)
        if numbers.null_count():
            raise InputError(
                f"{numbers.null_count():,} values in the sets of column {lists.name!r} are no "
                "values of the column."
            )
        codes = numbers.to_numpy()
        lengths = known.list.len().to_numpy().astype(np.int64)
        return cls(names, codes, lengths, lists.is_not_null().to_numpy())

    @property
    def owner(self) -> Ints:
        return np.repeat(np.arange(self.lengths.size), self.lengths)

    @property
    def unsorted(self) -> int:
        """Sets in another order than the values' own: an order could carry a message."""
        owner = self.owner
        wrong = (np.diff(self.codes) <= 0) & (np.diff(owner) == 0)
        return int(np.unique(owner[1:][wrong]).size)

    def histogram(self) -> Histogram:
        """Count each set as a group of its own, a value that it has twice once."""
        span = max(len(self.names), 1)
        keys = self.owner * span + self.codes
        if self.unsorted:
            keys = np.unique(keys)
        codes = keys % span
        starts = np.searchsorted(keys, np.arange(self.lengths.size + 1) * span)
        whole = np.bincount(codes, minlength=span).astype(np.int64)
        ones = np.ones(codes.size, np.int64)
        return Histogram(starts.astype(np.int64), codes, ones, whole, tuple(as_text(self.names)))

    def lacking(self, truth: pl.Series) -> int:
        """Count the rows whose true value is known and not in their set."""
        places = pl.Series(np.arange(len(self.names), dtype=np.int64))
        code = truth.replace_strict(self.names, places, default=-1, return_dtype=pl.Int64)
        wanted = code.to_numpy()[self.kept]
        has = np.zeros(self.lengths.size, np.bool_)
        owner = self.owner
        has[owner[self.codes == wanted[owner]]] = True
        known = truth.is_not_null().to_numpy()
        return int((~has & known[self.kept]).sum() + (known & ~self.kept).sum())


def verify_sets(
    released: pl.DataFrame,
    quasi: Sequence[str],
    rules: Sequence[Rule],
    source: Source | None = None,
    values: Mapping[str, pl.Series] | None = None,
) -> Verdict:
    """Check a table with dummy values.

    Every row is a group of its own whose values are those of its set, each once. With the source,
    every set must hold the true value, be sorted, and everything else be as it was.

    Parameters
    ----------
    values
        The values that each sensitive column can have, in their order, when ``released`` is only a
        part of a release; else those that its sets name.

    Notes
    -----
    A cell without a set (a missing value that the plan keeps missing) promises nothing and is not
    asked about.
    """
    published = read(released, quasi)
    wanted = _some(rules)
    sets: dict[str, _Sets] = {}
    faults: list[str] = []
    for name in dict.fromkeys(rule.column for rule in wanted if rule.column is not None):
        lists = read_sets(released[name]) if name in released.columns else None
        if lists is None:
            raise InputError(
                f"Column {name!r} holds no sets of values: a cell of a release with dummy values "
                'is a list such as ["asthma", "flu"]. Its columns are '
                f"{listed(released.columns)}."
            )
        sets[name] = _Sets.read(lists, (values or {}).get(name))
    stats: dict[str | None, GroupStats] = {None: GroupStats(published.sizes, {})}
    for name, found in sets.items():
        stats[name] = GroupStats(found.lengths, {name: found.histogram()})
        if found.unsorted:
            faults.append(
                f"{found.unsorted:,} sets of column {name!r} are not sorted, or hold a value twice."
            )
    if source is not None:
        faults += _compare(released, source)
        for name, found in sets.items():
            if lacking := found.lacking(_truth(name, source)):
                faults.append(f"{lacking:,} sets of column {name!r} lack the true value.")
    return _verdict(wanted, stats, faults, released.height, published.sizes.size)


def verify_tables(
    released: pl.DataFrame,
    table: pl.DataFrame,
    quasi: Sequence[str],
    rules: Sequence[Rule],
    source: Source | None = None,
) -> Verdict:
    """Check Anatomy's two tables: what the second one says of every group of the first.

    With the source, the first must have the quasi-identifiers as they were, and the second count
    the true values of every group.
    """
    wanted = _some(rules)
    columns = [name for name in table.columns if name not in (GROUP, COUNT)]
    if GROUP not in released.columns or len(columns) != 1 or not {GROUP, COUNT} <= {*table.columns}:
        raise InputError(
            f"Anatomy publishes a table with the column {GROUP!r} and a second one with {GROUP!r}, "
            f"one sensitive column and {COUNT!r}. Got {listed(released.columns)} and "
            f"{listed(table.columns)}."
        )
    published = read(released, quasi)
    name = columns[0]
    listing = table.select(
        pl.col(GROUP), as_text(blank(table[name])).alias(name), pl.col(COUNT).cast(pl.Int64)
    )
    faults = _table_faults(released, listing)
    groups = listing[GROUP].unique().sort()
    sizes = listing.group_by(GROUP).agg(pl.col(COUNT).sum()).sort(GROUP)[COUNT].to_numpy()
    at = groups.search_sorted(listing[GROUP]).to_numpy()
    known = listing[name].is_not_null().to_numpy()
    hist = _histogram(
        at[known], listing[name].filter(known), listing[COUNT].filter(known), sizes.size
    )
    stats = {None: GroupStats(published.sizes, {}), name: GroupStats(sizes, {name: hist})}
    if source is not None:
        faults += _compare(released, source)
        faults += _true_counts(released, listing, name, source)
    return _verdict(wanted, stats, faults, released.height, published.sizes.size)


def plausible_exact(
    released: pl.DataFrame,
    table: pl.DataFrame | None,
    original: pl.DataFrame,
    kept: Sequence[str],
    sensitive: Sequence[str],
) -> list[str]:
    """Compare with an original whose rows stand in another order, and return the faults found.

    Every combination of the columns that are published as they were must occur as often as before,
    and the second table of Anatomy must count every value as often as the original has it. Which
    row became which is not known, so that a set holds the true value of its row cannot be checked
    here; inside a run it is.
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
    if table is None:
        return faults
    name = sensitive[0]
    said = table.select(as_text(blank(table[name])).alias(name), COUNT).group_by(name).sum()
    true = pl.DataFrame({name: as_text(blank(original[name]))}).group_by(name).len("true")
    both = true.join(said, on=name, how="full", nulls_equal=True)
    differ = both.filter(pl.col("true").cast(pl.Int64).ne_missing(pl.col(COUNT))).height
    if differ:
        faults.append(
            f"{differ:,} values of {name!r} are not counted in the second table as often as the "
            "original has them."
        )
    return faults


def _some(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    wanted = flatten(rules)
    if not wanted:
        raise ParameterError(
            "verify needs at least one rule, got none: without a promise there is nothing to "
            "check. Give for instance LDiversity(l=3, column=...)."
        )
    return wanted


def _verdict(
    rules: Sequence[Rule],
    stats: dict[str | None, GroupStats],
    faults: list[str],
    rows: int,
    classes: int,
) -> Verdict:
    results = []
    for rule in rules:
        if rule.column not in stats:
            raise InputError(f"The release has no sensitive column {rule.column!r}.")
        own = stats[rule.column]
        passes = np.asarray(rule.holds(own), np.bool_)
        failing = int((~passes).sum())
        holds = failing == 0 and passes.size > 0
        results.append(RuleResult(rule.name, rule.describe(), holds, failing, rule.achieved(own)))
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


def _histogram(groups: Ints, values: pl.Series, counts: pl.Series, size: int) -> Histogram:
    names = natural(values)
    code = np.asarray(names.cast(pl.String).search_sorted(values), np.int64)
    if not names.is_sorted():  # numbers by size are not sorted as texts
        places = pl.Series(np.arange(len(names), dtype=np.int64))
        code = values.replace_strict(names, places, return_dtype=pl.Int64).to_numpy()
    frame = (
        pl.DataFrame({"group": groups, "value": code, "count": counts})
        .group_by("group", "value")
        .agg(pl.col("count").sum())
        .sort("group", "value")
    )
    own = frame["group"].to_numpy()
    each, many = frame["value"].to_numpy(), frame["count"].to_numpy().astype(np.int64)
    whole = np.bincount(each, many, len(names)).astype(np.int64)
    starts = np.searchsorted(own, np.arange(size + 1)).astype(np.int64)
    return Histogram(starts, each, many, whole, tuple(as_text(names).to_list()))


def _compare(released: pl.DataFrame, source: Source) -> list[str]:
    """Quasi-identifiers and other columns must be as they were; nothing else may be there."""
    faults = []
    for column in source.schema.columns:
        if column.role not in (Role.QUASI, Role.OTHER):
            continue
        if column.name not in released.columns:
            faults.append(f"The release lacks the column {column.name!r}.")
            continue
        before = source.frame[column.name].gather(source.order)
        wrong = int((~before.eq_missing(released[column.name])).sum())
        if wrong:
            faults.append(f"In column {column.name!r} {wrong:,} cells differ from the source.")
    declared = {*source.schema.quasi, *source.schema.other, *source.schema.sensitive, GROUP}
    faults += [
        f"The release has a column {name!r} that should not be there."
        for name in released.columns
        if name not in declared
    ]
    return faults


def _truth(name: str, source: Source) -> pl.Series:
    column = source.schema[name].clean(source.frame[name])
    return as_text(column).gather(source.order)


def _table_faults(released: pl.DataFrame, listing: pl.DataFrame) -> list[str]:
    faults = []
    own = released.group_by(GROUP).agg(pl.len().cast(pl.Int64).alias("rows"))
    said = listing.group_by(GROUP).agg(pl.col(COUNT).sum())
    both = own.join(said, on=GROUP, how="full", coalesce=True)
    wrong = both.filter(pl.col("rows").ne_missing(pl.col(COUNT))).height
    if wrong:
        faults.append(
            f"{wrong:,} groups have another number of rows in the first table than in the second."
        )
    if listing.select(pl.exclude(COUNT)).is_duplicated().any() or (listing[COUNT] < 1).any():
        faults.append("The second table lists a value of a group twice, or a count below 1.")
    return faults


def _true_counts(
    released: pl.DataFrame, listing: pl.DataFrame, name: str, source: Source
) -> list[str]:
    truth = (
        pl.DataFrame({GROUP: released[GROUP], name: _truth(name, source)})
        .group_by(GROUP, name)
        .agg(pl.len().cast(pl.Int64).alias("true"))
    )
    both = truth.join(listing, on=[GROUP, name], how="full", coalesce=True, nulls_equal=True)
    wrong = both.filter(pl.col("true").ne_missing(pl.col(COUNT))).height
    return [f"{wrong:,} counts of the second table are wrong."] if wrong else []

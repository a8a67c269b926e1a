"""Does a release keep its promise? Asked of the published cells alone.

Nothing here knows how a release was made: no grouper, no kernel, no encoding, no partition of the
run. Rows are put together again by what a reader of the file can tell apart, every sensitive value
is counted afresh, and the rules are asked about those groups.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from shoal.base.errors import SchemaError, suggest_nearest
from shoal.base.partition import Bools, GroupStats, Histogram, Ints
from shoal.privacy.base import Rule
from shoal.releases.counterfeits import COUNTERFEITS, false_rows
from shoal.releases.generalized.coverage import covers, plausible
from shoal.releases.generalized.limits import limit_faults, strata_labels, strata_of
from shoal.releases.linked import linked_faults
from shoal.releases.opened import Opened
from shoal.releases.published import Published, count_values
from shoal.releases.verdict import (
    RuleResult,
    Verdict,
    WorstGroup,
    ask_rule,
    describe_broken,
    make_verdict,
    single_rules,
)
from shoal.tables.cells import as_text, find_positions, merge_values, missing_to_null, sorted_values
from shoal.tables.domain import STAR
from shoal.tables.original import Original
from shoal.tables.schema import Schema

_CLASS, _BROKEN, _SIZE = "\x00class", "\x00broken", "\x00size"


def check(
    opened: Opened, rules: Sequence[Rule], source: Original | None = None, *, worst: int = 5
) -> Verdict:
    """Check an opened release; with its source, also that every cell covers it.

    ``worst``: how many failing classes to show.

    Notes
    -----
    A class is a set of rows equal in every published quasi-identifier, where null is a value like
    any other. Missing sensitive values add no diversity. A class has as many people as there are
    different ones in it, and a person counts once for a value, however many rows repeat it. Rows
    that are told to be counterfeits look like the others, but are nobody's: they make up no crowd,
    and the original has no row for them.
    """
    wanted, published = single_rules(rules), opened.published
    _check_sensitive(opened.frame, wanted, opened.sensitive)
    false, wrong = false_rows(published, opened.tables.get(COUNTERFEITS))
    persons = opened.persons if source is None else source.persons
    schema = None if source is None else source.schema
    spoken = [rule.column for rule in wanted if rule.column is not None]
    hidden = {n: _values(opened, schema, n) for n in dict.fromkeys([*spoken, *opened.sensitive])}
    stats = _stats(published, hidden, persons, false)
    counted = apart = [(np.arange(published.sizes.size), stats)]
    strata = strata_labels(opened, strata_of(opened))
    far = [] if strata is None else [rule for rule in wanted if not rule.judged_alone]
    if strata is not None and far:
        apart = _by_stratum(published, strata, hidden, persons)
    judged = [ask_rule(rule, apart if rule in far else counted) for rule in wanted]
    passed = tuple(each for each, _ in judged)
    results = [
        _said(result, rule, opened) for rule, (_, result) in zip(wanted, judged, strict=True)
    ]
    classes = published.sizes.size
    faults = [describe_broken(result, classes) for result in results if result.failing]
    faults += opened.forbidden(schema)
    uncovered = None
    if source is not None and source.order is not None:
        uncovered = covers(source, published)
        faults += [entry.describe() for entry in uncovered]
    elif source is not None:
        faults += plausible(source, published, false)
    faults += [*linked_faults(opened, persons, source), *_sets(opened)]
    faults += [*limit_faults(opened, source), *wrong]
    return make_verdict(
        wanted,
        results,
        faults,
        opened.frame.height,
        classes,
        worst=_worst(published, stats, wanted, passed, worst),
        uncovered=uncovered,
        people=None if persons is None else persons.n_unique(),
        stats=stats,
    )


def _said(result: RuleResult, rule: Rule, opened: Opened) -> RuleResult:
    """Say with the promise of a rule on sensitive values that some count as one, but not which."""
    groups = len(opened.plan.release.same)
    if rule.column is None or not groups:
        return result
    many = f"{groups} group{'s' if groups > 1 else ''}"
    return replace(result, promise=f"{result.promise}, counting named values as one ({many})")


def _sets(opened: Opened) -> list[str]:
    """Say where sets are published although the plan says never; bare braces mean nothing else."""
    faults = []
    cells = opened.published.cells
    for name in opened.quasi:
        if name in cells.columns and not opened.plan.allows_sets(name):
            texts, tree = as_text(cells[name]), opened.taxonomies.get(name)
            wide = texts.str.starts_with("{").fill_null(value=False)
            if tree is not None:  # a label means what its hierarchy says
                wide &= ~texts.is_in(list(tree.labels)).fill_null(value=False)
            if many := int(opened.published.sizes[wide.to_numpy()].sum()):
                faults.append(
                    f"Column {name!r} is published as a set of values in {many:,} rows, and its "
                    "plan says sets = 'never'. Release it again, or say sets = 'allowed'."
                )
    return faults


def _check_sensitive(
    released: pl.DataFrame, rules: Sequence[Rule], sensitive: Sequence[str]
) -> None:
    faults = [
        f"The rule {rule.name} is about the sensitive column {rule.column!r}, which the release "
        f"does not have; its columns are {', '.join(map(repr, released.columns))}."
        f"{suggest_nearest(rule.column, released.columns)}"
        for rule in rules
        if rule.column is not None and rule.column not in released.columns
    ]
    faults += [
        f"The release has no sensitive column {name!r}; its columns are "
        f"{', '.join(map(repr, released.columns))}.{suggest_nearest(name, released.columns)}"
        for name in sensitive
        if name not in released.columns and name not in [rule.column for rule in rules]
    ]
    if faults:
        raise SchemaError(faults)


def _values(opened: Opened, schema: Schema | None, name: str) -> pl.Series:
    """Return a sensitive column with null for everything that means missing."""
    column = opened.frame[name]
    if schema is not None and name in schema:
        column = schema[name].clean(column)
    texts = opened.column(name).missing if name in opened.sensitive else ()
    return merge_values(missing_to_null(column, ("", STAR, *texts)), opened.plan.release.same)


def _stats(
    published: Published,
    hidden: Mapping[str, pl.Series],
    persons: pl.Series | None,
    false: Ints | int = 0,
) -> GroupStats:
    histograms = {name: _histogram(published, cells, persons) for name, cells in hidden.items()}
    if persons is None:
        return GroupStats(published.sizes - false, histograms)
    return GroupStats(published.different(persons), histograms, unit="people")


def _histogram(published: Published, column: pl.Series, persons: pl.Series | None) -> Histogram:
    """Count the known values of a sensitive column in every class."""
    if isinstance(column.dtype, pl.Categorical):
        column = column.cast(pl.String)
    values, classes = sorted_values(column), published.sizes.size
    codes = find_positions(column, values)
    if persons is None:
        return count_values(published.labels, codes, classes, values)
    each = pl.DataFrame({"group": published.labels, "code": codes, "person": persons}).unique()
    hist = count_values(each["group"].to_numpy(), each["code"].to_numpy(), classes, values)
    once = each.filter(pl.col("code") >= 0).unique(["code", "person"])
    missing = column.is_null()
    return replace(
        hist,
        whole=np.bincount(once["code"].to_numpy(), minlength=len(values)).astype(np.int64),
        people=published.different(persons, ~missing),
        whole_people=once["person"].n_unique(),
        gaps=published.different(persons, missing),
        whole_gaps=persons.filter(missing).n_unique(),
        whole_everyone=persons.n_unique(),
    )


def _by_stratum(
    published: Published, strata: Ints, hidden: Mapping[str, pl.Series], persons: pl.Series | None
) -> list[tuple[Ints, GroupStats]]:
    """Return the classes of every stratum, counted as if nothing else had been published."""
    counted = []
    of_row = strata[published.labels]
    number = np.empty(strata.size, np.int64)
    for stratum in np.unique(strata):
        classes = np.flatnonzero(strata == stratum)
        number[classes] = np.arange(classes.size)
        rows = pl.Series(of_row == stratum)
        own = replace(
            published,
            frame=published.frame.filter(rows),
            labels=number[published.labels[rows.to_numpy()]],
            cells=published.cells[classes],
            sizes=published.sizes[classes],
        )
        whose = None if persons is None else persons.filter(rows)
        values = {name: cells.filter(rows) for name, cells in hidden.items()}
        counted.append((classes, _stats(own, values, whose)))
    return counted


def _worst(
    published: Published,
    stats: GroupStats,
    rules: Sequence[Rule],
    passed: Sequence[Bools],
    limit: int,
) -> tuple[WorstGroup, ...]:
    """Show the classes that break most rules by what the file says of them, smallest first."""
    broken = np.sum([~passes for passes in passed], axis=0)
    # Cells break the ties, so that what is shown does not depend on the order of the rows.
    classes = (
        published.cells.with_columns(
            pl.Series(_CLASS, np.arange(published.sizes.size)),
            pl.Series(_BROKEN, -broken),
            pl.Series(_SIZE, stats.sizes),
        )
        .filter(pl.col(_BROKEN) < 0)
        .sort(_BROKEN, _SIZE, *published.columns)
        .head(limit)
    )
    texts = {name: as_text(classes[name]).fill_null("").to_list() for name in published.columns}
    return tuple(
        WorstGroup(
            {name: texts[name][row] for name in published.columns},
            int(stats.sizes[number]),
            tuple(
                rule.name for rule, passes in zip(rules, passed, strict=True) if not passes[number]
            ),
        )
        for row, number in enumerate(classes[_CLASS])
    )

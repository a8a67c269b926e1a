"""Does a release keep its promise? Asked of the published cells alone.

Nothing here knows how a release was made: no grouper, no kernel, no encoding, no partition of the
run. Rows are put together again by what a reader of the file can tell apart, every sensitive value
is counted afresh, and the rules are asked about those groups.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.base.errors import ParameterError, SchemaError, nearest
from shoal.base.partition import Bools, GroupStats, Histogram, Ints
from shoal.privacy.base import Rule, flatten, promised, weakest
from shoal.releases.counterfeits import COUNTERFEITS, false_rows
from shoal.releases.ends import all_ends
from shoal.releases.generalized.coverage import covers, plausible
from shoal.releases.generalized.limits import limit_faults, strata_labels, strata_of
from shoal.releases.linked import linked_faults
from shoal.releases.opened import Opened
from shoal.releases.published import Published, published_columns, read
from shoal.releases.verdict import (
    Original,
    RuleResult,
    Uncovered,
    Verdict,
    WorstGroup,
    held_back,
    undeclared,
)
from shoal.tables.cells import as_text, blank, natural
from shoal.tables.domain import STAR, Taxonomy
from shoal.tables.schema import Schema

_CLASS, _BROKEN, _SIZE = "\x00class", "\x00broken", "\x00size"


def check(opened: Opened, rules: Sequence[Rule], source: Original | None = None) -> Verdict:
    """Check an opened release; with its source, also that every cell covers it."""
    table = opened.tables.get(COUNTERFEITS)
    false, wrong = false_rows(opened.published, table)
    common: dict[str, Any] = {
        "missing": {name: opened.column(name).missing for name in opened.sensitive},
        "sensitive": opened.sensitive,
        "published": opened.published,
        "persons": opened.persons if source is None else source.persons,
        "pseudonym": opened.pseudonym,
        "false": None if table is None else false,
        "strata": strata_labels(opened, strata_of(opened)),
    }
    if source is not None:
        verdict = verify(
            opened.frame,
            opened.quasi,
            rules,
            original=source.frame,
            schema=source.schema,
            taxonomies=source.taxonomies,
            order=source.order,
            **common,
        )
        forbidden = []
    else:
        verdict = verify(opened.frame, opened.quasi, rules, **common)
        forbidden = opened.forbidden()
    linked = linked_faults(opened, common["persons"], source)
    limits = limit_faults(opened, source)
    faults = (*verdict.faults, *forbidden, *linked, *_sets(opened), *limits, *wrong)
    return replace(verdict, holds=verdict.holds and not faults, faults=faults)


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


def verify(
    released: pl.DataFrame,
    quasi: Sequence[str],
    rules: Sequence[Rule],
    *,
    original: pl.DataFrame | None = None,
    schema: Schema | None = None,
    taxonomies: Mapping[str, Taxonomy] | None = None,
    order: npt.NDArray[np.integer] | None = None,
    missing: Sequence[str] | Mapping[str, Sequence[str]] = (),
    sensitive: Sequence[str] = (),
    worst: int = 5,
    published: Published | None = None,
    persons: pl.Series | None = None,
    pseudonym: str | None = None,
    false: Ints | None = None,
    strata: Ints | None = None,
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
        (:func:`shoal.releases.generalized.coverage.covers`); otherwise the weaker check of
        :func:`shoal.releases.generalized.coverage.plausible` is made.
    missing
        Texts that mean missing in the sensitive columns, or by column, besides null, NaN, the
        empty text and those that the schema lists for the column.
    sensitive
        Sensitive columns to count although no rule speaks of them.
    worst
        How many failing classes to show.
    published
        The classes of its rows, if they were grouped before.
    persons
        Whose row every released row is: then people are counted, not rows.
    pseudonym
        The published column of pseudonyms.
    false
        How many rows of every class are told to be counterfeits: they look like the others, but
        are nobody's, so they make up no crowd, and the original has no row for them.
    strata
        The stratum of every class of ``published``: inside each the rules must hold.

    Notes
    -----
    A class is a set of rows equal in every published quasi-identifier, where null is a value like
    any other. Missing sensitive values add no diversity. A class has as many people as there are
    different ones in it, and a person counts once for a value, however many rows repeat it.
    """
    wanted = flatten(rules)
    if not wanted:
        raise ParameterError(
            "verify needs at least one rule, got none: without a promise there is nothing to "
            "check. Give for instance KAnonymity(k=10)."
        )
    published = published or read(released, quasi)
    _check_sensitive(released, wanted, sensitive)
    stats = _stats(published, wanted, sensitive, schema, missing, persons, false)
    counted = apart = [(np.arange(published.sizes.size), stats)]
    far = [] if strata is None else [rule for rule in wanted if not rule.judged_alone]
    if strata is not None and far:
        apart = _by_stratum(published, strata, far, sensitive, schema, missing, persons)
    judged = [_judged(rule, apart if rule in far else counted) for rule in wanted]
    passed = [passes for passes, _ in judged]
    results = tuple(result for _, result in judged)
    classes = published.sizes.size
    faults = [
        f"{result.failing:,} of {classes:,} classes break the promise that {result.promise}."
        for result in results
        if result.failing
    ]
    if not classes:
        faults.append("The release has no rows: an empty table keeps no promise.")
    if schema is not None:
        faults.extend(_undeclared(released, schema, pseudonym))
    uncovered = None
    if original is not None:
        uncovered, more = _compare(published, original, schema, taxonomies or {}, order, false)
        faults.extend(more)
    return Verdict(
        holds=not faults and all(result.holds for result in results),
        rules=results,
        achieved=weakest(
            (rule, result.achieved) for rule, result in zip(wanted, results, strict=True)
        ),
        rows=released.height,
        classes=classes,
        worst=_worst(published, stats, wanted, passed, worst),
        uncovered=uncovered,
        faults=tuple(faults),
        people=None if persons is None else persons.n_unique(),
        stats=stats,
    )


def _check_sensitive(
    released: pl.DataFrame, rules: Sequence[Rule], sensitive: Sequence[str]
) -> None:
    faults = [
        f"The rule {rule.name} speaks of the sensitive column {rule.column!r}, which the release "
        f"does not have; its columns are {', '.join(map(repr, released.columns))}."
        f"{nearest(rule.column, released.columns)}"
        for rule in rules
        if rule.column is not None and rule.column not in released.columns
    ]
    faults += [
        f"The release has no sensitive column {name!r}; its columns are "
        f"{', '.join(map(repr, released.columns))}.{nearest(name, released.columns)}"
        for name in sensitive
        if name not in released.columns and name not in [rule.column for rule in rules]
    ]
    if faults:
        raise SchemaError(faults)


def _stats(
    published: Published,
    rules: Sequence[Rule],
    sensitive: Sequence[str],
    schema: Schema | None,
    missing: Sequence[str] | Mapping[str, Sequence[str]],
    persons: pl.Series | None,
    false: Ints | None = None,
) -> GroupStats:
    spoken = [rule.column for rule in rules if rule.column is not None]
    histograms = {}
    for name in dict.fromkeys([*spoken, *sensitive]):
        column = published.frame[name]
        if schema is not None and name in schema:
            column = schema[name].clean(column)
        texts = missing.get(name, ()) if isinstance(missing, Mapping) else missing
        histograms[name] = _histogram(published, blank(column, ("", STAR, *texts)), persons)
    if persons is None:
        real = published.sizes if false is None else published.sizes - false
        return GroupStats(real, histograms)
    return GroupStats(published.different(persons), histograms, unit="people")


def _histogram(published: Published, column: pl.Series, persons: pl.Series | None) -> Histogram:
    """Count the known values of a sensitive column in every class."""
    if isinstance(column.dtype, pl.Categorical):
        column = column.cast(pl.String)
    values = natural(column)
    number = pl.DataFrame({"value": values, "code": np.arange(len(values), dtype=np.int64)})
    blank_cells = column.is_null()
    known = pl.DataFrame({"group": published.labels, "value": column})
    if persons is not None:
        known = known.with_columns(persons.alias("person")).unique()
    known = known.drop_nulls("value").join(number, on="value")
    # One number per class and value: sorting those is much faster than grouping by the pair.
    keys = np.sort(known["group"].to_numpy() * len(values) + known["code"].to_numpy())
    edges = np.flatnonzero(np.diff(keys, prepend=-1))
    cells = keys[edges]
    codes = cells % max(len(values), 1)
    counts = np.diff(edges, append=keys.size)
    starts = np.searchsorted(cells, np.arange(published.sizes.size + 1) * len(values))
    hist = Histogram(
        starts.astype(np.int64),
        codes,
        counts,
        np.bincount(codes, counts, len(values)).astype(np.int64),
        tuple(as_text(values).to_list()),
        gaps=np.bincount(published.labels[blank_cells.to_numpy()], minlength=published.sizes.size),
        whole_gaps=column.null_count(),
    )
    if persons is None:
        return hist
    once = known.unique(["code", "person"])
    return replace(
        hist,
        whole=np.bincount(once["code"].to_numpy(), minlength=len(values)).astype(np.int64),
        people=published.different(persons, column.is_not_null()),
        whole_people=once["person"].n_unique(),
        gaps=published.different(persons, blank_cells),
        whole_gaps=persons.filter(blank_cells).n_unique(),
        whole_everyone=persons.n_unique(),
    )


def _by_stratum(
    published: Published,
    strata: Ints,
    rules: Sequence[Rule],
    sensitive: Sequence[str],
    schema: Schema | None,
    missing: Sequence[str] | Mapping[str, Sequence[str]],
    persons: pl.Series | None,
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
        counted.append((classes, _stats(own, rules, sensitive, schema, missing, whose)))
    return counted


def _judged(rule: Rule, counted: Sequence[tuple[Ints, GroupStats]]) -> tuple[Bools, RuleResult]:
    """Ask a rule about classes, stratum by stratum if there are several."""
    passes = np.ones(sum(classes.size for classes, _ in counted), np.bool_)
    for classes, stats in counted:
        passes[classes] = rule.holds(stats)
    failing = int((~passes).sum())
    inside = " inside each stratum" if len(counted) > 1 else ""
    promise = promised(rule, counted[0][1].unit) + inside
    achieved = weakest((rule, rule.achieved(stats)) for _, stats in counted)
    return passes, RuleResult(
        rule.name, promise, not failing and passes.size > 0, failing, achieved
    )


def _undeclared(released: pl.DataFrame, schema: Schema, pseudonym: str | None) -> list[str]:
    """Name the published columns that should not be there."""
    pairs = all_ends(released, [name for name in schema.quasi if name not in released.columns])
    faults = []
    for name in released.columns:
        if name == pseudonym:
            continue
        if name in schema and not schema[name].role.published:
            faults.append(held_back(name, schema[name].role))
        elif name not in schema and name not in pairs:
            faults.append(undeclared(name))
    return faults


def _compare(
    published: Published,
    original: pl.DataFrame,
    schema: Schema | None,
    taxonomies: Mapping[str, Taxonomy],
    order: npt.NDArray[np.integer] | None,
    false: Ints | None = None,
) -> tuple[tuple[Uncovered, ...] | None, list[str]]:
    if schema is None:
        raise SchemaError(
            "Comparing a release with its original needs the role and kind of every column, got no "
            "schema: give it (on the command line, the plan)."
        )
    if published_columns(published.frame, schema.quasi) != published.columns:
        published = read(published.frame, schema.quasi)
    if order is None:
        return None, list(plausible(original, published, schema, taxonomies, false))
    uncovered = covers(original, published, order, schema, taxonomies)
    return uncovered, [entry.describe() for entry in uncovered]


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

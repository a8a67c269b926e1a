"""Measure what a release reveals together with earlier releases.

From the published cells alone. Somebody knows that a person is in a class of the newest release,
and was in all (or in some) of the earlier ones with the same sensitive value, and nothing more of
the person than the cells of that class. Then a value of the class is still possible if and only if
every earlier release has a class with this value, such that the cells of all of them have a point
in common: a chain. The kernel searches the chains, so that the values left are exactly those that
no reasoning from the cells can rule out. Proof: who has a value that is left may have been in
the classes of the chain with the quasi-identifiers of the common point, and all published cells
would be as they are; who has another value fits in no choice of classes. So the figures never look
safer than the releases are for somebody who knows this much. Two things make them look less safe
and never safer: a gap in the quasi-identifiers may stand for any value, but the sensitive cell of a
person is taken to be the same in all releases, empty ones included; and a row whose value is ruled
out is taken for somebody who was not there, not for somebody whose value has changed.

Who knows the exact quasi-identifiers of a person can rule out more where cells are wide: the attack
``intersection`` measures that, beside the originals. And where the releases say by a pseudonym
whose row is whose, nothing is assumed: the values left to a person are those that all their
classes have in common.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from shoal.base.errors import InputError, SchemaError, format_names
from shoal.base.partition import GroupStats, Histogram, Ints
from shoal.base.roles import Role
from shoal.measures.earlier.classes import Cases, Valued, numbered
from shoal.measures.earlier.linking import by_cells, by_person
from shoal.measures.earlier.results import EarlierReleases, Narrowed
from shoal.privacy.base import Rule, describe_rule
from shoal.releases.opened import Opened

_FINE = 1_000_000  # how finely a probability is told to a rule that looks at counts


def check_against(now: Opened, before: Sequence[Opened]) -> None:
    """Refuse what cannot be compared at all."""
    if not now.sensitive:
        raise SchemaError(
            "Earlier releases narrow down sensitive values, and no sensitive column was named. "
            "Name one with --sensitive (sensitive=...); the release has: "
            f"{format_names(now.frame.columns)}."
        )
    without = [number for number, opened in enumerate(before, 1) if opened.persons is None]
    if now.persons is not None and without:
        raise SchemaError(
            f"The release says by {now.names(Role.PERSON)[0]!r} whose row it is, and earlier "
            f"release {without[0]} does not. Leave out --person to compare them by their cells."
        )


def measure_earlier_releases(
    now: Opened, before: Sequence[Opened], of: str, rules: Iterable[Rule] = ()
) -> EarlierReleases:
    """Measure what earlier releases add to what is known of a sensitive column.

    Parameters
    ----------
    now
        The newest release.
    before
        Earlier releases of the same people, of any shape, in any order.
    of
        The sensitive column.
    rules
        The promise; rules of other columns are left out.
    """
    releases = [_named(opened, number, now, of) for number, opened in enumerate([*before, now])]
    classes = numbered(releases, of)
    persons = [opened.persons for opened in releases]
    linked = all(whose is not None for whose in persons)
    if linked:
        cases = by_person([whose for whose in persons if whose is not None], releases, classes)
    else:
        # Who knows the cells of exact quasi-identifiers knows all there is to know.
        cases = by_cells(releases, classes)[: 2 if now.shape.exact else 3]
    asked = [rule for rule in rules if rule.column in (None, of)]
    exact = now.shape.exact
    told = [_narrowed(classes[-1], one, asked, of, exact=exact) for one in cases]
    return EarlierReleases(of, len(before), "persons" if linked else "cells", *told)


def _named(opened: Opened, number: int, now: Opened, of: str) -> Opened:
    """Return a release declared as the newest one, or say what it lacks."""
    try:
        alike = opened.known_by(now.quasi)
        alike.view(of), alike.published
    except (SchemaError, InputError) as error:
        if opened is now:
            raise
        raise SchemaError(f"Earlier release {number + 1} cannot be compared: {error}") from None
    return alike


def _narrowed(
    classes: Valued, cases: Cases, rules: Sequence[Rule], of: str, *, exact: bool
) -> Narrowed:
    """Ask what is left of the promise, case by case."""
    missing = len(classes.names)
    many = np.diff(cases.starts)
    case = np.repeat(np.arange(many.size), many)
    known = classes.values[cases.runs] < missing
    counts = classes.counts[cases.runs]
    left = np.bincount(case[known], minlength=many.size)
    rows = np.rint(np.bincount(case[known], counts[known], many.size)).astype(np.int64)
    if exact:  # a row may have any of several values: all of its class count while one is left
        rows = np.where(left > 0, classes.sizes[cases.classes], 0)
    weight = rows if cases.weight is None else cases.weight
    before = _tops(classes, np.arange(classes.values.size), classes.owner, classes.sizes.size)
    before = before[cases.classes]
    after = _tops(classes, cases.runs, case, many.size)
    told = weight > 0
    stats_before = _stats(classes, np.arange(classes.values.size), classes.starts, of, exact=exact)
    stats_after = _stats(classes, cases.runs, cases.starts, of, exact=exact)
    broken = {}
    for rule in rules:
        held = np.asarray(rule.holds(stats_before), np.bool_)[cases.classes]
        lost = held & ~np.asarray(rule.holds(stats_after), np.bool_)
        broken[describe_rule(rule, "rows")] = int(weight[lost].sum())
    return Narrowed(
        rows=int(weight.sum()),
        left={int(number): int(weight[left == number].sum()) for number in np.unique(left[told])},
        worst_before=float(before[told].max(initial=0.0)),
        mean_before=float(np.average(before[told], weights=weight[told])) if told.any() else 0.0,
        worst_after=float(after[told].max(initial=0.0)),
        mean_after=float(np.average(after[told], weights=weight[told])) if told.any() else 0.0,
        broken=broken,
    )


def _tops(classes: Valued, runs: Ints, case: Ints, many: int) -> npt.NDArray[np.float64]:
    """Return the belief in the likeliest known value, case by case; 0 without any."""
    known = classes.values[runs] < len(classes.names)
    counts = classes.counts[runs][known]
    total = np.bincount(case[known], counts, many)
    top = np.zeros(many)
    np.maximum.at(top, case[known], counts)
    return np.divide(top, total, out=np.zeros(many), where=total > 0)


def _stats(classes: Valued, runs: Ints, starts: Ints, of: str, *, exact: bool) -> GroupStats:
    """Return what a rule looks at, of the runs that are left.

    Where a row may have one of several values (``exact`` quasi-identifiers, hidden values), counts
    are probabilities; of rows at least as many are candidates as these add up to.
    """
    case = np.repeat(np.arange(starts.size - 1), np.diff(starts))
    counts = classes.counts[runs]
    sizes = np.ceil(np.bincount(case, counts, starts.size - 1) - 1e-6).astype(np.int64)
    known = classes.values[runs] < len(classes.names)
    whole_counts = classes.counts * (_FINE if exact else 1)
    whole = np.bincount(classes.values, whole_counts, len(classes.names) + 1)
    fine = np.maximum(np.rint(counts * (_FINE if exact else 1)), 1).astype(np.int64)
    histogram = Histogram(
        np.searchsorted(case[known], np.arange(starts.size)).astype(np.int64),
        classes.values[runs][known],
        fine[known],
        np.rint(whole[:-1]).astype(np.int64),
        classes.names,
        gaps=np.bincount(case[~known], fine[~known], starts.size - 1).astype(np.int64),
        whole_gaps=round(float(whole[-1])),
    )
    return GroupStats(sizes, {of: histogram})

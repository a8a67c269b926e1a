"""Good and bad releases of every shape and rule, judged by every checker: none wrong.

The cases and the reasons of the bad ones are in :mod:`tests.corpus`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl
import pytest

from shoal.base.errors import InputError
from shoal.plan.rule_specs import build_rules
from shoal.privacy import Rule
from shoal.releases.check_counts import COUNT, class_stats, examine, merge_findings, values_of
from shoal.releases.generalized.coverage import covers
from shoal.releases.open_release import declared_columns
from shoal.releases.opened import Opened
from shoal.releases.published import published_columns, read
from shoal.releases.verdict import Verdict
from shoal.tables.open_table import resolve_schema
from shoal.tables.original import Original
from shoal.tables.schema import Schema
from shoal.verbs.audit import audit
from tests.corpus.cases import TREES, Case, generalized_cases
from tests.corpus.others import MAKERS

MADE = [make() for make in (generalized_cases, *MAKERS)]
GOOD = [case for good, _ in MADE for case in good]
BAD = [case for _, bad in MADE for case in bad]


def opened(case: Case) -> Opened:
    columns = declared_columns(case.plan, case.frame)
    return Opened.from_tables(case.tables, columns, TREES, plan=case.plan)


def rules(case: Case) -> tuple[Rule, ...]:
    return build_rules([part.spec for part in case.plan.rules], opened(case).sensitive)


def by_cells(case: Case) -> Verdict:
    return audit(opened(case), case.plan)


def by_original(case: Case) -> Verdict:
    return audit(opened(case), case.plan, original=case.original)


def by_order(case: Case) -> Verdict:
    """Check as a run does, which knows the input row of every released row."""
    released = opened(case)
    _, schema = resolve_schema(case.original, case.plan, TREES)
    source = Original(case.original, schema, np.array(case.order, np.int64), TREES)
    return released.shape.check.check(released, rules(case), source)


def by_counts(case: Case, pieces: int = 3) -> Verdict:
    """Check as on Spark: classes in pieces, each cell against the originals it stands for."""
    _, schema = resolve_schema(case.original, case.plan, TREES)
    asked = rules(case)
    quasi = published_columns(case.frame, schema.quasi)
    spoken = list(dict.fromkeys(rule.column for rule in asked if rule.column is not None))
    counts = case.frame.group_by(*quasi, *spoken).agg(pl.len().alias(COUNT))
    values = {}
    for name in spoken:
        sums = counts.group_by(name).agg(pl.col(COUNT).sum())
        values[name] = values_of(sums[name], sums[COUNT].to_numpy().astype(np.int64), schema)
    piece = counts.select(pl.struct(quasi).hash(1) % pieces).to_series()
    parts = [counts.filter(piece == place) for place in range(pieces)]
    found = [examine(class_stats(part, quasi, values), asked) for part in parts if part.height]
    return merge_findings(found, asked, bare(case, schema))


def bare(case: Case, schema: Schema) -> list[str]:
    """Say which cells do not cover their originals, each different pair compared once."""
    if len(case.order) != case.frame.height or len(set(case.order)) < len(case.order):
        return ["The staged rows are not those of the input."]
    before = case.original[case.order]
    faults = []
    for name in schema.quasi:
        own = case.frame.select(published_columns(case.frame, [name]))
        pairs = pl.concat([before.select(pl.col(name).alias("before")), own], how="horizontal")
        pairs = pairs.unique()
        alone, released = Schema((schema[name],)), read(pairs.select(own.columns), [name])
        source = pairs.select(pl.col("before").alias(name))
        original = Original(source, alone, np.arange(pairs.height), TREES)
        wrong = covers(original, released)
        faults += [column.describe() for column in wrong]
    return faults


def counted(case: Case) -> bool:
    """Tell whether what is asked of a case is asked on Spark by counts: rules and covering."""
    plan = case.plan
    plain = set(case.tables) == {"release"} and case.frame["ill"].dtype == pl.String
    limits = any(part.limits or part.sets for part in plan.columns.values())
    asked = plan.release.together or plan.release.suppress is not None or limits
    return plain and not asked


def ids(cases: Sequence[Case]) -> list[str]:
    return [case.name for case in cases]


@pytest.mark.slow
@pytest.mark.parametrize("case", GOOD, ids=ids(GOOD))
def test_good_releases_pass_every_checker(case: Case) -> None:
    verdicts = [by_cells(case), by_original(case)]
    if case.order:
        verdicts.append(by_order(case))
    if counted(case):
        verdicts.append(by_counts(case))
    for verdict in verdicts:
        assert verdict.holds and not verdict.faults, verdict.faults
        assert all(result.holds and not result.failing for result in verdict.rules)


@pytest.mark.parametrize("case", BAD, ids=ids(BAD))
def test_bad_releases_fail_every_checker_that_can_see_why(case: Case) -> None:
    checks = [by_cells] if case.seen == "cells" else []
    if case.seen in ("cells", "original"):
        checks.append(by_original)
    if case.order and len(set(case.order)) == case.frame.height:
        checks.append(by_order)
    assert checks
    for check in checks:
        assert not called_good(check, case), f"{check.__name__}: {case.why}"


# Spark compares these with the staged rows by fingerprints, and its columns are chosen by name.
OF_ROWS = ("values moved", "value changed", "note changed")
OF_ROWS += ("identifier", "unknown column", "undecided", "persons")
COUNTED = [case for case in BAD if counted(case) and not case.name.endswith(OF_ROWS)]


@pytest.mark.parametrize("case", COUNTED, ids=ids(COUNTED))
def test_bad_releases_fail_by_counts(case: Case) -> None:
    assert not called_good(by_counts, case), case.why


def called_good(check: Callable[[Case], Verdict], case: Case) -> bool:
    """Tell whether a checker passes a release; a file that is refused is not passed."""
    try:
        verdict = check(case)
    except InputError:
        return False
    assert verdict.holds == (not verdict.faults)
    return verdict.holds


def test_there_are_enough_of_both() -> None:
    assert len(GOOD) >= 60 and len(BAD) >= 60
    assert len({case.name for case in (*GOOD, *BAD)}) == len(GOOD) + len(BAD)
    assert not any(case.why for case in GOOD) and all(case.why for case in BAD)
    assert sum(map(counted, GOOD)) >= 40 and len(COUNTED) >= 40

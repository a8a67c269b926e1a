"""How well counting queries are answered by the releases of several methods, in one call."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from shoal.base.errors import ParameterError
from shoal.catalog import find_method
from shoal.measures.losses.queries import query_error, true_counts, workload
from shoal.privacy import FrequencyLDiversity, LDiversity, Rule
from shoal.tables.cells import sorted_values
from shoal.tables.domain import Taxonomy
from shoal.tables.find_hierarchies import find_hierarchies
from shoal.tables.open_table import load_table, merge_plan, settle_table
from shoal.verbs.anonymize import StageTimer, execute

METHODS = ("mondrian", "tp", "dummies", "anatomy")
"""Those that publish in different shapes and keep a kind of l-diversity."""


def compare_queries(
    frame: pl.DataFrame,
    *,
    quasi: Sequence[str],
    sensitive: str,
    l: int = 10,  # noqa: E741 -- the papers' letter
    methods: Sequence[str] = METHODS,
    g: int = 3,
    s: float = 0.07,
    repeats: int = 1000,
    hierarchies: Mapping[str, Taxonomy] | None = None,
    queries_seed: int | None = None,
) -> pl.DataFrame:
    """Release a table by several methods and ask each release the same random queries.

    Parameters
    ----------
    frame
        The original table.
    quasi, sensitive
        Its quasi-identifiers and its sensitive column.
    l
        Distinct l of dummy values, frequency l of all others.
    methods
        Names of the catalog.
    g, s, repeats
        The queries, see :func:`shoal.measures.losses.queries.workload`.
    hierarchies
        Taxonomies by column, for the methods that generalize.
    queries_seed
        Repeats the queries; the releases stay random.

    Returns
    -------
    One row per method: mean squared error, mean and median relative error, seconds to release and
    to answer all queries, loss on the quasi-identifiers.
    """
    queries = workload(
        frame, quasi, sensitive, np.random.default_rng(queries_seed), g=g, s=s, repeats=repeats
    )
    truth = true_counts(frame, quasi, queries)
    # What values there are is no secret; without it a table of stars would say nothing at all.
    domains = {name: sorted_values(frame[name]) for name in quasi}
    trees = dict(hierarchies or {})
    rows: list[dict[str, Any]] = []
    for name in methods:
        start = time.perf_counter()
        rules = [_rule(name, l, sensitive)]
        plan = merge_plan(None, quasi=quasi, sensitive=sensitive, rules=rules, method=name)
        full = plan.final()
        found = find_hierarchies(full, frame.columns, trees)
        taken = settle_table(load_table(frame, full), full, found)
        made = execute(taken, taken.plan, StageTimer(lambda stage: None))
        seconds = time.perf_counter() - start
        release = replace(made.opened, domains=domains).view(sensitive)
        error = query_error(release, queries, truth)
        rows.append(
            {
                "method": name,
                "mse": error.mse,
                "relative": error.relative,
                "median": error.median,
                "queries": error.queries,
                "release_seconds": seconds,
                "query_seconds": error.seconds,
                "loss": made.run.loss.rate,
            }
        )
    return pl.DataFrame(rows)


def _rule(method: str, l: int, column: str) -> Rule:  # noqa: E741
    entry = find_method(method)
    for rule in (FrequencyLDiversity(l, column), LDiversity(l, column)):
        if entry.rules is None or rule.name in entry.rules:
            return rule
    raise ParameterError(
        f"The method {method!r} keeps neither frequency nor distinct l-diversity, so its releases "
        f"cannot be compared here. Compare for instance {', '.join(METHODS)}."
    )

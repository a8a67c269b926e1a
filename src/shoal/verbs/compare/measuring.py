"""Measure all releases of a comparison in the same way."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.base.partition import GroupStats, Ints
from shoal.catalog import LOSSES
from shoal.catalog.extensions import available, require
from shoal.measures.deduced_values import read_off
from shoal.measures.losses.features import read_beside
from shoal.measures.losses.queries import Truth, query_error, true_counts, workload
from shoal.measures.risks.reidentification import assess, attribute_risk
from shoal.measures.value_disclosure import value_disclosure
from shoal.releases.base import Query, View
from shoal.releases.opened import Opened
from shoal.tables.cells import sorted_values
from shoal.tables.original import Original
from shoal.tables.schema import Schema
from shoal.verbs.anonymize import Made

if TYPE_CHECKING:
    from shoal.ext.learning.classifier import PredictionTask, Score

QUERIES = 300
COLUMNS, SHARE = 3, 0.07  # of a query, see losses.queries.workload

# Every figure of a setting beside its losses, and whether more of it is better (True), less
# (False), or neither.
_FIGURES: dict[str, bool | None] = {
    "lower_bound": None,
    "above_best": False,
    "left_out": False,
    "classes": True,
    "risk_highest": False,
    "risk_mean": False,
    "risk_above": False,
    "read_off": False,
    "belief_worst": False,
    "belief_mean": False,
    "share_ratio": False,
    "query_mse": False,
    "query_relative": False,
    "query_median": False,
    "accuracy": True,
    "balanced_accuracy": True,
    "seconds": False,
    "measuring_seconds": None,
}


def figures_of_settings() -> dict[str, bool | None]:
    """Return every figure of a setting, and whether more of it is better."""
    return dict.fromkeys(LOSSES, False) | _FIGURES


@dataclass(frozen=True, eq=False)
class ReleaseMeasures:
    """What every release of one table is measured by.

    Parameters
    ----------
    table
        The table, with gaps as nulls.
    threshold
        Re-identification risk above which a row is counted.
    queries, truth
        The counting queries and their true answers; none without a sensitive column.
    task
        What the classifier predicts, None when it is not wanted or not possible.
    baselines
        What a classifier reaches that is trained on the original, and one that knows nothing.
    notes
        What could not be measured, and why.
    """

    table: Original
    threshold: float
    queries: tuple[Query, ...] = ()
    truth: Truth | None = None
    task: PredictionTask | None = None
    baselines: Mapping[str, Score] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def measure(self, made: Made) -> dict[str, float]:
        """Return the figures of one release, all but its times."""
        start = time.perf_counter()
        run, opened = made.run, made.opened
        frame = opened.frame
        figures = {**run.loss.by_name, "left_out": run.rows_in - run.rows_out}
        if frame.height:
            risk = assess(frame, opened.quasi, threshold=self.threshold, published=opened.published)
            figures |= {
                "classes": risk.classes,
                "risk_highest": risk.prosecutor_highest,
                "risk_mean": risk.prosecutor_mean,
                "risk_above": risk.above,
            }
            if told := read_off(opened):
                figures["read_off"] = told.share
            shares = value_disclosure(opened, run.verdict.stats).values()
            if ratios := [column.values[0].ratio for column in shares if column.values]:
                figures["share_ratio"] = max(ratios)
            beside = read_beside(opened, self.table)
            views = {of: beside.view(of) for of in self.table.schema.sensitive}
            labels = opened.published.labels
            figures |= self._beliefs(views, run.verdict.stats, labels) | self._answers(views)
            figures |= self._learn(made, beside)
        return {name: float(value) for name, value in figures.items()} | {
            "measuring_seconds": time.perf_counter() - start
        }

    def prior(self) -> float:
        """Return the share of the commonest value of a sensitive column, the largest of them."""
        shares = [0.0]
        for name in self.table.schema.sensitive:
            known = self.table.frame[name].drop_nulls()
            if len(known):
                counts = known.value_counts(name="\x00count")["\x00count"]
                shares.append(float(counts.to_numpy().max() / len(known)))
        return max(shares)

    def _beliefs(
        self, views: Mapping[str, View], stats: GroupStats | None, labels: Ints
    ) -> dict[str, float]:
        """Return the strongest and the mean belief, of the sensitive column that has it worst."""
        counted: dict[str, Any] = {"stats": stats, "labels": labels}
        risks = [attribute_risk(view, of, **counted) for of, view in views.items()]
        if not risks:
            return {}
        return {
            "belief_worst": max(risk.worst for risk in risks),
            "belief_mean": max(risk.mean for risk in risks),
        }

    def _answers(self, views: Mapping[str, View]) -> dict[str, float]:
        if self.truth is None:
            return {}
        error = query_error(views[self.queries[0].of], self.queries, self.truth)
        return {
            "query_mse": error.mse,
            "query_relative": error.relative,
            "query_median": error.median,
        }

    def _learn(self, made: Made, reading: Opened) -> dict[str, float]:
        task, opened = self.task, made.opened
        if task is None:
            return {}
        require("learning")
        from shoal.ext.learning import classifier

        blurred = None
        if opened.shape.view.estimated(opened, task.target):
            rows = classifier.training_rows(task, made.order)
            blurred = opened.take_rows(rows).view(task.target)
        score = classifier.on_release(task, reading, made.order, self.table, blurred)
        return {"accuracy": score.accuracy, "balanced_accuracy": score.balanced}


def make_yardstick(
    table: Original,
    *,
    threshold: float,
    queries: int,
    classify: bool | None,
    target: str | None,
    seed: int,
) -> ReleaseMeasures:
    """Prepare everything that is measured of the releases of a table.

    ``queries``: how many, 0 for none. ``classify``: True insists on the classifier, None takes it
    if its library is there, False does without.
    """
    schema, frame = table.schema, table.frame
    declared = [column for column in schema.columns if column.name in frame.columns]
    original = frame.with_columns(column.clean(frame[column.name]) for column in declared)
    table = replace(table, frame=original)
    notes: list[str] = []
    asked, truth = _questions(original, schema, queries, seed, notes)
    task = _task(original, schema, classify, target, seed, notes)
    baselines = {}
    if task is not None:
        require("learning")
        from shoal.ext.learning import classifier

        learnt = classifier.on_original(task, table)
        baselines = {"original": learnt, "majority": classifier.majority(task)}
    return ReleaseMeasures(table, threshold, asked, truth, task, baselines, tuple(notes))


def _questions(
    original: pl.DataFrame, schema: Schema, queries: int, seed: int, notes: list[str]
) -> tuple[tuple[Query, ...], Truth | None]:
    if not queries:
        return (), None
    if not schema.sensitive:
        notes.append("No query error: counting queries ask for a sensitive column, and none is.")
        return (), None
    known = [name for name in schema.quasi if len(sorted_values(original[name]))]
    if not known:
        notes.append("No query error: every quasi-identifier is entirely missing.")
        return (), None
    asked = workload(
        original,
        known,
        schema.sensitive[0],
        np.random.default_rng([seed, 0]),
        g=min(COLUMNS, len(known)),
        s=SHARE,
        repeats=queries,
    )
    truth = true_counts(original, known, asked)
    if not truth.counts.any():
        notes.append(f"No query error: no row of the table fits any of {queries} random queries.")
        return (), None
    return asked, truth


def _task(
    original: pl.DataFrame,
    schema: Schema,
    classify: bool | None,
    target: str | None,
    seed: int,
    notes: list[str],
) -> PredictionTask | None:
    if not (classify or target is not None or available("learning")):
        if classify is None:
            notes.append("No classifier: this installation has none.")
        return None
    require("learning")
    from shoal.ext.learning import classifier

    chosen = classifier.choose_target(schema, target)
    if classify is False:
        return None
    if classify or target is not None:
        classifier.check_library()
    elif not classifier.has_library():
        notes.append("No classifier: scikit-learn is not installed (pip install 'shoal[ml]').")
        return None
    if chosen is None:
        notes.append("No classifier: there is no sensitive column to predict; name one (target).")
        return None
    task = classifier.make_task(original, schema, chosen, seed)
    if isinstance(task, str):
        notes.append(f"No classifier: {task}.")
        return None
    return task

"""The figures of one release: ``outcome.plot.loss()``, ``.classes()``, ``.distribution("age")``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from shoal.base.errors import ParameterError, SchemaError, format_names, suggest_nearest
from shoal.base.roles import Role
from shoal.measures.risks.reidentification import AttributeRisk, Risk, assess, attribute_risk
from shoal.releases.base import Counts
from shoal.releases.published import read
from shoal.show.charts.columns import histogram
from shoal.show.charts.paper import WIDTH, Chart
from shoal.show.charts.rows import bars, intervals
from shoal.show.charts.words import format_number
from shoal.show.figures.distributions import Distribution, distribution
from shoal.show.figures.subject import Subject

_ORIGINAL = (
    "This figure compares with the original, which is not at hand. Draw it from the outcome of a "
    "run, or give the original."
)
_BINS = 14
_GROUPS, _ROWS = 10, 60  # more cannot be told apart


@dataclass(frozen=True, eq=False)
class Plots:
    """Figures of a release, ``wide`` units across; each call returns a chart."""

    subject: Subject
    wide: float = WIDTH

    def loss(self) -> Chart:
        """Draw how much of each quasi-identifier was lost."""
        if self.subject.loss is None:
            raise ParameterError(_ORIGINAL)
        lost = sorted(self.subject.loss.by_column.items(), key=lambda item: -item[1])
        rate = self.subject.loss.rate
        share = format_number(rate, "share")
        text = f"In all, {share} of the information in the quasi-identifiers is lost."
        if len(lost) > 1 and lost[0][1] > 0:
            text += f" Most in {lost[0][0]} ({format_number(lost[0][1], 'share')})"
            text += f", least in {lost[-1][0]} ({format_number(lost[-1][1], 'share')})."
        return bars(
            "Information lost by column",
            [name for name, _ in lost],
            [value for _, value in lost],
            form="share",
            name="0 %: published as it was; 100 %: says nothing",
            of="column",
            text=text,
            wide=self.wide,
        )

    def classes(self) -> Chart:
        """Draw how many classes there are of each size."""
        sizes = self.sizes()
        labels, counts = size_bins(sizes)
        words = self.subject.opened.words
        text = (
            f"{sizes.size:,} {words.classes} of {int(sizes.min()):,} to {int(sizes.max()):,} rows, "
            f"on average {format_number(float(sizes.mean()), 'count')}."
            if sizes.size
            else "There are no rows."
        )
        return histogram(
            words.sizes,
            counts,
            labels,
            x=words.rows,
            y=words.classes,
            text=text,
            wide=self.wide,
        )

    def sizes(self) -> Any:
        """Return the size of every class, or of every group of Anatomy."""
        return self.subject.opened.shape.view.sizes(self.subject.opened)

    def distribution(self, column: str) -> Chart:
        """Draw how a column is distributed, before and after."""
        return self.compared(column).chart(self.wide)

    def compared(self, column: str) -> Distribution:
        """Return the numbers behind :meth:`distribution`."""
        columns = self.subject.opened.names(Role.QUASI, Role.SENSITIVE, Role.KEEP)
        if column not in columns:
            raise SchemaError(
                f"There is no published column {column!r} to "
                f"draw.{suggest_nearest(column, columns)} There "
                f"are: {format_names(columns)}."
            )
        return distribution(self.subject, column)

    def gaps(self) -> pl.DataFrame:
        """Return per published column the share of cells that say nothing, before and after."""
        rows = []
        for name in self.subject.opened.names(Role.QUASI, Role.SENSITIVE, Role.KEEP):
            source = self.subject.original(name)
            before = None if source is None else source.null_count() / max(len(source), 1)
            rows.append(
                {"column": name, "before": before, "after": self.subject.opened.silent(name)}
            )
        types = {"column": pl.String, "before": pl.Float64, "after": pl.Float64}
        return pl.DataFrame(rows, schema=types)

    def missing(self) -> Chart:
        """Draw which share of each column is missing, before and after."""
        gaps = self.gaps()
        compared = self.subject.source is not None
        return bars(
            "Cells that say nothing",
            gaps["column"].to_list(),
            gaps["after"].to_list(),
            before=[value or 0.0 for value in gaps["before"]] if compared else None,
            form="share",
            name="share of cells" if compared else "cells that say nothing",
            of="column",
            names=("missing in the original", "says nothing in the release"),
            wide=self.wide,
        )

    def risks(self, threshold: float = 0.2) -> tuple[Risk | None, Risk]:
        """Return the risk of re-identification before (None without the original) and after."""
        opened = self.subject.opened
        after = assess(opened.frame, opened.quasi, threshold=threshold, published=opened.published)
        if (fewest := self.subject.fewest) is not None:
            highest = 1.0 / max(fewest, 1)
            after = replace(after, prosecutor_highest=highest, k=fewest, counted="people")
        if self.subject.source is None:
            return None, after
        original = pl.DataFrame([self.subject.original(name) for name in opened.quasi])
        rows = read(original, opened.quasi)
        person = next(iter(opened.names(Role.PERSON)), "")
        whose = self.subject.original(person) if person and after.counted == "people" else None
        if whose is not None:
            rows = replace(rows, people=rows.different(whose))
        return assess(original, opened.quasi, threshold=threshold, published=rows), after

    def risk(self, threshold: float = 0.2) -> Chart:
        """Draw the risk of re-identification, before and after."""
        before, after = self.risks(threshold)
        one, alone, text = "row", "are unique", ""
        if after.counted == "people":
            one, alone = "person", "are of people who are alone in their class"
        labels = [
            f"highest risk of any {one}",
            "mean risk",
            f"rows that {alone}",
            f"rows above {format_number(threshold, 'share')} risk",
        ]

        def figures(risk: Risk) -> list[float]:
            shown = [risk.prosecutor_highest, risk.prosecutor_mean, risk.unique, risk.above]
            return shown[: len(labels)]

        least = format_number(after.prosecutor_highest, "share")
        mean, unique = (
            format_number(after.prosecutor_mean, "share"),
            format_number(after.unique, "share"),
        )
        if self.subject.fewest is not None:
            labels = labels[:1]
            text = (
                f"A person is found with a probability of at most {least}: every class holds at "
                f"least {self.subject.fewest:,} different people. How many each class holds is "
                "not published, so there is no mean."
            )
        elif before is None:
            text = (
                f"{unique} of the rows {alone}; a {one} is found with probability {mean} on "
                f"average, {least} at most."
            )
        else:
            was, then = (
                format_number(before.unique, "share"),
                format_number(before.prosecutor_mean, "share"),
            )
            text = (
                f"Before, {was} of the rows {alone.replace('are', 'were', 1)} and a {one} was "
                f"found with probability {then} on average; now {unique} {alone}, and it is "
                f"{mean} on average, {least} at most."
            )
        if after.counted == "rows":
            text += self._by_rows()
        return bars(
            "Risk of finding a known person's row",
            labels,
            figures(after),
            before=None if before is None else figures(before),
            form="share",
            of="figure",
            text=text,
            top=1.0,
            wide=self.wide,
        )

    def beliefs(self) -> list[AttributeRisk]:
        """Return per sensitive column what is believed of somebody whose row is known."""
        opened = self.subject.opened
        counted: dict[str, Any] = {"stats": self.subject.stats}
        if self.subject.stats is not None:
            counted["labels"] = opened.published.labels
        return [attribute_risk(opened.view(name), name, **counted) for name in opened.sensitive]

    def _by_rows(self) -> str:
        """Say that rows are counted where one person may have several."""
        if not self.subject.by_rows:
            return ""
        return " Counted in rows, of which one person may have several: of people it can be more."

    def belief(self) -> Chart:
        """Draw how sure somebody can be of a sensitive value who knows all quasi-identifiers."""
        risks = self.beliefs()
        if not risks:
            raise SchemaError(
                "The release has no sensitive column, so there is no belief to draw. Declare one "
                "with --sensitive (sensitive=[...])."
            )
        labels, before, after = [], [], []
        for risk in risks:
            labels += [f"{risk.of}: on average", f"{risk.of}: at worst"]
            before += [risk.prior, risk.prior]
            after += [risk.mean, risk.worst]
        text = " ".join(
            f"The likeliest value of {risk.of} is believed with "
            f"{format_number(risk.mean, 'share')} on "
            f"average, {format_number(risk.worst, 'share')} at worst; a guess without looking "
            "anybody up "
            f"is right in {format_number(risk.prior, 'share')}."
            for risk in risks
        )
        text += self._by_rows() if risks[0].counted == "rows" else " Counted in people."
        return bars(
            "How sure one can be of the sensitive value",
            labels,
            after,
            before=before,
            form="share",
            of="figure",
            names=("guess without the row", "with the row"),
            text=text,
            wide=self.wide,
        )


def attacks_chart(results: Sequence[Any]) -> Chart:
    """Draw the success of attacks with interval, baseline and control."""
    labels = [
        f"{result.name}: {result.column}" if result.column else result.name for result in results
    ]
    return intervals(
        "Attacks that were tried",
        labels,
        [float(result.success) for result in results],
        [float(result.low) for result in results],
        [float(result.high) for result in results],
        form="share",
        name="success",
        of="attack",
        others={
            "guess": [_maybe(result.baseline) for result in results],
            "control": [_maybe(result.control) for result in results],
        },
        top=1.0,
    )


def _maybe(value: Any) -> float | None:
    return None if value is None else float(value)


def estimates_chart(counts: Counts) -> Chart:
    """Draw the shares of the most frequent values, a row for each category combination."""
    groups = np.sort(np.argsort(-counts.rows, kind="stable")[:_GROUPS])
    most = min(12, _ROWS // max(1, groups.size))
    values = np.argsort(-counts.count.sum(axis=0), kind="stable")[:most]
    rows = [(value, group) for value in values for group in groups]
    size = np.maximum(counts.rows, 1e-300)
    share, low, high = (
        [float(numbers[group, value] / size[group]) for value, group in rows]
        for numbers in (counts.count, counts.low, counts.high)
    )
    labels = [", ".join((counts.values[value], *counts.labels[group])) for value, group in rows]
    by = f" by {', '.join(counts.by)}" if counts.by else ""
    return intervals(
        f"Share of {counts.of}{by}",
        labels,
        share,
        low,
        high,
        form="share",
        name="share",
        of=", ".join((counts.of, *counts.by)),
    )


def size_bins(sizes: Any) -> tuple[list[str], list[float]]:
    """Count classes by size: each size by itself when there are few, else by growing ranges."""
    if not sizes.size:
        return [], []
    low, high = int(sizes.min()), int(sizes.max())
    if high - low < _BINS:
        edges = np.arange(low, high + 2)
    else:
        grown = np.unique(np.round(low * (max(high, 2) / low) ** (np.arange(_BINS) / (_BINS - 1))))
        edges = np.append(grown[:-1], high + 1).astype(np.int64)
    counts, _ = np.histogram(sizes, edges)
    labels = [
        f"{a:,}" if b - a == 1 else f"{a:,}–{b - 1:,}"
        for a, b in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
    ]
    return labels, counts.astype(float).tolist()

"""Measure the re-identification risk and the belief in sensitive values.

Everything here is read from cells, so it serves an original as well as a release of any shape. Rows
with equal cells are one class, and nobody can tell its rows apart. A missing cell is a value of its
own: that is what an attacker sees who also knows where the table has gaps. One who does not can
only have more candidates, so a gap never makes a table look safer than it is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from shoal.base.errors import InputError, SchemaError
from shoal.base.params import Param
from shoal.base.partition import Floats, GroupStats, Ints
from shoal.measures.risks.matching import covered, sides
from shoal.releases.base import Query, View
from shoal.releases.published import Published, read
from shoal.tables.cells import missing_to_null
from shoal.tables.domain import Taxonomy
from shoal.tables.schema import Schema, declare, unknown_column

THRESHOLD = Param("threshold", "risk above which a row is counted", float, 0.2, low=0.0, high=1.0)


@dataclass(frozen=True, eq=False)
class Risk:
    """The risk that rows are re-identified, in all and row by row.

    Parameters
    ----------
    rows, classes
        Number of rows, and of groups of rows with equal cells.
    counted
        What the size of a class is: its ``rows``, or the different ``people`` in it where that is
        known. A person counts in every class that holds a row of hers.
    prosecutor_highest, prosecutor_mean
        The attacker knows that his target is in the table: 1 / size of its class.
    journalist_highest, journalist_mean
        He does not know it, but has a list of the population: 1 / number of people in it whom the
        cells of the row fit. Without a population equal to the prosecutor's.
    marketer
        Share of rows that are linked correctly when each is linked to somebody: the mean of the
        journalist's risk, classes / rows without a population.
    unique
        Share of rows that are alone in their class.
    threshold, above
        Share of rows whose prosecutor risk is above the threshold.
    k
        Size of the smallest class.
    k_map
        Least number of people of the population that a row fits; None without a population.
    short
        Rows of classes that fit fewer people than they have rows: then the population given does
        not hold everybody in the table. A class that fits nobody counts as risk 1.
    per_row, per_row_journalist
        The risk of every row, in the order of the table.
    """

    rows: int
    classes: int
    prosecutor_highest: float
    prosecutor_mean: float
    journalist_highest: float
    journalist_mean: float
    marketer: float
    unique: float
    threshold: float
    above: float
    k: int
    counted: str = "rows"
    k_map: int | None = None
    short: int = 0
    per_row: Floats = field(default_factory=lambda: np.empty(0), repr=False)
    per_row_journalist: Floats = field(default_factory=lambda: np.empty(0), repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return all figures but those of single rows as plain data."""
        return _figures(self, ("per_row", "per_row_journalist"))


@dataclass(frozen=True, eq=False)
class AttributeRisk:
    """How sure somebody can be of a sensitive value who knows all quasi-identifiers of a person.

    Parameters
    ----------
    of
        The sensitive column.
    worst, mean
        Highest and mean belief in the likeliest value, over the rows of which anything is said.
    threshold, above
        Share of those rows whose likeliest value is believed more than the threshold.
    certain
        Share of those rows whose value is certain: all rows of the class share it.
    prior
        The same belief without looking a person up: the share of the commonest value.
    rows, silent
        Rows looked at, and rows of which nothing is said, because their class has no known value.
    counted
        What shares are shares of: ``rows``, or ``people``. Of people a value's share in a class is
        that of those who have it, and a person counts in every class that holds a row of theirs.
    per_row
        The belief of every row, in the order of the table; NaN where nothing is said.
    """

    of: str
    worst: float
    mean: float
    threshold: float
    above: float
    certain: float
    prior: float
    rows: int
    silent: int
    counted: str = "rows"
    per_row: Floats = field(default_factory=lambda: np.empty(0), repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return all figures but those of single rows as plain data."""
        return _figures(self, ("per_row",))


def _figures(value: Any, without: Sequence[str]) -> dict[str, Any]:
    return {name: entry for name, entry in vars(value).items() if name not in without}


def assess(
    frame: pl.DataFrame,
    quasi: Sequence[str],
    *,
    threshold: float = 0.2,
    population: pl.DataFrame | None = None,
    missing: Sequence[str] = (),
    schema: Schema | None = None,
    taxonomies: Mapping[str, Taxonomy] | None = None,
    raw: bool = False,
    published: Published | None = None,
) -> Risk:
    """Measure the risk of re-identification from the cells of a table.

    Parameters
    ----------
    frame
        An original or a release; a quasi-identifier ``x`` may stand there as ``x_lo``, ``x_hi``.
    quasi
        What the attacker knows of his target.
    threshold
        Rows with a higher prosecutor risk are counted.
    population
        A list of people with the quasi-identifiers as exact values, the table's own among them.
        A cell that is missing there is fitted by ``*`` and by gaps only.
    missing
        Texts that mean missing in the quasi-identifiers, besides null and the empty text.
    schema, taxonomies
        Kinds and hierarchies of the columns, to understand generalized cells; only needed with a
        population. Without a schema kinds are guessed from the population.
    raw
        With a population: the table holds exact values, where ``*`` is a text like any other.
    published
        The classes of its rows, if they were grouped before.
    """
    threshold = THRESHOLD.check(threshold, "risk")
    gapped = [name for name in quasi if name in frame.columns and missing]
    frame = frame.with_columns(missing_to_null(frame[name], missing) for name in gapped)
    published = published or read(frame, quasi)
    if not frame.height:
        raise InputError(
            "The table has no rows, so there is no risk to measure. Give a table with at least one."
        )
    crowds = published.crowds
    own = 1.0 / crowds
    per_row = own[published.labels]
    figures: dict[str, Any] = {}
    mean = own.size / int(crowds.sum())
    if population is None:
        people, linked = own, mean
    else:
        fits = _people(published, quasi, population, schema, taxonomies or {}, raw=raw)
        people = 1.0 / np.maximum(fits, 1.0)
        # Exact whatever the order of the rows.
        linked = math.fsum(people * published.sizes) / frame.height
        too_few = fits < crowds
        figures = {"k_map": int(fits.min()), "short": int(published.sizes[too_few].sum())}
    return Risk(
        rows=frame.height,
        classes=own.size,
        prosecutor_highest=float(own.max()),
        prosecutor_mean=mean,
        journalist_highest=float(people.max()),
        journalist_mean=linked,
        marketer=linked,
        unique=float(published.sizes[crowds == 1].sum() / frame.height),
        threshold=threshold,
        # 1/5 is not above 0.2, whatever floats make of it.
        above=float((per_row > threshold + 1e-12).mean()),
        k=int(crowds.min()),
        counted="rows" if published.people is None else "people",
        per_row=per_row,
        per_row_journalist=people[published.labels],
        **figures,
    )


def _people(
    published: Published,
    quasi: Sequence[str],
    population: pl.DataFrame,
    schema: Schema | None,
    taxonomies: Mapping[str, Taxonomy],
    *,
    raw: bool,
) -> Floats:
    """Count the people of the population whom each class fits."""
    if lacking := [name for name in quasi if name not in population.columns]:
        raise SchemaError(
            [unknown_column(name, population.columns, "The population") for name in lacking]
        )
    if not population.height:
        raise InputError(
            "The population has no rows: nobody could be found in it. Give a list of the people "
            "among whom the table's own are hidden, or leave it out."
        )
    if schema is None:
        with_taxonomy = [name for name in quasi if name in taxonomies]
        schema = declare(population, quasi=quasi, taxonomies=with_taxonomy)
    columns = [schema[name] for name in dict.fromkeys(quasi)]
    both = sides(population, published.cells, columns, taxonomies, raw=raw, gaps="own")
    return covered(both)


def attribute_risk(
    release: View,
    of: str,
    *,
    threshold: float = 0.5,
    stats: GroupStats | None = None,
    labels: Ints | None = None,
) -> AttributeRisk:
    """Measure what a release of any shape lets somebody believe of a sensitive column.

    Parameters
    ----------
    release
        An opened release, see :func:`shoal.open_release`.
    of
        Its sensitive column.
    threshold
        Rows whose likeliest value is believed more are counted.
    stats, labels
        What the check counted in its classes, and the class of every row: where it counted people,
        beliefs are counted in people.

    Notes
    -----
    Beliefs go by the values that are known: a missing sensitive value hides nobody, so it does not
    lower the belief in the others.
    """
    threshold = THRESHOLD.check(threshold, "attribute_risk")
    hist = None if stats is None else stats.histograms.get(of)
    if hist is not None and hist.people is not None and labels is not None:
        classes = hist.reduce(np.maximum, hist.counts) / np.maximum(hist.people, 1)
        top, weight, counted = classes[labels], hist.people.astype(np.float64), "people"
        prior = float(hist.whole.max(initial=0) / max(hist.whole_people, 1))
    else:
        classes = top = release.posterior(of).top()
        whole, counted = release.expect(Query(of)), "rows"
        weight = (top > 0).astype(np.float64)
        prior = float(whole.max(initial=0.0) / whole.sum()) if whole.sum() > 0 else 0.0
    said, weight = classes[classes > 0], weight[classes > 0]
    many = max(float(weight.sum()), 1.0)
    return AttributeRisk(
        of=of,
        worst=float(said.max(initial=0.0)),
        mean=float((said * weight).sum() / many) if counted == "people" else _mean(said),
        threshold=threshold,
        above=float(weight[said > threshold + 1e-12].sum() / many),
        certain=float(weight[said > 1 - 1e-9].sum() / many),
        prior=prior,
        rows=top.size,
        silent=int((top == 0).sum()),
        counted=counted,
        per_row=np.where(top > 0, top, np.nan),
    )


def _mean(said: Floats) -> float:
    return float(said.mean()) if said.size else 0.0

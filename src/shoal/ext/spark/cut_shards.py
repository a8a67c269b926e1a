"""Cut a table of tuples into shards that one process can group, each keeping the rules by itself.

Cuts run along the quasi-identifiers, the widest column of a shard first, where they part its rows
most evenly: Mondrian's way, on counts. Only counts come to the driver.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from shoal.base.errors import ParameterError
from shoal.base.partition import GroupStats, histogram
from shoal.ext.spark.functions import F
from shoal.ext.spark.hashing import to_polars
from shoal.ext.spark.settings import Spark
from shoal.ext.spark.tuples import COUNT
from shoal.privacy import Rule
from shoal.tables.domain import Domain, Taxonomy

SHARD = "shard"


@dataclass
class _Region:
    """A part of the table: which positions it spans, and where it was cut."""

    tuples: int
    rows: int
    lo: list[int]
    hi: list[int]
    column: int = -1
    at: int = -1
    below: int = -1
    above: int = -1

    @property
    def is_leaf(self) -> bool:
        return self.column < 0


class Cutter:
    """Cuts tuples given by positions ``q0``, ``q1``, ... and codes ``s0``, ``s1``, ..."""

    def __init__(
        self,
        coded: Any,
        domains: Sequence[Domain],
        hidden: dict[str, tuple[str, ...]],
        rule: Rule,
        settings: Spark,
    ) -> None:
        self._coded, self._domains, self._rule = coded, domains, rule
        self._hidden, self._settings = hidden, settings
        self._regions: list[_Region] = []

    def cut(self) -> Any:
        """Return the tuples with the number of their shard."""
        (whole,) = self._measured(self._coded.selectExpr("*", f"0 as {SHARD}"))
        self._regions = [whole]
        while big := [i for i, region in enumerate(self._regions) if self._too_big(region)]:
            left = big
            for rank in range(len(self._domains)):
                left = self._cut_once(left, rank)
                if not left:
                    break
            if left:
                self._refuse(self._regions[left[0]])
        return self._labelled()

    @property
    def shards(self) -> int:
        """Number of shards."""
        return sum(region.is_leaf for region in self._regions)

    def _too_big(self, region: _Region) -> bool:
        columns = len(self._domains) + len(self._hidden)
        return region.is_leaf and not self._settings.fits(region.tuples, region.rows, columns)

    def _refuse(self, region: _Region) -> None:
        raise ParameterError(
            f"The table has more distinct tuples than one process may group "
            f"({self._settings.driver_tuples:,}, or its memory), and a part of it with "
            f"{region.tuples:,} tuples and {region.rows:,} rows cannot be cut so that both sides "
            f"keep the promise that {self._rule.describe()}. Raise --driver-tuples (driver_tuples, "
            "driver_bytes), or ask for less."
        )

    def _labelled(self) -> Any:
        """Number every tuple by the region it falls into, as the cuts say."""

        def number(shard: int) -> Any:
            region = self._regions[shard]
            if region.is_leaf:
                return F.lit(shard)
            side = F.col(f"q{region.column}") <= region.at
            return F.when(side, number(region.below)).otherwise(number(region.above))

        return self._coded.withColumn(SHARD, number(0))

    def _measured(self, labelled: Any) -> list[_Region]:
        """Return size and span of every region, in the order of their numbers."""
        places = range(len(self._domains))
        measured = labelled.groupBy(SHARD).agg(
            F.count(F.lit(1)).alias("tuples"),
            F.sum(COUNT).alias("rows"),
            *(F.min(f"q{j}").alias(f"lo{j}") for j in places),
            *(F.max(f"q{j}").alias(f"hi{j}") for j in places),
        )
        rows = sorted(measured.toArrow().to_pylist(), key=lambda row: row[SHARD])
        return [
            _Region(
                row["tuples"],
                row["rows"],
                [row[f"lo{j}"] for j in places],
                [row[f"hi{j}"] for j in places],
            )
            for row in rows
        ]

    def _cut_once(self, asked: list[int], rank: int) -> list[int]:
        """Try to cut regions along their widest column but ``rank``; return those left uncut."""
        chosen = {}
        for shard in asked:
            region = self._regions[shard]
            order = sorted(
                range(len(self._domains)), key=lambda j: (-_width(self._domains[j], region, j), j)
            )
            if _width(self._domains[order[rank]], region, order[rank]) > 0:
                chosen[shard] = order[rank]
        cuts = self._middles(chosen)
        if not cuts:
            return asked
        passed = self._both_keep(cuts)
        before = len(self._regions)
        for shard in passed:
            region = self._regions[shard]
            region.column, region.at = cuts[shard]
            region.below, region.above = len(self._regions), len(self._regions) + 1
            self._regions += [_Region(0, 0, [], []), _Region(0, 0, [], [])]
        if passed:
            fresh = self._labelled().where(f"{SHARD} >= {before}")
            self._regions[before:] = self._measured(fresh)
        return [shard for shard in asked if shard not in passed]

    def _middles(self, chosen: dict[int, int]) -> dict[int, tuple[int, int]]:
        """Return for every region the position after which a cut parts its rows most evenly."""
        if not chosen:
            return {}
        along: Any = F  # F.when(...).when(...) ...
        for shard, column in chosen.items():
            along = along.when(F.col(SHARD) == shard, F.col(f"q{column}"))
        counted = (
            self._labelled()
            .where(F.col(SHARD).isin(list(chosen)))
            .groupBy(SHARD, along.alias("at"))
            .agg(F.sum(COUNT).alias("rows"))
        )
        counts = to_polars(counted.toArrow())
        cuts = {}
        for shard, column in chosen.items():
            own = counts.filter(pl.col(SHARD) == shard).sort("at")
            at, rows = own["at"].to_numpy(), own["rows"].to_numpy().astype(np.int64)
            allowed = _edges(self._domains[column], int(at[0]), int(at[-1]))
            below = np.cumsum(rows)[np.searchsorted(at, allowed, side="right") - 1]
            uneven = np.abs(2 * below - rows.sum())
            cuts[shard] = (column, int(allowed[int(np.argmin(uneven))]))
        return cuts

    def _both_keep(self, cuts: dict[int, tuple[int, int]]) -> set[int]:
        """Return the regions of which both sides keep the rules."""
        side: Any = F  # F.when(...).when(...) ...
        for number, (shard, (column, at)) in enumerate(cuts.items()):
            half = F.when(F.col(f"q{column}") <= at, 2 * number).otherwise(2 * number + 1)
            side = side.when(F.col(SHARD) == shard, half)
        sided = self._labelled().where(F.col(SHARD).isin(list(cuts))).withColumn("side", side)
        hidden = list(self._hidden)
        counted = sided.groupBy("side", *(f"s{i}" for i in range(len(hidden)))).agg(
            F.sum(COUNT).alias("rows")
        )
        counts = to_polars(counted.toArrow())
        label = counts["side"].to_numpy().astype(np.int64)
        rows = counts["rows"].to_numpy().astype(np.int64)
        sizes = np.zeros(2 * len(cuts), np.int64)
        np.add.at(sizes, label, rows)
        stats = GroupStats(
            sizes,
            {
                name: histogram(
                    label, counts[f"s{i}"].to_numpy(), sizes.size, self._hidden[name], rows
                )
                for i, name in enumerate(hidden)
            },
        )
        good = np.asarray(self._rule.holds(stats), np.bool_)
        return {shard for i, shard in enumerate(cuts) if good[2 * i] and good[2 * i + 1]}


def _width(domain: Domain, region: _Region, j: int) -> float:
    """Return how much of the column a region spans; missing counts as one more position."""
    return (region.hi[j] - region.lo[j]) / max(domain.size, 1)


def _edges(domain: Domain, lo: int, hi: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the positions after which a column may be cut between ``lo`` and ``hi``.

    A taxonomy is cut between the children of the node that covers the region, so that a cut parts
    no more than it must; where known and missing values meet, between the two.
    """
    if hi >= domain.size:
        return np.array([domain.size - 1], np.int64)
    if not isinstance(domain, Taxonomy):
        return np.arange(lo, hi, dtype=np.int64)
    (node,) = domain.cover(np.array([lo]), np.array([hi]))
    children = np.flatnonzero((domain.up == node) & (np.arange(domain.up.size) != node))
    ends = np.unique(domain.hi[children]).astype(np.int64)
    return ends[(ends >= lo) & (ends < hi)]

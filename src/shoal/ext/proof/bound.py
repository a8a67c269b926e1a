"""How far a release is from the best possible: a lower bound of what any release loses.

The bound holds for every release in which each class has k rows and every cell is published as a
node of the column's hierarchy (or an interval of its grid), whichever method made it, rows left out
included. A rule on sensitive values, people instead of rows, slack, and a plan's importance only
rule releases out, so that it holds for them, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.base.errors import format_names
from shoal.coding.encode import Encoded
from shoal.privacy import Rule
from shoal.tables.domain import Nominal, Ordered

PASSES, PASS_WORK = 220, 40_000_000_000
"""Passes over the nodes, and the nodes of entries that all of them together may look at."""
FEWEST = 40
PAIRS = 1_500_000_000
"""Pairs of different rows up to which the loose bound is worked out: a minute."""
SAFE = 1e-9
"""What the floating point of the loose bound may be off by, a row."""


@dataclass(frozen=True)
class Bound:
    """What no release can lose less than.

    Parameters
    ----------
    rate
        ILossRate that no release goes below.
    k
        Rows that every class has.
    how
        ``prices``: the tight bound, from prices of rows. ``nearest``: the loose one, from the
        nearest rows of each.
    passes
        Passes over the nodes.
    stopped
        Whether it was stopped before it was done; it holds nevertheless.
    columns
        Those whose cells have too many possible values for the tight bound.
    intervals
        Whether columns with intervals were counted.
    """

    rate: float
    k: int
    how: str
    passes: int
    stopped: bool = False
    columns: tuple[str, ...] = ()
    intervals: bool = False


@dataclass(frozen=True)
class Proof:
    """A release's loss beside what no release can lose less than."""

    loss: float
    bound: Bound

    @property
    def above(self) -> float | None:
        """How much more than the best possible it loses at most, as a share; None: not known."""
        if self.loss <= self.bound.rate + 1e-8:
            return 0.0
        return self.loss / self.bound.rate - 1.0 if self.bound.rate > 0.0 else None

    def describe(self) -> str:
        """Say it in two sentences; the bound is rounded down, the distance up."""
        bound, above = self.bound, self.above
        with_what = (
            "with these hierarchies and intervals"
            if bound.intervals
            else ("with these hierarchies")
        )
        if bound.how == "nearest":
            with_what = "of these columns"
        any_release = f"No {bound.k}-anonymous release {with_what} loses less"
        told = f"Loss {self.loss:.4f}. {any_release}"
        if above == 0.0:
            return f"{told}: it is the best possible."
        if above is None:
            return f"Loss {self.loss:.4f}. How near that is to the best possible is not known."
        told += (
            f" than {math.floor(bound.rate * 1e4) / 1e4:.4f}: at most "
            f"{math.ceil(above * 1e3) / 10:.1f} % above the best possible."
        )
        if bound.how == "nearest":
            told += (
                f" The bound is a loose one: {format_names(bound.columns)} can be published in "
                "too many "
                "ways for a tight one, which needs hierarchies."
            )
        return told

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        bound = self.bound
        return {
            "bound": bound.rate,
            "above": self.above,
            "k": bound.k,
            "how": bound.how,
            "passes": bound.passes,
            "stopped": bound.stopped,
            "sentence": self.describe(),
        }


def smallest_class(rules: Sequence[Rule]) -> int:
    """Return how many rows every class has at least, by the rules."""
    return max((rule.least for rule in rules), default=1)


def lower_bound(data: Encoded, k: int, tell: Callable[[float], bool] = lambda rate: False) -> Bound:
    """Return what no release of the table loses less than; ``tell`` is told, and may end it."""
    from shoal.ext.proof.ascent import best_prices, proved_bound  # loads kernels
    from shoal.ext.proof.nodes import WORK, make_nodes
    from shoal.groupers.prices.problem import make_problem

    intervals = any(isinstance(domain, Ordered) for domain in data.domains)
    if data.rows < k or not data.domains:
        return Bound(0.0, k, "prices", 0, intervals=intervals)
    problem = make_problem(data, k, WORK)
    if problem is None:
        return _loose(data, k, tell)
    passes = PASS_WORK // (len(problem.patterns) * max(problem.count.size, 1))
    passes = max(FEWEST, min(PASSES, passes))
    ended, done = False, 0

    def stop(value: int) -> bool:
        nonlocal ended, done
        done += 1
        ended = tell(value / problem.units)
        return ended

    prices = best_prices(make_nodes(problem), passes, lambda best: stop(best.value))
    rate = proved_bound(problem, prices.of) / problem.units
    return Bound(rate, k, "prices", done, ended, intervals=intervals)


def _loose(data: Encoded, k: int, tell: Callable[[float], bool]) -> Bound:
    """Return the loose bound, for tables whose nodes are too many."""
    from shoal.coding.tuples import entries
    from shoal.ext.proof.nearest import nearest_losses

    names = tuple(
        name
        for name, domain in zip(data.names, data.domains, strict=True)
        if isinstance(domain, (Nominal, Ordered))
    )
    distinct, _, count = entries(data.codes)
    if count.size**2 > PAIRS:
        return Bound(0.0, k, "nearest", 0, columns=names or data.names)
    ended = False

    def stop() -> bool:
        nonlocal ended
        ended = tell(0.0)
        return ended

    least = nearest_losses(data, k, distinct, count, np.arange(count.size), stop)
    total = float((np.maximum(least - SAFE, 0.0) * count).sum())
    return Bound(total / data.codes.size, k, "nearest", 1, ended, columns=names or data.names)

"""The classes Task and Stage of the method `shoal`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from shoal.base.partition import Ints
from shoal.coding.encode import Encoded
from shoal.groupers.boxes import make_boxes
from shoal.groupers.conditions import asked_mixes, conditions_of, least_size
from shoal.groupers.levels import FINER, MERGE, make_ladders
from shoal.groupers.shoal.efforts import FEW, LARGE, Effort
from shoal.kernels.boxes.conditions import Conditions
from shoal.kernels.boxes.geometry import SET, Boxes
from shoal.kernels.boxes.groups import start_state
from shoal.kernels.boxes.lattice import Ladders
from shoal.privacy import Rule, flatten
from shoal.tables.domain import Ordered

if TYPE_CHECKING:
    from shoal.groupers.prices.problem import Problem

LISTED = 110_000
"""Rows up to which prices name nodes: for a larger table they take longer than all else."""


@dataclass(frozen=True, eq=False)
class Task:
    """A table, a rule, how much work to do, and the facts that stages ask for.

    Parameters
    ----------
    k
        No smaller group keeps the rule.
    conditions
        What kernels can check of the rule.
    boxes, ladders
        What the join of some rows costs, and the levels of every column.
    equal_weights
        Whether widths count alike in all columns: prices can be made.
    stop
        True ends the work with the best groups so far.
    objective
        What a wide cell costs.
    spare
        Rows that may be left out; labels of these are -1.
    """

    data: Encoded
    rule: Rule
    k: int
    conditions: Conditions
    boxes: Boxes
    ladders: Ladders
    effort: Effort
    equal_weights: bool = True
    stop: Callable[[], bool] | None = None
    objective: str = "ncp"
    spare: int = 0

    def part(self, rows: Ints) -> Task:
        """Return the task of some of the rows, none of which may be left out."""
        data = self.data.take(rows)
        return make_task(data, self.rule, self.effort, self.objective, self.stop)

    @property
    def full(self) -> float:
        """What a row left out loses."""
        return float(self.data.weights.sum())

    @cached_property
    def counts_rows(self) -> bool:
        """Whether nothing but the number of rows makes a group good."""
        alone = all(part.column is None for part in flatten([self.rule]))
        return alone and not self.conditions.code.size

    @cached_property
    def has_sets(self) -> bool:
        """Whether a column is a set of names without a hierarchy."""
        return bool((self.boxes.kind == SET).any())

    @cached_property
    def has_numbers(self) -> bool:
        """Whether a column is of numbers, dates or ranks without a hierarchy."""
        return any(isinstance(domain, Ordered) for domain in self.data.domains)

    @cached_property
    def wants_mix(self) -> bool:
        """Whether the rule asks groups to have the table's mix of values."""
        return bool(asked_mixes(self.data, self.rule))

    @cached_property
    def problem(self) -> Problem | None:
        """What is to be priced; None where nodes are too many, cannot be listed or are free."""
        few = self.data.rows <= FEW or self.data.rows > LISTED or self.k >= LARGE
        if few or not self.counts_rows or not self.equal_weights:
            return None
        from shoal.groupers.prices.near import near_problem  # loads kernels

        return near_problem(self.data, self.k, self.effort.prices)

    @property
    def few_classes(self) -> bool:
        """Whether classes are so few that whole nodes are searched whatever k is."""
        return FEW < self.data.rows <= self.effort.nodes.classes * self.k

    @property
    def makes_chains(self) -> bool:
        """Whether there are rounds of chains, and nodes can be priced."""
        return self.effort.rounds(self.data.rows) > 0 and self.can_price

    @property
    def can_price(self) -> bool:
        """Whether prices can say which nodes are worth opening."""
        return self.effort.prices > 0 and self.problem is not None

    def loss(self, labels: Ints) -> float:
        """Return what groups, given as a number per row, lose by the widths of their boxes.

        A row left out (-1) loses all its cells.
        """
        kept = np.flatnonzero(labels >= 0)
        codes = self.data.codes if kept.size == labels.size else self.data.take(kept).codes
        lost = start_state(self.boxes, codes, labels[kept], spare=0).cost.sum()
        return float(lost) + self.full * (labels.size - kept.size)

    def cheaper(self, one: Ints | None, other: Ints) -> Ints:
        """Return the groups that lose less; of no groups (None) any others."""
        return other if one is None or self.loss(other) < self.loss(one) else one

    def stopped(self) -> bool:
        """Say whether to end with the best groups so far."""
        return self.stop is not None and self.stop()


def make_task(
    data: Encoded,
    rule: Rule,
    effort: Effort,
    objective: str = "ncp",
    stop: Callable[[], bool] | None = None,
) -> Task:
    """Return the task; ``objective`` says what a wide cell costs."""
    k, conditions = conditions_of(data, rule)
    if data.people is None:  # smaller groups cannot have the mix, and need not be looked at
        k = min(max(k, least_size(asked_mixes(data, rule))), data.rows)
    boxes = make_boxes(data, data.weights, objective)
    # Whole nodes are searched among finer levels (Adult, k = 100: 0.1127, with others 0.1156).
    merge = FINER if k >= LARGE and not conditions.code.size else MERGE
    ladders = make_ladders(data, k, objective, merge)
    equal = objective == "ncp" and float(np.ptp(data.weights)) == 0.0
    return Task(data, rule, k, conditions, boxes, ladders, effort, equal, stop, objective)


@dataclass(frozen=True)
class Measured:
    """What a stage is worth: the loss with it and without it, measured by `benchmarks.stages`.

    ``case``: a table of `benchmarks.stages` and its rule.
    """

    case: str
    loss: float
    without: float
    day: str


def _nothing(_effort: Effort) -> object:
    return None


@dataclass(frozen=True)
class Stage:
    """One way to make groups, or to make them better.

    Parameters
    ----------
    applies
        Says whether the stage has something to do for a task.
    make
        Makes groups, a number per row, from those so far (None: there are none) and its own random
        numbers. Never groups that lose more; None: it has found none.
    work
        What bounds its work.
    evidence
        What it is worth, a line for every case that it was made for.
    reads
        What it reads of an effort: with the same value it is not done again by the next effort.
    """

    name: str
    applies: Callable[[Task], bool]
    make: Callable[[Task, Ints | None, np.random.Generator], Ints | None]
    work: str
    evidence: tuple[Measured, ...] = ()
    reads: Callable[[Effort], object] = _nothing

    def stream(self, seed: int) -> np.random.Generator:
        """Return random numbers of its own: what another stage draws changes nothing here."""
        return np.random.default_rng((seed, crc32(self.name.encode())))

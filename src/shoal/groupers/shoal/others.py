"""Starts that other methods make: for sets and numbers, rules on shares, and small tables.

Patterns cut numbers into equal parts, other methods cut where rows are; a set has no levels; and
large groups keep a rule on shares by themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy

import numpy as np

from shoal.base.partition import Ints, Partition
from shoal.coding.encode import Encoded
from shoal.coding.space import make_space
from shoal.groupers.growth import grow_groups
from shoal.groupers.shoal.efforts import FEW
from shoal.groupers.shoal.peel import walkable
from shoal.groupers.shoal.task import Measured, Stage, Task
from shoal.privacy import AlphaK, Rule, caps_of, flatten

# The methods are loaded where they are asked: a rule on the size of classes alone needs none.

Method = Callable[[Encoded, Rule, np.random.Generator], Partition]

MOST = 200_000
"""Rows up to which other methods make a start where the peel can do without."""


def _has_numbers(task: Task) -> bool:
    return task.has_numbers and not task.conditions.code.size


def _needs_growth(task: Task) -> bool:
    few_patterns = walkable(task.ladders) and not _has_numbers(task)
    return task.has_sets or (task.data.rows <= MOST and not few_patterns)


def _grown(task: Task, labels: Ints | None, rng: np.random.Generator) -> Ints | None:
    """Grow groups as k-member does, also where no stage before has made a start."""
    if labels is not None and not _needs_growth(task):
        return None
    return grow_groups(task.data, make_space(task.data), task.rule, rng).labels()


def _needs_others(task: Task) -> bool:
    """Say whether rows are few, or large groups keep the rule by themselves: it has no caps."""
    hard = caps_of(task.rule) is None and task.data.rows <= MOST * task.effort.others
    return hard or task.data.rows <= FEW


def _asked(task: Task, labels: Ints | None, rng: np.random.Generator) -> Ints | None:
    """Return the cheapest groups of the methods that serve the rule."""
    from shoal.groupers import alpha_k, k_member, kaim, l_clustering, mondrian

    methods: list[Method] = [mondrian.group, k_member.group]
    if task.data.rows <= FEW and not task.has_sets:  # sets have no entropy distance
        methods.append(kaim.group)
    if sum(isinstance(part, AlphaK) for part in flatten([task.rule])) == 1:
        methods.append(alpha_k.group)
    if any(part.diversity is not None for part in flatten([task.rule])):
        methods.append(l_clustering.group)
    for method in methods:
        made = method(task.data, task.rule, deepcopy(rng)).labels()
        labels = task.cheaper(labels, made)
    return labels


OTHERS = Stage(
    "other methods",
    _needs_others,
    _asked,
    "one run each of four methods, of five where rows are few",
    (
        Measured("fars k=5 beta=2 rows=5000", 0.24103, 0.34907, "2026-11-18"),
        Measured("fars k=5 entropy=2 rows=5000", 0.28947, 0.31408, "2026-11-18"),
    ),
    reads=lambda effort: effort.others,
)
GROWN = Stage(
    "grown",
    lambda task: True,
    _grown,
    "one run of k-member, on at most 200,000 rows unless a column is a set",
    (Measured("adult-plain k=10", 0.01716, 0.98931, "2026-11-18"),),
)

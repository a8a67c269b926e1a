"""`shoal`, our own method: the cheapest of some starts, made better by one stage after the other.

A *start* makes groups from the table: peeled off by patterns, grown, cut, or built with the table's
mix of values. An *improvement* takes groups and returns groups that lose no more: trials take a few
neighbouring groups apart and put their rows together in a better way, prices say which nodes are
worth opening, rows are shifted to better places. Whatever still breaks the rule is joined at the
end, and every group is recoded by its true members.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Literal

import numpy as np

from shoal.base.partition import Ints, Partition
from shoal.coding.encode import Encoded
from shoal.groupers.repair import repair
from shoal.groupers.shoal.efforts import EFFORTS, Effort
from shoal.groupers.shoal.mix import MIX
from shoal.groupers.shoal.nodes import CHAINS, NODES, PRICES
from shoal.groupers.shoal.others import GROWN, OTHERS
from shoal.groupers.shoal.peel import PEEL
from shoal.groupers.shoal.shift import SHIFT
from shoal.groupers.shoal.task import Measured, Stage, Task, make_task
from shoal.groupers.shoal.trials import FIRST_TRIALS, RESTARTS, TRIALS
from shoal.privacy import Rule

STARTS = (PEEL, MIX, NODES, OTHERS, GROWN)
"""Ways to make groups; the cheapest are taken."""
IMPROVEMENTS = (FIRST_TRIALS, RESTARTS, SHIFT, PRICES, TRIALS, CHAINS, SHIFT)
"""Ways to make groups better, one after the other."""


def _rare(task: Task, _labels: Ints | None, rng: np.random.Generator) -> Ints | None:
    from shoal.groupers.shoal.leave_out import without_rare  # few requests leave rows out

    return without_rare(task, rng, search)


def _far(task: Task, labels: Ints | None, rng: np.random.Generator) -> Ints | None:
    from shoal.groupers.shoal.leave_out import without_far

    return without_far(task, labels, rng, search)


RARE = Stage(
    "rare values",
    lambda task: task.spare > 0 and task.wants_mix,
    _rare,
    "nine searches at effort fast on some rows, and one of all rows that are left",
    (Measured("adult k=10 beta=2 rows=10000 suppress=0.25", 0.18674, 0.45695, "2026-11-19"),),
)
FAR = Stage(
    "far rows",
    lambda task: task.spare > 0,
    _far,
    "all improvements twice",
    (Measured("adult k=10 beta=2 rows=10000 suppress=0.25", 0.18674, 0.19650, "2026-11-19"),),
)
OMISSIONS = (RARE, FAR)
"""Ways to leave rows out, one after the other."""


def group(
    data: Encoded,
    rule: Rule,
    rng: np.random.Generator,
    *,
    effort: Literal["fast", "normal", "max"] = "normal",
    objective: Literal["ncp", "entropy"] = "ncp",
    stop: Callable[[], bool] | None = None,
    spare: int = 0,
) -> Partition:
    """Split the rows into groups that keep the rule, at the lowest loss within the effort.

    Parameters
    ----------
    objective
        What a wide cell costs: its share of the domain (``"ncp"``), or of the column's entropy.
    stop
        Asked before every round of refinement; True ends the work with the best partition so far.
    spare
        Rows that may be left out where all others then lose so much less.
    """
    task = replace(make_task(data, rule, EFFORTS[effort], objective, stop), spare=spare)
    labels = search(task, rng)
    # What is drawn next does not depend on `spare`: other parts of a table lose no more by it.
    seed = int(deepcopy(rng).integers(2**63))
    for stage in OMISSIONS:
        if stage.applies(task) and not task.stopped():
            made = stage.make(task, labels, stage.stream(seed))
            labels = labels if made is None else task.cheaper(labels, made)
    return Partition.from_labels(labels)


def search(task: Task, rng: np.random.Generator, labels: Ints | None = None) -> Ints:
    """Return groups of all rows that keep the rule: made from a start, or better ones than these.

    ``labels``: those to begin with; they may break the rule.
    """
    own, seed = deepcopy(rng), int(rng.integers(2**63))
    if labels is not None:
        return _repaired(task, _improved(task, None, _repaired(task, labels), seed))
    before, start = None, None
    ends: list[Ints] = []
    for step in _steps(task.effort):
        task = replace(task, effort=step)
        found = _started(task, before, start, own)
        # From a cheaper start all is done; from the same one, what this effort does more.
        if found is start:
            end = _improved(task, before, ends[-1], seed)
        else:
            end = _improved(task, None, found, seed)
        if not ends or end is not ends[-1]:
            ends.append(end)
        start, before = found, step
        if task.stopped():
            break
    return min([_repaired(task, end) for end in ends], key=task.loss)


def _repaired(task: Task, labels: Ints) -> Ints:
    """Join the groups that break the rule with others."""
    return repair(task.data, Partition.from_labels(labels), task.rule).labels()


def _steps(step: Effort) -> list[Effort]:
    """Return the efforts that one goes on from, the least first, and itself."""
    return [*(_steps(EFFORTS[step.after]) if step.after else ()), step]


def _same(stage: Stage, before: Effort | None, task: Task) -> bool:
    """Say whether the effort before this one has done the same."""
    return before is not None and stage.reads(before) == stage.reads(task.effort)


def _started(
    task: Task, before: Effort | None, start: Ints | None, own: np.random.Generator
) -> Ints:
    """Return the cheapest start."""
    for stage in STARTS:
        if not _same(stage, before, task) and stage.applies(task):
            # A start begins with the random numbers that it would have as a method by itself.
            made = stage.make(task, start, deepcopy(own))
            start = start if made is None else task.cheaper(start, made)
    return np.zeros(task.data.rows, np.int64) if start is None else start


def _improved(task: Task, before: Effort | None, labels: Ints, seed: int) -> Ints:
    """Return better groups; what the effort before has done to these is not done again."""
    for stage in IMPROVEMENTS:
        if _same(stage, before, task):
            continue
        before = None  # from here on groups differ
        if task.loss(labels) > 0.0 and stage.applies(task):
            made = stage.make(task, labels, stage.stream(seed))
            labels = labels if made is None else made
    return labels

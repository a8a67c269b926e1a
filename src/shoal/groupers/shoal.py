"""`shoal`, our own method: peel the table, place what is left, refine.

*Peel*: walk over patterns (a level per column) in order of increasing width and take every class
that satisfies the rule off the table; rows with missing values meet their like at low levels and
everybody at the top. *Refine* (:mod:`shoal.groupers.refinement`): take a few neighbouring groups
apart and put their rows together in a better way, many times over. Each class and each group is
checked and recoded by its true members.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from shoal.base.partition import Partition
from shoal.coding.encode import Encoded
from shoal.coding.space import make_space
from shoal.groupers.boxes import make_boxes
from shoal.groupers.conditions import conditions_of
from shoal.groupers.growth import grow_groups, grow_members
from shoal.groupers.limits import limits_of
from shoal.groupers.mixing import SAMPLE, asking, balanced, least_size
from shoal.groupers.patterns import make_ladders
from shoal.groupers.peeling import peel_off, walkable
from shoal.groupers.refinement import Effort, refined
from shoal.groupers.repair import repair
from shoal.groupers.rivals import rivals
from shoal.kernels.boxes.conditions import Conditions
from shoal.kernels.boxes.geometry import SET, Boxes
from shoal.kernels.boxes.groups import start_state
from shoal.kernels.boxes.lattice import Ladders
from shoal.privacy import Rule
from shoal.tables.domain import Taxonomy

if TYPE_CHECKING:
    from shoal.kernels.prices.reopen import NodeRows

Ints = npt.NDArray[np.int64]

EFFORTS = {
    "fast": Effort(merge=0.5, visits=2_000, trials=2, heat=0.0, shard=15_000, passes=1),
    "normal": Effort(merge=0.35, visits=8_000, trials=8, heat=0.0, shard=16_000, passes=2),
    "max": Effort(
        merge=0.0, visits=100_000, trials=1_500, heat=0.7, shard=40_000, passes=6, dearer=np.inf
    ),
}
LARGE = 100
"""The k from which whole nodes are searched (:mod:`shoal.groupers.opening`)."""
SEARCHES = {"fast": (10, 0.1), "normal": (24, 0.12), "max": (160, 0.15)}
"""For how many rounds, and how warm at first."""
POLISH = 0.25
"""The share of trials that is left to do after that."""
TINY = 12
"""Rows up to which every subset is looked at; each one more takes three times as long."""
BUILT = 0.75
"""Share of the rows that the peel of a large table may leave before groups are built with its mix.
In a small one these are always tried."""
LOST = 0.9
"""Share of the rows from which on what the peel leaves is no start, where groups can be built."""
FAR = 1.15
"""Times the least loss of a start that another may lose and still win after the first trials."""
MANY = 0.02
"""Share of the rows that may be left without a class before the table is grouped another way."""
RIVALS = 200_000
"""Rows up to which other methods are always asked for a start; above, only when peeling failed."""
SETS = 3
"""Times as many trials where a column is a set: all groups of a grown start have k rows, and what
could be spared is met more rarely."""
PROMISING = 2
"""Starts that are refined before one of them is chosen."""
TIE = 0.01
"""Starts whose losses differ by no more than this, as a share, are as good as each other."""
GAIN = 0.001
"""What the first trials must gain, as a share of the loss, for others to be made: where every class
needs the table's mix of values hardly any trial stays, and each is dear."""
FEW = 400
"""Rows up to which refinement starts again until nothing improves."""
FIRST = 1
"""Refinement trials, per n / k, after which the better start is chosen."""
SECOND = 8
"""The same with a start from prices: it loses more at first, and less in the end."""
NEAR = (2_000, 110_000, 30)
"""Least and most rows, and the largest k, with which prices make a start at normal effort: it takes
as long to load them as to refine a smaller table, and longer than all else for a larger one."""
NEARER = 0.6
"""The share of trials that is left to do, at normal effort, after a start from prices."""
IDLE = 8
"""Fruitless turns before new starts end."""


def group(
    data: Encoded,
    rule: Rule,
    rng: np.random.Generator,
    *,
    effort: Literal["fast", "normal", "max"] = "normal",
    objective: Literal["ncp", "entropy"] = "ncp",
    stop: Callable[[], bool] | None = None,
) -> Partition:
    """Split the rows into groups that keep the rule, at the lowest loss within the effort.

    Parameters
    ----------
    objective
        What a wide cell costs: its share of the domain (``"ncp"``), or of the column's entropy.
    stop
        Asked before every round of refinement; True ends the work with the best partition so far.
    """
    chosen, resumed = _chosen(effort, rule)
    k, conditions = conditions_of(data, rule)
    if data.people is None:  # smaller classes cannot have the mix, and need not be looked at
        k = min(max(k, least_size(asking(data, rule))), data.rows)
    ladders = make_ladders(data, data.weights, k, chosen.merge, objective)
    boxes = make_boxes(data, data.weights, objective)
    if data.rows <= TINY:
        from shoal.groupers.exact import best_labels

        return repair(data, Partition.from_labels(best_labels(data, rule, boxes)), rule)
    sets, shape = bool((boxes.kind == SET).any()), (k, conditions, boxes, ladders)
    starts = []
    if k >= LARGE and not conditions.code.size:
        from shoal.groupers.opening import opened, searchable

        if searchable(data, k, boxes):
            starts.append(opened(data, k, boxes, ladders, *SEARCHES[effort], rng, stop))
            chosen = replace(chosen, trials=POLISH * chosen.trials)
    if not starts or not all(isinstance(domain, Taxonomy) for domain in data.domains):
        # Equal parts of numbers are not the only nodes: other methods cut where rows are.
        made, fast = _starts(data, rule, shape, chosen, rng, fast=effort == "fast")
        starts = _promising(data, boxes, starts + made, fast if resumed else 0)
    plain = objective == "ncp" and np.ptp(data.weights) == 0.0 and not conditions.code.size
    plain &= k < LARGE  # prices find no better nodes than the search
    nodes = None
    if effort == "max" and plain and (priced := _priced(data, rule, shape, rng, stop)) is not None:
        starts.append(priced[0])
        nodes = priced[1]
    if effort == "normal" and plain and NEAR[0] <= data.rows <= NEAR[1] and k <= NEAR[2]:
        starts[:1], share = _near(data, rule, shape, starts[0], rng)
        chosen = replace(chosen, trials=share * chosen.trials)
    best = starts[0]
    if len(starts) > 1 and effort != "fast":
        # What a start loses tells less than what it loses once the first trials have been made.
        before = [cost(data, boxes, labels) for labels in starts]
        trials = FIRST if nodes is None else SECOND
        first = resumed or replace(chosen, trials=trials, heat=0.0, passes=1)
        starts = [refined(data, *shape, labels, first, rng, stop) for labels in starts]
        after = [cost(data, boxes, labels) for labels in starts]
        best = starts[int(np.argmin(after))]
        if min(after) > (1.0 - GAIN) * before[0] and effort == "normal":
            return repair(data, Partition.from_labels(best), rule)
        # Of those that lose nearly the same by then, the one that gained most goes on gaining.
        near = [at for at in range(len(after)) if after[at] <= (1.0 + TIE) * min(after)]
        starts = [starts[max(near, key=lambda at: before[at] - after[at])]]
    elif resumed:
        starts = [refined(data, *shape, starts[0], resumed, rng, stop)]
        best = starts[0]
    if sets and effort == "normal":
        chosen = replace(chosen, trials=SETS * chosen.trials, shard=2 * chosen.shard)
    found = _searched(data, shape, starts[0], nodes, chosen, rng, stop)
    # Trials that never accept a worse group cannot end with more than they began with.
    same = starts[0] is best and chosen.heat == 0.0
    labels = found if same else min((found, best), key=partial(cost, data, boxes))
    if data.rows <= FEW and effort != "fast":
        labels = _restarted(data, shape, labels, rng, stop)
    return repair(data, Partition.from_labels(labels), rule)


def _chosen(effort: str, rule: Rule) -> tuple[Effort, Effort | None]:
    """Return the effort, and the one that it takes up where that one ends, if it does.

    Under a rule without a form in sizes and shares what few patterns serve is not found by more of
    them, and which trials help is chance to a per cent: so normal begins as fast does, and goes on.
    """
    chosen, fast = EFFORTS[effort], EFFORTS["fast"]
    if rule.caps() is not None:
        return chosen, None
    chosen = replace(chosen, visits=fast.visits)
    if effort != "normal":
        return chosen, None
    return replace(chosen, merge=fast.merge, trials=chosen.trials - fast.trials), fast


def _promising(data: Encoded, boxes: Boxes, starts: list[Ints], fast: int) -> list[Ints]:
    """Return the starts to go on with, the cheapest first; of the first ``fast`` one stays so."""
    if len(starts) < 2:  # pricing a million rows takes as long as peeling them
        return starts
    loss = [cost(data, boxes, labels) for labels in starts]
    order = sorted(range(len(starts)), key=lambda at: loss[at])
    first = min(range(fast or len(starts)), key=lambda at: loss[at])
    order.remove(first)
    near = [at for at in order if loss[at] <= FAR * loss[first]]
    return [starts[at] for at in (first, *near[: PROMISING - 1])]


def _starts(
    data: Encoded,
    rule: Rule,
    shape: tuple[int, Conditions, Boxes, Ladders],
    effort: Effort,
    rng: np.random.Generator,
    *,
    fast: bool,
) -> tuple[list[Ints], int]:
    """Return starts for trials: what the peel took off, and what other methods make.

    The number says how many of them the effort fast makes too.
    """
    k, conditions, boxes, ladders = shape
    seeds = deepcopy(rng)  # a rival starts as it would by itself, so that it cannot lose less
    sets, small = bool((boxes.kind == SET).any()), data.rows <= RIVALS
    starts, placed, left = [], None, 1.0
    if not sets or conditions.code.size or any(isinstance(d, Taxonomy) for d in data.domains):
        labels = peel_off(data, rule, k, conditions, boxes, ladders, effort.visits, rng)
        left = float((labels < 0).mean())
        if left <= LOST or not asking(data, rule):
            placed = place_rest(data, conditions, boxes, labels, rule, rng)
    if placed is not None:
        starts.append(repair(data, placed, rule).labels())
    mixed: list[Partition] = []
    if not starts or left > BUILT or data.rows <= SAMPLE:
        mixed = balanced(data, rule, k, conditions, boxes, deepcopy(seeds))
    starts += [part.labels() for part in mixed]
    if sets or (small and not walkable(ladders)) or not starts:
        starts.append(grow_groups(data, make_space(data), rule, deepcopy(seeds)).labels())
    shared, asked = len(starts), placed is None or (small and bool(mixed))
    if asked or (small and not fast):
        starts += [part.labels() for part in rivals(data, rule, seeds)]
    return starts, len(starts) if asked else shared


def _searched(
    data: Encoded,
    shape: tuple[int, Conditions, Boxes, Ladders],
    labels: Ints,
    nodes: NodeRows | None,
    effort: Effort,
    rng: np.random.Generator,
    stop: Callable[[], bool] | None,
) -> Ints:
    """Return better groups: by one chain of trials, or where prices name nodes by several."""
    if nodes is None:
        return refined(data, *shape, labels.copy(), effort, rng, stop)
    from shoal.groupers.prices.chains import chained

    return chained(data, shape, labels, nodes, effort, rng, stop)


def _near(
    data: Encoded,
    rule: Rule,
    shape: tuple[int, Conditions, Boxes, Ladders],
    labels: Ints,
    rng: np.random.Generator,
) -> tuple[list[Ints], float]:
    """Return a start from prices near those that rows pay in another, or that if it loses less.

    Besides, the share of trials that are left to do.
    """
    from shoal.groupers.prices.near import near_start

    k, _, boxes, _ = shape
    found = near_start(data, k, boxes, labels)
    opened = None if found is None else _opened(data, rule, shape, *found, rng, 1)
    if opened is None or cost(data, boxes, opened) >= cost(data, boxes, labels):
        return [labels], 1.0
    return [opened], NEARER


def _opened(
    data: Encoded,
    rule: Rule,
    shape: tuple[int, Conditions, Boxes, Ladders],
    labels: Ints,
    nodes: NodeRows,
    rng: np.random.Generator,
    passes: int,
) -> Ints | None:
    """Give the rows that prices left a group, and open nodes; None when too many are left."""
    from shoal.groupers.prices.chains import reopened

    k, conditions, boxes, _ = shape
    rest = place_rest(data, conditions, boxes, labels, rule, rng)
    if rest is None:
        return None
    labels = repair(data, rest, rule).labels()
    return reopened(data, k, conditions, boxes, labels, nodes, rng, passes)


def _priced(
    data: Encoded,
    rule: Rule,
    shape: tuple[int, Conditions, Boxes, Ladders],
    rng: np.random.Generator,
    stop: Callable[[], bool] | None,
) -> tuple[Ints, NodeRows] | None:
    """Return a start from prices, and the nodes that they name; for the highest effort alone."""
    from shoal.groupers.prices.chains import PASSES
    from shoal.groupers.prices.greedy import priced_start

    if (found := priced_start(data, shape[0], stop)) is None:
        return None
    opened = _opened(data, rule, shape, *found, rng, PASSES)
    return None if opened is None else (opened, found[1])


def _restarted(
    data: Encoded,
    shape: tuple[int, Conditions, Boxes, Ladders],
    labels: Ints,
    rng: np.random.Generator,
    stop: Callable[[], bool] | None,
) -> Ints:
    """Warm the groups of a small table up and cool them down again until nothing improves."""
    effort, idle = replace(EFFORTS["max"], trials=60, passes=2), 0
    best = cost(data, shape[2], labels)
    while idle < IDLE and not (stop is not None and stop()):
        other = refined(data, *shape, labels.copy(), effort, rng, stop)
        idle, loss = idle + 1, cost(data, shape[2], other)
        if loss < best - 1e-9:
            best, labels, idle = loss, other, 0
    return labels


def cost(data: Encoded, boxes: Boxes, labels: Ints) -> float:
    """Return what groups, given as a number per row, lose by the widths of the boxes."""
    return float(start_state(boxes, data.codes, labels).cost.sum())


def place_rest(
    data: Encoded,
    conditions: Conditions,
    boxes: Boxes,
    labels: Ints,
    rule: Rule,
    rng: np.random.Generator,
) -> Partition | None:
    """Give the rows that no class took a group.

    As many groups as possible are grown among them; the others join the groups that they cost
    least, in a large table by the repair. None when too many are left: they are too
    much alike, and the rows that would have made them diverse are in other classes already.
    """
    rest = np.flatnonzero(labels < 0)
    if not rest.size:
        return Partition.from_labels(labels)
    from shoal.groupers.leftovers import alone, place  # most tables leave no row

    part = data.take(rest)
    limits, tags = limits_of(part, rule)
    members = grow_members(part, make_space(part), limits, tags, rng.permutation(rest.size))
    labels = labels.copy()
    groups = int(labels.max()) + 1
    labels[rest[members]] = groups + np.arange(members.shape[0])[:, None]
    groups += members.shape[0]
    if (labels < 0).sum() > MANY * data.rows:
        return None
    if data.rows > SAMPLE:
        return Partition.from_labels(alone(labels))
    return Partition.from_labels(place(data, conditions, boxes, labels))

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
from shoal.base.threads import share
from shoal.coding.encode import Encoded
from shoal.coding.space import make_space
from shoal.groupers.boxes import make_boxes
from shoal.groupers.conditions import conditions_of
from shoal.groupers.growth import grow_groups
from shoal.groupers.mixing import SAMPLE, asking, balanced, least_size
from shoal.groupers.patterns import make_ladders
from shoal.groupers.peeling import peel_off, walkable
from shoal.groupers.refinement import Effort, refined
from shoal.groupers.repair import repair
from shoal.groupers.rivals import Method, mondrian, rivals
from shoal.groupers.shifting import shifted
from shoal.groupers.starts import cost, near_start, place_rest, priced_start
from shoal.kernels.boxes.conditions import Conditions
from shoal.kernels.boxes.geometry import SET, Boxes
from shoal.kernels.boxes.lattice import Ladders
from shoal.privacy import Rule, flatten
from shoal.tables.domain import Ordered, Taxonomy

if TYPE_CHECKING:
    from shoal.groupers.prices.near import NearProblem
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
SEARCHES = {
    "fast": (10, 0.1, 4, 0, 20_000),
    "normal": (24, 0.12, 4, 60, 60_000),
    "max": (160, 0.15, 8, 120, 1_500_000),
}
"""How long that search goes on (:class:`shoal.groupers.opening.OpeningEffort`)."""
POLISH = 0.25
"""The share of trials that is left to do after that."""
TINY = 12
"""Rows up to which every subset is looked at; each one more takes three times as long."""
BUILT = (0.5, 0.75)
"""Share of the rows that the peel of a large table may leave before groups are built with its mix,
and the same with effort fast. In a small one these are always tried."""
LOST = 0.9
"""Share of the rows from which on what the peel leaves is no start, where groups can be built."""
FAR = 1.15
"""Times the least loss of a start that another may lose and still win after the first trials."""
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
SHARES = 8.0
"""Times as long as with k alone that trials may take under a rule without a form in sizes and
shares: large groups gain more there."""
SLOW = (3.0, 1.0)
"""Times as long as with k alone that trials may take on groups with the mix, in a small table and
in a large one."""
FEW = 400
"""Rows up to which refinement starts again until nothing improves, whatever the effort."""
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
    if effort == "fast" and data.rows <= FEW:  # there is no time to be saved
        effort = "normal"
    chosen, resumed = _chosen(effort, rule)
    k, conditions = conditions_of(data, rule)
    if data.people is None:  # smaller classes cannot have the mix, and need not be looked at
        k = min(max(k, least_size(asking(data, rule))), data.rows)
    by_size = _counts_rows(rule, conditions)
    plain = objective == "ncp" and np.ptp(data.weights) == 0.0 and by_size
    near = _near_problem(data, k) if effort == "normal" and plain else None
    if near is not None:  # prices end the same whichever peel they begin with
        chosen = replace(chosen, merge=EFFORTS["fast"].merge, visits=EFFORTS["fast"].visits)
    ladders = make_ladders(data, data.weights, k, chosen.merge, objective)
    boxes = make_boxes(data, data.weights, objective)
    if data.rows <= TINY:
        from shoal.groupers.exact import best_labels

        return repair(data, Partition.from_labels(best_labels(data, rule, boxes)), rule)
    sets, shape = bool((boxes.kind == SET).any()), (k, conditions, boxes, ladders)
    starts = _whole_nodes(data, shape, effort, rng, stop, plain=plain) if by_size else []
    if starts:
        chosen = replace(chosen, trials=POLISH * chosen.trials)
    if not starts or not all(isinstance(domain, Taxonomy) for domain in data.domains):
        # Equal parts of numbers are not the only nodes: other methods cut where rows are.
        made, fast = _starts(data, rule, shape, chosen, rng, fast=effort == "fast")
        starts = _promising(data, boxes, starts + made, fast if resumed else 0)
    least = int(np.bincount(starts[0]).min()) // 2
    if effort != "max" and least > k and asking(data, rule):
        shape, rng = (least, conditions, boxes, ladders), rng.spawn(1)[0]
        chosen, resumed = _slower(data, chosen), resumed and _slower(data, resumed)
    nodes = None
    if effort == "max" and plain and k < LARGE:  # with a larger k the search has asked for prices
        priced = priced_start(data, rule, shape, rng, stop)
        starts += [] if priced is None else [priced[0]]
        nodes = None if priced is None else priced[1]
    if near is not None:
        start = near_start(data, rule, shape, near, starts[0], rng)
        if start is not None:
            starts[0], chosen = start, replace(chosen, trials=NEARER * chosen.trials)
    best = starts[0]
    if len(starts) > 1 and effort != "fast":
        trials = FIRST if nodes is None else SECOND
        first = resumed or replace(chosen, trials=trials, heat=0.0, passes=1)
        best, start, gained = _tried(data, shape, starts, first, rng, stop)
        if not gained and effort == "normal":
            return repair(data, Partition.from_labels(best), rule)
        starts = [start]
    elif resumed:
        starts = [best := refined(data, *shape, best, resumed, rng, stop)]
    if sets and effort == "normal":
        chosen = replace(chosen, trials=SETS * chosen.trials, shard=2 * chosen.shard)
    found = _searched(data, shape, starts[0], nodes, chosen, rng, stop)
    # Trials that never accept a worse group cannot end with more than they began with.
    same = starts[0] is best and chosen.heat == 0.0
    labels = found if same else min((found, best), key=partial(cost, data, boxes))
    if data.rows <= FEW:
        labels = _restarted(data, shape, labels, rng, stop)
    if by_size and (effort != "fast" or data.rows <= NEAR[1]):
        labels = shifted(data, k, boxes, labels)
    return repair(data, Partition.from_labels(labels), rule)


def _counts_rows(rule: Rule, conditions: Conditions) -> bool:
    """Say whether nothing but the number of rows makes a group good."""
    return not conditions.code.size and all(part.column is None for part in flatten([rule]))


def _whole_nodes(
    data: Encoded,
    shape: tuple[int, Conditions, Boxes, Ladders],
    effort: str,
    rng: np.random.Generator,
    stop: Callable[[], bool] | None,
    *,
    plain: bool,
) -> list[Ints]:
    """Return the start that a search of whole nodes makes where k is large, if it can."""
    k, _, boxes, ladders = shape
    if k < LARGE:
        return []
    from shoal.groupers.opening import OpeningEffort, opened, searchable

    if not searchable(data, k, boxes):
        return []
    search, priced = OpeningEffort(*SEARCHES[effort]), plain and data.rows <= NEAR[1]
    return [opened(data, k, boxes, ladders, search, rng, stop, priced=priced)]


def _tried(
    data: Encoded,
    shape: tuple[int, Conditions, Boxes, Ladders],
    starts: list[Ints],
    first: Effort,
    rng: np.random.Generator,
    stop: Callable[[], bool] | None,
) -> tuple[Ints, Ints, bool]:
    """Refine every start a little; return the best, the one to go on with, and whether it gained.

    What a start loses tells less than what it loses once the first trials have been made.
    """
    before = [cost(data, shape[2], labels) for labels in starts]
    starts = [refined(data, *shape, labels, first, deepcopy(rng), stop) for labels in starts]
    after = [cost(data, shape[2], labels) for labels in starts]
    # Of those that lose nearly the same by then, the one that gained most goes on gaining.
    tied = [at for at in range(len(after)) if after[at] <= (1.0 + TIE) * min(after)]
    start = starts[max(tied, key=lambda at: before[at] - after[at])]
    return starts[int(np.argmin(after))], start, min(after) <= (1.0 - GAIN) * before[0]


def _chosen(effort: str, rule: Rule) -> tuple[Effort, Effort | None]:
    """Return the effort, and the one that it takes up where that one ends, if it does.

    Under a rule without a form in sizes and shares what few patterns serve is not found by more of
    them, and which trials help is chance to a per cent: so normal begins as fast does, and goes on.
    """
    chosen, fast = EFFORTS[effort], EFFORTS["fast"]
    if rule.caps() is not None:
        return chosen, None
    chosen = replace(chosen, visits=fast.visits, dearer=max(chosen.dearer, SHARES))
    fast = replace(fast, dearer=SHARES)
    if effort != "normal":
        return chosen, None
    return replace(chosen, merge=fast.merge, trials=chosen.trials - fast.trials), fast


def _slower(data: Encoded, effort: Effort) -> Effort:
    """Return the effort for groups with the mix: trials gain little there, and each is dear.

    They are far larger than k: that smaller ones are allowed must not change the answer.
    """
    return replace(effort, dearer=SLOW[data.rows > SAMPLE])


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
    seeds = deepcopy(rng)
    sets, small = bool((boxes.kind == SET).any()), data.rows <= RIVALS
    placed, left, mix = None, 1.0, bool(asking(data, rule))
    peels = not sets or conditions.code.size or any(isinstance(d, Taxonomy) for d in data.domains)
    if peels:
        labels = peel_off(data, rule, k, conditions, boxes, ladders, effort.visits, rng)
        left = float((labels < 0).mean())
    # Where it is large fast has no time for other starts.
    large = mix and left > BUILT[fast] and data.rows > SAMPLE
    if peels and not (large and fast) and (left <= LOST or not mix):
        placed = place_rest(data, conditions, boxes, labels, rule, rng)
    peeled = [] if placed is None else [repair(data, placed, rule).labels()]
    mixed: list[Partition] = []
    if large or not peeled or data.rows <= SAMPLE:
        mixed = balanced(data, rule, k, conditions, boxes, deepcopy(seeds))
    starts = [*([] if large else peeled), *(part.labels() for part in mixed)]
    asked = placed is None or (small and bool(mixed))
    if large:
        asked = not mixed or mixed[0].groups == 1
    others: list[Method] = []
    numbers = not conditions.code.size and any(isinstance(d, Ordered) for d in data.domains)
    if sets or (small and (numbers or not walkable(ladders))) or not starts:
        others.append(lambda data, rule, rng: grow_groups(data, make_space(data), rule, rng))
    if numbers or (sets and small):  # cuts fall where rows are, levels of a pattern where they may
        others.append(mondrian)
    shared = len(starts) + len(others)
    if asked or (small and not fast):
        others += rivals(rule, few=data.rows <= FEW, sets=sets)
    # A rival starts as it would by itself, so that it cannot lose less.
    starts += share(lambda made: made(data, rule, deepcopy(seeds)).labels(), others)
    starts += peeled if large else []
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


def _near_problem(data: Encoded, k: int) -> NearProblem | None:
    """Return what is to be priced at normal effort; None where prices make no start."""
    least, most, largest = NEAR
    if not least <= data.rows <= most or k > largest:
        return None
    from shoal.groupers.prices.near import near_problem

    return near_problem(data, k)


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

"""Take every class that satisfies the rule off the table, cheapest pattern first.

Most patterns take nothing: fewer than one in ten of Adult's. Each block of patterns is therefore
*screened* first. Patterns that differ by a level here and there lie under one *roof*, the highest
of their levels in every column; an entry whose class has fewer than k rows there has no class of k
under any of them. What is left of a pattern after that is taken in order of cost. Classes only lose
rows meanwhile, so the answer is that of looking at all entries under each pattern in turn; roofs
are looked at by all threads.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.base.partition import Ints, Partition
from shoal.base.progress_share import under_way
from shoal.base.threads import share
from shoal.coding.space import make_space
from shoal.coding.tuples import entries
from shoal.groupers.conditions import sensitive_of
from shoal.groupers.growth import grow_members
from shoal.groupers.limits import left_over, limits_of
from shoal.groupers.repair import repair
from shoal.groupers.shoal.efforts import LEFT_OVER, LEFT_TO_MIX, VISITS
from shoal.groupers.shoal.task import Measured, Stage, Task
from shoal.kernels.boxes.conditions import room, stated
from shoal.kernels.boxes.geometry import Boxes
from shoal.kernels.boxes.lattice import Frontier, Ladders
from shoal.kernels.boxes.peel import (
    Chosen,
    Entries,
    Workspace,
    new_workspace,
    peel,
    propose,
    screen,
)
from shoal.tables.domain import Taxonomy

Patterns = npt.NDArray[np.int8]

LATTICE = 1e6
"""Patterns up to which the whole lattice is walked."""
WALK = 200
"""Entries visited, per entry, before a larger lattice is left for proposals."""
SAMPLE, SEEDS, IDLE = 256, 64, 8
"""Rows looked at and patterns proposed at a time; fruitless turns before proposals end."""
BLOCKS = (16, 2_048)
"""Patterns screened at a time, at least and at most: few while many rows are taken, whose entries
would be looked at for nothing."""
FIRST = 256
"""Patterns taken before all others, to see what they leave."""
TURN = (512, 2_048)
"""Patterns taken at a time from a lattice that is too large to be walked, and from any other."""
LARGER = 4
"""Least sizes of a group that classes have at the most, as far as it is foreseen."""
TAKEN = 0.3
"""The share of the entries that a block takes if the next one is to be smaller."""
PARTS = 8
"""Parts that the roofs of a block are looked at in, whatever the number of threads."""
WORTH = 100_000
"""Pairs of an entry and a pattern that are worth other threads."""
ROOM = 3
"""Entries that a part may note down, per entry; what has no room is looked at as a whole."""


def walkable(ladders: Ladders) -> bool:
    """Say whether the peel can look at all patterns; otherwise it may miss the best of them."""
    return bool(np.prod(ladders.levels.astype(float)) < LATTICE)


def peel_off(
    task: Task, rng: np.random.Generator, visits: float = VISITS[0], seen: Ints | None = None
) -> Ints:
    """Return the class that each row was taken off in, -1 for rows that no class took.

    ``visits`` limits the entries that are left under all patterns in turn, per entry; ``seen``, one
    number, grows by those that were looked at.
    """
    data, rule, k, conditions = task.data, task.rule, task.k, task.conditions
    boxes, ladders = task.boxes, task.ladders
    m = data.codes.shape[1]
    distinct, entry, count = entries(np.hstack((data.codes, sensitive_of(data, conditions))))
    codes, kept = np.ascontiguousarray(distinct[:, :m].T), np.ascontiguousarray(distinct[:, m:])
    rest, label = Entries(codes, count, kept, np.arange(count.size)), np.full(count.size, -1)
    # A visit that has to count sensitive values costs about eight of the others.
    left, groups, block = count.size, 0, BLOCKS[0]
    budget = visits * count.size / (8 if conditions.code.size else 1)
    work = new_workspace(count.size, m, room(conditions))
    spare = [work]

    def take(patterns: Patterns, budget: float) -> float:
        nonlocal left, groups, block
        while len(patterns) and left and budget > 0:
            before, some, patterns = left, patterns[:block], patterns[block:]
            screened = _screened(ladders, some, k, rest, left, spare)
            args = (stated(conditions), rest, left, label, groups, work, budget)
            left, groups, budget, looked = peel(ladders, some, k, *args, *screened[:3])
            block = block // 2 if left < (1 - TAKEN) * before else 2 * block
            block = min(max(block, BLOCKS[0]), BLOCKS[1])
            if seen is not None:
                seen[0] += looked + screened[3]
        return budget

    small = walkable(ladders)
    end = 0.0 if small else max(0.0, budget - WALK * count.size)
    frontier, turn = Frontier(ladders), FIRST
    with under_way("rows peeled", lambda: 1 - left / count.size):
        while left and budget > end and (patterns := frontier.take(turn)).size:
            before, turn = left, TURN[small]
            budget = take(patterns, budget)
            if left == before:
                continue
            over = np.flatnonzero(label[entry] < 0)
            if not rule.holds(data.take(over).whole()).all():
                return label[entry]  # what all rows left together break, no class of them keeps
            if left_over(data, rule, over, LARGER) > LEFT_OVER * data.rows:
                return label[entry]  # too many are too much alike
        idle = 0 if left and not small else IDLE
        while left > SEEDS and idle < IDLE:
            before = left
            rows = int(count[:left].sum())
            take(_proposals(boxes, ladders, codes, left, rows, k, rng), np.inf)
            idle = 0 if left < 0.98 * before else idle + 1
    return label[entry]


def _screened(
    ladders: Ladders, patterns: Patterns, k: int, rest: Entries, left: int, spare: list[Workspace]
) -> tuple[Ints, Ints, Chosen, int]:
    """Return the entries that each pattern may take: where they begin and end, and themselves.

    A pattern that begins at -1 may take any. The last number counts what was looked at. ``spare``
    are workspaces; threads that find none make one more.
    """
    roofs = np.minimum(patterns | 1, ladders.levels - 1).astype(np.int64)
    of = roofs @ np.cumprod(ladders.levels)  # should two roofs meet in one number, they are one
    order = np.argsort(of, kind="stable")
    fresh = np.append(True, np.diff(of[order]) != 0)
    first = np.append(np.flatnonzero(fresh), len(patterns))
    parts = PARTS if left * len(patterns) >= WORTH else 1
    cuts = np.unique(first[np.searchsorted(first, np.arange(parts + 1) * len(patterns) // parts)])

    def look(ends: tuple[int, int]) -> tuple[Ints, Chosen, int]:
        try:
            work = spare.pop()
        except IndexError:
            work = new_workspace(left, patterns.shape[1], np.zeros(0, np.int64))
        bounds = first[(first >= ends[0]) & (first <= ends[1])] - ends[0]
        some, chosen = patterns[order[ends[0] : ends[1]]], np.empty(ROOM * left, np.int32)
        at = np.full((2, len(some)), -1)
        used, looked = screen(ladders, some, bounds, k, rest, left, work, at, chosen)
        spare.append(work)
        return at, chosen[:used].copy(), looked

    made = share(look, list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)))
    begin, end, before = np.empty(len(patterns), np.int64), np.empty(len(patterns), np.int64), 0
    for cut, (at, chosen, _) in zip(cuts, made, strict=False):
        mine = order[cut : cut + at.shape[1]]
        begin[mine], end[mine] = np.where(at[0] < 0, -1, at[0] + before), at[1] + before
        before += chosen.size
    return begin, end, np.concatenate([chosen for _, chosen, _ in made]), sum(m[2] for m in made)


def _proposals(
    boxes: Boxes,
    ladders: Ladders,
    codes: npt.NDArray[np.int32],
    left: int,
    rows: int,
    k: int,
    rng: np.random.Generator,
) -> Patterns:
    """Return the cheaper half of the patterns that a sample of the rows left asks for."""
    sample = rng.choice(left, min(SAMPLE, left), replace=False)
    seeds = rng.choice(left, min(SEEDS, left), replace=False)
    near = min(sample.size - 1, max(1, -(-k * sample.size // rows)))
    out = np.zeros((seeds.size, ladders.levels.size), np.int8)
    propose(boxes, ladders, codes, sample, seeds, near, out)
    out = np.unique(out, axis=0)
    cost = ladders.width[np.arange(ladders.levels.size), out].sum(axis=1)
    return out[np.argsort(cost, kind="stable")][: len(out) // 2 + 1]


def _peeled(task: Task, _labels: Ints | None, rng: np.random.Generator) -> Ints | None:
    """Peel, and give the rows that no class took a group; None when too many are left."""
    best = None
    twice = task.conditions.code.size and not task.wants_mix
    for visits in VISITS if twice else VISITS[:1]:
        labels = peel_off(task, rng, visits)
        left = float((labels < 0).mean())
        made = None if task.wants_mix and left > LEFT_TO_MIX else place_rest(task, labels, rng)
        best = best if made is None else task.cheaper(best, made)
        if not left:
            break
    return best


def place_rest(task: Task, labels: Ints, rng: np.random.Generator) -> Ints | None:
    """Give the rows that no class took a group.

    As many groups as possible are grown among them; the others join the groups that they cost
    least, in the repair. None when too many are left: they are too much alike, and the rows that
    would have made them diverse are in other classes already.
    """
    data, rule = task.data, task.rule
    rest, labels = np.flatnonzero(labels < 0), labels.copy()
    if left_over(data, rule, rest) > LEFT_OVER * data.rows:
        return None
    if rest.size:
        part = data.take(rest)
        limits, tags = limits_of(part, rule)
        members = grow_members(part, make_space(part), limits, tags, rng.permutation(rest.size))
        groups = int(labels.max()) + 1
        labels[rest[members]] = groups + np.arange(members.shape[0])[:, None]
    if (labels < 0).sum() > LEFT_OVER * data.rows:
        return None
    return repair(data, Partition.from_labels(alone(labels)), rule).labels()


def alone(labels: Ints) -> Ints:
    """Return a new group for each row labelled -1."""
    free, labels = labels < 0, labels.copy()
    labels[free] = labels.max(initial=-1) + 1 + np.arange(int(free.sum()))
    return labels


def _has_levels(task: Task) -> bool:
    """Say whether patterns can tell rows apart: a set has two levels, one value or any."""
    named = any(isinstance(domain, Taxonomy) for domain in task.data.domains)
    return named or not task.has_sets or bool(task.conditions.code.size)


PEEL = Stage(
    "peel",
    _has_levels,
    _peeled,
    "2,000 visits per entry, under a rule on sensitive values then 8,000",
    (
        Measured("adult30 k=10", 0.07620, 0.07665, "2026-11-18"),
        Measured("adult30 k=10 effort=fast", 0.07902, 0.08890, "2026-11-18"),
    ),
)

"""`shoal`, our own method: peel the table, place what is left, refine.

*Peel*: walk over patterns (a level per column) in order of increasing width and take every class
that satisfies the rule off the table; rows with missing values meet their like at low levels and
everybody at the top. *Refine*: take a few neighbouring groups apart and put their rows together in
a better way, many times over. Each class and each group is checked and recoded by its true members.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from shoal.encode import Encoded
from shoal.groupers.boxes import make_boxes
from shoal.groupers.conditions import conditions_of
from shoal.groupers.growth import grow_groups
from shoal.groupers.patterns import make_ladders
from shoal.groupers.repair import repair
from shoal.kernels.attempt import by_class
from shoal.kernels.boxes import Boxes
from shoal.kernels.conditions import Conditions
from shoal.kernels.groups import State, start_state
from shoal.kernels.homes import KEEP, cover_bits, mark_all
from shoal.kernels.lattice import Frontier, Ladders, signatures
from shoal.kernels.peel import peel, workspace
from shoal.kernels.refine import trials
from shoal.partition import Partition
from shoal.rules import Rule
from shoal.space import make_space
from shoal.tuples import entries

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Effort:
    """How far to go: entries the peel may look at, and rounds of refinement."""

    merge: float
    budget: float
    rounds: int


EFFORTS = {
    "fast": Effort(0.5, 3e7, 2),
    "normal": Effort(0.5, 3e8, 10),
    "max": Effort(0.0, 1e10, 300),
}

LIFE = 30
"""Rounds for which a row's homes are remembered."""


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
    chosen = EFFORTS[effort]
    weights = data.weights
    k, conditions = conditions_of(data, rule)
    ladders = make_ladders(data, weights, k, chosen.merge, objective)
    labels = peel_off(data, k, conditions, ladders, chosen.budget)
    labels = repair(data, place_rest(data, labels, rule, rng), rule).labels()
    boxes = make_boxes(data, weights, objective)
    state = start_state(boxes, data.codes, labels)
    refine(data, k, conditions, boxes, ladders, state, rng, chosen.rounds, stop)
    return repair(data, Partition.from_labels(np.unique(state.grp, return_inverse=True)[1]), rule)


def peel_off(
    data: Encoded, k: int, conditions: Conditions, ladders: Ladders, budget: float
) -> Ints:
    """Return the class that each row was taken off in, -1 for rows that no class took."""
    m = data.codes.shape[1]
    sensitive = _sensitive(data, conditions)
    distinct, entry, count = entries(np.hstack((data.codes, sensitive)))
    codes, kept = np.ascontiguousarray(distinct[:, :m].T), np.ascontiguousarray(distinct[:, m:])
    work = workspace(count.size, conditions.share.size)
    rest, label = np.arange(count.size), np.full(count.size, -1, np.int64)
    left, groups = count.size, 0
    frontier = Frontier(ladders)
    levels = (ladders.sign, ladders.at, ladders.step)
    while left and budget > 0 and (patterns := frontier.take(512)).size:
        left, groups, budget = peel(
            levels,
            patterns,
            k,
            tuple(conditions),
            codes,
            count,
            kept,
            rest,
            left,
            label,
            groups,
            work,
            budget,
        )
    return label[entry]


def place_rest(data: Encoded, labels: Ints, rule: Rule, rng: np.random.Generator) -> Partition:
    """Give the rows that no class took a group: grown among themselves, if they can keep the rule.

    The others make up one group, for the repair to join.
    """
    rest = np.flatnonzero(labels < 0)
    labels = labels.copy()
    groups = int(labels.max()) + 1
    part = data.take(rest)
    if rest.size and rule.obstacle(part.whole()) is None:
        labels[rest] = groups + grow_groups(part, make_space(part), rule, rng).labels()
    else:
        labels[rest] = groups
    return Partition.from_labels(labels)


def refine(
    data: Encoded,
    k: int,
    conditions: Conditions,
    boxes: Boxes,
    ladders: Ladders,
    state: State,
    rng: np.random.Generator,
    rounds: int,
    stop: Callable[[], bool] | None = None,
) -> None:
    """Improve the groups of ``state``; a round tries half as many places as there are groups."""
    n = data.rows
    columns = np.ascontiguousarray(data.codes.T)
    sensitive = _sensitive(data, conditions)
    room = 1 << int(np.ceil(np.log2(2 * n)))
    keys, total = np.zeros(room, np.uint64), np.zeros(room, np.int64)
    hashes, slot = np.zeros(n, np.uint64), np.zeros(n, np.int64)
    seq, cls = np.zeros(n, np.int64), np.zeros(n, np.int64)
    home, born = np.full((n, KEEP), -1), np.full(n, -1 - LIFE)
    most = 4 * k + 60
    seed = np.array([rng.integers(1, 2**62)], np.uint64)
    bits, at, share = cover_bits(boxes, state.size.size)
    shape = (boxes.kind, boxes.size, boxes.off, boxes.tab)
    mark_all(shape, tuple(state), bits, at, share, most)
    for now in range(rounds):
        if stop is not None and stop():
            return
        per_row = (state.cost / np.maximum(state.size, 1))[state.grp]
        running = np.cumsum(per_row)
        if running[-1] <= 0.0:
            return
        spot = np.searchsorted(running, rng.random() * running[-1])
        wanted = per_row[spot] * (0.6 + 0.7 * rng.random())
        pattern = random_pattern(ladders, wanted, rng)
        signatures(ladders.sign, ladders.at, ladders.step, pattern, columns, n, hashes)
        by_class(hashes, keys, total, slot, rng.permutation(n), seq, cls)
        # Look mostly where rows lose about as much as a class of this pattern does.
        weight = np.minimum(per_row, 1.5 * wanted)[seq] * (per_row[seq] > 0.4 * wanted)
        running = np.cumsum(weight)
        if running[-1] <= 0.0:
            continue
        live = int(((state.size > 0) & (state.size <= most)).sum())
        picks = np.searchsorted(running, rng.random(max(50, live // 2)) * running[-1])
        trials(
            shape,
            k,
            tuple(conditions),
            data.codes,
            sensitive,
            tuple(state),
            bits,
            at,
            share,
            seq,
            cls,
            picks,
            most,
            home,
            born,
            now,
            LIFE,
            0.0,
            seed,
        )


def random_pattern(
    ladders: Ladders, target: float, rng: np.random.Generator
) -> npt.NDArray[np.int8]:
    """Return a random pattern about as wide as ``target``."""
    level = np.zeros(ladders.levels.size, np.int8)
    width = 0.0
    for j in rng.permutation(np.repeat(np.arange(level.size), ladders.levels - 1)):
        step = ladders.width[j, level[j] + 1] - ladders.width[j, level[j]]
        if width + step <= target:
            level[j] += 1
            width += step
    return level


def _sensitive(data: Encoded, conditions: Conditions) -> npt.NDArray[np.int32]:
    """Return the sensitive columns side by side, none when no condition speaks of them."""
    if not conditions.code.size:
        return np.empty((data.rows, 0), np.int32)
    return np.column_stack(list(data.sensitive.values())).astype(np.int32)

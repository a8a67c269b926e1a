"""Rows that are left out because all others then lose more than that less (`suppress`).

Under a rule on shares classes must be large enough to hide the rarest value in: without the rows of
a few rare values they can be small. A row that is far from all others makes a class wide for k - 1
of them. A row left out counts as wholly lost.

Rules that compare classes with the table compare them with the rows that are left, so these are
searched as a table of their own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import numpy as np

from shoal.base.partition import Bools, Floats, Ints
from shoal.coding.tuples import entries
from shoal.groupers.conditions import asked_mixes
from shoal.groupers.shoal.efforts import EFFORTS
from shoal.groupers.shoal.mix import DRAWN, SAMPLE
from shoal.groupers.shoal.task import Task
from shoal.groupers.shoal.trials import renumbered
from shoal.kernels.boxes.groups import start_state

HALVINGS = 8
"""Numbers of rows that are tried for rare values, each half of the one before."""
CLASS = 100
"""Rows of a class up to which it is asked which of them cost the others much."""
TURNS = 4
"""Different rows that one class may lose."""


class SearchCall(Protocol):
    """Makes groups that keep the rule, from given ones or from none."""

    def __call__(self, task: Task, rng: np.random.Generator, labels: Ints | None = None) -> Ints:
        """Return the group of every row."""
        ...


def without_rare(task: Task, rng: np.random.Generator, search: SearchCall) -> Ints | None:
    """Return groups without the rows of some of the rarest values; None where that does not pay.

    Which values those are is tried at the least effort, in a large table on a sample of its rows.
    """
    data, rarity = task.data, _rarity(task)
    limits, running = np.unique(rarity, return_counts=True)
    budgets = task.spare // 2 ** np.arange(HALVINGS)
    fitting = np.searchsorted(np.cumsum(running), budgets[budgets > 0], side="right")
    rows = np.arange(data.rows)
    if data.rows > SAMPLE:
        rows = np.sort(rng.choice(data.rows, DRAWN, replace=False))
    sample = replace(task.part(rows), effort=replace(EFFORTS["fast"], restarts=False))
    loss: dict[int, float] = {}
    for limit in (0, *np.unique(limits[fitting[fitting > 0] - 1]).tolist()):
        if task.stopped():
            return None
        made = _without(sample, rarity[rows] <= limit, rng, search)
        if made is not None:
            loss[limit] = sample.loss(made)
    best = min(loss, key=lambda limit: loss[limit], default=0)
    return _without(task, rarity <= best, rng, search) if best else None


def _rarity(task: Task) -> Ints:
    """Return how many rows have the rarest of the values that a row has."""
    rarity = np.full(task.data.rows, task.data.rows)
    for column in dict.fromkeys(column for column, *_ in asked_mixes(task.data, task.rule)):
        codes = task.data.codes_read(column)
        there = codes >= 0
        rarity[there] = np.minimum(rarity[there], np.bincount(codes[there])[codes[there]])
    return rarity


def _without(
    task: Task,
    out: Bools,
    rng: np.random.Generator,
    search: SearchCall,
    labels: Ints | None = None,
) -> Ints | None:
    """Return groups of the other rows, -1 for these; None where they cannot keep the rule.

    ``labels``: the groups to begin with.
    """
    kept = np.flatnonzero(~out)
    part = task.part(kept)
    whole = part.data.whole()
    if not kept.size or task.rule.obstacle(whole) or not task.rule.holds(whole).all():
        return None
    found = np.full(out.size, -1)
    found[kept] = search(part, rng, None if labels is None else renumbered(labels[kept]))
    return found


def without_far(
    task: Task, labels: Ints | None, rng: np.random.Generator, search: SearchCall
) -> Ints | None:
    """Return groups without the rows that cost their classes more than a row left out does.

    Once from all classes, once only from those that have k rows without them: what is left of the
    others has to go elsewhere.
    """
    assert labels is not None
    best = None
    for least in (0, task.k):
        out = (labels < 0) | _far(task, labels, least)
        if task.stopped() or out.sum() == (labels < 0).sum():
            break
        made = _without(task, out, rng, search, labels)
        best = best if made is None else task.cheaper(best, made)
    return best


def _far(task: Task, labels: Ints, least: int) -> Bools:
    """Say which rows to leave out: those of before, and as many more as there may be.

    From every class go the equal rows that it pays most for each, then others, as long as that pays
    in the end and leaves ``least`` rows or more.
    """
    out, full = labels < 0, task.full
    groups = renumbered(labels[~out])
    codes = task.data.take(np.flatnonzero(~out)).codes
    cost = start_state(task.boxes, codes, groups, spare=0).cost
    asked = ((np.bincount(groups) <= CLASS) & (cost > full))[groups]
    if not asked.any():
        return out
    rows, groups = np.flatnonzero(~out)[asked], renumbered(groups[asked])
    many, now = int(groups.max()) + 1, groups.copy()
    turn = np.full(rows.size, TURNS)
    gain, best, ends = np.zeros(many), np.zeros(many), np.zeros(many, np.int64)
    for t in range(TURNS):
        worth, place = _worth(task, rows, now, many)
        order = np.lexsort((-worth, now))
        dearest = np.full(many + 1, -1)
        dearest[now[order[::-1]]] = place[order[::-1]]
        goes = (place == dearest[now]) & (now < many)
        size, gone = (np.bincount(own, minlength=many)[:many] for own in (now, now[goes]))
        goes &= (size - gone >= least)[np.minimum(now, many - 1)]
        gain += np.bincount(now[goes], worth[goes] - task.full, minlength=many)
        turn[goes], now[goes] = t, many
        pays = gain > best + 1e-9
        best[pays], ends[pays] = gain[pays], t + 1
    goes = turn < ends[groups]
    taken = np.bincount(groups[goes], minlength=many)
    order = np.argsort(-best / np.maximum(taken, 1), kind="stable")
    fits = np.zeros(many, np.bool_)
    fits[order] = np.cumsum(taken[order]) <= task.spare - int(out.sum())
    out[rows[goes & fits[groups]]] = True
    return out


def _worth(task: Task, rows: Ints, groups: Ints, many: int) -> tuple[Floats, Ints]:
    """Return what each row costs its class, together with those equal to it, and their number.

    Classes from ``many`` on do not count; equal rows of a class have one number.
    """
    codes = task.data.take(rows).codes

    def cost(labels: Ints) -> Floats:
        return start_state(task.boxes, codes, labels, spare=1).cost[:many]

    pairs, pair, count = entries(np.column_stack((groups, entries(codes)[1])).astype(np.int32))
    whole = cost(groups)
    place = (np.arange(len(pairs)) - np.searchsorted(pairs[:, 0], pairs[:, 0]))[pair]
    worth = np.zeros(rows.size)
    for turn in range(int(place[groups < many].max(initial=-1)) + 1):
        gone = (place == turn) & (groups < many)
        less = whole - cost(np.where(gone, many, groups))
        worth[gone] = less[groups[gone]] / count[pair[gone]]
    return worth, place

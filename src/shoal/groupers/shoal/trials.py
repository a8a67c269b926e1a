"""Many small trials on shards of neighbouring groups: the second half of the method `shoal`.

The groups are cut into shards, each shard is refined on its own, and the cut changes from pass to
pass. Shards do not depend on the number of threads, so neither does the answer.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from shoal.base.partition import Floats, Ints, in_order
from shoal.base.progress_share import under_way
from shoal.base.threads import workers
from shoal.coding.encode import Encoded
from shoal.coding.tuples import entries
from shoal.groupers.conditions import sensitive_of
from shoal.groupers.shoal.efforts import FEW, LARGE, LARGE_TRIALS, SET_TRIALS
from shoal.groupers.shoal.task import Measured, Stage, Task
from shoal.kernels.boxes.classes import Classes, by_class, new_hashed, signatures
from shoal.kernels.boxes.conditions import Conditions, room, stated
from shoal.kernels.boxes.covered import Hidden, count_all, mark_all, new_covered
from shoal.kernels.boxes.groups import State, start_state
from shoal.kernels.boxes.lattice import Ladders
from shoal.kernels.boxes.refine import trials
from shoal.kernels.boxes.shard import LOOKED, WINDOW, Shard, new_work

GROUPS = 1_500
"""Groups that a shard has room for, whatever their size: among few, trials find no better place."""
PARTS = 3
"""Where groups have to be larger than k, trials are made as if k were such a part of their size."""
TALLIED = 8_000_000
"""Pairs of a group and a sensitive value up to which those of every group are kept count of."""


SHARD = 16_000
"""Rows refined together, at least."""


@dataclass(frozen=True)
class Trials:
    """How many trials to make.

    Parameters
    ----------
    count
        Trials, per n / k.
    passes
        Times that the table is cut into shards for them.
    heat
        Worsening accepted at first, in mean losses of a row; it cools down to nothing.
    dearer
        Times as long as with groups of k rows that trials may take where groups must be larger.
    shard
        Rows refined together, at least.
    """

    count: float
    passes: int = 1
    heat: float = 0.0
    dearer: float = 3.0
    shard: int = SHARD


def refined(
    task: Task,
    labels: Ints,
    trials: Trials,
    rng: np.random.Generator,
    visits: Ints | None = None,
) -> Ints:
    """Return better groups; a stop is asked for before every round of a shard.

    ``visits``, one number, grows by the groups and rows that trials look at.
    """
    data, labels, made = task.data, labels.copy(), np.zeros(1, np.int64)
    wanted = max(1.0, trials.count * data.rows / task.k)
    with ThreadPoolExecutor(workers()) as pool, under_way("trials", lambda: made[0] / wanted):
        for turn in range(trials.passes):
            shards = _cut(data.codes, labels, max(trials.shard, GROUPS * task.k), rng)

            def work(rows: Ints, own: np.random.Generator, turn: int = turn) -> tuple[Ints, int]:
                part = replace(task, data=data.take(rows))  # labels of these rows are its own
                state = start_state(task.boxes, part.data.codes, renumbered(labels[rows]))
                return refine(part, state, trials, turn, own, made)

            draws = rng.spawn(len(shards))
            jobs = [pool.submit(work, *each) for each in zip(shards, draws, strict=True)]
            start = 0
            for rows, job in zip(shards, jobs, strict=True):
                found, seen = job.result()
                if visits is not None:
                    visits += seen
                labels[rows] = found + start
                start += int(found.max()) + 1
            if task.stopped():
                break
    return labels


def renumbered(labels: Ints) -> Ints:
    """Return the same groups, numbered without gaps."""
    used = np.zeros(int(labels.max(initial=-1)) + 1, np.bool_)
    used[labels] = True
    return (np.cumsum(used) - 1)[labels]


def _cut(
    codes: npt.NDArray[np.int32], labels: Ints, size: int, rng: np.random.Generator
) -> list[Ints]:
    """Return the rows of each shard: groups by their first rows' codes, columns in random order."""
    parts = max(1, round(labels.size / size))
    if parts == 1:
        return [np.arange(labels.size)]
    order = in_order(labels)
    starts = np.flatnonzero(np.diff(labels[order], prepend=-1))
    lead = codes[order[starts]]
    turn = np.lexsort(lead[:, rng.permutation(codes.shape[1])].T)
    sizes = np.diff(np.append(starts, labels.size))[turn]
    shard = np.empty(starts.size, np.int64)
    shard[turn] = (np.cumsum(sizes) - sizes) * parts // labels.size
    of_row = shard[renumbered(labels)]
    by_shard = in_order(of_row)
    ends = np.cumsum(np.bincount(of_row, minlength=parts))
    return [rows for rows in np.split(by_shard, ends[:-1]) if rows.size]


def refine(
    task: Task,
    state: State,
    wanted: Trials,
    turn: int,
    rng: np.random.Generator,
    made: Ints | None = None,
) -> tuple[Ints, int]:
    """Refine the groups of ``state`` by many trials; ``made``, one number, grows by those.

    Returns the best labels once it is cool, and how many groups and rows were looked at.
    """
    codes, n, k = task.data.codes, task.data.rows, task.k
    columns = np.ascontiguousarray(codes.T)
    hashed, classes = new_hashed(n), Classes(np.zeros(n, np.int64), np.zeros(n, np.int64))
    # A rule on sensitive values makes groups larger than k, and those are to be refined.
    typical = max(k, n // int((state.size > 0).sum())) if task.conditions.code.size else k
    most = 4 * typical + 60  # larger groups, all of one tuple as a rule, stay as they are
    each = _rows_each(state, k, typical, most, wanted.dearer * max(1.0, wanted.shard / n))
    shard = make_shard(task, state, most, int(rng.integers(1, 2**62)))
    best, labels = state.cost.sum(), state.chains.group.copy()
    heat = wanted.heat * best / n
    per_round = max(50 if typical == k else 1, n // each // 2)  # large groups make trials dear
    rounds = max(1, round(wanted.count / wanted.passes * n / each / per_round))
    for now in range(rounds):
        per_row = (state.cost / np.maximum(state.size, 1))[state.chains.group]
        running = np.cumsum(per_row)
        if running[-1] <= 0.0 or task.stopped():
            break
        target = per_row[_draw(running, 1, rng)[0]] * rng.uniform(0.6, 1.3)
        pattern = random_pattern(task.ladders, target, rng)
        signatures(task.ladders, pattern, columns, n, hashed.hashes)
        by_class(hashed, rng.permutation(n), classes)
        # Look mostly where rows lose about as much as a class of this pattern does.
        likely = np.minimum(per_row, 1.5 * target) * (per_row > 0.4 * target)
        running = np.cumsum(likely[classes.rows])
        if running[-1] <= 0.0:
            continue
        picks = _draw(running, per_round, rng)
        warmth = cooling((turn + now / rounds) / wanted.passes)
        trials(shard._replace(classes=classes), stated(task.conditions), picks, now, heat * warmth)
        if made is not None:
            made += per_round * each // k
        loss = state.cost.sum()
        if loss < best or heat * warmth > 0.0:
            best, labels = loss, state.chains.group.copy()
    return renumbered(labels), int(shard.work.counters[LOOKED])


def make_shard(
    task: Task, state: State, most: int, luck: int, offered: State | None = None
) -> Shard:
    """Return groups as one shard; larger ones than ``most`` rows stay as they are.

    ``offered``: the groups that rows may be sent to, by default all.
    """
    covered = new_covered(task.boxes, state.size.size)
    mark_all(task.boxes, covered, offered or state, most)
    hidden, nothing = hidden_of(task.data, task.conditions, state), np.zeros(0, np.int64)
    tags = int(hidden.alike.max(initial=-1)) + 1
    distinct, entry, _ = entries(np.hstack((task.data.codes, hidden.sens)))
    hist, groups = room(task.conditions), state.size.size
    work = new_work(task.boxes, most, len(distinct), groups, hist, tags, luck)
    classes = Classes(nothing, nothing)
    shape = (task.boxes, task.data.codes, entry, hidden, task.k, most)
    return Shard(*shape, state, covered, classes, work)


def _rows_each(state: State, k: int, typical: int, most: int, dearer: float) -> int:
    """Return the rows of which there is a trial each.

    What a trial takes grows with the square of the rows that it frees, and those are the groups
    that lose much: large ones among many small ones that are free of loss. A small table may take
    the time of a shard.
    """
    if typical == k:
        return k
    loss = state.cost * (state.size <= most)
    freed = max(typical, int(loss @ state.size / max(float(loss.sum()), 1e-9)))
    dear = int(freed * (freed + WINDOW) / (dearer * (k + WINDOW)))
    return max(k, typical // PARTS, dear)


def hidden_of(data: Encoded, conditions: Conditions, state: State) -> Hidden:
    """Return the sensitive values of all rows, and of every group unless they are too many."""
    sensitive, groups = sensitive_of(data, conditions), state.size.size
    alike = entries(sensitive)[1] if sensitive.shape[1] else np.empty(0, np.int64)
    values, tags = room(conditions).size, int(alike.max(initial=-1)) + 1
    if not tags or max(values, tags) * groups > TALLIED:
        groups = 0
    tally, verdict = np.zeros((groups, values), np.int64), np.zeros((groups, tags, 2), np.int8)
    hidden = Hidden(sensitive, alike, tally, verdict)
    if groups:
        count_all(conditions, hidden, state.chains)
    return hidden


def cooling(part: float) -> float:
    """Return the share of the first heat that is left after this part of all rounds."""
    return max(0.0, 1.0 - part / 0.9)


def _draw(running: Floats, count: int, rng: np.random.Generator) -> Ints:
    """Draw places with the probabilities whose running sum is given."""
    spots = np.searchsorted(running, rng.random(count) * running[-1], side="right")
    drawn: Ints = np.minimum(spots, running.size - 1)
    return drawn


def random_pattern(
    ladders: Ladders, target: float, rng: np.random.Generator
) -> npt.NDArray[np.int8]:
    """Return a random pattern of at most this width, raised until nothing more fits."""
    level = np.zeros(ladders.levels.size, np.int8)
    width = 0.0
    for j in rng.permutation(np.repeat(np.arange(level.size), ladders.levels - 1)):
        step = ladders.width[j, level[j] + 1] - ladders.width[j, level[j]]
        if width + step <= target:
            level[j] += 1
            width += step
    return level


def _count(task: Task, trials: float) -> float:
    return trials * (LARGE_TRIALS if task.k >= LARGE else 1.0)


def _first(task: Task, labels: Ints | None, rng: np.random.Generator) -> Ints:
    assert labels is not None
    return refined(
        task, labels, Trials(_count(task, task.effort.first_trials), dearer=task.effort.dearer), rng
    )


FIRST_TRIALS = Stage(
    "first trials",
    lambda task: task.effort.first_trials > 0,
    _first,
    "two trials per n / k",
    (Measured("adult30 k=10 effort=fast", 0.07902, 0.07944, "2026-11-18"),),
    reads=lambda effort: effort.first_trials,
)


def _more(task: Task, labels: Ints | None, rng: np.random.Generator) -> Ints | None:
    assert labels is not None
    effort, times = task.effort, SET_TRIALS if task.has_sets else 1
    size = SHARD * (2 if task.has_sets or effort.heat else 1)
    wanted = Trials(
        _count(task, times * effort.trials), effort.passes, effort.heat, effort.dearer, size
    )
    return task.cheaper(labels, refined(task, labels, wanted, rng))


TRIALS = Stage(
    "trials",
    lambda task: task.effort.trials > 0 and not task.makes_chains,
    _more,
    "trials per n / k, as many as the effort says",
    (
        Measured("adult30 k=10", 0.07620, 0.07661, "2026-11-18"),
        Measured("fars k=10 l=3 rows=20000", 0.22347, 0.22978, "2026-11-18"),
    ),
    reads=lambda effort: (effort.trials, effort.passes, effort.heat, effort.dearer),
)


IDLE = 8
"""Fruitless turns before new starts end."""


def _restarted(task: Task, labels: Ints | None, rng: np.random.Generator) -> Ints:
    """Warm the groups of a small table up and cool them down again until nothing improves."""
    assert labels is not None
    warm, idle = Trials(60, 2, 0.7, np.inf), 0
    best = task.loss(labels)
    while idle < IDLE and not task.stopped():
        other = refined(task, labels, warm, rng)
        idle, loss = idle + 1, task.loss(other)
        if loss < best - 1e-9:
            best, labels, idle = loss, other, 0
    return labels


RESTARTS = Stage(
    "restarts",
    lambda task: task.data.rows <= FEW and task.effort.restarts,
    _restarted,
    "60 trials per n / k a turn, until eight turns in a row bring nothing",
    (Measured("adult30 k=10 rows=300", 0.35342, 0.38544, "2026-11-18"),),
)

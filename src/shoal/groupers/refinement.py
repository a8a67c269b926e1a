"""Many small trials on shards of neighbouring groups: the second half of the method `shoal`.

The groups are cut into shards, each shard is refined on its own, and the cut changes from pass to
pass. Shards do not depend on the number of threads, so neither does the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.base.pace import under_way
from shoal.base.partition import in_order
from shoal.base.threads import workers
from shoal.coding.encode import Encoded
from shoal.coding.tuples import entries
from shoal.groupers.conditions import sensitive_of
from shoal.kernels.boxes.candidate_groups import Hidden, count_all, mark_all, new_covered
from shoal.kernels.boxes.classes import Classes, by_class, new_hashed, signatures
from shoal.kernels.boxes.conditions import Conditions, room, stated
from shoal.kernels.boxes.geometry import Boxes
from shoal.kernels.boxes.groups import State, start_state
from shoal.kernels.boxes.lattice import Ladders
from shoal.kernels.boxes.refine import trials
from shoal.kernels.boxes.shard import WINDOW, Shard, new_work

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

GROUPS = 1_500
"""Groups that a shard has room for, whatever their size: among few, trials find no better place."""
PARTS = 3
"""Where groups have to be larger than k, trials are made as if k were such a part of their size."""
TALLIED = 8_000_000
"""Pairs of a group and a sensitive value up to which those of every group are kept count of."""


@dataclass(frozen=True)
class Effort:
    """How far to go. All limits count work, not seconds, so that a seed gives one answer.

    Parameters
    ----------
    merge
        Level widths closer than this (relative) are one level of the peel.
    visits
        Entries that the peel looks at, per entry of the table.
    trials
        Refinement trials, per n / k.
    heat
        Worsening accepted at first, in mean losses of a row; it cools down to nothing.
    shard
        Rows refined together.
    passes
        Times that the table is cut into shards anew.
    dearer
        Times as long as with groups of k rows that trials may take where groups must be larger.
    """

    merge: float
    visits: float
    trials: float
    heat: float
    shard: int
    passes: int
    dearer: float = 3.0


def refined(
    data: Encoded,
    k: int,
    conditions: Conditions,
    boxes: Boxes,
    ladders: Ladders,
    labels: Ints,
    effort: Effort,
    rng: np.random.Generator,
    stop: Callable[[], bool] | None = None,
    visits: Ints | None = None,
) -> Ints:
    """Return better groups for the rows; ``stop`` is asked before every round of a shard.

    ``visits``, one number, grows by the groups and rows that trials look at.
    """
    made = np.zeros(1, np.int64)
    wanted = max(1.0, effort.trials * data.rows / k)
    with ThreadPoolExecutor(workers()) as pool, under_way("trials", lambda: made[0] / wanted):
        for turn in range(effort.passes):
            shards = _cut(data.codes, labels, max(effort.shard, GROUPS * k), rng)

            def work(rows: Ints, own: np.random.Generator, turn: int = turn) -> tuple[Ints, int]:
                part = data.take(rows)  # no other shard reads or writes the labels of these rows
                state = start_state(boxes, part.codes, renumbered(labels[rows]))
                task = (part, k, conditions, boxes, ladders, state, effort, turn, own, stop, made)
                return refine(*task)

            draws = rng.spawn(len(shards))
            jobs = [pool.submit(work, *each) for each in zip(shards, draws, strict=True)]
            start = 0
            for rows, job in zip(shards, jobs, strict=True):
                found, seen = job.result()
                if visits is not None:
                    visits += seen
                labels[rows] = found + start
                start += int(found.max()) + 1
            if stop is not None and stop():
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
    data: Encoded,
    k: int,
    conditions: Conditions,
    boxes: Boxes,
    ladders: Ladders,
    state: State,
    effort: Effort,
    turn: int,
    rng: np.random.Generator,
    stop: Callable[[], bool] | None = None,
    made: Ints | None = None,
) -> tuple[Ints, int]:
    """Refine the groups of ``state`` by many trials; ``made``, one number, grows by those.

    Returns the best labels once it is cool, and how many groups and rows were looked at.
    """
    n = data.rows
    columns = np.ascontiguousarray(data.codes.T)
    hashed, classes = new_hashed(n), Classes(np.zeros(n, np.int64), np.zeros(n, np.int64))
    # A rule on sensitive values makes groups larger than k, and those are to be refined.
    typical = max(k, n // int((state.size > 0).sum())) if conditions.code.size else k
    most = 4 * typical + 60  # larger groups, all of one tuple as a rule, stay as they are
    each = _rows_each(state, k, typical, most, effort.dearer * max(1.0, effort.shard / n))
    luck = int(rng.integers(1, 2**62))
    covered = new_covered(boxes, state.size.size)
    mark_all(boxes, covered, state, most)
    hidden = hidden_of(data, conditions, state)
    tags = int(hidden.alike.max(initial=-1)) + 1
    distinct, entry, _ = entries(np.hstack((data.codes, hidden.sens)))
    hist = room(conditions)
    work = new_work(boxes, most, len(distinct), state.size.size, hist, tags, luck)
    shard = Shard(boxes, data.codes, entry, hidden, k, most, state, covered, classes, work)
    best, labels = state.cost.sum(), state.chains.group.copy()
    heat = effort.heat * best / n
    per_round = max(50 if typical == k else 1, n // each // 2)  # large groups make trials dear
    rounds = max(1, round(effort.trials / effort.passes * n / each / per_round))
    for now in range(rounds):
        per_row = (state.cost / np.maximum(state.size, 1))[state.chains.group]
        running = np.cumsum(per_row)
        if running[-1] <= 0.0 or (stop is not None and stop()):
            break
        wanted = per_row[_draw(running, 1, rng)[0]] * rng.uniform(0.6, 1.3)
        pattern = random_pattern(ladders, wanted, rng)
        signatures(ladders, pattern, columns, n, hashed.hashes)
        by_class(hashed, rng.permutation(n), classes)
        # Look mostly where rows lose about as much as a class of this pattern does.
        likely = np.minimum(per_row, 1.5 * wanted) * (per_row > 0.4 * wanted)
        running = np.cumsum(likely[classes.rows])
        if running[-1] <= 0.0:
            continue
        picks = _draw(running, per_round, rng)
        warmth = cooling((turn + now / rounds) / effort.passes)
        trials(shard, stated(conditions), picks, now, heat * warmth)
        if made is not None:
            made += per_round * each // k
        loss = state.cost.sum()
        if loss < best or heat * warmth > 0.0:
            best, labels = loss, state.chains.group.copy()
    return renumbered(labels), int(work.stamps[3])


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

"""The three phases of TP on counts: which rows go to the residue, told by group and value.

A *run* is a group and a sensitive value in it. A group *Q* is eligible for l when its size is at
least l times its height h(Q), the count of its most frequent value; the values at the height are
its *peaks*.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.kernels import inner, kernel

Ints = npt.NDArray[np.int64]
HEIGHT, TOTAL, QUEUED, PHASE = 0, 1, 2, 3


class Ledger(NamedTuple):
    """Groups, residue and worklists, as flat arrays."""

    starts: Ints
    """Group ``g`` has the runs ``starts[g]:starts[g + 1]``."""
    group: Ints
    value: Ints
    left: Ints
    """Per run: its group, its value, and how many rows are left in the group."""
    size: Ints
    height: Ints
    """Per group."""
    residue: Ints
    """Per value: rows in the residue."""
    figures: Ints
    """The residue's height and total, the length of the queue, the last phase that was needed."""
    head: Ints
    after: Ints
    """Per value a list of runs that may be able to give a row: the first, and the next of each."""
    listed: npt.NDArray[np.bool_]
    heap: Ints
    queued: npt.NDArray[np.bool_]
    """The values that have such a run, as a heap by their count in the residue, then their code."""


def new_state(starts: Ints, value: Ints, count: Ints, values: int) -> Ledger:
    """Return the state in which every row is in its group."""
    groups = starts.size - 1
    group = np.repeat(np.arange(groups), np.diff(starts))
    return Ledger(
        starts=starts,
        group=group,
        value=value,
        left=count.copy(),
        size=np.bincount(group, weights=count, minlength=groups).astype(np.int64),
        height=np.zeros(groups, np.int64),
        residue=np.zeros(values, np.int64),
        figures=np.zeros(4, np.int64),
        head=np.full(values, -1, np.int64),
        after=np.full(value.size, -1, np.int64),
        listed=np.zeros(value.size, np.bool_),
        heap=np.zeros(values + 1, np.int64),
        queued=np.zeros(values, np.bool_),
    )


@inner
def _move(state: Ledger, run: int) -> None:
    """Move one row of a run into the residue."""
    g, v = state.group[run], state.value[run]
    state.left[run] -= 1
    state.size[g] -= 1
    state.residue[v] += 1
    state.figures[TOTAL] += 1
    state.figures[HEIGHT] = max(state.figures[HEIGHT], state.residue[v])


@inner
def _measure(state: Ledger, g: int) -> None:
    """Set the height of a group."""
    state.height[g] = 0
    for run in range(state.starts[g], state.starts[g + 1]):
        state.height[g] = max(state.height[g], state.left[run])


@inner
def _shared(state: Ledger, g: int) -> tuple[int, int]:
    """Return how many peaks of a group are peaks of the residue too, and how many it has."""
    both, peaks = 0, 0
    for run in range(state.starts[g], state.starts[g + 1]):
        if state.left[run] == state.height[g]:
            peaks += 1
            both += state.residue[state.value[run]] == state.figures[HEIGHT]
    return both, peaks


@inner
def _lower(state: Ledger, g: int) -> None:
    """Move one row of each peak of a group."""
    height = state.height[g]
    for run in range(state.starts[g], state.starts[g + 1]):
        if state.left[run] == height:
            _move(state, run)
    state.height[g] = height - 1


@inner
def _first_phase(state: Ledger, l: int) -> None:  # noqa: E741
    """Cut the peaks of every group that is not eligible until it is."""
    for g in range(state.starts.size - 1):
        _measure(state, g)
        height = state.height[g]
        while height > 0:
            kept = 0
            for run in range(state.starts[g], state.starts[g + 1]):
                kept += min(state.left[run], height)
            if kept >= l * height:
                break
            height -= 1
        while state.height[g] > height:
            _lower(state, g)


@inner
def _queue(state: Ledger, key: int) -> None:
    """Put a value into the heap, as count in the residue times number of values plus code."""
    heap, at = state.heap, state.figures[QUEUED]
    state.figures[QUEUED] += 1
    while at > 0 and heap[(at - 1) // 2] > key:
        heap[at] = heap[(at - 1) // 2]
        at = (at - 1) // 2
    heap[at] = key


@inner
def _unqueue(state: Ledger) -> int:
    """Take the least key out of the heap."""
    heap = state.heap
    least = heap[0]
    state.figures[QUEUED] -= 1
    size = state.figures[QUEUED]
    key, at = heap[size], 0
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= key:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = key
    return least


@inner
def _list(state: Ledger, run: int) -> None:
    """Note that a run may be able to give a row."""
    v = state.value[run]
    if state.left[run] > 0 and not state.listed[run]:
        state.listed[run] = True
        state.after[run] = state.head[v]
        state.head[v] = run
        if not state.queued[v]:
            state.queued[v] = True
            _queue(state, state.residue[v] * state.residue.size + v)


@inner
def _giver(state: Ledger, v: int, l: int) -> int:  # noqa: E741
    """Return the first listed run of a value whose group can give now, -1 when there is none.

    A group with rows to spare gives any value; a tight one only lowers itself, and only when that
    does not raise the residue. Runs that cannot are taken off the list: nothing but a lowering of
    their own group can change that, and it lists them again.
    """
    while state.head[v] >= 0:
        run = state.head[v]
        g = state.group[run]
        if state.left[run] > 0:
            if state.size[g] > l * state.height[g]:
                return run
            if state.left[run] == state.height[g] and _shared(state, g)[0] == 0:
                return run
        state.listed[run] = False
        state.head[v] = state.after[run]
    return -1


@inner
def _second_phase(state: Ledger, l: int) -> None:  # noqa: E741
    """Move rows into the residue without raising it, its rarest values first."""
    values = state.residue.size
    for run in range(state.value.size - 1, -1, -1):
        _list(state, run)
    while state.figures[TOTAL] < l * state.figures[HEIGHT] and state.figures[QUEUED] > 0:
        key = _unqueue(state)
        v = key % values
        state.queued[v] = False
        if state.residue[v] >= state.figures[HEIGHT]:
            continue  # a peak of the residue: one more would raise it
        if key // values == state.residue[v]:
            run = _giver(state, v, l)
            if run < 0:
                continue
            g = state.group[run]
            if state.size[g] > l * state.height[g]:
                _move(state, run)
                _measure(state, g)
            else:
                _lower(state, g)
                for other in range(state.starts[g], state.starts[g + 1]):
                    _list(state, other)
        if not state.queued[v]:
            state.queued[v] = True
            _queue(state, state.residue[v] * values + v)


@inner
def _third_phase(state: Ledger) -> bool:
    """Lower the group that shares fewest peaks with the residue, which rises by one.

    Of several the one with most peaks, then the first. False when all groups are empty.
    """
    best, fewest, most = -1, 0, 0
    for g in range(state.starts.size - 1):
        if state.size[g] > 0:
            both, peaks = _shared(state, g)
            if best < 0 or both < fewest or (both == fewest and peaks > most):
                best, fewest, most = g, both, peaks
    if best >= 0:
        _lower(state, best)
    return best >= 0


@kernel
def remove(state: Ledger, l: int, homeless: bool) -> None:  # noqa: E741
    """Run the three phases until all groups and the residue are eligible.

    ``homeless``: there are groups without any known value, whose rows need a residue that is not
    empty.
    """
    _first_phase(state, l)
    figures = state.figures
    figures[PHASE] = 1
    while figures[TOTAL] < l * figures[HEIGHT] or (homeless and figures[TOTAL] == 0):
        if figures[TOTAL] > 0:
            figures[PHASE] = max(figures[PHASE], 2)
            _second_phase(state, l)
            if figures[TOTAL] >= l * figures[HEIGHT]:
                break
        figures[PHASE] = 3
        if not _third_phase(state):
            break
        # The residue has other peaks now, so every run may be able again.
        for v in range(state.head.size):
            state.head[v] = -1
            state.queued[v] = False
        for run in range(state.listed.size):
            state.listed[run] = False
        figures[QUEUED] = 0

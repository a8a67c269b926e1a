"""Incognito: full-domain recoding (LeFevre, DeWitt, Ramakrishnan 2005) under any rule.

A *node* gives every column a level; all cells of the column are published on it. Nodes are searched
over growing sets of columns: a set of columns can only pass where all its smaller sets do, and
above a node that passes every node passes. The classes of a node come from the classes of a node
below it, so a node costs the number of classes, not of rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from shoal.base.errors import Infeasible, ParameterError, ShoalWarning
from shoal.base.partition import Codes, Cover, GroupStats, Histogram, Partition
from shoal.base.people import PERSON
from shoal.coding.encode import Encoded
from shoal.coding.tuples import entries
from shoal.groupers.judge import Bools, Ints, Judge
from shoal.groupers.levels import Ladder, ladders
from shoal.kernels.regroup import Merged, Rise, regroup
from shoal.privacy import Rule, caps_of

LARGEST = 20_000_000
"""Nodes that the search may have to look at."""

Node = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Solutions:
    """What the search found.

    Parameters
    ----------
    passing
        Which nodes pass: one axis per column, its levels along it.
    minimal
        The passing nodes below which none passes.
    best, loss, removed
        The passing node with the least loss, that loss (as ILossRate), and the rows it leaves out.
    checked
        Number of nodes whose classes were counted.
    """

    passing: Bools
    minimal: tuple[Node, ...]
    best: Node
    loss: float
    removed: int
    checked: int


def group(
    data: Encoded, rule: Rule, rng: np.random.Generator, *, suppression: float = 0.0
) -> Partition:
    """Publish every column on one level: the passing combination of levels with the least loss.

    Parameters
    ----------
    suppression
        Largest share of the rows that may be left out, those whose class breaks the rule.

    Notes
    -----
    Section 3 of the paper. The best node is sought among *all* passing ones: when rows may be left
    out, a node above a minimal one can lose less, because it leaves out fewer. ``rng`` is not
    used. The notes of the partition name the levels and all minimal solutions.
    """
    solutions, table = _solve(data, rule, suppression)
    steps = table.ladders
    classes = _lifted(table.base, steps, (0,) * len(steps), solutions.best, table.judge)
    passed = table.judge.holds(classes.stats)
    label = np.where(passed, np.cumsum(passed) - 1, -1)[classes.origin[table.entry]]
    partition = Partition.from_labels(label)
    codes = data.codes[partition.rows[partition.starts[:-1]]]
    cover = Cover.none(partition.groups, len(steps))
    for j, (step, level) in enumerate(zip(steps, solutions.best, strict=True)):
        cover.lo[:, j] = step.lo[level, codes[:, j]]
        cover.hi[:, j] = step.hi[level, codes[:, j]]
        cover.node[:, j] = step.node[level, codes[:, j]]
    return replace(partition, cover=cover, notes=_notes(data, solutions))


def solutions(data: Encoded, rule: Rule, *, suppression: float = 0.0) -> Solutions:
    """Return all minimal solutions and the best one."""
    return _solve(data, rule, suppression)[0]


def _notes(data: Encoded, solutions: Solutions) -> dict[str, object]:
    return {
        "levels": dict(zip(data.names, solutions.best, strict=True)),
        "minimal": [dict(zip(data.names, node, strict=True)) for node in solutions.minimal],
        "nodes": solutions.passing.size,
        "checked": solutions.checked,
    }


@dataclass(frozen=True, eq=False)
class _Classes:
    """The classes of a node over some columns: codes ``[classes, columns]`` and statistics.

    ``keys``: the codes of a class as one number. ``origin``: the class of every class that was put
    together to get here.
    """

    codes: Codes
    keys: Ints
    stats: GroupStats
    origin: Ints


@dataclass(frozen=True, eq=False)
class _Table:
    """The table as its distinct rows, and all that judging a node needs."""

    base: _Classes
    entry: Ints
    ladders: tuple[Ladder, ...]
    judge: Judge
    limit: int


def _solve(data: Encoded, rule: Rule, suppression: float) -> tuple[Solutions, _Table]:
    judge = Judge(data, rule)
    steps = ladders(data)
    shape = tuple(step.levels for step in steps)
    nodes = int(np.prod(shape, dtype=np.float64))
    if nodes > LARGEST:
        raise ParameterError(
            f"Incognito would have to look at {nodes:,} combinations of levels of the "
            f"{len(shape)} quasi-identifiers, more than {LARGEST:,}. Use fewer quasi-identifiers, "
            "hierarchies with fewer levels, or a method that does not enumerate, such as mondrian."
        )
    _, entry, _ = entries(data.codes)
    table = _Table(
        _bottom(data, entry, steps, judge), entry, steps, judge, int(suppression * data.rows + 1e-9)
    )
    passing, checked = _search(table, shape)
    closed = passing  # with all nodes above a passing one, should some of them fail
    for axis in range(passing.ndim):
        closed = np.logical_or.accumulate(closed, axis=axis)
    best, loss, removed = _best(table, passing, data.rows)
    minimal = tuple(tuple(map(int, node)) for node in np.argwhere(passing & ~_from_below(closed)))
    return Solutions(passing, minimal, best, loss, removed, checked), table


def _bottom(data: Encoded, entry: Ints, steps: Sequence[Ladder], judge: Judge) -> _Classes:
    """Return the classes of equal rows: the node with every level 0."""
    count = int(entry.max()) + 1
    first = np.empty(count, np.int64)
    first[entry[::-1]] = np.arange(data.rows)[::-1]
    sizes = np.bincount(entry, minlength=count).astype(np.int64)
    stats = judge.tally(sizes, np.arange(data.rows), entry)
    codes = np.ascontiguousarray(data.codes[first])
    keys = codes.astype(np.int64) @ _strides(steps)[0]
    return _Classes(codes, keys, stats, np.arange(count))


def _search(table: _Table, shape: Node) -> tuple[Bools, int]:
    """Return which nodes of the full lattice pass, and how many nodes were counted."""
    everything = tuple(range(len(shape)))
    if not _prunes(table):
        warnings.warn(
            f"The promise that {table.judge.rule.describe()} may break when classes grow"
            f"{' while rows are left out' if table.limit else ''}: Incognito counts all "
            f"{np.prod(shape, dtype=np.int64):,} combinations of levels, without pruning.",
            ShoalWarning,
            stacklevel=4,
        )
        return _climb(table, everything, np.ones(shape, np.bool_), prune=False)
    below: dict[Node, Bools] = {(): np.ones((), np.bool_)}
    checked = 0
    for size in range(1, len(shape) + 1):
        now: dict[Node, Bools] = {}
        for columns in combinations(everything, size):
            candidates = np.ones([shape[j] for j in columns], np.bool_)
            for axis in range(size):
                smaller = below[columns[:axis] + columns[axis + 1 :]]
                candidates &= np.expand_dims(smaller, axis)
            now[columns], count = _climb(table, columns, candidates, prune=True)
            checked += count
        below = now
    return below[everything], checked


def _prunes(table: _Table) -> bool:
    """Whether a node above a passing one always passes.

    Without rows left out it does, as rules grow safely. With them a class that fails may drag down
    one that passes, unless the rule asks for sizes and different values only. So it is where people
    are counted: two classes that share people may each keep a share that both together break.
    """
    if not table.limit and PERSON not in table.judge.codes:
        return True
    caps = caps_of(table.judge.rule)
    return caps is not None and all(column.least_share >= 1.0 for column in caps.columns.values())


def _climb(table: _Table, columns: Node, candidates: Bools, *, prune: bool) -> tuple[Bools, int]:
    """Look at the candidates over some columns from the bottom up; return which pass."""
    passing = np.zeros(candidates.shape, np.bool_)
    height = np.add.reduce(np.indices(candidates.shape)) if columns else np.zeros(())
    steps = [table.ladders[j] for j in columns]
    bottom: _Classes | None = None
    lower: dict[Node, _Classes] = {}
    checked = 0
    for h in range(int(height.max(initial=0)) + 1):
        wanted = candidates & (height == h)
        if prune:
            passing |= wanted & _from_below(passing)
        here: dict[Node, _Classes] = {}
        for node in map(tuple, np.argwhere(wanted & ~passing).tolist()):
            source, at = _nearest(lower, node)
            if source is None:
                if bottom is None:
                    bottom = _restricted(table, columns)
                source, at = bottom, (0,) * len(columns)
            classes = _lifted(source, steps, at, node, table.judge)
            here[node] = classes
            checked += 1
            failing = ~table.judge.holds(classes.stats)
            passing[node] = int(classes.stats.sizes[failing].sum()) <= table.limit
        lower = here
    return passing, checked


def _from_below(passing: Bools) -> Bools:
    """Return the nodes right above a passing one."""
    above = np.zeros(passing.shape, np.bool_)
    for axis in range(passing.ndim):
        up, down = [slice(None)] * passing.ndim, [slice(None)] * passing.ndim
        up[axis], down[axis] = slice(1, None), slice(None, -1)
        above[tuple(up)] |= passing[tuple(down)]
    return above


def _nearest(lower: dict[Node, _Classes], node: Node) -> tuple[_Classes | None, Node]:
    """Return the node right below with the fewest classes, if any was counted."""
    nearest: tuple[_Classes | None, Node] = (None, node)
    for axis, level in enumerate(node):
        under = (*node[:axis], level - 1, *node[axis + 1 :])
        classes = lower.get(under)
        if classes and (nearest[0] is None or len(classes.codes) < len(nearest[0].codes)):
            nearest = classes, under
    return nearest


def _restricted(table: _Table, columns: Node) -> _Classes:
    """Return the classes of equal rows in some columns only."""
    base = table.base
    zero = (0,) * len(columns)
    chosen = replace(base, codes=np.ascontiguousarray(base.codes[:, list(columns)]))
    steps = [table.ladders[j] for j in columns]
    chosen = replace(chosen, keys=chosen.codes.astype(np.int64) @ _strides(steps)[0])
    return _lifted(chosen, steps, zero, zero, table.judge)


def _strides(steps: Sequence[Ladder]) -> tuple[Ints, bool]:
    """Return factors that make a row of codes one number, and whether no two rows get the same.

    No level has more codes than there are positions, so one set of factors serves all levels.
    """
    sizes = [step.code.shape[1] for step in steps]
    exact = float(np.prod(sizes, dtype=np.float64)) < 2.0**62
    if exact:
        return np.concatenate(([1], np.cumprod(sizes)[:-1])).astype(np.int64), True
    return np.random.default_rng(1).integers(1, 2**62 // sum(sizes), len(sizes)), False


def _lifted(
    classes: _Classes, steps: Sequence[Ladder], at: Node, to: Node, judge: Judge
) -> _Classes:
    """Return the classes that are left when columns go from the levels ``at`` up to ``to``."""
    rows, m = classes.codes.shape
    changed = [j for j in range(m) if at[j] != to[j]]
    maps = [steps[j].rises[at[j], to[j]] for j in changed]
    sizes = np.array([part.size for part in maps], np.int64)
    codes, keys, total = np.empty((rows + 1, m), np.int32), *np.empty((2, rows + 1), np.int64)
    origin = np.empty(rows, np.int64)
    flat = np.concatenate([*maps, np.empty(0, np.int32)])
    rise = Rise(np.array(changed, np.int64), flat, np.cumsum(sizes) - sizes, *_strides(steps))
    slots = np.full(1 << int(2 * rows).bit_length(), -1, np.int32)
    old = Merged(classes.codes, classes.keys, classes.stats.sizes)
    count = regroup(old, rise, slots, Merged(codes, keys, total), origin)
    histograms = {
        name: judge.histogram(
            name, origin[np.repeat(np.arange(rows), hist.distinct)], hist.values, hist.counts, count
        )
        for name, hist in classes.stats.histograms.items()
    }
    stats = GroupStats(total[:count], histograms)
    return _Classes(codes[:count], keys[:count], stats, origin)


def _best(table: _Table, passing: Bools, rows: int) -> tuple[Node, float, int]:
    """Return the passing node with the least loss, its loss, and the rows that it leaves out.

    What a node costs when all rows are published is a sum over columns, and no node above it can
    cost less, rows left out or not. So nodes are tried by that sum until it exceeds the best loss.
    """
    m = passing.ndim
    base, steps = table.base, table.ladders
    price = np.zeros(passing.shape)
    for j, step in enumerate(steps):
        along = step.width[:, base.codes[:, j]] @ base.stats.sizes
        price += along.reshape([-1 if axis == j else 1 for axis in range(m)])
    candidates = np.flatnonzero(passing)
    candidates = candidates[np.argsort(price.ravel()[candidates], kind="stable")]
    best: tuple[Node, float, int] | None = None
    for flat in candidates:
        node = tuple(map(int, np.unravel_index(flat, passing.shape)))
        bound = float(price[node]) / (rows * m)
        if best is not None and bound >= best[1]:
            break
        if not table.limit:
            return node, bound, 0
        loss, removed = _priced(table, node)
        if best is None or loss / (rows * m) < best[1]:
            best = node, loss / (rows * m), removed
    if best is None or not np.isfinite(best[1]):
        raise Infeasible(
            f"No combination of levels keeps the promise that {table.judge.rule.describe()} for "
            "the rows that are left. Lower the suppression limit, or relax the rule."
        )
    return best


def _priced(table: _Table, node: Node) -> tuple[float, int]:
    """Return the loss of a node with its failing classes left out, and the number of those rows.

    The rule is asked again about what is left: some rules compare with the whole release.
    """
    base, steps = table.base, table.ladders
    classes = _lifted(base, steps, (0,) * len(steps), node, table.judge)
    passed = table.judge.holds(classes.stats)
    left = _without(classes.stats, passed)
    if not passed.any() or not table.judge.holds(left).all():
        return np.inf, 0
    kept = passed[classes.origin]
    sizes = base.stats.sizes
    removed = int(sizes[~kept].sum())
    cost = np.zeros(sizes.size)
    for j, (step, level) in enumerate(zip(steps, node, strict=True)):
        cost += step.width[level, base.codes[:, j]]
    return float(cost[kept] @ sizes[kept]) + len(node) * removed, removed


def _without(stats: GroupStats, kept: Bools) -> GroupStats:
    """Return the statistics of a release that has only the classes that are kept."""
    histograms = {}
    rows = int(stats.sizes[kept].sum())
    for name, hist in stats.histograms.items():
        runs = np.repeat(kept, hist.distinct)
        values, counts = hist.values[runs], hist.counts[runs]
        whole = np.bincount(values, weights=counts, minlength=hist.whole.size).astype(np.int64)
        starts = np.concatenate(([0], np.cumsum(hist.distinct[kept]))).astype(np.int64)
        gaps = rows - int(counts.sum())  # where people are counted these are sets, without names
        histograms[name] = Histogram(starts, values, counts, whole, hist.names, whole_gaps=gaps)
    return GroupStats(stats.sizes[kept], histograms)


__all__ = ["LARGEST", "Solutions", "group", "solutions"]

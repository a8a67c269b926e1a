"""Make some moves for real, and take them back unless they pay and every rule holds."""

from __future__ import annotations

from typing import NamedTuple

from shoal.kernels import inner
from shoal.kernels.boxes.conditions import Conditions
from shoal.kernels.boxes.geometry import Extents, Floats, Ints
from shoal.kernels.boxes.groups import holds, link, measure, unlink
from shoal.kernels.boxes.shard import Shard


class Moves(NamedTuple):
    """Rows that change groups."""

    row: Ints
    to: Ints
    back: Ints
    """Where each row was before."""


class Touched(NamedTuple):
    """The groups that some moves touch, and what these make of them."""

    group: Ints
    size: Ints
    cost: Floats
    extents: Extents
    mark: Ints
    """Per group: the number of the last attempt that touched it."""


@inner
def try_moves(
    shard: Shard,
    rule: Conditions | None,
    moves: Moves,
    count: int,
    touched: Touched,
    allow: float,
) -> tuple[int, float]:
    """Make the moves; keep them if the loss grows by at most `allow` and every group is allowed.

    Returns the number of groups touched, 0 if everything is as it was, and the change of loss.
    """
    boxes, state, work, changed = shard.boxes, shard.state, shard.work, touched.extents
    chains, extents, after, stamps = state.chains, state.extents, state.chains.after, work.stamps
    stamps[0] += 1
    n, old = 0, 0.0
    for i in range(count):
        moves.back[i] = chains.group[moves.row[i]]
        for side in range(2):
            g = moves.to[i] if side else moves.back[i]
            if touched.mark[g] != stamps[0]:
                if n == len(touched.group):
                    return 0, 0.0
                touched.mark[g] = stamps[0]
                touched.group[n] = g
                old += state.cost[g]
                n += 1
    for i in range(count):
        unlink(chains, moves.row[i])
        link(chains, moves.row[i], moves.to[i])
    new, good = 0.0, True
    for i in range(n):
        first = chains.first[touched.group[i]]
        if first < 0:
            touched.size[i], touched.cost[i] = 0, 0.0
            continue
        stamps[1] += len(boxes.kind)
        z, cost = measure(boxes, shard.codes, after, first, changed, i, work.seen, stamps[1])
        touched.size[i], touched.cost[i] = z, cost
        new += cost
        good = new <= old + allow and z >= shard.k
        if not good:
            break
    if rule is not None and good:  # what costs too much need not be asked about
        for i in range(n):
            first = chains.first[touched.group[i]]
            if first >= 0:
                z = touched.size[i]
                good &= holds(shard.k, rule, shard.hidden.sens, after, first, z, work.hist)
            if not good:
                break
    if good and abs(new - old) > 1e-9:  # most changes of nothing put the same groups together again
        for i in range(n):
            g = touched.group[i]
            for j in range(len(boxes.kind)):
                extents.lo[g, j], extents.hi[g, j] = changed.lo[i, j], changed.hi[i, j]
                extents.miss[g, j] = changed.miss[i, j]
            state.size[g], state.cost[g] = touched.size[i], touched.cost[i]
        return n, new - old
    for i in range(count - 1, -1, -1):
        unlink(chains, moves.row[i])
        link(chains, moves.row[i], moves.back[i])
    return 0, 0.0

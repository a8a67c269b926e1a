"""Make some moves for real, and take them back unless they pay and every rule holds."""

from __future__ import annotations

from shoal.kernels import inner
from shoal.kernels.boxes.conditions import Conditions
from shoal.kernels.boxes.groups import holds, link, measure, unlink
from shoal.kernels.boxes.shard import ATTEMPT, Moves, Shard


@inner
def try_moves(
    shard: Shard, rule: Conditions | None, moves: Moves, count: int, allow: float
) -> tuple[int, float]:
    """Make the moves; keep them if the loss grows by at most `allow` and every group is allowed.

    Returns the number of groups touched, 0 if everything is as it was, and the change of loss.
    """
    boxes, state, touched = shard.boxes, shard.state, shard.work.touched
    chains, extents, changed = state.chains, state.extents, touched.extents
    shard.work.counters[ATTEMPT] += 1
    n, old = 0, 0.0
    for i in range(count):
        moves.back[i] = chains.group[moves.row[i]]
        for side in range(2):
            g = moves.to[i] if side else moves.back[i]
            if touched.mark[g] != shard.work.counters[ATTEMPT]:
                if n == len(touched.group):
                    return 0, 0.0
                touched.mark[g] = shard.work.counters[ATTEMPT]
                touched.group[n] = g
                old += state.cost[g]
                n += 1
    for i in range(count):
        unlink(chains, moves.row[i])
        link(chains, moves.row[i], moves.to[i])
    new, good = 0.0, True
    for i in range(n):
        g = touched.group[i]
        touched.size[i], touched.cost[i] = 0, 0.0
        if chains.first[g] < 0:
            continue
        touched.size[i], touched.cost[i] = measure(
            boxes, shard.codes, chains, g, changed, i, shard.work.seen
        )
        new += touched.cost[i]
        good = new <= old + allow and touched.size[i] >= shard.k
        if not good:
            break
    if rule is not None and good:  # what costs too much need not be asked about
        for i in range(n):
            g = touched.group[i]
            if chains.first[g] >= 0:
                good &= holds(rule, shard.hidden.sens, chains, g, -1, shard.work.hist)
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

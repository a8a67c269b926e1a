"""Make some moves for real, and take them back unless they pay and every rule holds."""

from __future__ import annotations

import numpy as np

from shoal.kernels import inner, kernel
from shoal.kernels.boxes.geometry import Floats, Ints, Parts, Words
from shoal.kernels.boxes.groups import holds, link, measure, unlink


@inner
def try_moves(
    kind: Ints,
    dsize: Ints,
    off: Ints,
    tab: Floats,
    k: int,
    rule: Parts,
    codes: Ints,
    sens: Ints,
    grp: Ints,
    nxt: Ints,
    prv: Ints,
    head: Ints,
    size: Ints,
    cost: Floats,
    lo: Ints,
    hi: Ints,
    miss: Ints,
    moved: Ints,
    dest: Ints,
    back: Ints,
    moves: int,
    touched: Ints,
    gmark: Ints,
    nlo: Ints,
    nhi: Ints,
    nmiss: Ints,
    nsize: Ints,
    ncost: Floats,
    seen: Ints,
    stamps: Ints,
    hist: Ints,
    allow: float,
) -> tuple[int, float]:
    """Make the moves; keep them if the loss grows by at most `allow` and every group is allowed.

    Returns the number of groups in `touched`, 0 if everything is as it was, and the change of loss.
    """
    stamps[0] += 1
    n, old = 0, 0.0
    for i in range(moves):
        back[i] = grp[moved[i]]
        for side in range(2):
            g = dest[i] if side else back[i]
            if gmark[g] != stamps[0]:
                if n == len(touched):
                    return 0, 0.0
                gmark[g] = stamps[0]
                touched[n] = g
                old += cost[g]
                n += 1
    for i in range(moves):
        unlink(grp, nxt, prv, head, moved[i])
        link(grp, nxt, prv, head, moved[i], dest[i])
    new, good = 0.0, True
    for i in range(n):
        g = touched[i]
        if head[g] < 0:
            nsize[i], ncost[i] = 0, 0.0
            continue
        stamps[1] += len(kind)
        nsize[i], ncost[i] = measure(
            kind, dsize, off, tab, codes, nxt, head[g], nlo, nhi, nmiss, i, seen, stamps[1]
        )
        new += ncost[i]
        if new > old + allow or not holds(k, rule, sens, nxt, head[g], nsize[i], hist):
            good = False
            break
    if good and abs(new - old) > 1e-9:  # most changes of nothing put the same groups together again
        for i in range(n):
            g = touched[i]
            for j in range(len(kind)):
                lo[g, j], hi[g, j], miss[g, j] = nlo[i, j], nhi[i, j], nmiss[i, j]
            size[g], cost[g] = nsize[i], ncost[i]
        return n, new - old
    for i in range(moves - 1, -1, -1):
        unlink(grp, nxt, prv, head, moved[i])
        link(grp, nxt, prv, head, moved[i], back[i])
    return 0, 0.0


@kernel
def by_class(
    hashes: Words, keys: Words, total: Ints, slot: Ints, shuffled: Ints, seq: Ints, cls: Ints
) -> None:
    """Rows ordered class after class, within a class as `shuffled` has them; cls = class number."""
    n = len(shuffled)
    mask = np.uint64(len(keys) - 1)
    for place in range(len(total)):
        total[place] = 0
    for x in range(n):
        i = shuffled[x]
        h = hashes[i]
        p = h & mask
        while total[p] != 0 and keys[p] != h:
            p = (p + np.uint64(1)) & mask
        keys[p] = h
        total[p] += 1
        slot[i] = p
    run = 0
    for x in range(n):  # the first row met of a class opens its stretch: total becomes -1 - start
        p = slot[shuffled[x]]
        if total[p] > 0:
            run += total[p]
            total[p] = -1 - (run - total[p])
    for x in range(n):
        p = slot[shuffled[x]]
        place = -1 - total[p]
        seq[place], cls[place] = shuffled[x], p
        total[p] -= 1

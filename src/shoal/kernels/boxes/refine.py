"""Refine: take a few neighbouring groups apart and put their rows together in a better way.

One trial frees the rows of up to three groups that meet in a class of some pattern, knows for every
freed row the cheapest *candidate group* elsewhere that would take it, grows new groups from random
freed rows, preferring rows whose candidates are dear, with rows that other groups can spare as
fillers, and sends what is left to its candidates. The exact change of loss, and the rule on every
group touched, decide whether it stays. Moves, swaps, re-splits and the dissolving of bad groups are
all cases of this.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels import inner, kernel
from shoal.kernels.boxes.candidate_groups import KEEP, WIDEN, find_candidates, mark_cover
from shoal.kernels.boxes.geometry import Floats, Ints, Parts, Shape, Words, loss_with
from shoal.kernels.boxes.regrow import draw, regrow
from shoal.kernels.boxes.try_moves import try_moves

WINDOW = 24
"""How far on either side a class is looked through for neighbours."""
TOUCH = 256
"""Groups that one trial may touch."""


class Work(NamedTuple):
    """Room for trials, made once for many of them. Few large arrays: each takes time to compile."""

    rows: Ints
    """``[7, rows]``: the pool, where each goes, its home; the moves: row, to, from; the ruins."""
    groups: Ints
    """``[3, groups]``: stamps and counts."""
    touch: Ints
    """``[2, TOUCH]``: the groups touched, and their new sizes."""
    boxes: Ints
    """``[3, TOUCH, m]``: their new boxes."""
    box: Ints
    """``[3, m]``: the box that grows."""
    codes: Ints
    """``[m, rows]``"""
    worth: Floats
    """``[2, rows]``: what a row costs elsewhere, and the widths once it has joined."""
    part: Floats
    """``[m, rows]``: those widths by column."""
    cost: Floats
    """New losses of the groups touched."""
    price: Floats
    seen: Ints
    stamps: Ints
    """Running numbers, the last of them the groups and rows that trials have looked at."""
    hist: Ints
    words: Words


def new_work(columns: int, largest: int, most: int, groups: int, values: int, bits: Words) -> Work:
    """Return room for trials.

    Parameters
    ----------
    columns, largest
        Number of columns, and the size of the largest domain.
    most
        Rows of a group that a trial may take apart.
    groups, values
        Number of group numbers and of sensitive values.
    """
    room = 3 * most + 2 * WINDOW + 8  # rows in one trial: three groups, and what others spare
    return Work(
        rows=np.empty((7, room), np.int64),
        groups=np.full((3, groups), -1),
        touch=np.empty((2, TOUCH), np.int64),
        boxes=np.empty((3, TOUCH, columns), np.int64),
        box=np.empty((3, columns), np.int64),
        codes=np.empty((columns, room), np.int64),
        worth=np.empty((2, room)),
        part=np.empty((columns, room)),
        cost=np.empty(TOUCH),
        price=np.empty(KEEP),
        seen=np.zeros(max(largest, 1) + 1, np.int64),
        stamps=np.zeros(4, np.int64),
        hist=np.zeros(values, np.int64),
        words=np.empty((WIDEN + 1, bits.shape[1]), np.uint64),
    )


@kernel
def trials(
    space: Shape,
    k: int,
    rule: Parts,
    codes: Ints,
    sens: Ints,
    state: Parts,
    bits: Words,
    at: Ints,
    share: Ints,
    seq: Ints,
    cls: Ints,
    picks: Ints,
    most: int,
    home: Ints,
    born: Ints,
    now: int,
    life: int,
    heat: float,
    seed: Words,
    work: Work,
) -> tuple[float, int]:
    """Run one trial at every place of `picks` in `seq` (rows class after class, classes in `cls`).

    Returns the change of the total loss and the number of trials that stayed.
    """
    kind, dsize, off, tab = space
    grp, nxt, prv, head, size, cost, lo, hi, miss, free, live = state
    m = len(kind)
    rows, groups = work.rows, work.groups
    pool, into, away, ruined = rows[0], rows[1], rows[2], rows[6]
    moved, dest, back = rows[3], rows[4], rows[5]
    mark, given, gmark = groups[0], groups[1], groups[2]
    touched, nsize, ncost = work.touch[0], work.touch[1], work.cost
    nlo, nhi, nmiss = work.boxes[0], work.boxes[1], work.boxes[2]
    box, row, part = work.box, work.codes, work.part
    credit, wsum, price = work.worth[0], work.worth[1], work.price
    seen, stamps, hist, words = work.seen, work.stamps, work.hist, work.words
    gain, stayed = 0.0, 0
    for pick in range(len(picks)):
        here = picks[pick]
        stamps[2] += 1
        t = stamps[2]
        a = grp[seq[here]]
        if cost[a] <= 0.0 or size[a] > most or live[0] < 5:
            continue
        # 1. free the rows of this group and of up to two that it meets in the class
        ruins = 1 + draw(seed, 3)
        ruined[0], mark[a], q, old = a, t, 1, cost[a]
        nf = _gather(nxt, head[a], pool, 0)
        for w in range(2, 2 * WINDOW + 2):
            i = here + w // 2 if w % 2 else here - w // 2
            if q == ruins or i < 0 or i >= len(seq) or cls[i] != cls[here]:
                continue
            g = grp[seq[i]]
            if mark[g] != t and cost[g] > 0.0 and size[g] <= most:
                ruined[q], mark[g] = g, t
                q += 1
                old += cost[g]
                nf = _gather(nxt, head[g], pool, nf)
        # 2. rows that other groups of the class can spare
        n = nf
        for w in range(2, 2 * WINDOW + 2):
            i = here + w // 2 if w % 2 else here - w // 2
            if i < 0 or i >= len(seq) or cls[i] != cls[here]:
                continue
            g = grp[seq[i]]
            if mark[g] != t and k < size[g] <= most:
                given[g] = 0
                pool[n], credit[n] = seq[i], cost[g] / size[g]
                n += 1
        gaps = n < 0
        for i in range(n):
            into[i] = -1
            for j in range(m):
                row[j, i] = codes[pool[i], j]
                gaps |= row[j, i] == dsize[j]
        # 3. candidates, looked up again once in a while
        for i in range(nf):
            r = pool[i]
            cap = 3.0 * cost[grp[r]] / size[grp[r]] + 0.5
            if now - born[r] > life:
                stamps[3] += find_candidates(
                    kind,
                    dsize,
                    off,
                    tab,
                    bits,
                    at,
                    share,
                    lo,
                    hi,
                    miss,
                    size,
                    cost,
                    codes,
                    r,
                    grp[r],
                    cap,
                    words,
                    home,
                    price,
                )
                born[r] = now
            away[i], credit[i] = -1, cap
            for x in range(KEEP):
                h = home[r, x]
                if h >= 0 and mark[h] != t and 0 < size[h] <= most:
                    d = (
                        loss_with(
                            kind,
                            dsize,
                            off,
                            tab,
                            lo,
                            hi,
                            miss,
                            h,
                            size[h],
                            codes,
                            r,
                            cost[h] + credit[i],
                        )
                        - cost[h]
                    )
                    if d < credit[i]:
                        away[i], credit[i] = h, d
        # 4. grow new groups while that is cheaper than going home
        lean = draw(seed, 1024) / 1023.0
        made, left, new = 0, nf, 0.0
        while left >= 2 and made <= q:
            stamps[3] += n
            z, spent, worth = regrow(
                kind,
                dsize,
                off,
                tab,
                k,
                rule,
                sens,
                grp,
                size,
                pool,
                row,
                into,
                credit,
                nf,
                n,
                left,
                made,
                lean,
                given,
                gaps,
                box,
                hist,
                part,
                wsum,
                seed,
            )
            if z < k or spent >= worth:
                for i in range(n):
                    if into[i] == made:
                        into[i] = -1
                        if i >= nf:
                            given[grp[pool[i]]] -= 1
                break
            made += 1
            new += spent
            left = 0
            for i in range(nf):
                left += into[i] < 0
            if new > old:
                break
        # 5. if it may be better, try it for real
        moves, lost = 0, new > old
        for i in range(n):
            if into[i] >= 0:
                moved[moves], dest[moves] = pool[i], free[live[0] - 1 - into[i]]
                moves += 1
                if i >= nf:
                    new -= credit[i]
            elif i < nf:
                lost |= away[i] < 0
                new += credit[i]
                moved[moves], dest[moves] = pool[i], away[i]
                moves += 1
        allow = -1e-9
        if heat > 0.0:
            allow = -heat * np.log((1 + draw(seed, 1 << 30)) / (1 << 30))
        if (
            lost or new > 1.1 * old + allow
        ):  # candidates shared by several rows can still bring 10 % or so
            continue
        n, change = try_moves(
            kind,
            dsize,
            off,
            tab,
            k,
            rule,
            codes,
            sens,
            grp,
            nxt,
            prv,
            head,
            size,
            cost,
            lo,
            hi,
            miss,
            moved,
            dest,
            back,
            moves,
            touched,
            gmark,
            nlo,
            nhi,
            nmiss,
            nsize,
            ncost,
            seen,
            stamps,
            hist,
            allow,
        )
        if n > 0:
            gain += change
            stayed += 1
            live[0] -= made
            for i in range(q):
                free[live[0]] = ruined[i]
                live[0] += 1
            for i in range(n):
                _mark(kind, dsize, off, tab, bits, at, share, lo, hi, miss, size, touched[i], most)
    return gain, stayed


@inner
def _gather(nxt: Ints, r: int, pool: Ints, n: int) -> int:
    while r >= 0:
        pool[n] = r
        n += 1
        r = nxt[r]
    return n


@inner
def _mark(
    kind: Ints,
    dsize: Ints,
    off: Ints,
    tab: Floats,
    bits: Words,
    at: Ints,
    share: Ints,
    lo: Ints,
    hi: Ints,
    miss: Ints,
    size: Ints,
    g: int,
    most: int,
) -> None:
    """Bits of a group that has changed."""
    word, bit = g // 64, ~(np.uint64(1) << np.uint64(g % 64))
    for v in range(len(bits)):
        bits[v, word] &= bit
    if 0 < size[g] <= most:
        mark_cover(kind, dsize, off, tab, bits, at, share, lo, hi, miss, g)

"""One more group, tried in plain Python: which rows it takes, and where the others go."""

import math

TAKE, CLOSE = "take", "close"


def fates(members, labels, cost, k, most, pays, away, free, loss):
    """Return what each group does, in order, and how many rows it gives; None if hopeless.

    ``loss``: what every group loses now. The last one is what all that seems to change.
    """
    under = {}
    for r in members:
        under.setdefault(labels[r], []).append(r)
    rows = {g: [r for r, own in enumerate(labels) if own == g] for g in under}

    def each(g):
        return sum(cost - pays[r] - free[r] for r in under[g]) / len(under[g])

    def closing(g):
        if len(rows[g]) > most:
            return math.inf
        others = [r for r in rows[g] if r not in under[g]]
        return sum(away[r] for r in others) - (loss[g] - sum(pays[r] for r in under[g]))

    fate, given, change = dict.fromkeys(under), dict.fromkeys(under, 0), 0.0
    spare = {g: min(len(under[g]), len(rows[g]) - k) for g in under}
    for g, some in under.items():
        if each(g) >= 0:
            continue
        whole = closing(g) + len(some) * each(g)
        if len(some) > spare[g] and whole < spare[g] * each(g):
            fate[g], given[g], change = CLOSE, len(some), change + whole
        elif spare[g] > 0:
            fate[g], given[g], change = TAKE, spare[g], change + spare[g] * each(g)
    while sum(given.values()) < k:
        ways, lacking = [], k - sum(given.values())
        for g, some in under.items():
            more = len(some) - given[g]
            if fate[g] is None and spare[g] > 0:
                ways.append((each(g), g, TAKE, min(spare[g], lacking)))
            if fate[g] != CLOSE and more > 0:
                ways.append((each(g) + closing(g) / more, g, CLOSE, more))
        if not ways:
            return None
        least, g, kind, brings = min(ways, key=lambda way: way[0])
        if least == math.inf:
            return None
        change += least * brings
        fate[g], given[g] = kind, len(under[g]) if kind == CLOSE else brings
    return fate, given, change


def attempt(members, labels, cost, k, most, tables, candidates, measure, new, margin):
    """Return the groups with one more, or as they were when that does not pay.

    ``tables``: what every row pays, would pay elsewhere, and what its missing cells would cost.
    ``measure`` returns what a list of rows loses as a group.
    """
    pays, away, free = tables
    loss = {g: measure([r for r, own in enumerate(labels) if own == g]) for g in set(labels)}
    if not any(pays[r] + free[r] > cost for r in members):
        return labels
    found = fates(members, labels, cost, k, most, pays, away, free, loss)
    if found is None or found[2] >= margin * k * cost - 1e-9:
        return labels
    fate, given, _ = found
    out = list(labels)
    for r in members:
        if given[labels[r]] > 0:
            given[labels[r]] -= 1
            out[r] = new
    for r, g in enumerate(labels):
        if fate.get(g) != CLOSE or out[r] == new:
            continue
        able = []
        for h in candidates[r]:
            inside = [x for x, own in enumerate(labels) if own == h]
            if fate.get(h) != CLOSE and 0 < len(inside) <= most:
                able.append((measure([*inside, r]) - loss[h], h))
        if not able:
            return labels
        out[r] = min(able, key=lambda way: way[0])[1]
    sizes = {g: out.count(g) for g in set(out)}
    total = sum(measure([r for r, own in enumerate(out) if own == g]) for g in sizes)
    good = min(sizes.values()) >= k and total < sum(loss.values()) - 1e-9
    return out if good else labels


def components(one, other):
    """Return sets of rows, grown until no group of either partition crosses them."""
    left, found = set(range(len(one))), []
    while left:
        some = {min(left)}
        while True:
            a, b = {one[r] for r in some}, {other[r] for r in some}
            more = {r for r in left if one[r] in a or other[r] in b}
            if more == some:
                break
            some = more
        found.append(some)
        left -= some
    return found

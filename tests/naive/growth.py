"""Greedy growth by trying every row, in plain Python: the twin of ``kernels.grow``.

Ties go to the entry that the kernel numbers first, so that the same choices are made, not
similar ones.
"""


def grow(rows, k, seeds, entry, cost, distance=None):
    """Return the group of every row.

    ``seeds``: all rows in random order. ``entry[row]``: number of the row's distinct tuple. Of the
    rows of one entry a seed takes the first in seed order, a search the last.
    """
    rank = {row: i for i, row in enumerate(seeds)}
    free, groups, last = set(rows), [], None
    for _ in range(len(rows) // k):
        if distance is not None and last is not None:
            tied = min((-distance(last, r), entry[r]) for r in free)[1]
            seed = min((r for r in free if entry[r] == tied), key=rank.get)
        else:
            seed = min(free, key=rank.get)
        last = seed
        group = [seed]
        free.remove(seed)
        while len(group) < k:
            pure = {entry[r] for r in group} == {entry[seed]}
            alike = [r for r in free if entry[r] == entry[seed]] if pure else []
            if not alike:
                tied = min((cost(group, r), entry[r]) for r in free)[1]
                alike = [r for r in free if entry[r] == tied]
            pick = max(alike, key=rank.get)
            group.append(pick)
            free.remove(pick)
        groups.append(group)
    for row in sorted(free, key=rank.get):
        best = min((cost(group, row), g) for g, group in enumerate(groups))[1]
        groups[best].append(row)
    return groups


def settle(groups, rows, values, share, join_cost):
    """Let each row, in order, join the cheapest group in which its value stays within the share.

    ``values[row]``: sensitive value or None. Ties go to the smaller group. Returns the rows that
    fit nowhere; ``groups`` grow.
    """
    outside = []
    for row in rows:
        able = []
        for g, group in enumerate(groups):
            known = [values[r] for r in [*group, row] if values[r] is not None]
            if values[row] is None or known.count(values[row]) <= share * len(known) + 1e-9:
                able.append((join_cost([row], group), g))
        if able:
            groups[min(able)[1]].append(row)
        else:
            outside.append(row)
    return outside

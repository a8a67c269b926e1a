"""L-clustering in plain Python, step by step as the paper has it."""

import numpy as np


def cluster(rows, l, seeds, entry, values, cost, join_cost, k=0):  # noqa: E741
    """Return the clusters; diverse ones go on with any rows until they have k.

    ``values[row]``: sensitive value or None. ``cost(group, row)`` and ``join_cost(g1, g2)`` are the
    growth of the loss. Ties go to the smaller entry and the older cluster.
    """
    rank = {row: i for i, row in enumerate(seeds)}
    free, clusters = set(rows), []
    while len({values[r] for r in free if values[r] is not None}) >= l:
        seed = min((r for r in free if values[r] is not None), key=rank.get)
        group = [seed]
        free.remove(seed)
        swallowed = False
        while len(group) < max(k, l) and not swallowed:
            held = {values[r] for r in group} | {None}
            diverse = len(group) >= l
            able = [r for r in free if diverse or values[r] not in held]
            if not able and not clusters:
                break
            price, tied = min(((cost(group, r), entry[r]) for r in able), default=(np.inf, -1))
            near = min(
                ((join_cost(group, c), i) for i, c in enumerate(clusters)), default=(price, -1)
            )
            if price <= near[0] or (diverse and able):
                pick = max((r for r in able if entry[r] == tied), key=rank.get)
                group.append(pick)
                free.remove(pick)
            else:
                clusters[near[1]].extend(group)
                swallowed = True
        if not swallowed:
            clusters.append(group)
    for row in sorted(free, key=rank.get):
        best = min((join_cost([row], c), i) for i, c in enumerate(clusters))[1]
        clusters[best].append(row)
    return clusters

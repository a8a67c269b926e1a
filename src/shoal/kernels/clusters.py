"""L-clustering: clusters of different sensitive values, which may swallow finished clusters.

A finished cluster is *parked* at the entry of its first row. Whatever joins the cluster covers that
entry too, so a search over the same tree of entries bounds the cost of joining the cluster.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.kernels import inner, kernel, whole
from shoal.kernels.covers import Covers, join_cost, join_into, start_cover
from shoal.kernels.grow import Stock
from shoal.kernels.limits import Limits, Tally, admits, clear, note
from shoal.kernels.space import ORDERED, Group, Space, add, start
from shoal.kernels.tree import Tree, near_num, nearest, take


class Park(NamedTuple):
    """Where the finished clusters are."""

    below: npt.NDArray[np.int64]
    """Clusters parked below each tree node."""
    first: npt.NDArray[np.int64]
    """First cluster parked at each entry, -1 for none."""
    following: npt.NDArray[np.int64]
    """The next one at the same entry, per cluster."""
    entry: npt.NDArray[np.int64]
    """Where each cluster is parked."""
    widest: npt.NDArray[np.float64]
    """``[nodes, m]``: the largest ``num`` of the clusters below."""
    least: int
    """Rows that a cluster has at the least."""


def new_park(tree: Tree, entries: int, clusters: int, least: int) -> Park:
    """Return an empty park for up to ``clusters`` clusters of at least so many rows."""
    return Park(
        np.zeros(tree.begin.size, np.int64),
        np.full(entries, -1, np.int64),
        np.full(clusters, -1, np.int64),
        np.full(clusters, -1, np.int64),
        np.zeros(tree.lo.shape),
        least,
    )


@inner
def park_at(tree: Tree, park: Park, covers: Covers, cluster: int, entry: int) -> None:
    """Park a cluster at an entry."""
    park.following[cluster], park.first[entry] = park.first[entry], cluster
    park.entry[cluster] = entry
    widen(tree, park, covers, cluster)
    node = tree.home[entry]
    while node >= 0:
        park.below[node] += 1
        node = tree.parent[node]


@inner
def widen(tree: Tree, park: Park, covers: Covers, cluster: int) -> None:
    """Tell the nodes above a parked cluster how wide it has become."""
    node, news = tree.home[park.entry[cluster]], True
    while node >= 0 and news:
        news = False
        for j in range(covers.num.shape[1]):
            if covers.num[cluster, j] > park.widest[node, j]:
                park.widest[node, j] = covers.num[cluster, j]
                news = True
        node = tree.parent[node]


@kernel
def park_all(tree: Tree, park: Park, covers: Covers, entries: npt.NDArray[np.int64]) -> None:
    """Park cluster ``c`` at ``entries[c]``."""
    for c in range(entries.size):
        park_at(tree, park, covers, c, entries[c])


class Roster(NamedTuple):
    """The rows of each cluster, as chains."""

    first: npt.NDArray[np.int64]
    """First row of each cluster, -1 for none."""
    following: npt.NDArray[np.int64]
    """The next row of the same cluster, per row."""


def new_roster(labels: npt.NDArray[np.int64], clusters: int) -> Roster:
    """Chain the rows of each cluster."""
    rows = np.argsort(labels, kind="stable")
    rows = rows[labels[rows] >= 0]
    first, following = np.full(clusters, -1, np.int64), np.full(labels.size, -1, np.int64)
    same = labels[rows[:-1]] == labels[rows[1:]]
    following[rows[:-1][same]] = rows[1:][same]
    heads = np.concatenate(([True], ~same)) if rows.size else np.empty(0, np.bool_)
    first[labels[rows[heads]]] = rows[heads]
    return Roster(first, following)


@inner
def nearest_cluster(
    space: Space,
    group: Group,
    tree: Tree,
    park: Park,
    covers: Covers,
    slot: int,
    limit: float,
    shut: npt.NDArray[np.int64],
    visit: int,
    stack: npt.NDArray[np.int64],
    bounds: npt.NDArray[np.float64],
    visits: npt.NDArray[np.int64],
) -> tuple[int, float]:
    """Return the parked cluster that is cheapest to join with the group, if cheaper than ``limit``.

    The group is ``group`` for the bounds and number ``slot`` of ``covers`` for the costs. A cluster
    costs at least what the group's own rows lose by covering its first row, and what its own rows
    lose beyond the widest cluster below a node. Ties go to the smaller
    number; -1 when no cluster is below the limit. Clusters with ``shut[c] == visit`` do not count.
    """
    right, low, high, bag = tree.right, tree.lo, tree.hi, tree.bag
    edge_left, edge_right, below = tree.edge_left, tree.edge_right, park.below
    widest, least = park.widest, park.least
    kind, missing, first, weight = space.kind, space.size, space.first, space.weight
    whole, table, group_num = space.full, group.table, group.num
    group_lo, group_hi = group.lo, group.hi
    m, size = kind.size, group.size[0]
    terms, bags = group.terms, group.bags
    x_lo, x_hi, outside = terms[3], terms[4], terms[5]
    for j in range(m):
        x_lo[j], x_hi[j] = space.left[first[j] + group_lo[j]], space.right[first[j] + group_hi[j]]
        outside[j] = group.members[j] / (missing[j] - 1 if missing[j] > 1 else 1)
    best, best_cost, seen = -1, limit, 0
    stack[0], bounds[0] = 0, 0.0
    top = 1 if below[0] > 0 else 0
    while top > 0:
        top -= 1
        node = stack[top]
        if bounds[top] > best_cost or (best < 0 and bounds[top] >= best_cost):
            continue  # below the limit means strictly below it
        if right[node] < 0:
            for e in range(tree.begin[node], tree.end[node]):
                c = park.first[e]
                while c >= 0:
                    if shut[c] != visit:
                        seen += 1
                        total = join_cost(space, covers, slot, c, best_cost)
                        if total < best_cost or (total == best_cost and c < best):
                            best, best_cost = c, total
                    c = park.following[c]
            continue
        near, far, near_bound, far_bound = -1, -1, np.inf, np.inf
        for child in (node + 1, right[node]):
            if below[child] == 0:
                continue
            seen += 1
            total = 0.0
            for j in range(m):
                num = whole[j]
                lo, hi = low[child, j], high[child, j]
                if lo <= hi:
                    edges = kind[j] == ORDERED
                    num = near_num(
                        kind[j],
                        lo,
                        hi,
                        edge_left[child, j] if edges else 0.0,
                        edge_right[child, j] if edges else 0.0,
                        bag[child, j],
                        first[j],
                        missing[j],
                        whole[j],
                        table,
                        group_lo[j],
                        group_hi[j],
                        group_num[j],
                        x_lo[j],
                        x_hi[j],
                        bags[j],
                        outside[j],
                    )
                own = size * (num - group_num[j])
                theirs = num - widest[child, j]
                total += weight[j] * (own + least * theirs if theirs > 0.0 else own)
                if total > best_cost:
                    break
            if total > best_cost or (best < 0 and total >= best_cost):
                continue
            if near < 0:
                near, near_bound = child, total
            elif total < near_bound:
                far, far_bound, near, near_bound = near, near_bound, child, total
            else:
                far, far_bound = child, total
        if far >= 0:
            stack[top], bounds[top] = far, far_bound
            top += 1
        if near >= 0:
            stack[top], bounds[top] = near, near_bound
            top += 1
    visits[0] += seen
    return best, best_cost


@kernel
def form_clusters(
    space: Space,
    group: Group,
    tree: Tree,
    covers: Covers,
    park: Park,
    stock: Stock,
    seeds: npt.NDArray[np.int64],
    unassigned: npt.NDArray[np.int64],
    l: int,  # noqa: E741
    labels: npt.NDArray[np.int64],
    banned: npt.NDArray[np.bool_],
    members: npt.NDArray[np.int64],
    stack: npt.NDArray[np.int64],
    bounds: npt.NDArray[np.float64],
    shut: npt.NDArray[np.int64],
    visits: npt.NDArray[np.int64],
) -> int:
    """Build the clusters (step 2 of the paper); return how many there are.

    A cluster takes l different values, then any rows until it has as many as ``members`` has room
    for. The last tag stands for a missing sensitive value: such a row neither starts a cluster nor
    is taken for its diversity. ``unassigned`` counts the rows of each tag, ``labels`` is -1 before.
    """
    codes, none = tree.codes, banned.size - 1
    head, tail, left, rows = stock.head, stock.tail, stock.left, stock.rows
    one, values = whole(1), 0
    for t in range(none):
        values += 1 if unassigned[t] > 0 else 0
    at, clusters = 0, 0
    while values >= l:
        while labels[seeds[at]] >= 0 or tree.tag[stock.entry_of[seeds[at]]] == none:
            at += 1
        for t in range(none):
            banned[t] = False
        banned[none] = True
        seed = e = stock.entry_of[seeds[at]]
        spare, home, size = clusters + 1, clusters, 0
        start(space, group, codes[seed])
        start_cover(space, covers, clusters, codes[seed])
        while True:
            if size == 0:
                row = rows[head[e]]
                head[e] += 1
            else:
                tail[e] -= 1
                row = rows[tail[e]]
                add(space, group, codes[e])
                start_cover(space, covers, spare, codes[e])
                join_into(space, covers, clusters, spare)
            members[size] = row
            labels[row] = clusters
            left[e] -= 1
            take(tree, e)
            banned[tree.tag[e]] = True
            unassigned[tree.tag[e]] -= 1
            values -= 1 if unassigned[tree.tag[e]] == 0 else 0
            size += 1
            if size >= members.size:
                break
            if size == l:  # diverse enough: from here on any row will do
                for t in range(banned.size):
                    banned[t] = False
            e, price = nearest(space, group, tree, left, banned, stack, bounds, visits)
            other, _ = nearest_cluster(
                space,
                group,
                tree,
                park,
                covers,
                clusters,
                price,
                shut,
                one,
                stack,
                bounds,
                visits,
            )
            if other >= 0:  # strictly cheaper than any row
                join_into(space, covers, other, clusters)
                widen(tree, park, covers, other)
                home = other
                break
            if e < 0:
                break
        if home == clusters:
            park_at(tree, park, covers, clusters, seed)
            clusters += 1
        else:
            for i in range(size):
                labels[members[i]] = home
    return clusters


@kernel
def settle(
    space: Space,
    group: Group,
    tree: Tree,
    covers: Covers,
    park: Park,
    limits: Limits,
    tally: Tally,
    roster: Roster,
    entry_of: npt.NDArray[np.int64],
    rest: npt.NDArray[np.int64],
    spare: int,
    labels: npt.NDArray[np.int64],
    stack: npt.NDArray[np.int64],
    bounds: npt.NDArray[np.float64],
    shut: npt.NDArray[np.int64],
    visits: npt.NDArray[np.int64],
) -> None:
    """Let each row of ``rest``, in order, join the nearest cluster that may take it.

    A row that fits nowhere within the limits keeps its label. ``spare`` is a free place in covers.
    """
    for i in range(rest.size):
        row, visit = rest[i], i + 1
        e = entry_of[row]
        start(space, group, tree.codes[e])
        start_cover(space, covers, spare, tree.codes[e])
        while True:
            home, _ = nearest_cluster(
                space, group, tree, park, covers, spare, np.inf, shut, visit, stack, bounds, visits
            )
            if home < 0 or tally.known.size == 0:
                break
            clear(tally)
            member = roster.first[home]
            while member >= 0:
                note(limits, tally, tree.tag[entry_of[member]])
                member = roster.following[member]
            if admits(limits, tally, tree.tag[e]):
                break
            shut[home] = visit
        if home >= 0:
            join_into(space, covers, home, spare)
            widen(tree, park, covers, home)
            labels[row] = home
            roster.following[row], roster.first[home] = roster.first[home], row

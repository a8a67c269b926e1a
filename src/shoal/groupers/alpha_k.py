"""(alpha, k)-anonymity by clustering (Yang, Yang, Zhang 2011).

Clusters of k rows form around seeds that lie far apart, by Gower's dissimilarity. One protected
value (SingAnony): clusters form freely, then exchange rows until its share is at most alpha
everywhere. Every value (MultiAnony): a row joins a growing cluster only while its value stays
within alpha.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from shoal.base.errors import Infeasible, ParameterError
from shoal.base.partition import Partition
from shoal.coding.encode import Encoded
from shoal.coding.space import loss_of
from shoal.coding.tuples import entries
from shoal.groupers.gower import coordinates, make_field
from shoal.groupers.limits import NO_LIMITS, limits_of
from shoal.groupers.repair import repair
from shoal.kernels.gower.exchange import Clusters, Market, exchange, populate, settle
from shoal.kernels.gower.search import GAP, Field, Supply, new_heap, refill
from shoal.kernels.gower.seeded import Filled, Room, Store, Survey, cluster
from shoal.kernels.limits import EPS, Limits, new_tally
from shoal.privacy import All, AlphaK, Rule, flatten

Ints = npt.NDArray[np.int64]
Tags = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
Protect = Literal["auto", "one", "all"]
Growth = Literal["free", "capped", "centroid"]


def group(
    data: Encoded, rule: Rule, rng: np.random.Generator, *, protect: Protect = "auto"
) -> Partition:
    """Split the rows into groups of at least k in which no protected value is too frequent.

    Ours: capped clusters of k rows and larger ones that use alpha better, and for named values free
    clusters as well; the one that loses least.

    Parameters
    ----------
    rule
        An :class:`AlphaK` gives k, alpha and the values to protect; what other rules ask for is met
        at the end by joining groups.
    protect
        ``"one"``: the values that the rule names; ``"all"``: every value, also those that the rule
        does not name; ``"auto"``: what the rule says.

    Notes
    -----
    Choices where the paper is silent: the next seed is the row whose nearest centre is furthest
    (Gonzalez 1985); centres stay as they are while rows change clusters; clusters are larger than
    k where clusters of k could not hold all rows of a protected value (see :func:`_sizes`); a
    cluster for which no exchange is left is joined with its cheapest partners. Departure: exactly
    k rows left form a cluster.
    """
    rule, named = _reading(data, rule, protect)
    return grow(data, rule, rng, ("capped", "free") if named else ("capped",), sizes=2)


def singanony(data: Encoded, rule: Rule, rng: np.random.Generator) -> Partition:
    """Form clusters of the rows nearest to a seed, then exchange rows: algorithm 1 of the paper."""
    return grow(data, rule, rng, ("free",))


def multianony(data: Encoded, rule: Rule, rng: np.random.Generator) -> Partition:
    """Form clusters around moving centres, every value within alpha: algorithm 2 of the paper."""
    rule, _ = _reading(data, rule, "all")
    return grow(data, rule, rng, ("centroid",))


def grow(
    data: Encoded, rule: Rule, rng: np.random.Generator, ways: Sequence[Growth], sizes: int = 1
) -> Partition:
    """Return the least lossy of some ways to grow clusters, each with its first ``sizes`` sizes.

    ``"free"``: the rows nearest to a seed, which exchange places until the shares are kept;
    ``"centroid"``: the rows nearest to a centre that moves with every row, each only while its
    value stays within its share; ``"capped"``: the same by the distance to the seed.
    """
    seeds = rng.permutation(data.rows)
    tries = [
        _group(data, rule, seeds, way, size)
        for way in ways
        for size in _sizes(data, rule, capped=way != "free")[:sizes]
    ]
    if len(tries) == 1:
        return repair(data, tries[0], rule)
    # What must still be joined to keep the rule comes after what need not.
    return repair(
        data, min(tries, key=lambda part: (_failing(data, part, rule), loss_of(data, part))), rule
    )


def _reading(data: Encoded, rule: Rule, protect: Protect) -> tuple[Rule, bool]:
    """Return the rule to keep, and whether it protects named values only."""
    parts = flatten([rule])
    own = [part for part in parts if isinstance(part, AlphaK)]
    if protect == "auto":
        return rule, bool(own) and all(part.values is not None for part in own)
    if not own:
        raise ParameterError(
            f"alpha-k with protect={protect!r} needs the rule 'alpha-k-anonymity', which says what "
            f"to protect; it got {', '.join(repr(part.name) for part in parts)}. Give an alpha, or "
            "leave protect out."
        )
    if protect == "one":
        for part in own:
            if part.values is None:
                raise ParameterError(
                    "alpha-k with protect='one' needs the value to protect, and the rule on "
                    f"{part.column!r} names none. Name one or several of its values, or use "
                    "protect='all'."
                )
        return rule, True
    wide = All(
        tuple(replace(part, values=None) if isinstance(part, AlphaK) else part for part in parts)
    )
    if obstacle := wide.obstacle(data.whole()):
        raise Infeasible(
            f"{obstacle} Every value was to be protected (multianony, or protect='all'). To "
            "protect the named values only, use 'singanony', or 'alpha-k' with protect='one'."
        )
    return wide, False


def _group(data: Encoded, rule: Rule, seeds: Ints, growth: Growth, size: int) -> Partition:
    """Form clusters, exchange rows where a share is broken, and place the rows left over."""
    limits, tags = limits_of(data, rule)
    limits = limits._replace(target=size)
    aside = _aside(data, rule, size)
    members, centres, market = _clusters(data, limits, tags, aside, growth, seeds)
    groups = members.shape[0]
    if not groups:
        return Partition.from_labels(np.zeros(data.rows, np.int64))
    clusters = _empty(data.rows, groups, limits)
    populate(limits, market, clusters, members, size)
    sizes = [part.size for part in (market.point, market.field.begin, market.centres.begin)]
    heap = new_heap(sum(sizes) + groups)
    exchange(limits, market, clusters, heap, _worst(limits, clusters), centres, size)
    everywhere = _supply(market.centres, np.ones(groups, np.int64))
    settle(limits, market, clusters, heap, everywhere, seeds[clusters.label[seeds] < 0], size)
    # A row that fitted nowhere may have broken a share.
    exchange(limits, market, clusters, heap, _worst(limits, clusters), centres, size)
    return Partition.from_labels(clusters.label)


def _sizes(data: Encoded, rule: Rule, *, capped: bool) -> list[int]:
    """Return the sizes that clusters may well have: the least, then one that uses alpha better.

    The first is the least that k and the growth's limits allow and at which clusters have room for
    all rows of each protected value: with alpha = 0.249 and k = 20 only 4 of 20 rows may have a
    value, too few for one that 24.78 % of all rows have; 29 of 117 rows are enough. The second lies
    below twice the first: with alpha = 0.3 one row of 5 may have a value, but two of 7.
    """
    least = rule.least
    if capped:
        least = max(least, limits_of(data, rule)[0].target)
    sizes = np.arange(min(least, data.rows), data.rows + 1)
    roomy, used = np.ones(sizes.size, np.bool_), np.ones(sizes.size)
    for part in flatten([rule]):
        if isinstance(part, AlphaK):
            room = np.floor(part.alpha * sizes + EPS)
            roomy &= room >= _top_share(data, part) * sizes - EPS
            used = np.minimum(used, room / (part.alpha * sizes))
    # The whole table has room for all of a value that it may hold at all.
    first = int(roomy.argmax()) if roomy.any() else sizes.size - 1
    near = used[first : first + int(sizes[first])]
    better = first + int((near > near.max() - EPS).argmax())
    return [int(sizes[at]) for at in dict.fromkeys((first, better))]


def _top_share(data: Encoded, rule: AlphaK) -> float:
    """Return the largest share that a protected value has of the known values of the table."""
    codes = data.sensitive[rule.column]
    counts = np.bincount(codes[codes >= 0], minlength=len(data.sensitive_names[rule.column]))
    guarded = [
        rule.values is None or name in rule.values for name in data.sensitive_names[rule.column]
    ]
    return float(counts[guarded].max(initial=0) / max(int(counts.sum()), 1))


def _aside(data: Encoded, rule: Rule, size: int) -> npt.NDArray[np.bool_]:
    """Return the rows that join only when all clusters are made.

    A row without a sensitive value takes a place and gives no room. Where clusters with their part
    of such rows could not hold all rows of a protected value, they wait: later they harm nobody.
    """
    waits = np.zeros(data.rows, np.bool_)
    for part in flatten([rule]):
        if isinstance(part, AlphaK):
            blank = data.sensitive[part.column] < 0
            known = size * (1.0 - float(blank.mean()))
            if np.floor(part.alpha * known + EPS) < _top_share(data, part) * known - EPS:
                waits |= blank
    return waits


def _size_only(limits: Limits) -> Limits:
    """Return the same target and tags without any limit on values."""
    values = np.empty((limits.values.shape[0], 0), np.int32)
    return NO_LIMITS._replace(target=limits.target, values=values)


def _clusters(
    data: Encoded,
    limits: Limits,
    tags: Tags,
    aside: npt.NDArray[np.bool_],
    growth: Growth,
    seeds: Ints,
) -> tuple[Ints, Floats, Market]:
    """Return the rows and the centre of each cluster, and where to look for rows.

    Once the values of the free rows cannot fill another capped cluster, the rest form clusters
    freely, which will have to exchange rows; MultiAnony leaves them over, unless it has made none.
    """
    distinct, entry, count = entries(np.column_stack((data.codes, tags)))
    sample = np.empty(count.size, np.int64)
    sample[entry] = np.arange(data.rows)
    x, numeric = coordinates(data)
    field, order = make_field(x[sample], numeric)
    rank = np.empty(order.size, np.int64)
    rank[order] = np.arange(order.size)
    point, count = rank[entry], count[order]
    rows = seeds[np.argsort(point[seeds], kind="stable")]
    start = np.concatenate(([0], np.cumsum(count)))
    free = np.where(aside[sample[order]], 0, count)
    supply = _supply(field, free, np.ascontiguousarray(distinct[order, -1]))
    members = np.empty((data.rows // limits.target, limits.target), np.int64)
    centres = np.empty((members.shape[0], numeric.size))
    nodes = field.begin.size
    store = Store(rows, start[:-1].copy(), point)
    peak = np.where(supply.live > 0, np.inf, GAP)
    survey = Survey(np.full(order.size, np.inf), peak, np.empty(nodes + 2, np.int64))
    heap = new_heap(order.size + nodes)
    votes = np.zeros(max((domain.size for domain in data.domains), default=0) + 1, np.int64)
    made, seed = 0, int(point[seeds[0]])
    for rules in (limits, _size_only(limits))[growth == "free" :]:
        if made and growth == "centroid":
            break
        tally = new_tally(rules)
        free_rows = supply._replace(banned=tally.banned)
        room = Room(tally, heap, _stock(rules, tags), votes)
        filled = Filled(members[made:], centres[made:])
        first, moving = seed if not made else -1, growth == "centroid"
        made += cluster(field, free_rows, store, survey, rules, room, filled, first, moving)
    centres = centres[:made]
    around, _ = make_field(centres, numeric, np.arange(made)) if made else (field, order)
    market = Market(
        field=field,
        offers=_supply(field, np.zeros(order.size, np.int64)),
        rows=rows,
        start=start,
        point=point,
        tag=tags,
        centres=around,
        takers=_supply(around, np.zeros(around.leaf.size, np.int64)),
    )
    return members[:made], centres, market


def _supply(field: Field, left: Ints, tag: Tags | None = None) -> Supply:
    supply = Supply(
        left.astype(np.int64),
        np.zeros(field.begin.size, np.int64),
        np.zeros(left.size, np.int32) if tag is None else tag,
        np.zeros(field.begin.size, np.uint64),
        np.zeros(1, np.bool_),
    )
    refill(field, supply)
    return supply


def _stock(limits: Limits, tags: Tags) -> Ints:
    """Return the number of rows per sensitive value."""
    count = np.bincount(tags, minlength=limits.values.shape[0])
    stock = np.zeros(limits.guarded.size, np.int64)
    for c, values in enumerate(limits.values.T):
        known = values >= 0
        np.add.at(stock, limits.first[c] + values[known], count[known])
    return stock


def _empty(rows: int, groups: int, limits: Limits) -> Clusters:
    return Clusters(
        label=np.full(rows, -1, np.int64),
        size=np.zeros(groups, np.int64),
        known=np.zeros((groups, limits.distinct.size), np.int64),
        counts=np.zeros((groups, limits.guarded.size), np.int32),
        kept=np.zeros(groups, np.bool_),
        first=np.full(groups, -1, np.int64),
        after=np.full(rows, -1, np.int64),
        before=np.full(rows, -1, np.int64),
        giving=np.zeros(groups, np.bool_),
    )


def _worst(limits: Limits, clusters: Clusters) -> Ints:
    """Return the clusters that break a share, the one that exceeds it most, in parts, first."""
    excess = np.zeros(clusters.size.size)
    for c in range(limits.distinct.size):
        guarded = np.flatnonzero(limits.guarded[limits.first[c] : limits.first[c + 1]])
        guarded += limits.first[c]
        if guarded.size:
            allowed = limits.share[guarded] * np.maximum(clusters.known[:, c], 1)[:, None]
            excess = np.maximum(excess, (clusters.counts[:, guarded] / allowed).max(axis=1))
    broken = np.flatnonzero(~clusters.kept)
    worst: Ints = broken[np.argsort(-excess[broken], kind="stable")]
    return worst


def _failing(data: Encoded, partition: Partition, rule: Rule) -> int:
    """Return the number of rows in groups that break the rule."""
    stats = data.stats(partition)
    return int(stats.sizes[~rule.holds(stats)].sum())

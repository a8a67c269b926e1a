"""Apply the finest levels and widths, top coding and bottom coding to an encoded table.

Rows that would be published alike anyway are given one position, so that every method sees them as
equal; what its groups are then published as is widened to the floor by their cover. The loss is
counted on the table as it was.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.base.partition import Codes, Cover, Ints, Partition
from shoal.coding.encode import Encoded
from shoal.coding.joins import joins
from shoal.tables.domain import Domain, Ordered, Taxonomy
from shoal.tables.grid import OFF, interval_ends
from shoal.tables.limits import coded_leaves, coded_node, high_ends, low_ends
from shoal.tables.schema import Column, Schema


@dataclass(frozen=True, eq=False)
class Floor:
    """What each position of a column is published as at least.

    ``same``: the position that stands for all that are published alike. In a taxonomy ``node``;
    else an interval from ``lo`` to ``hi``.
    """

    same: Ints
    node: Ints | None = None
    lo: Ints | None = None
    hi: Ints | None = None


def apply_floors(data: Encoded, schema: Schema) -> tuple[Encoded, dict[int, Floor]]:
    """Return the table over domains that have room for its floors, and the floors by column."""
    floors: dict[int, Floor] = {}
    domains, codes = list(data.domains), data.codes
    for j, (name, domain) in enumerate(zip(data.names, data.domains, strict=True)):
        column = schema[name]
        if column.finest is None and column.top is None and column.bottom is None:
            continue
        if isinstance(domain, Taxonomy):
            floors[j] = _of_tree(column, domain)
        elif isinstance(domain, Ordered) and domain.size:
            if codes is data.codes:
                codes = codes.copy()
            domains[j], codes[:, j] = _roomy(column, domain, codes[:, j])
            floors[j] = _of_order(column, domains[j])
    codes.setflags(write=False)
    return replace(data, domains=tuple(domains), codes=codes), floors


def merge_equal_floors(data: Encoded, floors: dict[int, Floor]) -> Encoded:
    """Return the table with one position for all that are published alike."""
    if not floors:
        return data
    codes = data.codes.copy()
    for j, floor in floors.items():
        codes[:, j] = np.append(floor.same, data.domains[j].size)[codes[:, j]]
    codes.setflags(write=False)
    return replace(data, codes=codes)


def raise_to_floors(seen: Encoded, floors: dict[int, Floor], partition: Partition) -> Partition:
    """Return a partition of such a table whose groups are published as wide as they have to be."""
    if not floors:
        return partition
    groups, m = partition.groups, len(seen.domains)
    own = partition.cover or Cover.none(groups, m)
    cover = Cover(own.lo.copy(), own.hi.copy(), own.node.copy())
    covers = joins(seen, partition)
    for j, floor in floors.items():
        join, domain = covers[j], seen.domains[j]
        at = np.flatnonzero(join.hi < domain.size)
        if isinstance(domain, Taxonomy) and floor.node is not None:
            least, many = floor.node[join.lo[at]], domain.hi - domain.lo
            narrow = many[least] >= many[join.node[at]]
            cover.node[at, j] = np.where(narrow, least, join.node[at])
        elif floor.lo is not None and floor.hi is not None:
            cover.lo[at, j] = floor.lo[join.lo[at]]
            cover.hi[at, j] = floor.hi[join.hi[at]]
    return replace(partition, cover=cover)


def _of_tree(column: Column, tree: Taxonomy) -> Floor:
    node = np.arange(tree.size, dtype=np.int64)
    if isinstance(column.finest, int):
        node = tree.levels[column.finest].astype(np.int64)
    for end in ({"top": column.top}, {"bottom": column.bottom}):
        if None in end.values():
            continue
        together = coded_leaves(tree, column.name, **end)
        group = coded_node(tree, together) if together.any() else None
        if group is not None:
            # A floor that is wider already stays: it has all of them below it.
            narrow = together & (tree.hi[node] - tree.lo[node] < tree.hi[group] - tree.lo[group])
            node = np.where(narrow | (together & (node < tree.size)), group, node)
    # Groups may hold others in an uneven tree: a leaf that is published so stands for it.
    _, first, which = np.unique(node, return_index=True, return_inverse=True)
    return Floor(first[which.reshape(-1)].astype(np.int64), node=node)


def _roomy(column: Column, domain: Ordered, codes: Codes) -> tuple[Ordered, Codes]:
    """Return a domain that also has the ends that floors need, and the positions in it."""
    old = domain.values.cast(pl.Int64) if domain.values.dtype.is_integer() else domain.values
    more = [old]
    if column.finest is not None:
        low, high = low_ends(old, column.finest), high_ends(old, column.finest)
        more += [low.cast(old.dtype), high.cast(old.dtype)]
    # Behind an end that is open lies a position that no value has.
    if column.top is not None and column.top <= domain.points[-1]:
        beyond = max(column.top, float(domain.points[-1]))
        more.append(pl.Series([column.top, beyond + _apart(beyond)]).cast(old.dtype))
    if column.bottom is not None and column.bottom >= domain.points[0]:
        beyond = min(column.bottom, float(domain.points[0]))
        more.append(pl.Series([column.bottom, beyond - _apart(beyond)]).cast(old.dtype))
    values = pl.concat([each.alias("v") for each in more]).unique().sort()
    numbers = values.to_physical() if values.dtype.is_temporal() else values
    points = numbers.cast(pl.Float64).to_numpy()
    step = column.finest or column.grid
    roomy = Ordered(
        values,
        points,
        interval_ends(values, step) if step not in (OFF, None) and len(values) > 1 else None,
        domain.extent,
        domain.usual,
        _place(points, column.bottom, 1, points.size - 1),
        _place(points, column.top, 0, points.size - 2),
    )
    moved = np.append(np.searchsorted(points, domain.points), points.size).astype(np.int32)
    return roomy, moved[codes]


def _apart(number: float) -> float:
    """Return what can be added to a number and makes a difference."""
    return max(1.0, abs(number) * 2.0**-40)


def _place(points: npt.NDArray[np.float64], end: float | None, first: int, last: int) -> int | None:
    """Return the position of a top or a bottom, None where nothing lies beyond it."""
    if end is None:
        return None
    place = int(np.searchsorted(points, end))
    return place if first <= place <= last else None


def _of_order(column: Column, domain: Domain) -> Floor:
    assert isinstance(domain, Ordered)
    places = np.arange(domain.size, dtype=np.int64)
    same, lo, hi = places.copy(), places.copy(), places.copy()
    if column.finest is not None:
        low, high = (
            end.to_physical().cast(pl.Float64).to_numpy()
            for end in (
                low_ends(domain.values, column.finest),
                high_ends(domain.values, column.finest),
            )
        )
        lo = np.minimum(np.searchsorted(domain.points, low), places)
        same = lo.copy()
        hi = np.clip(np.searchsorted(domain.points, high), places, domain.size - 1)
    if domain.top is not None:
        beyond = places >= domain.top
        same, lo = np.where(beyond, domain.top, same), np.where(beyond, domain.top, lo)
        hi = np.where(beyond, domain.size - 1, hi)
    if domain.bottom is not None:
        # The bottom itself may also be where the next interval begins.
        same = np.where(places <= domain.bottom, 0, same)
        lo[0], hi[0] = 0, domain.bottom
    return Floor(same, lo=lo, hi=hi)

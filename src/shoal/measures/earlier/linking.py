"""Link rows of several releases that can belong to one person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.base.errors import InputError
from shoal.base.partition import Ints, ragged_positions
from shoal.base.threads import share
from shoal.kernels.chains import Regions, Trees, possible
from shoal.measures.earlier.classes import Cases, Valued
from shoal.releases import notation
from shoal.releases.ends import cell_texts
from shoal.releases.generalized.spread import spread
from shoal.releases.opened import Opened
from shoal.releases.readback import Sides
from shoal.tables.domain import STAR

_LEAF = 4  # classes that a leaf of a tree holds at least
_PIECE = 512  # classes that a thread takes at once


def by_cells(releases: Sequence[Opened], classes: Sequence[Valued]) -> list[Cases]:
    """Return what is left to the people of each class, who were in all and in some releases.

    Last what is left for certain, value by value: what no class lacks that a person with that value
    can have been in.
    """
    many = [own.sizes.size for own in classes]
    spreads = [_common(releases, name) for name in releases[-1].quasi]
    boxes = _boxes(spreads, classes)
    first = np.concatenate(([0], np.cumsum(many)))
    order, trees = _trees(boxes.lo, boxes.hi, first[:-1])
    before = _some(boxes, order)
    now = _some(boxes, np.arange(first[-2], first[-1]))
    in_all, in_some = (np.zeros(now.values.size, np.bool_) for _ in range(2))
    span = len(classes[-1].names) + 1
    width = np.diff(now.starts)
    pairs = np.concatenate(([0], np.cumsum(width * width)))
    sure = np.zeros(pairs[-1], np.bool_)

    def search(begin: int) -> None:
        end = min(begin + _PIECE, many[-1])
        possible(now, before, trees, span, begin, end, in_all, in_some, sure, pairs)

    share(search, range(0, many[-1], _PIECE))
    own = classes[-1]
    every = np.arange(many[-1])
    left = [
        Cases(
            every, np.searchsorted(own.owner[kept], np.arange(many[-1] + 1)), np.flatnonzero(kept)
        )
        for kept in (in_all, in_some)
    ]
    # A case for every value of every class: its runs are those of the class that are certain.
    case = np.repeat(np.arange(own.values.size), width[own.owner])
    at = np.arange(case.size) - pairs[own.owner[case]]
    runs = own.starts[own.owner[case]] + at % width[own.owner[case]]
    kept = sure & in_all[case]
    starts = np.searchsorted(case[kept], np.arange(own.values.size + 1))
    known = in_all & (own.values < len(own.names))
    weight = np.where(known, np.rint(own.counts), 0).astype(np.int64)
    return [*left, Cases(own.owner, starts, runs[kept], weight)]


def _common(releases: Sequence[Opened], name: str) -> Sides:
    """Return what the cells of a column cover, those of all classes of all releases."""
    cells = pl.concat([_texts(opened, name) for opened in releases])
    now = releases[-1]
    kind = now.column(name)
    every = replace(now.published, cells=pl.DataFrame({name: cells}))
    return spread(every, name, now.taxonomies.get(name), None, kind.order)


def _texts(opened: Opened, name: str) -> pl.Series:
    """Return the cells of every class in our notation."""
    cells = opened.published.cells
    if opened.shape.exact and name in cells.columns:
        return notation.exact(cells[name]).fill_null(STAR).alias(name)
    return cell_texts(cells, name, opened.taxonomies.get(name)).alias(name)


def _boxes(spreads: Sequence[Sides], classes: Sequence[Valued]) -> Regions:
    """Return the classes of all releases, one after the other, as a kernel takes them."""
    lo, hi, sets, masks, words = [], [], [], [], [0]
    for column in spreads:
        first, last = column.lo, column.hi
        if column.starts is not None and column.members is not None:
            held = np.diff(column.starts) > 0
            ends = [
                ufunc.reduceat(np.append(column.members, 0), column.starts[:-1])
                for ufunc in (np.minimum, np.maximum)
            ]
            first, last = np.where(held, ends[0], first), np.where(held, ends[1], last)
            if (np.diff(column.starts)[held] <= (last - first)[held]).any():
                masks.append(_masks(column))
                words.append(words[-1] + masks[-1].shape[1])
                sets.append(column.cells)
        lo.append(first[column.cells])
        hi.append(last[column.cells])
    rows = max((mask.shape[0] for mask in masks), default=0)
    table = np.zeros((rows, words[-1]), np.uint64)
    for mask, begin, end in zip(masks, words[:-1], words[1:], strict=True):
        table[: mask.shape[0], begin:end] = mask
    many = np.concatenate([np.diff(own.starts) for own in classes])
    return Regions(
        np.stack(lo, axis=1).astype(np.int32),
        np.stack(hi, axis=1).astype(np.int32),
        np.stack(sets, axis=1) if sets else np.zeros((many.size, 0), np.int64),
        table,
        np.array(words, np.int64),
        np.concatenate(([0], np.cumsum(many))).astype(np.int64),
        np.concatenate([own.values for own in classes]).astype(np.int32),
    )


def _masks(column: Sides) -> npt.NDArray[np.uint64]:
    """Return every set of a column as bits; what has no members is every value."""
    assert column.starts is not None
    assert column.members is not None
    count = np.diff(column.starts)
    bits = np.zeros((count.size, -(-len(column.known) // 64), 64), np.bool_)
    owner = np.repeat(np.arange(count.size), count)
    bits[owner, column.members // 64, column.members % 64] = True
    bits[count == 0] = True
    return np.packbits(bits, axis=2).view(np.uint64)[:, :, 0]


def _some(boxes: Regions, classes: Ints) -> Regions:
    """Return some classes, in the order given."""
    many = np.diff(boxes.starts)[classes]
    starts = np.concatenate(([0], np.cumsum(many))).astype(np.int64)
    runs = ragged_positions(boxes.starts[classes], many)
    return boxes._replace(
        lo=boxes.lo[classes],
        hi=boxes.hi[classes],
        sets=boxes.sets[classes],
        starts=starts,
        values=boxes.values[runs],
    )


def _trees(lo: npt.NDArray[np.int32], hi: npt.NDArray[np.int32], first: Ints) -> tuple[Ints, Trees]:
    """Put the classes of every earlier release in the order of a tree.

    Every node is cut in half along the column in which the middles of its classes lie furthest
    apart, as a share of the whole; node ``i`` of level ``d`` of ``n`` classes has those from
    ``n * i >> d`` to ``n * (i + 1) >> d``, so nothing but the depth needs to be kept.
    """
    middle = lo.astype(np.int64) + hi
    wide = np.maximum(np.ptp(middle, axis=0), 1) if middle.size else np.ones(lo.shape[1])
    orders, lows, highs, root, depths = [], [], [], [0], []
    for begin, end in zip(first[:-1].tolist(), first[1:].tolist(), strict=True):
        size = end - begin
        depth = max((size // _LEAF).bit_length() - 1, 0)
        order = np.arange(begin, end)
        for level in range(depth):
            edges = (size * np.arange((1 << level) + 1)) >> level
            held = middle[order]
            reach = np.maximum.reduceat(held, edges[:-1]) - np.minimum.reduceat(held, edges[:-1])
            node = np.repeat(np.arange(edges.size - 1), np.diff(edges))
            column = np.argmax(reach / wide, axis=1)[node]
            order = order[np.lexsort((held[np.arange(size), column], node))]
        edges = (size * np.arange((1 << depth) + 1)) >> depth
        low, high = (
            [ufunc.reduceat(ends[order], edges[:-1])]
            for ufunc, ends in ((np.minimum, lo), (np.maximum, hi))
        )
        while len(low[0]) > 1:
            low.insert(0, np.minimum(low[0][::2], low[0][1::2]))
            high.insert(0, np.maximum(high[0][::2], high[0][1::2]))
        orders.append(order)
        lows += [low[0][:1], *low]  # node 0 of a heap is nobody
        highs += [high[0][:1], *high]
        root.append(root[-1] + (2 << depth))
        depths.append(depth)
    roots = np.array(root[:-1], np.int64)
    trees = Trees(first, roots, np.array(depths), np.concatenate(lows), np.concatenate(highs))
    return np.concatenate(orders), trees


def by_person(
    persons: Sequence[pl.Series], releases: Sequence[Opened], classes: Sequence[Valued]
) -> list[Cases]:
    """Return the same where every release says by a pseudonym whose row it is."""
    frames = []
    for number, (whose, opened) in enumerate(zip(persons, releases, strict=True)):
        if not whose.is_unique().all():
            newest = number + 1 == len(persons)
            raise InputError(
                f"{'The newest release' if newest else f'Earlier release {number + 1}'} has "
                f"{int(whose.is_duplicated().sum()):,} rows of people who have several, and "
                "releases are compared person by person with one row each. Give one row per "
                "person, or leave out --person to compare them by their cells."
            )
        who = pl.DataFrame({"person": whose, str(number): opened.published.labels})
        frames.append(who)
    now = frames.pop()
    for frame in frames:
        now = now.join(frame, on="person", how="left")
    columns = [str(number) for number in range(len(frames))]
    own = str(len(frames))
    ways = now.group_by(own, *columns).agg(pl.len().alias("people"))
    there = [pl.col(name).is_not_null() for name in columns]
    return [
        _ways(ways.filter(known), classes)
        for known in (pl.all_horizontal(there), pl.any_horizontal(there))
    ]


def _ways(ways: pl.DataFrame, classes: Sequence[Valued]) -> Cases:
    """Return the runs that people have left who were in the same classes all along."""
    *before, now = classes
    span = len(now.names) + 1
    own = ways[str(len(before))].to_numpy()
    many = np.diff(now.starts)[own]
    case = np.repeat(np.arange(own.size), many)
    runs = ragged_positions(now.starts[own], many)
    for number, other in enumerate(before):
        place = ways[str(number)]
        keys = other.owner * span + other.values
        wanted = place.fill_null(0).to_numpy()[case] * span + now.values[runs]
        kept = np.isin(wanted, keys) | place.is_null().to_numpy()[case]
        case, runs = case[kept], runs[kept]
    starts = np.searchsorted(case, np.arange(own.size + 1))
    return Cases(own, starts, runs, ways["people"].to_numpy().astype(np.int64))

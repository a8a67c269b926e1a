"""Find what each group is published as in every column, and how wide that is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.base.errors import ShoalError
from shoal.base.partition import Bools, Cover, Floats, Ints, Partition
from shoal.base.threads import share
from shoal.coding.encode import Encoded
from shoal.tables.domain import STAR, Domain, Nominal, Ordered, Taxonomy

_JOINS: WeakKeyDictionary[Partition, tuple[Encoded, tuple[Join, ...]]] = WeakKeyDictionary()
"""Recoding and every loss ask for the joins of the same partition: they live as long as it does."""


@dataclass(frozen=True, eq=False)
class Join:
    """What each group is published as in one column: the join of its members, or a cover of it.

    Parameters
    ----------
    domain
        The domain of the column.
    lo, hi
        Least and greatest position covered; ``hi`` is the domain's size when a member is missing,
        and then the group is published as ``*``.
    known
        Number of members of each group whose value is known.
    width
        Width of what is published, 0 (exact) to 1 (anything).
    node
        Taxonomies: the node, the lowest common ancestor by default. Empty otherwise.
    starts, members
        Sets: the positions ``members[starts[g]:starts[g + 1]]`` are in group ``g``, ascending.
        Empty otherwise.
    """

    domain: Domain
    lo: Ints
    hi: Ints
    known: Ints
    width: Floats
    node: Ints
    starts: Ints
    members: Ints

    @property
    def star(self) -> Bools:
        """Which groups say nothing: published as ``*``, or as the top of their hierarchy."""
        if isinstance(self.domain, Taxonomy):
            return np.asarray(self.node == self.domain.root)
        return np.asarray(self.hi >= self.domain.size)

    @property
    def label(self) -> Ints:
        """Taxonomies: which of :func:`shoal.releases.notation.node_labels` is published.

        A group with a missing member is published as ``*``, the one after the top's own label, so
        that nobody takes a gap for a value that was generalized to the top.
        """
        assert isinstance(self.domain, Taxonomy)
        own = self.domain.labels[self.domain.root] != STAR
        return np.where(own & (self.hi >= self.domain.size), self.domain.root + 1, self.node)

    @cached_property
    def distinct(self) -> tuple[Ints, Ints]:
        """One group for each different join, and for each group which of those it has."""
        if isinstance(self.domain, Taxonomy):
            keys = self.label
        elif isinstance(self.domain, Ordered):
            # Every * is the same, whatever else is in the group.
            lo, hi = self._ends(self.domain)
            keys = np.where(self.star, -1, lo * (2 * self.domain.size + 1) + hi)
        else:
            keys = self._set_keys()
        _, first, which = np.unique(keys, return_index=True, return_inverse=True)
        return first.astype(np.int64), which.reshape(-1).astype(np.int64)

    def _ends(self, domain: Ordered) -> tuple[Ints, Ints]:
        """Return numbers for both ends that are equal when they are published alike."""
        if domain.ends is None:
            return self.lo, self.hi
        low, high = (end.rank("dense").cast(pl.Int64).to_numpy() - 1 for end in domain.ends)
        wide = (self.lo != self.hi) & ~self.star
        last = domain.size - 1
        lo, hi = np.minimum(self.lo, last), np.minimum(self.hi, last)
        # No interval is a single value, whatever its ends.
        return np.where(wide, low[lo], lo), np.where(wide, domain.size + high[hi], hi)

    def _set_keys(self) -> Ints:
        """Number the different sets. Exact: sets are compared as texts, not as hashes."""
        star = self.star
        group = np.repeat(np.arange(star.size), np.diff(self.starts))
        keep = ~star[group]
        listed = pl.DataFrame({"group": group[keep], "member": self.members[keep]})
        written = listed.group_by("group", maintain_order=True).agg(
            pl.col("member").cast(pl.String).str.join(",")
        )
        keys = np.full(star.size, -1, np.int64)
        ranks = written.select(pl.col("member").rank("dense").cast(pl.Int64)).to_series()
        keys[written["group"].to_numpy()] = ranks.to_numpy()
        return keys


def joins(data: Encoded, partition: Partition) -> tuple[Join, ...]:
    """Return what every group is published as in every quasi-identifier; worked out once."""
    of, joined = _JOINS.get(partition, (None, ()))
    if of is not data:
        joined = _joins(data, partition)
        _JOINS[partition] = data, joined
    return joined


def _joins(data: Encoded, partition: Partition) -> tuple[Join, ...]:
    check_partition(data, partition)
    if not partition.groups:
        return tuple(_join(domain, np.empty(0, np.int32), partition, 0) for domain in data.domains)

    def one(j: int) -> Join:
        return _join(data.domains[j], data.codes[:, j][partition.rows], partition, j)

    return tuple(share(one, range(len(data.domains))))


def merge(covers: tuple[Join, ...], partition: Partition) -> Ints:
    """Number the equivalence classes: groups that are published alike have the same number."""
    classes = np.zeros(partition.groups, np.int64)
    for join in covers:
        _, which = join.distinct
        span = int(which.max(initial=0)) + 1
        _, classes = np.unique(classes * span + which, return_inverse=True)
        classes = classes.reshape(-1)
    return classes


def check_partition(data: Encoded, partition: Partition) -> None:
    """Refuse a partition that loses a row, has one twice, or has an empty group."""
    everyone = np.concatenate((partition.rows, partition.left_out))
    if not each_once(everyone, data.rows):
        raise ShoalError(
            f"The partition does not hold each of the {data.rows} rows once: it has "
            f"{partition.rows.size} rows in groups and {partition.left_out.size} left out, "
            f"{np.unique(everyone).size} different. The grouping method is at fault."
        )
    if (partition.sizes <= 0).any() or int(partition.starts[-1]) != partition.rows.size:
        raise ShoalError(
            "The partition has an empty group, or its last group does not end at the last row. "
            "The grouping method is at fault."
        )


def _join(domain: Domain, codes: npt.NDArray[np.int32], partition: Partition, j: int) -> Join:
    starts = partition.starts[:-1]
    none = np.empty(0, np.int64)
    if starts.size:
        lo = np.minimum.reduceat(codes, starts).astype(np.int64)
        hi = np.maximum.reduceat(codes, starts).astype(np.int64)
        known = np.add.reduceat(codes < domain.size, starts, dtype=np.int64)
    else:
        lo = hi = known = none
    node = none
    if isinstance(domain, Taxonomy):
        node = domain.cover(lo, hi).astype(np.int64)
    if partition.cover is not None:
        lo, hi, node = _covered(domain, lo, hi, node, partition.cover, j)
    if isinstance(domain, Taxonomy):
        return Join(domain, lo, hi, known, domain.width[node], node, none, none)
    star = hi >= domain.size
    width = np.ones(starts.size)
    if isinstance(domain, Ordered):
        if domain.size:
            width = domain.width(np.where(star, 0, lo), np.where(star, 0, hi))
        width[star] = 1.0
        return Join(domain, lo, hi, known, width, none, none, none)
    edges, members = _members(domain, codes, partition)
    inside = ~star
    width[inside] = (np.diff(edges)[inside] - 1) / max(domain.size - 1, 1)
    return Join(domain, lo, hi, known, width, none, edges, members)


def _covered(
    domain: Domain, lo: Ints, hi: Ints, node: Ints, cover: Cover, j: int
) -> tuple[Ints, Ints, Ints]:
    """Return positions and nodes with those of the cover in their place, where it has any.

    What is missing is published as ``*`` whatever the cover says.
    """
    if isinstance(domain, Taxonomy):
        wide = np.where((cover.node[:, j] >= 0) & (hi < domain.size), cover.node[:, j], node)
        wrong = (lo < domain.lo[wide]) | ((hi > domain.hi[wide]) & (hi < domain.size))
        node = wide.astype(np.int64)
    else:
        said = (cover.hi[:, j] >= 0) & (hi < domain.size)
        first, last = (
            np.where(said, end[:, j], was) for end, was in ((cover.lo, lo), (cover.hi, hi))
        )
        wrong = (first > lo) | (last < hi)
        if isinstance(domain, Nominal):  # a set is said by its members; wider there is only *
            wrong |= said & (last < domain.size) & ((first < lo) | (last > hi))
        lo, hi = first.astype(np.int64), last.astype(np.int64)
    if wrong.any():
        raise ShoalError(
            f"The partition publishes {int(wrong.sum())} groups as something that does not cover "
            "their rows. The grouping method is at fault."
        )
    return lo, hi, node


def _members(
    domain: Nominal, codes: npt.NDArray[np.int32], partition: Partition
) -> tuple[Ints, Ints]:
    """Return which positions occur in each group, ascending."""
    span = domain.size + 1
    label = np.repeat(np.arange(partition.groups, dtype=np.int64), partition.sizes)
    cells = np.sort(label * span + codes)
    cells = cells[np.append(True, cells[1:] != cells[:-1])] if cells.size else cells
    edges = np.searchsorted(cells, np.arange(partition.groups + 1, dtype=np.int64) * span)
    return edges.astype(np.int64), cells % span


def each_once(rows: Ints, total: int) -> bool:
    """Say whether the numbers from 0 to ``total - 1`` are all there, each once."""
    if rows.size != total:
        return False
    inside = total == 0 or (rows.min() >= 0 and rows.max() < total)
    return bool(inside and (np.bincount(rows, minlength=total) == 1).all())

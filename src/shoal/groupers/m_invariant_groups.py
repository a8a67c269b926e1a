"""Group one release of an m-invariant series by signatures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from shoal.base.partition import Codes, Ints, Partition
from shoal.coding.encode import Encoded
from shoal.groupers.signatures import Signature, assign_signatures
from shoal.privacy import FrequencyLDiversity, KAnonymity, MInvariance, Rule

Grouping = Callable[[Encoded, Rule], Partition]

SMALL = 60
"""Rows below which a bucket is cut in halves: too few for anything better."""
PAIRS = 2_000
"""Rows that are matched with as many places at a time."""


@dataclass(frozen=True, eq=False)
class EarlierClasses:
    """What earlier releases say of the rows of a table.

    Parameters
    ----------
    names
        What every value of a signature means; those of the table come first, as it numbers them.
    gap
        The value that stands for missing.
    kept
        The signature of every row, -1 for a record that was in no release.
    signatures
        What those are.
    """

    names: tuple[str, ...]
    gap: int
    kept: Ints
    signatures: tuple[Signature, ...]


@dataclass(frozen=True, eq=False)
class MInvariantGroups:
    """The groups of a release, counterfeits among them.

    Parameters
    ----------
    partition
        Of the rows of the table.
    counterfeits
        Group and value of every counterfeit, ``[c, 2]``.
    bucket, signatures
        The signature of every row, and what those are.
    """

    partition: Partition
    counterfeits: Ints
    bucket: Ints
    signatures: tuple[Signature, ...]

    def among(self, data: Encoded) -> tuple[Ints, Partition]:
        """Return the rows that are published, by number, and their groups.

        A counterfeit has the number of a row of its group behind which it can stand: whatever is
        published of the one is published of the other.
        """
        made = self.partition
        like = made.rows[made.starts[:-1]][self.counterfeits[:, 0]]
        labels = np.concatenate((made.labels(), self.counterfeits[:, 0]))
        rows = np.concatenate((np.arange(data.rows, dtype=np.int64), like))
        return rows, replace(Partition.from_labels(labels), notes=made.notes)


def group_m_invariant(
    data: Encoded,
    rule: MInvariance,
    before: EarlierClasses,
    grouping: Grouping,
    rng: np.random.Generator,
    *,
    near: bool = True,
    crowd: int = 1,
) -> MInvariantGroups:
    """Group the rows of every signature by themselves, counterfeits included.

    ``crowd``: how many rows a group must have, counterfeits not counted. Groups with fewer are
    joined with others, whatever their signatures are: each keeps the values of its own.

    ``grouping`` is asked for groups in which each of the s values of a signature has a share of
    1 / s and no more, which is: all equally often. ``near``: signatures go to rows that lie close
    to each other, see :func:`shoal.groupers.signatures.assign_signatures`.
    """
    from shoal.groupers import buckets  # loads kernels

    codes = data.sensitive[rule.column].astype(np.int64)
    values = np.where(codes < 0, before.gap, codes)
    alone = replace(data, people=None)
    close = _Close(alone, rule.share, grouping) if near else None
    known = before.signatures
    signed = assign_signatures(values, rule.m, rng, before.kept, known, gap=before.gap, near=close)
    bucket = np.concatenate((signed.bucket, signed.lacking[:, 0]))
    value = np.concatenate((values, signed.lacking[:, 1]))
    width = np.array([len(signature) for signature in signed.signatures])
    order = np.argsort(bucket, kind="stable")  # rows first, then counterfeits
    many = np.bincount(bucket, minlength=width.size)
    ends = np.concatenate(([0], np.cumsum(many)))
    labels = bucket.copy()  # right where a bucket is one group
    groups = width.size
    for number in np.flatnonzero(many > width):
        rows = order[ends[number] : ends[number + 1]]
        own = _bucket(alone, rule.column, rows, value, signed.signatures[number], rng)
        shared = FrequencyLDiversity(int(width[number]), rule.column)
        small = near and own.rows < SMALL
        parts = buckets.group(own, shared, rng) if small else grouping(own, shared)
        labels[rows] = groups + parts.labels()
        groups += parts.groups
    labels = np.unique(labels, return_inverse=True)[1].reshape(-1)
    made = Partition.from_labels(labels[: data.rows])
    if int(made.sizes.min()) < crowd:
        from shoal.groupers.repair import repair  # loads kernels

        joined = repair(alone, made, KAnonymity(crowd))
        labels = joined.labels()[made.rows[made.starts[:-1]]][labels]
        made = joined
    added = np.stack((labels[data.rows :], signed.lacking[:, 1]), axis=1)
    notes = {"signatures": int(np.count_nonzero(many)), "counterfeits": int(added.shape[0])}
    return MInvariantGroups(replace(made, notes=notes), added, signed.bucket, signed.signatures)


@dataclass(frozen=True, eq=False)
class _Close:
    """Which rows of a table lie close to each other."""

    data: Encoded
    share: FrequencyLDiversity
    grouping: Grouping

    def pairs(self, rows: Ints, places: Ints, many: int) -> tuple[Ints, Ints]:
        """Return pairs of a row and a place, the closest first; of very many a part at a time."""
        from shoal.kernels.split_buckets import closest

        size = np.array([domain.size for domain in self.data.domains], np.int64)
        parts = [np.empty((0, 2), np.int64)]
        for begin in range(0, many, PAIRS):
            some, open_places = rows[begin : begin + PAIRS], places[begin : begin + PAIRS]
            step = min(many - begin, some.size, open_places.size)
            parts.append(begin + closest(self.data.codes, some, open_places, size, step))
        pairs = np.concatenate(parts)
        return pairs[:, 0], pairs[:, 1]

    def groups(self, rows: Ints) -> Ints:
        """Return groups of close rows, no value more than 1 / m of any."""
        return self.grouping(self.data.take(rows), self.share).labels()


def _bucket(
    data: Encoded,
    column: str,
    rows: Ints,
    values: Ints,
    signature: Signature,
    rng: np.random.Generator,
) -> Encoded:
    """Return the rows of a bucket as a table, its counterfeits last.

    A counterfeit stands where a row of the most frequent value stands, each where another one does:
    such a row needs it for company. So no group is made of counterfeits alone.
    """
    places = np.searchsorted(np.array(signature), values[rows])
    real = rows < data.rows
    like, false = rows[real], places[~real]
    if false.size:
        count = np.bincount(places[real], minlength=len(signature))
        full = like[places[real] == int(count.argmax())]
        turns = [rng.permutation(full)[: int((false == value).sum())] for value in np.unique(false)]
        own = np.empty(false.size, np.int64)
        own[np.argsort(false, kind="stable")] = np.concatenate(turns)
        like = np.concatenate((like, own))
    codes: Codes = places.astype(np.int32)
    codes.setflags(write=False)
    names = tuple(map(str, signature))
    own_rows = data.take(like)
    return replace(own_rows, sensitive={column: codes}, sensitive_names={column: names}, unseen={})

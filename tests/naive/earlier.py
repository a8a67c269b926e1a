"""What earlier releases leave possible, by sets in plain Python: every choice of classes is tried.

A release is a list of rows ``(cells, value)``; a cell is the set of values that it covers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product

Row = tuple[tuple[frozenset[str], ...], str | None]
Release = Sequence[Row]


def classes(release: Release) -> dict[tuple[frozenset[str], ...], Counter[str | None]]:
    """Return the values of every class."""
    grouped: dict[tuple[frozenset[str], ...], Counter[str | None]] = {}
    for cells, value in release:
        grouped.setdefault(cells, Counter())[value] += 1
    return grouped


def meet(boxes: Sequence[tuple[frozenset[str], ...]]) -> bool:
    """Tell whether some point lies in all of the boxes."""
    return all(frozenset.intersection(*column) for column in zip(*boxes, strict=True))


def left_in_all(now: Release, before: Sequence[Release]) -> list[Counter[str | None]]:
    """Return for every class of the newest release the values left, with their rows."""
    earlier = [classes(release) for release in before]
    return [
        Counter(
            {
                value: rows
                for value, rows in values.items()
                if any(
                    meet([cells, *chain])
                    and all(value in own[box] for own, box in zip(earlier, chain, strict=True))
                    for chain in product(*earlier)
                )
            }
        )
        for cells, values in classes(now).items()
    ]


def left_in_some(now: Release, before: Sequence[Release]) -> list[Counter[str | None]]:
    """Return the same for somebody who was in at least one earlier release."""
    alone = [left_in_all(now, [release]) for release in before]
    return [
        Counter({value: rows for one in of for value, rows in one.items()})
        for of in zip(*alone, strict=True)
    ]


def rows_by_left(left: Sequence[Counter[str | None]]) -> dict[int, int]:
    """Count the rows with a known value by how many values are left to them."""
    counted: Counter[int] = Counter()
    for values in left:
        known = {value: rows for value, rows in values.items() if value is not None}
        if known:
            counted[len(known)] += sum(known.values())
    return dict(counted)


def beliefs(left: Sequence[Counter[str | None]]) -> tuple[float, float]:
    """Return the worst and the mean belief in the likeliest value, over the rows left."""
    tops = []
    for values in left:
        known = [rows for value, rows in values.items() if value is not None]
        tops += [max(known) / sum(known)] * sum(known) if known else []
    return (max(tops), sum(tops) / len(tops)) if tops else (0.0, 0.0)


def broken(
    now: Release,
    left: Sequence[Counter[str | None]],
    k: int | None = None,
    l: int | None = None,  # noqa: E741
) -> int:
    """Count the rows that lose k candidates, or l values, which they have in the newest release."""
    rows = 0
    for before, after in zip(classes(now).values(), left, strict=True):
        many = sum(count for value, count in after.items() if value is not None)
        if k is not None and sum(before.values()) >= k > sum(after.values()):
            rows += many
        if l is not None and len(before.keys() - {None}) >= l > len(after.keys() - {None}):
            rows += many
    return rows


def by_person(releases: Sequence[Sequence[tuple[str, Row]]], *, everywhere: bool) -> dict[int, int]:
    """Count people by how many values all of their classes have in common; the newest is last."""
    grouped = [classes([row for _, row in release]) for release in releases]
    counted: Counter[int] = Counter()
    for person, row in releases[-1]:
        own = [
            set(of[cells])
            for of, release in zip(grouped, releases, strict=True)
            for whose, (cells, _) in release
            if whose == person
        ]
        wanted = len(releases) if everywhere else 2
        if len(own) >= wanted:
            counted[len(set.intersection(*own) - {None})] += 1
        assert row[1] is None or row[1] in grouped[-1][row[0]]
    return dict(counted)

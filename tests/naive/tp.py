"""TP on counters, one row at a time, and the least residue by trying everything: the twin."""

import itertools
from collections import Counter


def height(counts):
    return max(counts.values(), default=0)


def eligible(counts, l):  # noqa: E741
    return sum(counts.values()) >= l * height(counts)


def peaks(counts):
    return [v for v in sorted(counts) if counts[v] == height(counts) > 0]


def tp(groups, l, homeless=False):  # noqa: E741
    """Return the residue (a Counter) and the last phase; ``groups`` (Counters) are changed."""
    residue, phase = Counter(), 1
    for group in groups:
        while not eligible(group, l):
            _give(group, residue, peaks(group)[0])
    while not eligible(residue, l) or (homeless and not residue):
        if residue:
            phase = max(phase, 2)
            _second(groups, residue, l)
            if eligible(residue, l):
                break
        phase = 3
        full = [g for g in groups if height(g)]
        top = height(residue)
        chosen = min(
            full,
            key=lambda g: (sum(residue[v] == top for v in peaks(g)), -len(peaks(g))),
        )
        for v in peaks(chosen):
            _give(chosen, residue, v)
    return residue, phase


def _second(groups, residue, l):  # noqa: E741
    top = height(residue)
    lists = {}
    for group in groups:
        for v in sorted(group):
            if group[v]:
                lists.setdefault(v, []).append(group)
    while not eligible(residue, l):
        for v in sorted(lists, key=lambda v: (residue[v], v)):
            if residue[v] == top:
                continue
            while lists[v] and not _able(lists[v][0], v, residue, l):
                lists[v].pop(0)
            if lists[v]:
                break
        else:
            return
        group = lists[v][0]
        if sum(group.values()) > l * height(group):
            _give(group, residue, v)
        else:
            for w in peaks(group):
                _give(group, residue, w)
            for w in group:
                if group[w] and not any(other is group for other in lists[w]):
                    lists[w].insert(0, group)


def _able(group, v, residue, l):  # noqa: E741
    if not group[v]:
        return False
    if sum(group.values()) > l * height(group):
        return True
    top = height(residue)
    return v in peaks(group) and all(residue[w] < top for w in peaks(group))


def _give(group, residue, v):
    group[v] -= 1
    residue[v] += 1


def least(groups, l):  # noqa: E741
    """The size of the smallest residue that leaves every group and itself eligible."""
    values = sorted({v for group in groups for v in group})
    reached = {(0,) * len(values)}
    for group in groups:
        choices = itertools.product(*(range(group[v] + 1) for v in values))
        gifts = [
            gift
            for gift in choices
            if eligible(Counter({v: group[v] - x for v, x in zip(values, gift, strict=True)}), l)
        ]
        reached = {
            tuple(a + b for a, b in zip(r, gift, strict=True)) for r in reached for gift in gifts
        }
    return min(sum(r) for r in reached if sum(r) >= l * max(r))

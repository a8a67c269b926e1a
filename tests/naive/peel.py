"""Peeling in plain Python: every pattern in turn, every class of what is left."""

import numpy as np

from shoal.base.partition import GroupStats, histogram


def peel(data, rule, ladders, patterns):
    """Return the class of every row; rows that no class took are -1."""
    m = len(data.domains)
    labels, groups = [-1] * data.rows, 0
    for pattern in patterns:
        classes = {}
        for row in range(data.rows):
            if labels[row] < 0:
                look = tuple(
                    int(
                        ladders.sign[
                            ladders.at[j] + pattern[j] * ladders.step[j] + data.codes[row, j]
                        ]
                    )
                    for j in range(m)
                )
                classes.setdefault(look, []).append(row)
        for rows in classes.values():
            if _holds(data, rule, rows):
                for row in rows:
                    labels[row] = groups
                groups += 1
    return labels


def _holds(data, rule, rows):
    inside = np.full(data.rows, -1)
    inside[rows] = 0
    stats = GroupStats(
        np.array([len(rows)]),
        {
            name: _whole(data, name, histogram(inside, codes, 1, data.sensitive_names[name]))
            for name, codes in data.sensitive.items()
        },
    )
    return bool(rule.holds(stats)[0])


def _whole(data, name, hist):
    """Rules that compare with the table see all its rows."""
    codes = data.sensitive[name]
    counts = np.bincount(codes[codes >= 0], minlength=len(hist.names))
    gaps = int((codes < 0).sum())
    return type(hist)(hist.starts, hist.values, hist.counts, counts, hist.names, whole_gaps=gaps)

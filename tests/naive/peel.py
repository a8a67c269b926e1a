"""Peeling in plain Python: every pattern in turn, every class of what is left."""

from tests.naive.rules import passes


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
            if passes(data, rule, rows):
                for row in rows:
                    labels[row] = groups
                groups += 1
    return labels

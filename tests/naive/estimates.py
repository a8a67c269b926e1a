"""Slow twins: the estimates of dummy values as the paper writes them, and Anatomy's groups."""

import numpy as np


def iterative(seen, rows, length, size, eps, limit=2_000):
    """One category: X'_a = (1/l) sum_b W_b p(a, b) X_a / sum_g p(g, b) X_g, to the letter."""
    q = (length - 1) / (size - 1) if size > 1 else 0.0

    def p(a, b):
        return 1.0 if a == b else q

    x = [w / length for w in seen]
    for _ in range(limit):
        new = []
        for a in range(size):
            total = 0.0
            for b in range(size):
                if seen[b]:
                    total += seen[b] * p(a, b) * x[a] / sum(p(g, b) * x[g] for g in range(size))
            new.append(total / length)
        change = max(abs(n - o) for n, o in zip(new, x, strict=True))
        x = new
        if change < eps:
            break
    return x


def full_em(sets, size, steps):
    """One category: every row is shared out over its set by the counts so far."""
    x = [sum(v in row for row in sets) / len(sets[0]) for v in range(size)]
    for _ in range(steps):
        new = [0.0] * size
        for row in sets:
            mass = sum(x[v] for v in row)
            for v in row:
                new[v] += x[v] / mass
        x = new
    return x


def largest_buckets(left, length):
    """While l buckets have rows: one row from each of the l fullest, the first of equal ones."""
    left = list(left)
    groups = []
    while sum(n > 0 for n in left) >= length:
        order = sorted((v for v in range(len(left)) if left[v]), key=lambda v: (-left[v], v))
        groups.append(order[:length])
        for v in order[:length]:
            left[v] -= 1
    return np.array(groups, np.int64).reshape(-1, length)

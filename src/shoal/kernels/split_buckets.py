"""Rows of a bucket: cut in two again and again, every value in equal parts; and who is closest."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.kernels import allocating

Ints = npt.NDArray[np.int64]


@allocating
def _reach(codes: npt.NDArray[np.int32], rows: Ints, begin: int, end: int, size: Ints) -> float:
    """Return the widths of the box of some rows, as shares of their columns; a gap is all of it."""
    total = 0.0
    for column in range(codes.shape[1]):
        low = codes[rows[0, begin], column]
        high = low
        for value in range(rows.shape[0]):
            for place in range(begin, end):
                code = codes[rows[value, place], column]
                low = min(low, code)
                high = max(high, code)
        if high >= size[column]:
            total += 1.0
        elif size[column] > 1:
            total += (high - low) / (size[column] - 1)
    return total


@allocating
def _sort(codes: npt.NDArray[np.int32], rows: Ints, begin: int, end: int, column: int) -> None:
    """Sort the rows of each value by a column."""
    for value in range(rows.shape[0]):
        keys = np.empty(end - begin, np.int64)
        for place in range(begin, end):
            keys[place - begin] = codes[rows[value, place], column]
        rows[value, begin:end] = rows[value, begin:end][np.argsort(keys, kind="mergesort")]


@allocating
def halve(codes: npt.NDArray[np.int32], rows: Ints, size: Ints) -> None:
    """Put the rows of a balanced bucket in order, such that each column of ``rows`` is a group.

    ``rows``: the row numbers by value, ``[values, rows of each]``. ``size``: of the domains. A part
    is cut where the widths of both halves are least together, each half as many rows as they are.
    """
    many = rows.shape[1]
    stack = np.empty((2 * 64, 2), np.int64)
    stack[0, 0], stack[0, 1] = 0, many
    depth = 1
    while depth:
        depth -= 1
        begin, end = stack[depth, 0], stack[depth, 1]
        if end - begin < 2:
            continue
        middle = (begin + end) // 2
        best, chosen = np.inf, 0
        for column in range(codes.shape[1]):
            _sort(codes, rows, begin, end, column)
            left = _reach(codes, rows, begin, middle, size) * (middle - begin)
            cost = left + _reach(codes, rows, middle, end, size) * (end - middle)
            if cost < best:
                best, chosen = cost, column
        _sort(codes, rows, begin, end, chosen)
        stack[depth, 0], stack[depth, 1] = begin, middle
        stack[depth + 1, 0], stack[depth + 1, 1] = middle, end
        depth += 2


@allocating
def closest(codes: npt.NDArray[np.int32], rows: Ints, places: Ints, size: Ints, many: int) -> Ints:
    """Return ``many`` pairs of a row and a place, ``[many, 2]``, the closest first.

    Rows and places are row numbers; both are told by their place in what is given. A gap is as far
    from everything as the column is wide.
    """
    cost = np.empty(rows.size * places.size, np.float32)
    for i in range(rows.size):
        for j in range(places.size):
            total = 0.0
            for column in range(codes.shape[1]):
                a, b = codes[rows[i], column], codes[places[j], column]
                if a != b:
                    if max(a, b) >= size[column]:
                        total += 1.0
                    else:
                        total += abs(a - b) / max(size[column] - 1, 1)
            cost[i * places.size + j] = total
    order = np.argsort(cost, kind="mergesort")
    gone, filled = np.zeros(rows.size, np.bool_), np.zeros(places.size, np.bool_)
    pairs = np.empty((many, 2), np.int64)
    found = 0
    for pair in order:
        if found == many:
            break
        i, j = pair // places.size, pair % places.size
        if not gone[i] and not filled[j]:
            gone[i] = filled[j] = True
            pairs[found, 0], pairs[found, 1] = i, j
            found += 1
    return pairs

"""Which rows are alone with their values in two and three columns, counted on sorted codes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.kernels import inner, kernel

Codes = npt.NDArray[np.int32]
Bits = npt.NDArray[np.uint32]
Ints = npt.NDArray[np.int64]


@kernel
def crowds(
    ordered: Codes, first: Codes, second: Codes, places: Codes, rows: Codes, starts: Codes
) -> int:
    """Gather the classes of at least two rows that are equal in two columns.

    ``ordered`` are all rows in the order of ``second``; a counting sort by ``first`` keeps that
    order. The rows are written to ``rows``, class after class, and where each begins to ``starts``,
    with the end behind the last. Returns the number of classes. ``places`` is room for one number
    a code of ``first`` and one more.
    """
    places[:] = 0
    for row in ordered:
        places[first[row] + 1] += 1
    for code in range(1, places.size):
        places[code] += places[code - 1]
    for row in ordered:
        rows[places[first[row]]] = row
        places[first[row]] += 1
    classes = 0
    kept = 0
    begin = 0
    for end in range(1, rows.size + 1):
        if end < rows.size:
            same = first[rows[end]] == first[rows[begin]]
            if same and second[rows[end]] == second[rows[begin]]:
                continue
        if end - begin > 1:
            starts[classes] = kept
            classes += 1
            for at in range(begin, end):
                rows[kept] = rows[at]  # never ahead of what is still to be read
                kept += 1
        begin = end
    starts[classes] = kept
    return classes


@inner
def _tally(
    rows: Codes, begin: int, end: int, codes: Codes, counts: Codes, own: Codes, sums: Ints
) -> None:
    """Count a class by the values of one more column; ``sums``: distinct, unique, alike pairs.

    ``own`` gets the value of each of its rows: reading them is what takes time.
    """
    for at in range(begin, end):
        code = codes[rows[at]]
        own[at - begin] = code
        counts[code] += 1
    for place in range(end - begin):
        many = np.int64(counts[own[place]])
        if many > 0:  # a value is counted when it is met first, and its sign remembers that
            sums[0] += 1
            sums[1] += many == 1
            sums[2] += many * (many - 1) // 2
            counts[own[place]] = -many


@kernel
def pair(
    rows: Codes,
    starts: Codes,
    classes: int,
    codes: Codes,
    counts: Codes,
    own: Codes,
    column: int,
    alone: Bits,
    lonely: Bits,
    weight: int,
    scores: Ints,
    sums: Ints,
) -> None:
    """Split the classes of one column by a second one.

    Sets the bit ``column`` in ``alone`` of every row that is then alone, and adds the weight to its
    score if it is not alone by the second column either. ``lonely`` are the bits of the columns
    that a row is alone by.
    """
    sums[:] = 0
    for number in range(classes):
        begin, end = starts[number], starts[number + 1]
        _tally(rows, begin, end, codes, counts, own, sums)
        for place in range(end - begin):
            if counts[own[place]] == -1:
                row = rows[begin + place]
                alone[row] |= np.uint32(1) << np.uint32(column)
                if not (lonely[row] >> np.uint32(column)) & np.uint32(1):
                    scores[row] += weight
        for place in range(end - begin):
            counts[own[place]] = 0


@kernel
def triple(
    rows: Codes,
    starts: Codes,
    classes: int,
    codes: Codes,
    counts: Codes,
    own: Codes,
    column: int,
    first: Bits,
    second: Bits,
    lonely: Bits,
    weight: int,
    scores: Ints,
    sums: Ints,
) -> None:
    """Split the classes of two columns by a third one.

    ``first`` and ``second`` are the bits of the columns that a row is alone by together with each
    of the two: a row that has the third neither there nor in ``lonely`` is alone by all three, and
    by no fewer.
    """
    sums[:] = 0
    bit = np.uint32(column)
    for number in range(classes):
        begin, end = starts[number], starts[number + 1]
        _tally(rows, begin, end, codes, counts, own, sums)
        for place in range(end - begin):
            if counts[own[place]] == -1:
                row = rows[begin + place]
                by_fewer = (first[row] | second[row] | lonely[row]) >> bit
                if not by_fewer & np.uint32(1):
                    scores[row] += weight
        for place in range(end - begin):
            counts[own[place]] = 0

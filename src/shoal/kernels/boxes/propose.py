"""Propose: patterns that the rows themselves ask for, when the lattice is too large to walk.

With fifteen or twenty quasi-identifiers the cheapest patterns of the lattice are far too fine for
most rows, and there are too many of them to get past. So look at a sample: the pattern on which a
row agrees with its nearest few is one at which a class of the wanted size is likely.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.kernels import allocating
from shoal.kernels.boxes.geometry import SET, Boxes, Codes, Ints, cover, span
from shoal.kernels.boxes.lattice import Ladders


@allocating
def propose(
    boxes: Boxes,
    ladders: Ladders,
    codes: Codes,
    sample: Ints,
    seeds: Ints,
    near: int,
    out: npt.NDArray[np.int8],
) -> None:
    """Fill ``out[s]`` with the finest pattern on which seed s looks like its nearest in the sample.

    ``codes`` is [m, n]; ``sample`` and ``seeds`` are places in it; ``near``: how many of the
    nearest.
    """
    kind, sign, levels = boxes.kind, ladders.sign, ladders.levels
    dist = np.empty(len(sample))
    for s in range(len(seeds)):
        for x in range(len(sample)):
            dist[x] = 0.0
            for j in range(len(kind)):
                v, w = codes[j, seeds[s]], codes[j, sample[x]]
                a, b = cover(boxes, j, v, v, w)
                if kind[j] == SET:
                    a, b = (1, 0) if v == w else (2, 0)
                dist[x] += span(boxes, j, a, b)
        order = np.argsort(dist, kind="mergesort")
        for j in range(len(kind)):
            level, here = 0, codes[j, seeds[s]]
            for x in range(near + 1):  # the seed itself may be in the sample
                there = codes[j, sample[order[x]]]
                while level + 1 < levels[j]:
                    rung = ladders.at[j] + level * ladders.step[j]
                    if sign[rung + here] == sign[rung + there]:
                        break
                    level += 1
            out[s, j] = level

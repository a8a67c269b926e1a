"""Where two partitions can be told apart: the smallest sets of rows that both divide by themselves.

Groups of the one and of the other that share a row belong together, and so on; what either side
makes of such a *component* can be exchanged for what the other one does.
"""

from __future__ import annotations

from shoal.kernels import inner, kernel
from shoal.kernels.boxes.geometry import Ints


@kernel
def components(one: Ints, other: Ints, parent: Ints) -> None:
    """Fill ``parent`` with the component of every group, those of ``one`` first.

    ``one`` and ``other`` are group numbers per row, both counted on from 0: those of ``other``
    behind those of ``one``. ``parent`` comes in with every group as its own.
    """
    for r in range(len(one)):
        a, b = _root(parent, one[r]), _root(parent, other[r])
        if a != b:
            parent[max(a, b)] = min(a, b)
    for g in range(len(parent)):
        parent[g] = _root(parent, g)


@inner
def _root(parent: Ints, g: int) -> int:
    while parent[g] != g:
        parent[g] = parent[parent[g]]
        g = parent[g]
    return g

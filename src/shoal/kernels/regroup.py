"""Which classes become one when some columns are published more coarsely."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.kernels import inner, kernel

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]


class Merged(NamedTuple):
    """Classes, in the order in which they come."""

    codes: Codes
    keys: Ints
    """The sum of ``strides[j] * codes[:, j]``, from 0 up to 2 ** 62."""
    sizes: Ints


class Rise(NamedTuple):
    """What becomes of the codes: ``c`` of column ``changed[i]`` to ``maps[first[i] + c]``."""

    changed: Ints
    """Ascending."""
    maps: Codes
    first: Ints
    strides: Ints
    exact: bool
    """Whether different codes always have different keys."""


@inner
def _alike(new: Codes, old: Codes, rise: Rise) -> bool:
    """Whether ``new`` is what ``old`` becomes."""
    c = 0
    for j in range(old.size):
        code = old[j]
        if c < rise.changed.size and rise.changed[c] == j:
            code = rise.maps[rise.first[c] + code]
            c += 1
        if new[j] != code:
            return False
    return True


@kernel
def regroup(old: Merged, rise: Rise, slots: Codes, new: Merged, to: Ints) -> int:
    """Put together the classes that are alike after mapping; return how many are left.

    Parameters
    ----------
    slots
        A hash table: a power of two, more than there are classes, all -1.
    new
        Filled with the new classes.
    to
        Filled with the new class of every class.
    """
    changed, maps, first = rise.changed, rise.maps, rise.first
    count, mask = 0, slots.size - 1
    for i in range(old.codes.shape[0]):
        key = old.keys[i]
        for c in range(changed.size):
            code = old.codes[i, changed[c]]
            key += (maps[first[c] + code] - code) * rise.strides[changed[c]]
        folded = (key ^ (key >> 31)) & np.int64(0x7FFFFFFF)
        slot = ((folded * np.int64(0x9E3779B1)) >> 20) & mask
        fresh = True
        while fresh and slots[slot] >= 0:
            other = slots[slot]
            fresh = new.keys[other] != key
            if not fresh and not rise.exact:
                fresh = not _alike(new.codes[other], old.codes[i], rise)
            if fresh:
                slot = (slot + 1) & mask
        if fresh:
            slots[slot] = count
            new.keys[count], new.sizes[count] = key, 0
            for j in range(old.codes.shape[1]):
                new.codes[count, j] = old.codes[i, j]
            for c in range(changed.size):
                code = old.codes[i, changed[c]]
                new.codes[count, changed[c]] = maps[first[c] + code]
            count += 1
        to[i] = slots[slot]
        new.sizes[to[i]] += old.sizes[i]
    return count

"""Which classes become one when some columns are published more coarsely."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.kernels import inner, kernel

Ints = npt.NDArray[np.int64]


@inner
def _alike(
    new: npt.NDArray[np.int32],
    old: npt.NDArray[np.int32],
    changed: Ints,
    maps: npt.NDArray[np.int32],
    first: Ints,
) -> bool:
    """Whether ``new`` is what ``old`` becomes."""
    c = 0
    for j in range(old.size):
        code = old[j]
        if c < changed.size and changed[c] == j:
            code = maps[first[c] + code]
            c += 1
        if new[j] != code:
            return False
    return True


@kernel
def regroup(
    codes: npt.NDArray[np.int32],
    keys: Ints,
    sizes: Ints,
    changed: Ints,
    maps: npt.NDArray[np.int32],
    first: Ints,
    strides: Ints,
    exact: bool,
    slots: npt.NDArray[np.int32],
    new_codes: npt.NDArray[np.int32],
    new_keys: Ints,
    new_sizes: Ints,
    to: Ints,
) -> int:
    """Put together the classes that are alike after mapping; return how many are left.

    Parameters
    ----------
    codes, keys, sizes
        The classes; a key is the sum of ``strides[j] * codes[:, j]``, from 0 up to 2 ** 62.
    changed, maps, first
        Code ``c`` of column ``changed[i]`` (ascending) becomes ``maps[first[i] + c]``.
    exact
        Whether different codes always have different keys.
    slots
        A hash table: a power of two, more than there are classes, all -1.
    new_codes, new_keys, new_sizes
        Filled with the new classes, in the order in which they come.
    to
        Filled with the new class of every class.
    """
    count, mask = 0, slots.size - 1
    m = codes.shape[1]
    for i in range(codes.shape[0]):
        key = keys[i]
        for c in range(changed.size):
            code = codes[i, changed[c]]
            key += (maps[first[c] + code] - code) * strides[changed[c]]
        folded = (key ^ (key >> 31)) & np.int64(0x7FFFFFFF)
        slot = ((folded * np.int64(0x9E3779B1)) >> 20) & mask
        fresh = True
        while fresh and slots[slot] >= 0:
            other = slots[slot]
            fresh = new_keys[other] != key
            if not fresh and not exact:
                fresh = not _alike(new_codes[other], codes[i], changed, maps, first)
            if fresh:
                slot = (slot + 1) & mask
        if fresh:
            slots[slot] = count
            new_keys[count] = key
            new_sizes[count] = 0
            for j in range(m):
                new_codes[count, j] = codes[i, j]
            for c in range(changed.size):
                code = codes[i, changed[c]]
                new_codes[count, changed[c]] = maps[first[c] + code]
            count += 1
        to[i] = slots[slot]
        new_sizes[to[i]] += sizes[i]
    return count

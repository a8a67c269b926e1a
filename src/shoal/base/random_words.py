"""Draw random numbers from the operating system's secure source, or from a seed."""

from __future__ import annotations

import os

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]


def random_words(rng: np.random.Generator | None, *shape: int) -> Words:
    """Return uniform 64-bit numbers; without ``rng`` nobody can compute them afterwards.

    A generator that was merely seeded from a secure source would not do: from enough of its output
    its state can be found, and with it every dummy value of the table.
    """
    if rng is None:
        count = int(np.prod(shape))
        return np.frombuffer(os.urandom(8 * count), np.uint64).reshape(shape)
    return rng.integers(0, 1 << 64, shape, np.uint64)


def random_below(limit: int, drawn: Words) -> npt.NDArray[np.int64]:
    """Turn random words into numbers from 0 to ``limit - 1``.

    No number is favoured by more than ``limit / 2**64``, far less than any table could show.
    """
    return (drawn % np.uint64(limit)).astype(np.int64)


def random_order(rng: np.random.Generator | None, size: int) -> npt.NDArray[np.int64]:
    """Return the numbers from 0 to ``size - 1`` in random order."""
    return np.argsort(random_words(rng, size), kind="stable").astype(np.int64)

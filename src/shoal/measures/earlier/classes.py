"""Read the classes of several releases with one numbering of sensitive values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.base.partition import Ints
from shoal.releases.opened import Opened


@dataclass(frozen=True, eq=False)
class Valued:
    """The classes of a release: their sizes, and runs of values with how many rows have each.

    ``values`` are numbers that mean the same in every release; the last one is missing.
    """

    sizes: Ints
    starts: Ints
    values: Ints
    counts: npt.NDArray[np.float64]
    names: tuple[str, ...]

    @property
    def owner(self) -> Ints:
        """The class of every run."""
        return np.repeat(np.arange(self.sizes.size), np.diff(self.starts))


@dataclass(frozen=True, eq=False)
class Cases:
    """Ways in which people are narrowed down: the class of each, and the runs that are left.

    ``weight``: of how many people each is told; None for as many as there are rows with a known
    value left.
    """

    classes: Ints
    starts: Ints
    runs: Ints
    weight: Ints | None = None


def numbered(releases: Sequence[Opened], of: str) -> list[Valued]:
    """Return the classes of all releases, with values numbered alike."""
    names = sorted({name for opened in releases for name in opened.view(of).values(of)})
    number = {name: place for place, name in enumerate(names)}
    classes = []
    for opened in releases:
        sizes = opened.published.sizes
        posterior = opened.view(of).posterior(of)
        mass = posterior.mass
        owner = np.repeat(np.arange(sizes.size), np.diff(posterior.starts))
        codes = np.array([number[name] for name in opened.view(of).values(of)], np.int64)
        gone = np.flatnonzero(sizes - mass > 0.5)  # rows without a value
        owner = np.concatenate((owner, gone))
        values = np.concatenate((codes[posterior.values], np.full(gone.size, len(names))))
        counts = np.concatenate(
            (posterior.share * mass[owner[: posterior.share.size]], (sizes - mass)[gone])
        )
        order = np.lexsort((values, owner))
        starts = np.searchsorted(owner[order], np.arange(sizes.size + 1)).astype(np.int64)
        classes.append(Valued(sizes, starts, values[order], counts[order], tuple(names)))
    return classes

"""k-anonymity: every class has at least k rows (Samarati, Sweeney 1998)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from shoal.base.params import Param
from shoal.base.partition import GroupStats
from shoal.privacy.base import Bools, KnownValues, Limit, format_count


@dataclass(frozen=True)
class KAnonymity(KnownValues):
    """Nobody can be told apart from at least ``k - 1`` others.

    Grows safely: a union is at least as large as either part.
    """

    k: int

    name: ClassVar[str] = "k-anonymity"
    column: ClassVar[None] = None
    grows_safely: ClassVar[bool] = True
    judged_alone: ClassVar[bool] = True
    diversity: ClassVar[None] = None
    params: ClassVar[tuple[Param, ...]] = (
        Param("k", "least number of rows in a class", int, default=10, low=2, safer="more"),
    )
    figures: ClassVar[Mapping[str, str]] = {"k": "k"}

    def __post_init__(self) -> None:
        self.params[0].check(self.k, self.name)

    def holds(self, stats: GroupStats) -> Bools:
        """Say for every class whether it has at least k rows."""
        return stats.sizes >= self.k

    @property
    def least(self) -> int:
        """The k."""
        return self.k

    def conditions(self) -> tuple[()]:
        """The size is all there is to check."""
        return ()

    def obstacle(self, whole: GroupStats) -> str | None:
        """A table with fewer than k rows cannot be k-anonymous."""
        rows = int(whole.sizes.sum())
        if rows >= self.k:
            return None
        nearest = f"the largest k possible is {rows}" if rows >= 2 else "no k is possible"
        return (
            f"k-anonymity with k={self.k} cannot be met: the table has only "
            f"{format_count(rows, whole.unit)}; {nearest}."
        )

    def limits(self, whole: GroupStats) -> tuple[Limit, ...]:
        """All rows of the table make the largest class."""
        return (Limit("k", int(whole.sizes.sum()), f"there are no more {whole.unit}"),)

    def achieved(self, stats: GroupStats) -> dict[str, Any]:
        """Return the size of the smallest class."""
        return {"k": int(stats.sizes.min()) if stats.sizes.size else 0}

    def describe(self) -> str:
        """Return the promise in words."""
        return f"every class has at least {self.k} rows (k-anonymity)"

"""m-invariance: over all releases, a record always hides among the same m values or more.

What a class alone can show of it is that no value has more than 1/m of it. That the values are the
same ones in every release is a matter of the history of the releases, and checked beside it
(:mod:`shoal.releases.history.check`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from shoal.base.params import Param
from shoal.base.partition import GroupStats
from shoal.privacy.base import Bools, Condition, KnownValues, Limit
from shoal.privacy.l_diversity import FrequencyLDiversity


@dataclass(frozen=True)
class MInvariance(KnownValues):
    """No value in more than 1 / ``m`` of a class, of one signature for life (Xiao, Tao 2007).

    Grows safely: a share in a union lies between the shares in the parts, and a class made of
    several groups, each of one signature, has the signatures of all its people.
    """

    m: int
    column: str

    name: ClassVar[str] = "m-invariance"
    grows_safely: ClassVar[bool] = True
    judged_alone: ClassVar[bool] = False  # signatures are handed out over the whole table
    params: ClassVar[tuple[Param, ...]] = (
        Param(
            "m",
            "least number of values that a person hides among, the same in all releases",
            int,
            default=2,
            low=2,
            safer="more",
        ),
    )
    figures: ClassVar[Mapping[str, str]] = {"m": "m"}

    def __post_init__(self) -> None:
        self.params[0].check(self.m, self.name)

    @property
    def diversity(self) -> int:
        """The m: of fewer values one has more than 1 / m."""
        return self.m

    @property
    def share(self) -> FrequencyLDiversity:
        """What it asks of every class by itself."""
        return FrequencyLDiversity(self.m, self.column)

    def holds(self, stats: GroupStats) -> Bools:
        """Say for every class whether its most frequent value stays within 1 / m."""
        return self.share.holds(stats)

    @property
    def least(self) -> int:
        """The m."""
        return self.m

    def conditions(self) -> tuple[Condition, ...]:
        """No larger share than 1 / m."""
        return self.share.conditions()

    def obstacle(self, whole: GroupStats) -> str | None:
        """A value with more than 1 / m of the table is too frequent in some class."""
        told = self.share.obstacle(whole)
        if told is None:
            return None
        told = told.replace(f"l={self.m}", f"m={self.m}").replace("largest l", "largest m")
        return told.replace("Frequency l-diversity", "m-invariance").replace("no l ", "no m ")

    def limits(self, whole: GroupStats) -> tuple[Limit, ...]:
        """Some class holds at least the table's share of the most frequent value."""
        return tuple(replace(limit, param="m") for limit in self.share.limits(whole))

    def achieved(self, stats: GroupStats) -> dict[str, Any]:
        """Return the least 1 / (share of the most frequent value)."""
        return {"m": self.share.achieved(stats)["frequency_l"]}

    def describe(self) -> str:
        """Return the promise in words: an older copy of a history knows fewer releases."""
        return (
            f"every person hides among at least {self.m} values of {self.column!r}, the same ones "
            f"in all releases that the history knows, and none has more than 1/{self.m} of the "
            "known values of a class (m-invariance)"
        )

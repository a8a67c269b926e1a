"""Apply a rule to a part of a table while comparing with the whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from shoal.base.params import Param
from shoal.base.partition import GroupStats
from shoal.privacy.base import Bools, Floats, Limit, Rule


@dataclass(frozen=True)
class Anchored:
    """A rule that compares classes with a table, whichever part of it a method is given.

    ``whole``: the table to compare with, as one group, over the same sensitive codes. Kernels would
    compare with what they are given, so it has no conditions for them and is kept by repair.
    """

    rule: Rule
    whole: GroupStats

    grows_safely = True  # as its rule: what it compares with stays as it is
    judged_alone = True
    diversity = None
    least = 1

    @property
    def name(self) -> str:
        """That of the rule."""
        return self.rule.name

    @property
    def column(self) -> str | None:
        """That of the rule."""
        return self.rule.column

    @property
    def reading(self) -> str | None:
        """As the rule reads its column."""
        return self.rule.reading

    @property
    def params(self) -> tuple[Param, ...]:
        """Those of the rule."""
        return self.rule.params

    @property
    def figures(self) -> Mapping[str, str]:
        """Those of the rule."""
        return self.rule.figures

    def _told(self, stats: GroupStats) -> GroupStats:
        of = self.whole.histograms
        known = {
            name: replace(
                hist,
                whole=of[name].whole,
                whole_people=of[name].whole_people,
                whole_gaps=of[name].whole_gaps,
                whole_everyone=of[name].whole_everyone,
            )
            if name in of
            else hist
            for name, hist in stats.histograms.items()
        }
        return replace(stats, histograms=known)

    def holds(self, stats: GroupStats) -> Bools:
        """Say for every group whether it passes beside the whole table."""
        return self.rule.holds(self._told(stats))

    def conditions(self) -> None:
        """Kernels would compare with the part."""

    def mix(self, share: Floats) -> None:
        """What a method is given may have other shares than the table to compare with."""

    def obstacle(self, whole: GroupStats) -> str | None:
        """A part passes if it does as one group."""
        if self.holds(whole).all():
            return None
        return (
            f"A part of the table that limits keep apart cannot keep the promise that "
            f"{self.describe()}, not even as one class. Give coarser limits, or relax the rule."
        )

    def limits(self, whole: GroupStats) -> tuple[Limit, ...]:
        """Not told of a part."""
        return ()

    def achieved(self, stats: GroupStats) -> dict[str, Any]:
        """Return what the weakest group reaches beside the whole table."""
        return self.rule.achieved(self._told(stats))

    def describe(self) -> str:
        """Return the promise in words."""
        return self.rule.describe()

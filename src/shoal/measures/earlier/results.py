"""The result of a comparison with earlier releases."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Narrowed:
    """What is left to the people of whom somebody knows that they were in earlier releases.

    Parameters
    ----------
    rows
        Rows of the newest release that can be theirs.
    left
        How many of these have so many values left.
    worst_before, mean_before
        The belief in the likeliest value, with the newest release alone, over these rows.
    worst_after, mean_after
        The same with the earlier releases.
    broken
        By promise the number of rows for which it holds in the newest release alone, but not with
        the earlier ones.
    """

    rows: int
    left: Mapping[int, int]
    worst_before: float
    mean_before: float
    worst_after: float
    mean_after: float
    broken: Mapping[str, int]


@dataclass(frozen=True)
class EarlierReleases:
    """What earlier releases add to what is known of a sensitive column.

    ``linked``: by what rows of two releases are taken for the same person's, ``cells`` or
    ``persons``. ``for_certain``: what is left whatever somebody knows of the quasi-identifiers of
    people who were in all releases, where rows are linked by cells.
    """

    column: str
    releases: int
    linked: str
    in_all: Narrowed
    in_some: Narrowed
    for_certain: Narrowed | None = None

    @property
    def unit(self) -> str:
        """What is counted."""
        return "people" if self.linked == "persons" else "rows"

    @property
    def nobody(self) -> str:
        """Say that nothing was compared, if so."""
        if self.in_all.rows:
            return ""
        return (
            "Nobody of the release can have been in all of the earlier ones, so nothing was "
            "checked over them: they are not about the same people, or their cells cannot be "
            "compared (give --hierarchies)."
        )

    @property
    def broken(self) -> dict[str, str]:
        """Say which promises do not hold over all releases, by promise."""
        return {
            promise: f"With the earlier releases, the promise that {promise} no longer holds for "
            f"{many:,} of {self.in_all.rows:,} {self.unit} that can have been in all of them "
            f"({self.column!r})."
            for promise, many in self.in_all.broken.items()
            if many
        }

    @property
    def faults(self) -> list[str]:
        """Say everything that speaks against a promise over all releases."""
        return [text for text in (self.nobody, *self.broken.values()) if text]

    def describe(self) -> str:
        """Return the finding as a sentence."""
        known = self.in_all
        releases = "the earlier release" if self.releases == 1 else "all earlier releases"
        if not known.rows:
            return f"No row of it can be of a person who was in {releases} too."
        return (
            f"Who knows that a person was in {releases} too believes the likeliest value of "
            f"{self.column!r} with probability {known.mean_after:.4f} on average instead of "
            f"{known.mean_before:.4f}, {known.worst_after:.4f} at worst instead of "
            f"{known.worst_before:.4f}; {known.left.get(1, 0):,} of {known.rows:,} {self.unit} "
            "have one value left."
        )

    def uncertain(self, proved: Collection[str] = ()) -> bool:
        """Tell whether own quasi-identifiers could break a promise that the cells do not break."""
        known = self.for_certain
        if known is None or not self.in_all.rows:
            return False
        return any(many for promise, many in known.broken.items() if promise not in proved)

    @property
    def beyond(self) -> str:
        """Say what the cells cannot show."""
        if self.for_certain is None or not self.in_all.rows:
            return ""
        most = max(self.for_certain.broken.values(), default=0)
        if not most:
            return "The promise holds, however much somebody knows of the quasi-identifiers."
        return (
            "This follows from the published cells. An attacker who knows a person's own "
            "quasi-identifiers can "
            f"rule out more, for up to {most:,} of {self.for_certain.rows:,} rows so much that a "
            "promise is broken; the cells do not show for which people."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        told = {"all": self.in_all, "some": self.in_some, "certain": self.for_certain}
        return {
            "releases": self.releases,
            "linked": self.linked,
            "unit": self.unit,
            "sentence": self.describe(),
            "beyond": self.beyond,
            "counts": sorted({*self.in_all.left, *self.in_some.left}),
            **{name: asdict(narrowed) for name, narrowed in told.items() if narrowed is not None},
        }

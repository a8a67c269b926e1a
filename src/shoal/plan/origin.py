"""Where a plan comes from, and which files it may read."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from shoal.base.errors import PlanError


@dataclass(frozen=True)
class Origin:
    """The folder of a plan and how far it is trusted.

    ``named``: places that the caller named instead of the plan. Two plans that say the same are
    equal whoever is trusted.
    """

    folder: Path = Path()
    trusted: bool = field(default=True, compare=False)
    named: frozenset[str] = field(default=frozenset(), compare=False)


def leads_out(place: Path, folder: Path) -> bool:
    """Tell whether a file, or anything that a directory holds, is outside ``folder``."""
    home = folder.resolve()
    inside = [place, *(place.iterdir() if place.is_dir() else ())]
    return not all(path.resolve().is_relative_to(home) for path in inside)


def refuse_untrusted(reason: str) -> PlanError:
    """Say what a plan that others may have made is not allowed, and how to allow it."""
    return PlanError(
        f"{reason}. A plan may come from somebody else, so by itself it reads only what lies in "
        "its folder. If you know that this one is good, add --trust-plan (Plan.read(path, "
        "trust=True)), or name the place yourself on the command line."
    )

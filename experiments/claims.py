"""What is asked of a paper: its claims, the measured points, and the answer to one question."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from shoal.base.errors import PlanError, format_names, suggest_nearest


@dataclass(frozen=True)
class Dot:
    """A measured point of a curve; ``mean`` is None where nothing could be measured.

    ``values``: what each seed gave, in the order of the seeds. ``random``: seeds change it.
    """

    figure: str
    panel: Any
    x: Any
    series: str
    mean: float | None
    low: float | None = None
    high: float | None = None
    repeats: int = 0
    reason: str = ""
    values: tuple[float, ...] = ()
    random: bool = False

    def at_seed(self, seed: int) -> Dot:
        """Return what one seed gave; a curve that no seed changes has one value."""
        if not self.values:
            return self
        return replace(self, mean=self.values[seed % len(self.values)])


@dataclass(frozen=True)
class Claim:
    """A finding of a paper, and when it counts as holding.

    Parameters
    ----------
    text, reported, place
        The finding in our words, what the paper reports, and where in it: a section or figure.
    ours
        Whether it is no finding of the paper but a question of our own.
    why
        Why our figures contradict the paper, for a claim that does not hold.
    kind
        The question asked, a name of ``KINDS``.
    figures, series, others
        The figures asked, the curve that the claim is about, and those it is compared with.
    at
        Only points with these values of x or panel, one or a list of them.
    along
        ``x``, or ``panel`` to follow the panels at each x.
    tolerance, factor, low, high, expect, how
        What the kind needs, see there.
    seeds
        Whether it is asked of every seed by itself: where they disagree it is undecided.
    readings
        The same claim under several readings of the paper: where they disagree it is undecided.
    reading
        What a reading is called.
    full
        Whether it speaks of all rows, so that a quick run cannot tell.
    main
        Whether it stands in the table at the top of the summary.
    """

    id: str
    text: str
    reported: str
    kind: str
    figures: tuple[str, ...]
    series: str
    place: str = ""
    ours: bool = False
    why: str = ""
    others: tuple[str, ...] = ()
    at: Mapping[str, Any] = field(default_factory=dict)
    along: str = "x"
    tolerance: float = 0.0
    factor: float = 1.0
    low: float = -math.inf
    high: float = math.inf
    expect: str = ""
    how: str = ""
    seeds: bool = False
    readings: tuple[Claim, ...] = ()
    reading: str = ""
    full: bool = False
    main: bool = False


@dataclass(frozen=True)
class Check:
    """One question answered: where, with which figures.

    ``passed``: None where two fits that are as good give two answers. ``measured``: whether there
    were figures to answer it; a point that could not be measured stays in the count.
    """

    passed: bool | None
    told: str
    measured: bool = True


def read_claims(path: Path, kinds: Iterable[str]) -> tuple[Claim, ...]:
    """Read the claims of a paper, or say all that is wrong with them."""
    parts = tomllib.loads(path.read_text("utf-8"))["claims"]
    if faults := [fault for part in parts for fault in _faults(part, path, list(kinds))]:
        raise PlanError(faults)
    return tuple(_claim(part) for part in parts)


def _claim(part: Mapping[str, Any]) -> Claim:
    own = {key: value for key, value in part.items() if key not in ("figure", "readings")}
    figures = part["figure"]
    own["figures"] = (figures,) if isinstance(figures, str) else tuple(figures)
    own["others"] = tuple(part.get("others", ()))
    own.setdefault("reported", "not in the paper")
    shared = {key: value for key, value in part.items() if key != "readings"}
    readings = tuple(_claim({**shared, **each}) for each in part.get("readings", ()))
    return Claim(**own, readings=readings)


def _faults(part: Mapping[str, Any], path: Path, kinds: list[str]) -> Iterator[str]:
    name = part.get("id", "without an id")
    known = set(Claim.__dataclass_fields__) - {"figures"} | {"figure"}
    for key in sorted(set(part) - known):
        yield f"{path}: claim {name!r} has an unknown key {key!r}.{suggest_nearest(key, known)}"
    if part.get("kind") not in kinds:
        yield (
            f"{path}: claim {name!r} is of the kind {part.get('kind')!r}; kinds are "
            f"{format_names(kinds, len(kinds))}."
        )
    needed = {"id", "text", "figure", "series"}
    needed |= set() if part.get("ours") else {"reported", "place"}
    if lacking := needed - set(part):
        yield f"{path}: claim {name!r} lacks {format_names(sorted(lacking))}."
    shared = {key: value for key, value in part.items() if key != "readings"}
    for each in part.get("readings", ()):
        if "reading" not in each:
            yield f'{path}: a reading of the claim {name!r} has no name. Give reading = "...".'
        yield from _faults({**shared, **each}, path, kinds)

"""Find the frontier of settings, and recommend one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shoal.base.errors import ParameterError, format_names, suggest_nearest
from shoal.catalog import LOSSES
from shoal.show.charts.plane import Point, best_of

# The word of an axis: the figure behind it, and what it is called.
RISKS = {
    "highest": ("risk_highest", "highest re-identification risk"),
    "mean": ("risk_mean", "mean re-identification risk"),
    "belief": ("belief_worst", "strongest belief in a sensitive value"),
}
_COSTS = {
    "queries": ("query_median", "median error of counting queries"),
    "classifier": ("accuracy", "share of wrong predictions"),
}


def costs() -> dict[str, tuple[str, str]]:
    """Return what can be kept low: every loss of the catalog, and what else is measured."""
    return {name: (name, entry.title) for name, entry in LOSSES.items()} | _COSTS


def is_share(cost: str) -> bool:
    """Tell whether a cost is a share, told in per cent."""
    return cost in _COSTS or LOSSES[cost].high == 1.0


def share(value: float) -> str:
    """Say a share in per cent, so that two settings which differ look different."""
    return f"{100 * value:.3g} %"


def _cost(word: str, value: float) -> str:
    return share(value) if is_share(word) else f"{value:,.4g}"


@dataclass(frozen=True)
class Recipient:
    """What a release to somebody may show at most.

    ``risk``: highest re-identification risk. ``gain``: how far the strongest belief in a sensitive
    value may be on the way from guessing the most frequent value (0) to certainty (1).
    """

    title: str
    risk: float
    gain: float

    def belief(self, prior: float) -> float:
        """Return the largest belief, where ``prior`` is the share of the most frequent value."""
        return prior + self.gain * (1 - prior)


RECIPIENTS = {
    "internal": Recipient("colleagues who may see the original table", 0.2, 0.99),
    "contract": Recipient("a named recipient under contract", 0.1, 0.75),
    "public": Recipient("the public", 0.05, 0.5),
}
"""Limits by recipient: classes of 5, 10 and 20 people. docs/howto/promises.md says why."""


@dataclass(frozen=True)
class Axes:
    """The words of the two figures that settings are weighed by, and the largest risk allowed.

    ``believed``: the largest belief in a sensitive value; a setting beyond it is not weighed.
    """

    risk: str
    cost: str
    limit: float
    believed: float = math.inf

    def reveals(self, figures: Mapping[str, Any]) -> bool:
        """Tell whether a setting lets somebody be too sure of a sensitive value."""
        return bool(figures.get(RISKS["belief"][0], 0.0) > self.believed + 1e-12)

    def place(self, figures: Mapping[str, Any]) -> tuple[float, float]:
        """Return risk and cost of a setting; what is not weighed is not a number."""
        risk = math.nan if self.reveals(figures) else figures.get(RISKS[self.risk][0], math.nan)
        cost = figures.get(costs()[self.cost][0], math.nan)
        # Of the classifier what it gets wrong counts, so that less is better on every axis.
        return float(risk), 1 - float(cost) if self.cost == "classifier" else float(cost)


def check_axis(word: str | None, known: Mapping[str, Any], name: str) -> None:
    """Refuse a word that names no axis."""
    if word is not None and word not in known:
        raise ParameterError(
            f"The {name!r} parameter of compare must be one of {format_names(known)}. "
            f"Got {word!r} instead.{suggest_nearest(word, known)}"
        )


def frontier(places: Sequence[tuple[float, float]]) -> set[int]:
    """Return the settings that no other one beats on both axes; of equals the first."""
    usable = [i for i, point in enumerate(places) if not any(map(math.isnan, point))]
    best = best_of([Point(*places[i], "") for i in usable])
    return {usable[i] for i in best}


def find_bend(places: Sequence[tuple[float, float]], on: set[int]) -> int | None:
    """Return the setting where the frontier bends most, None when it has no bend.

    Risk counts by its logarithm, since k is doubled rather than raised by one. The bend lies
    furthest under the straight line from one end of the frontier to the other; a frontier that
    nowhere sags has none.
    """
    order = sorted(on, key=lambda i: places[i])
    if len(order) < 3 or places[order[0]][0] <= 0:
        return None
    x = [math.log(places[i][0]) for i in order]
    y = [places[i][1] for i in order]
    width, height = x[-1] - x[0], y[0] - y[-1]
    if width <= 0 or height <= 0:
        return None
    sag = [1 - (a - x[0]) / width - (b - y[-1]) / height for a, b in zip(x, y, strict=True)]
    deepest = max(range(len(order)), key=lambda at: sag[at])
    return order[deepest] if sag[deepest] > 1e-9 else None


@dataclass(frozen=True)
class Recommendation:
    """The setting to take (None: none), where the frontier bends, and why, in words."""

    recommended: int | None
    bend: int | None
    why: str


def recommend(
    labels: Sequence[str], places: Sequence[tuple[float, float]], axes: Axes
) -> Recommendation:
    """Recommend the lowest cost among the settings whose risk is within the limit.

    ``labels`` and ``places`` are those of the verified settings only. Of equal costs the lower risk
    wins, then the first.
    """
    risk, cost = RISKS[axes.risk][1], costs()[axes.cost][1]
    on = frontier(places)
    if not on:
        return Recommendation(
            None, None, f"No verified setting has both a {risk} and a {cost} to compare."
        )
    deepest = find_bend(places, on)
    allowed = [i for i in on if places[i][0] <= axes.limit + 1e-12]
    if not allowed:
        safest = min(on, key=lambda i: places[i])
        return Recommendation(
            None,
            deepest,
            f"Nothing is recommended: no setting keeps the {risk} at {share(axes.limit)} or below; "
            f"{labels[safest]} comes closest with {share(places[safest][0])}. Ask for stricter "
            "rules (a larger k), or allow a higher risk.",
        )
    chosen = min(allowed, key=lambda i: (places[i][1], places[i][0]))
    said = [
        f"{labels[chosen]} has the least {cost} ({_cost(axes.cost, places[chosen][1])}) of the "
        f"settings whose {risk} is at most {share(axes.limit)} (it is {share(places[chosen][0])})."
    ]
    safer = [i for i in on if places[i][0] < places[chosen][0]]
    if safer:
        step = max(safer, key=lambda i: places[i][0])
        said.append(
            f"The next safer one, {labels[step]}, brings the risk to {share(places[step][0])} at "
            f"{_cost(axes.cost, places[step][1])} {cost}."
        )
    if deepest is not None:
        said.append(
            "Beyond it, less risk costs more."
            if deepest == chosen
            else f"Beyond {labels[deepest]} (risk {share(places[deepest][0])}, "
            f"{cost} {_cost(axes.cost, places[deepest][1])}), less risk costs more."
        )
    return Recommendation(chosen, deepest, " ".join(said))

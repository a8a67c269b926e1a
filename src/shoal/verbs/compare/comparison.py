"""The result of a comparison: settings, frontier and recommendation."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import polars as pl

from shoal.base.errors import format_names
from shoal.base.results import Caution, Piece, Result
from shoal.show.charts.paper import Chart
from shoal.show.charts.plane import Point, scatter
from shoal.tables.native import Native
from shoal.verbs.compare.choices import ComparedSetting, format_flag_value
from shoal.verbs.compare.frontier import (
    RISKS,
    Axes,
    Recommendation,
    costs,
    frontier,
    is_share,
    recommend,
    share,
)
from shoal.verbs.compare.measuring import figures_of_settings
from shoal.verbs.compare.settings_table import settings_table


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Result):
    """All settings in the order asked for.

    Parameters
    ----------
    settings
        What was tried.
    axes
        By which risk and which cost settings are weighed, and the largest risk allowed.
    rows, quasi, sensitive
        The table.
    asked_k
        The k that the plan asks for, 0 if it asks for none.
    threshold
        Re-identification risk above which rows are counted.
    target, baselines
        What the classifier predicts, and the accuracy of one trained on the original and of one
        that always says the commonest class.
    repeats
        Runs per setting.
    stopped
        Whether it was stopped before every setting was tried.
    seeded
        Whether the runs can be repeated.
    notes, warnings
        What could not be measured, and what the runs had to say.
    kind
        Which kind of frame it is handed out as.
    """

    settings: tuple[ComparedSetting, ...]
    axes: Axes
    rows: int
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    threshold: float
    asked_k: int = 0
    target: str | None = None
    baselines: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    repeats: int = 1
    stopped: bool = False
    seeded: bool = False
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    kind: Native = field(default_factory=Native, repr=False)

    @cached_property
    def verified(self) -> tuple[ComparedSetting, ...]:
        """The settings that made a release which keeps its promise."""
        return tuple(setting for setting in self.settings if setting.verified)

    @cached_property
    def _places(self) -> list[tuple[float, float]]:
        return [self.axes.place(setting.figures) for setting in self.verified]

    @cached_property
    def _advice(self) -> Recommendation:
        return recommend([setting.label for setting in self.verified], self._places, self.axes)

    @cached_property
    def frontier(self) -> tuple[ComparedSetting, ...]:
        """The settings that no other one beats on both axes, the safest first."""
        on = sorted(frontier(self._places), key=lambda i: self._places[i])
        return tuple(self.verified[i] for i in on)

    @property
    def recommended(self) -> ComparedSetting | None:
        """The setting to take, None when no verified one is within the risk allowed."""
        at = self._advice.recommended
        return None if at is None else self.verified[at]

    @property
    def bend(self) -> ComparedSetting | None:
        """Where the frontier bends most: less risk costs more from there on."""
        at = self._advice.bend
        return None if at is None else self.verified[at]

    @property
    def why(self) -> str:
        """Why that setting, with the figures."""
        said = [self._advice.why]
        chosen = self.recommended
        figures = {} if chosen is None else chosen.figures
        if self.axes.risk == "belief" and figures.get("risk_highest", 0.0) > self.threshold:
            said.append(
                f"But people can be found in it (with a chance of up to "
                f"{share(figures['risk_highest'])}): what it hides is their sensitive value."
            )
        if figures.get("belief_worst", 0.0) > 1 - 1e-9:
            said.insert(
                0,
                "Some class of the recommended setting has only one sensitive value, so anyone who "
                "finds a person's class knows it; a rule on sensitive values (l-diversity, "
                "t-closeness) prevents that.",
            )
        if out := [each.label for each in self.verified if self.axes.reveals(each.figures)]:
            said.append(
                f"Not considered, because somebody could believe a sensitive value with more than "
                f"{share(self.axes.believed)}: {format_names(out)}."
            )
        if chosen is not None and chosen.values.get("k", self.asked_k) < self.asked_k:
            said.append(
                f"This is weaker than the plan, which asks for k = {self.asked_k}: whether it is "
                "enough depends on who receives the release."
            )
        if self.stopped:
            said.append(f"Stopped early: {len(self.settings)} settings were compared.")
        return " ".join(said)

    @property
    def flags(self) -> tuple[str, ...]:
        """The flags of the rules that the settings say something about."""
        return tuple(dict.fromkeys(flag for setting in self.settings for flag in setting.values))

    def frame(self) -> Any:
        """Return one row per setting, in the kind of frame that was compared on."""
        return self.kind.convert(self.to_polars())

    def to_polars(self) -> pl.DataFrame:
        """Return one row per setting; what was not measured is null."""
        columns: dict[str, Any] = {"method": [setting.method for setting in self.settings]}
        for flag in self.flags:
            values_of = [setting.values.get(flag) for setting in self.settings]
            whole = all(isinstance(value, (int, float)) for value in values_of if value is not None)
            columns[flag] = (
                values_of
                if whole
                else [None if value is None else format_flag_value(value) for value in values_of]
            )
        on = {setting.label for setting in self.frontier}
        chosen = self.recommended
        columns["verified"] = [setting.verified for setting in self.settings]
        columns["frontier"] = [setting.label in on for setting in self.settings]
        columns["recommended"] = [setting is chosen for setting in self.settings]
        columns["reason"] = [setting.reason or None for setting in self.settings]
        for name in figures_of_settings():
            values = [setting.figures.get(name) for setting in self.settings]
            columns[name] = pl.Series(name, values, dtype=pl.Float64)
        for place, name in enumerate(("loss_low", "loss_high")):
            values = [
                setting.spread[place] if setting.spread else None for setting in self.settings
            ]
            columns[name] = pl.Series(name, values, dtype=pl.Float64)
        return pl.DataFrame(columns, strict=False)

    def plot(self, links: Mapping[str, str] = MappingProxyType({})) -> Chart:
        """Draw the privacy-utility frontier: risk across, cost upwards, less is better on both.

        ``links``: where the points of settings lead, by their labels.
        """
        chosen, every = self.recommended, replace(self.axes, believed=math.inf)
        points = [
            Point(
                x,
                y,
                setting.label,
                group=setting.method,
                strong=setting is chosen,
                href=links.get(setting.label),
            )
            for setting in self.verified
            for x, y in [every.place(setting.figures)]
            if not (math.isnan(x) or math.isnan(y))
        ]
        return scatter(
            "What privacy costs",
            points,
            x=RISKS[self.axes.risk][1],
            y=costs()[self.axes.cost][1],
            x_form="share",
            y_form="share" if is_share(self.axes.cost) else "plain",
            log_x=bool(points) and all(point.x > 0 for point in points),
        )

    def __repr__(self) -> str:
        chosen = "none" if self.recommended is None else self.recommended.label
        return (
            f"Comparison({len(self.settings)} settings, {len(self.verified)} verified; "
            f"recommended: {chosen})"
        )

    def pieces(self, *, detailed: bool = False) -> Iterator[Piece]:
        """Yield the settings, and what is recommended.

        ``detailed``: say in full why a setting is not possible, which may show values of the table.
        """
        yield from map(Caution, self.warnings)
        yield (
            f"{self.rows:,} rows, {len(self.quasi)} quasi-identifiers, "
            f"{len(self.settings)} settings"
            f"{f', {self.repeats} runs each' if self.repeats > 1 else ''}"
        )
        yield from self.compared(detailed=detailed)
        yield f"\nRecommended: {self.recommended.label if self.recommended else 'none'}"
        yield self.why

    def compared(self, *, detailed: bool = False) -> Iterator[Piece]:
        """Yield the table of settings, what is not possible, and what was not measured."""
        if self.verified:
            yield settings_table(self)
        impossible: dict[str, list[str]] = {}
        for setting in self.settings:
            if not setting.verified:
                why = setting.detail if detailed else setting.reason
                impossible.setdefault(why, []).append(setting.label)
        for why, labels in impossible.items():
            yield f"Not possible: {', '.join(labels)}. {why}"
        yield from self.notes

    def to_dict(self) -> dict[str, Any]:
        """Return everything found as plain data: no value of the table, no seed."""
        chosen, bend = self.recommended, self.bend
        return {
            "rows": self.rows,
            "quasi": list(self.quasi),
            "sensitive": list(self.sensitive),
            "threshold": self.threshold,
            "repeats": self.repeats,
            "seeded": self.seeded,
            "stopped": self.stopped,
            "axes": {
                "risk": RISKS[self.axes.risk][0],
                "cost": costs()[self.axes.cost][0],
                "risk_allowed": self.axes.limit,
            },
            "settings": [_plain(setting) for setting in self.settings],
            "frontier": [setting.label for setting in self.frontier],
            "recommended": None if chosen is None else chosen.label,
            "bend": None if bend is None else bend.label,
            "why": self.why,
            "classifier": {"target": self.target, **self.baselines} if self.baselines else None,
            "notes": list(self.notes),
        }


def _plain(setting: ComparedSetting) -> dict[str, Any]:
    return {
        "label": setting.label,
        "method": setting.method,
        "values": dict(setting.values),
        "verified": setting.verified,
        "promised": list(setting.promised),
        "reason": setting.reason or None,
        "figures": dict(setting.figures),
        "loss_spread": list(setting.spread) if setting.spread else None,
    }

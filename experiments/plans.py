"""What is measured for a paper: its plan, spelled out point by point.

A *point* is plain data, all that a measurement depends on besides the tables; a *curve* is a method
with its settings; a *figure* draws the curves over ``x``, once for every value of ``panel``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments import OVER_TIME, PAPERS
from shoal.base.errors import ParameterError, PlanError, format_names, suggest_nearest

HERE = Path(__file__).parent
WHOLE = {"id", "title", "note", "y", "x", "xs", "panel", "panels", "series", "log", "pool"}
Settings = dict[str, Any]

NAMES = {
    "k": "k",
    "n": "rows",
    "columns": "|QI|",
    "vmr": "share of missing cells",
    "skewed": "share of missing cells, rare values first",
    "repeat": "repeat",
    "l": "l",
    "alpha": "alpha",
    "g": "columns in a query (g)",
    "s": "selectivity (s)",
    "sensitive": "sensitive column",
    "by": "",
    "times": "times the data",
    "loss": "ILossRate",
    "paper": "ILossRate as the paper counts it",
    "eps": "eps",
    "total": "loss",
    "spans": "loss by spans",
    "relative-spans": "RL by spans",
    "relative": "RL",
    "generalization": "ILossRate, generalization",
    "removal": "ILossRate, removal",
    "seconds": "seconds",
    "mse": "MSE",
    "served": "share served",
    "release": "release",
    "m": "m",
    "counterfeits": "counterfeits, share of the rows",
    "exposed": "share of records",
    "broken": "share of rows",
}
"""How parameters and measures are called on the axes."""


@dataclass(frozen=True)
class Spot:
    """Where a point stands in a figure, and what has to be measured there."""

    figure: str
    panel: Any
    x: Any
    series: str
    point: Mapping[str, Any]


@dataclass(frozen=True)
class Figure:
    """One figure; ``panel`` and ``panels`` are empty for a figure of one panel."""

    id: str
    title: str
    note: str
    y: str
    x: str
    xs: tuple[Any, ...]
    panel: str
    panels: tuple[Any, ...]
    series: tuple[str, ...]
    log: bool
    pool: bool
    fixed: Mapping[str, Any]


@dataclass(frozen=True)
class Study:
    """The plan of a paper."""

    name: str
    title: str
    citation: str
    about: str
    quick: bool
    base: Mapping[str, Any]
    hurry: Mapping[str, Any]
    series: Mapping[str, Mapping[str, Any]]
    figures: tuple[Figure, ...]

    def random(self, series: str) -> bool:
        """Tell whether a seed changes what a curve shows."""
        return not self.series[series].get("deterministic", False)

    def label(self, series: str) -> str:
        """Return what a curve is called."""
        return str(self.series[series]["label"])

    def spots(self) -> Iterator[Spot]:
        """Spell out every point of every figure."""
        for figure in self.figures:
            for panel in figure.panels or (None,):
                for series in figure.series:
                    for x in figure.xs:
                        point = self._point(figure, series, panel, x)
                        if point.get("g", 0) < max(point["columns"], 2):
                            yield Spot(figure.id, panel, x, series, point)

    def _point(self, figure: Figure, series: str, panel: Any, x: Any) -> Settings:
        own = self.series[series]
        chosen = {key: own[key] for key in own if key not in ("label", "deterministic")}
        point = {**self.base, **figure.fixed, **chosen}
        for key in ("repeats", "limit", "queries"):
            if key in self.hurry and key in point:
                point[key] = min(point[key], self.hurry[key])
        point |= {key: value for key, value in self.hurry.items() if key not in point}
        if figure.panels:
            point[figure.panel] = panel
        if figure.x not in ("repeat", "by"):
            point[figure.x] = x
        point["quasi"] = [name for name in point["quasi"] if name != point.get("sensitive")]
        point["quasi"] = point["quasi"][: point["columns"]]
        return point


def figures_called(study: Study, names: Sequence[str]) -> tuple[str, ...]:
    """Return the figures of some names: their ids, or the numbers that the paper gives them."""
    chosen: list[str] = []
    for name in names:
        found = [
            figure.id
            for figure in study.figures
            if name == figure.id or re.match(rf"Figure {re.escape(name)}\b", figure.title)
        ]
        if not found:
            raise ParameterError(
                f"There is no figure {name!r} in {study.name!r}. Figures are "
                f"{', '.join(f'{figure.id} ({figure.title})' for figure in study.figures)}."
            )
        chosen += found
    return tuple(dict.fromkeys(chosen))


def check_papers(name: str) -> tuple[str, ...]:
    """Return the papers that a word asks for: one of them, or all."""
    if name == "all":
        return PAPERS
    if name not in (every := (*PAPERS, OVER_TIME)):
        raise ParameterError(
            f"There is no paper {name!r} to reproduce.{suggest_nearest(name, every)} "
            f"Choose one of {', '.join(PAPERS)}, or all; or {OVER_TIME}."
        )
    return (name,)


def read_study(name: str, *, quick: bool = False, folder: Path | None = None) -> Study:
    """Read the plan of a paper; ``quick`` takes fewer rows, points and repeats."""
    path = (folder or HERE / name) / "plan.toml"
    tree = tomllib.loads(path.read_text("utf-8"))
    study = Study(
        name,
        tree["title"],
        tree["citation"],
        " ".join(tree["about"].split()),
        quick,
        tree["base"],
        tree["quick"] if quick else {},
        tree["series"],
        tuple(_figure(part, tree["base"], quick, tree["quick"]) for part in tree["figures"]),
    )
    if faults := list(_faults(study, path)):
        raise PlanError(faults)
    return study


def _figure(
    part: Mapping[str, Any], base: Mapping[str, Any], quick: bool, hurry: Mapping[str, Any]
) -> Figure:
    part = {**part, **(part.get("quick", {}) if quick else {})}
    xs = part.get("xs", ())
    if part["x"] == "repeat":
        many = hurry["repeats"] if quick else 20
        xs = range(many)
    return Figure(
        part["id"],
        part["title"],
        part.get("note", ""),
        part["y"],
        part["x"],
        tuple(xs),
        part.get("panel", ""),
        tuple(part.get("panels", ())),
        tuple(part["series"]),
        part.get("log", False),
        part.get("pool", False),
        part.get("fixed", {}),
    )


def _faults(study: Study, path: Path) -> Iterator[str]:
    for figure in study.figures:
        if unknown := [name for name in figure.series if name not in study.series]:
            yield (
                f"{path}: figure {figure.id!r} draws the series {format_names(unknown)}, which "
                "the plan "
                f"does not declare; it has {format_names(study.series)}."
            )
        if not figure.xs:
            yield f"{path}: figure {figure.id!r} has no values on its x axis. Give xs."
        for axis in (figure.x, figure.y, *([figure.panel] if figure.panels else [])):
            if axis not in NAMES:
                yield (
                    f"{path}: figure {figure.id!r} has an axis {axis!r}."
                    f"{suggest_nearest(axis, NAMES)} Axes are {format_names(NAMES, len(NAMES))}."
                )
    ids = [figure.id for figure in study.figures]
    if len(set(ids)) < len(ids):
        yield f"{path}: two figures have the same id. Give each one its own: {format_names(ids)}."

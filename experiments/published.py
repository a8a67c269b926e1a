"""What is published of a paper, read again: the points of its figures, and what was confirmed."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from experiments.claims import Dot
from experiments.plans import Figure, Study
from shoal.base.errors import InputError

MARK = "verdicts.json"
"""The file by which a folder of ours is known."""


@dataclass(frozen=True)
class Confirmation:
    """A point made again as a whole run, verified, and the loss of both."""

    point: Mapping[str, Any]
    loss: float
    again: float
    verified: bool

    @property
    def agrees(self) -> bool:
        """Whether the run kept its promise and lost what the figure says."""
        return self.verified and abs(self.loss - self.again) < 1e-9


@dataclass(frozen=True)
class Published:
    """What lies in the folder of a paper, without some figures."""

    dots: list[Dot]
    counts: tuple[dict[str, Any], ...]
    confirmations: list[Confirmation]
    rows: Mapping[str, int]
    code: Mapping[str, str]


def read_record(mark: Path) -> dict[str, Any] | None:
    """Return what a page was written from, None where there is none."""
    if not mark.is_file():
        return None
    try:
        record: dict[str, Any] = json.loads(mark.read_text("utf-8"))
    except ValueError as fault:
        raise InputError(
            f"{mark} is not the file that was written there ({fault}). Delete it and "
            f"run: python -m experiments {mark.parent.name}"
        ) from None
    return record


def measured_by(record: Mapping[str, Any] | None, study: Study) -> dict[str, str]:
    """Return per figure the digest of the code that measured it, empty where that is not known."""
    code = (record or {}).get("code", "")
    own = code if isinstance(code, dict) else {}
    return {figure.id: str(own.get(figure.id, "")) for figure in study.figures}


def read_published(study: Study, folder: Path, without: Collection[str]) -> Published:
    """Read the figures of a paper but some; a figure that is not there yet has no points."""
    record = read_record(folder / MARK) or {}
    dots: list[Dot] = []
    for figure in study.figures:
        if figure.id not in without:
            name = f"{figure.id}-each.csv" if figure.pool else f"{figure.id}.csv"
            dots += _dots(study, figure, folder / name)
    counts = [_rows(path) for path in sorted(folder.glob("*-counts.csv"))]
    confirmed = [
        Confirmation(each["point"], each["loss"], each["again"], each["agrees"])
        for each in record.get("confirmed", ())
    ]
    return Published(
        dots,
        tuple(row for rows in counts for row in rows),
        confirmed,
        record.get("rows", {}),
        measured_by(record, study),
    )


def _rows(path: Path) -> list[dict[str, Any]]:
    return pl.read_csv(path).to_dicts() if path.is_file() else []


def _dots(study: Study, figure: Figure, path: Path) -> list[Dot]:
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    for row in _rows(path):
        panel = row.get(figure.panel) if figure.panel else None
        found[str(panel), str(row[figure.x]), row["method"]] = row
    spots = [spot for spot in study.spots() if spot.figure == figure.id]
    return [
        _dot(study, figure, spot.panel, spot.x, spot.series,
             found.get((str(spot.panel), str(spot.x), study.label(spot.series))))
        for spot in spots
    ]  # fmt: skip


def _dot(
    study: Study, figure: Figure, panel: Any, x: Any, series: str, row: Mapping[str, Any] | None
) -> Dot:
    place = (figure.id, panel, x, series)
    if row is None or figure.y not in row:
        return Dot(*place, None, reason="not measured yet")
    if row[figure.y] is None:
        return Dot(*place, None, reason=row["reason"] or "not measured")
    values = tuple(map(float, str(row.get("values") or "").split()))
    random = study.random(series) and figure.x != "repeat"
    numbers = (row[figure.y], row["least"], row["greatest"], row["repeats"])
    return Dot(*place, *numbers, "", values, random)

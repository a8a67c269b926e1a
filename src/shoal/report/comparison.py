"""The report of a comparison of methods and settings."""

from __future__ import annotations

from typing import Any

from shoal import __version__
from shoal.catalog import DEFAULT_LOSS, LOSSES
from shoal.report.page import Provenance
from shoal.report.pages import render
from shoal.report.words import GLOSSARY
from shoal.show.charts.words import say

_SHARES = ("loss", "risk", "belief", "query", "accuracy", "unique", "share", "above")
# What a page has no room for; --csv and --json have it.
_LEFT_OUT = (
    "query_mse",
    "query_relative",
    "balanced_accuracy",
    "loss_low",
    "loss_high",
)
_FLAGS = ("verified", "frontier", "recommended")


def render_comparison(comparison: Any, *, origin: Provenance | None = None, title: str = "") -> str:
    """Return a comparison as one HTML file: the recommendation, the frontier, all figures.

    ``comparison`` has ``frame()``, ``recommended``, ``why`` and ``plot()``, as
    :class:`shoal.verbs.compare.Comparison` has. Its figures are computed from the original, so
    there is no variant for the public.
    """
    frame = comparison.to_polars()
    empty = [name for name in frame.columns if frame[name].null_count() == frame.height]
    unseen = [name for name, entry in LOSSES.items() if not entry.shown]
    shown = [name for name in frame.columns if name not in (*empty, *_FLAGS, *_LEFT_OUT, *unseen)]
    rows = [
        {
            "cells": [_said(name, row[name]) for name in shown],
            "flags": [flag for flag in _FLAGS if row.get(flag)],
            "verified": row.get("verified", True),
        }
        for row in frame.iter_rows(named=True)
    ]
    chosen = comparison.recommended
    return render(
        "comparison.html",
        kicker="Comparison of methods and settings",
        heading=title or "Comparison",
        version=__version__,
        subline=f"{frame.height:,} settings",
        recommended="" if chosen is None else getattr(chosen, "label", str(chosen)),
        why=comparison.why,
        chart=comparison.plot(),
        names=[name.replace("_", " ") for name in shown],
        numeric=[frame[name].dtype.is_numeric() for name in shown],
        rows=rows,
        warnings=tuple(getattr(comparison, "warnings", ())),
        notes=tuple(getattr(comparison, "notes", ())),
        command=(origin or Provenance()).command,
        glossary=GLOSSARY,
    )


def _said(name: str, value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return say(value, "count")
    if not isinstance(value, float):
        return str(value)
    if name in LOSSES and name != DEFAULT_LOSS:
        return LOSSES[name].written(value)
    if "second" in name:
        return say(value, "seconds")
    if any(word in name for word in _SHARES) and "ratio" not in name:
        return say(value, "share")
    return say(value, "count" if value.is_integer() and abs(value) >= 1 else "plain")

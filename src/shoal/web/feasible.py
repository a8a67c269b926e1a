"""Which rules a table can keep at all, before any run: the best it allows, and what limits it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from shoal.base.errors import ShoalError
from shoal.base.partition import GroupStats, Histogram
from shoal.plan.plan import Plan
from shoal.plan.rule_specs import build_rules
from shoal.privacy import Rule
from shoal.privacy.base import largest
from shoal.tables.cells import as_text, natural
from shoal.tables.schema import Column

# What a table as one group reaches, by the rule's figure: the parameter it limits.
_LIMITS = {
    "k": ("k", "most"),
    "l": ("l", "most"),
    "entropy_l": ("l", "most"),
    "frequency_l": ("l", "most whole"),
    "recursive_c": ("c", "least"),
    "alpha": ("alpha", "least"),
    "t": ("t", "least"),
    "beta": ("beta", "least"),
}


def histogram(column: Column, series: pl.Series) -> Histogram:
    """Count the known values of a sensitive column over the whole table."""
    texts = as_text(column.clean(series)).drop_nulls()
    order = as_text(natural(column.clean(series)))
    counted = pl.DataFrame({"value": order}).join(
        texts.rename("value").value_counts(name="count"), on="value", maintain_order="left"
    )
    counts = counted["count"].to_numpy().astype(np.int64)
    codes = np.arange(counts.size, dtype=np.int64)
    starts = np.array([0, counts.size], np.int64)
    return Histogram(starts, codes, counts, counts, tuple(counted["value"].to_list()))


def feasibility(plan: Plan, sensitive: Sequence[str], whole: GroupStats) -> list[dict[str, Any]]:
    """Say of every rule of a plan whether this table can keep it, and what would be the best.

    Parameters
    ----------
    whole
        The table as one group: no partition can do better, since every rule grows safely.
    """
    said = []
    for number, part in enumerate(plan.filled().rules):
        # A rule for every column leaves out those that have one of their own, so all are given.
        try:
            rules = _own(plan, number, sensitive)
            said.append({"rule": part.name, "cases": [_case(rule, whole) for rule in rules]})
        except ShoalError as error:
            case = {"column": part.column, "ok": False, "text": str(error), "best": ""}
            said.append({"rule": part.name, "cases": [case]})
    return said


def _own(plan: Plan, number: int, sensitive: Sequence[str]) -> list[Rule]:
    specs = [part.spec for part in plan.filled().rules]
    mine = specs[number]
    others = [spec for i, spec in enumerate(specs) if i != number and spec["name"] == mine["name"]]
    taken = {spec["column"] for spec in others if spec.get("column")}
    if mine.get("column") is None and taken:
        sensitive = [name for name in sensitive if name not in taken]
        if not sensitive:
            return []
    return list(build_rules([mine], sensitive))


def _case(rule: Rule, whole: GroupStats) -> dict[str, Any]:
    obstacle = rule.obstacle(whole)
    return {
        "column": rule.column,
        "ok": obstacle is None,
        "text": obstacle or rule.describe(),
        "best": _best(rule, whole),
    }


def _best(rule: Rule, whole: GroupStats) -> str:
    """Say the strictest promise that this table could keep, and what stands in the way of more."""
    hist = whole.histograms.get(rule.column) if rule.column else None
    if hist is not None and not hist.whole.any():
        return ""
    bounds = []
    for figure, value in rule.achieved(whole).items():
        name, how = _LIMITS.get(figure, ("", ""))
        if not name or (how == "least" and value <= 0) or not math.isfinite(value):
            continue
        if how == "least":
            bounds.append(f"smallest {name} possible: {_up(value)}")
        else:
            whole_number = "whole" in how or isinstance(value, int)
            least = f"{math.floor(value + 1e-9):,}" if whole_number else f"{_down(value)}"
            bounds.append(f"largest {name} possible: {least}")
    if not bounds:
        return "any value is possible"
    limit = ""
    if hist is not None and rule.name != "l-diversity":
        value, share = largest(hist)
        limit = f" (limited by {value!r}, {share:.1%} of the known values)"
    elif hist is not None:
        limit = " (so many different values there are)"
    return "; ".join(bounds) + limit


def _up(value: float) -> str:
    return f"{math.ceil(value * 10_000 - 1e-9) / 10_000:g}"


def _down(value: float) -> str:
    return f"{math.floor(value * 100 + 1e-7) / 100:g}"

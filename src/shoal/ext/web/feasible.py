"""Find which rules a table can keep, and their strictest values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shoal.base.errors import ShoalError
from shoal.base.partition import GroupStats
from shoal.plan.plan import Plan
from shoal.plan.rule_specs import build_rules
from shoal.privacy import Limit, Rule
from shoal.privacy.base import describe_rule


def feasibility(plan: Plan, sensitive: Sequence[str], whole: GroupStats) -> list[dict[str, Any]]:
    """Say of every rule of a plan whether this table can keep it, and what would be the best.

    Parameters
    ----------
    whole
        The table as one group: no partition can do better, since every rule grows safely.
    """
    said = []
    for number, promise in enumerate(plan.final().rules):
        # A rule for every column leaves out those that have one of their own, so all are given.
        try:
            rules = _own(plan, number, sensitive)
            said.append({"rule": promise.name, "cases": [_case(rule, whole) for rule in rules]})
        except ShoalError as error:
            case = {"column": promise.column, "ok": False, "text": str(error), "best": ""}
            said.append({"rule": promise.name, "cases": [case]})
    return said


def _own(plan: Plan, number: int, sensitive: Sequence[str]) -> list[Rule]:
    specs = [rule.spec for rule in plan.final().rules]
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
        "text": obstacle or describe_rule(rule, whole.unit),
        "best": _best(rule, whole),
    }


def _best(rule: Rule, whole: GroupStats) -> str:
    """Say the strictest promise that this table could keep, and what stands in the way of more."""
    hist = whole.histograms.get(rule.column) if rule.column else None
    if hist is not None and not hist.whole.any():
        return ""
    bounds = [_bound(rule, limit) for limit in rule.limits(whole)]
    return "; ".join(bounds) or "any value is possible"


def _bound(rule: Rule, limit: Limit) -> str:
    param = next(param for param in rule.params if param.name == limit.param)
    if limit.value < param.low:
        return f"no {param.name} is possible ({limit.why})"
    way = "largest" if param.safer == "more" else "smallest"
    value = f"{limit.value:,}" if isinstance(limit.value, int) else f"{limit.value:g}"
    return f"{way} {param.name} possible: {value} ({limit.why})"

"""Make form fields from the parameters that the catalog declares."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from shoal.base.params import Param
from shoal.base.roles import Role
from shoal.catalog import METHODS, RULES
from shoal.ext.web import fields
from shoal.ext.web.drafts import EVIDENCE, KINDS, RELEASE, Draft, addable, role_in, roles_of
from shoal.plan.parts import LIMITS


def field(param: Param, value: Any, prefix: str) -> dict[str, Any]:
    """Describe the control of one parameter."""
    kind = "text"
    if param.choices:
        kind = "select"
    elif param.type is bool:
        kind = "checkbox"
    elif param.type is tuple or isinstance(value, Mapping):
        kind = "lines"
    elif param.type in (int, float):
        kind = "number"
    shown = value
    if isinstance(value, Mapping):  # a number for each of some values
        shown = "\n".join(f"{name} = {number}" for name, number in value.items())
    elif kind == "lines":
        shown = "\n".join(value) if isinstance(value, (list, tuple)) else value or ""
    return {
        "id": prefix.replace(".", "-") + param.name,
        "name": prefix + param.name,
        "label": param.name,
        "meaning": param.meaning,
        "kind": kind,
        "value": "" if shown is None else shown,
        "choices": list(param.choices),
        "low": param.low if math.isfinite(param.low) else None,
        "high": param.high if math.isfinite(param.high) else None,
        # 'any': a browser must not refuse what the parameter allows.
        "step": 1 if param.type is int else "any",
    }


def rule_rows(draft: Draft, checked: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Describe the chosen rules, each with its fields and with what the table allows."""
    rows = []
    for number, spec in enumerate(draft["rules"]):
        entry = RULES[spec["name"]]
        cases = checked[number]["cases"] if number < len(checked) else []
        rows.append(
            {
                "place": number,
                "name": entry.name,
                "story": entry.story,
                "citation": entry.citation,
                "sensitive": entry.sensitive,
                "column": spec.get("column", ""),
                "fields": [
                    field(param, spec.get(param.name), f"rule.{number}.") for param in entry.params
                ],
                "cases": list(cases),
            }
        )
    return rows


def rule_choices(draft: Draft) -> list[dict[str, str]]:
    """Return the rules that can be added to those that are there."""
    sensitive = [name for name, role in roles_of(draft).items() if role == Role.SENSITIVE]
    names = addable(draft["rules"], sensitive)
    return [{"name": name, "story": RULES[name].story} for name in names]


def method_box(draft: Draft) -> dict[str, Any]:
    """Describe the choice of a method and the options of the one that is chosen."""
    chosen = METHODS[draft["method"]["name"]]
    return {
        "chosen": chosen.name,
        "story": chosen.story,
        "citation": chosen.citation,
        "release": chosen.release,
        "anytime": chosen.anytime,
        "choices": [{"name": m.name, "story": m.story} for m in METHODS.values()],
        "fields": [
            field(param, draft["method"].get(param.name), "option.") for param in chosen.params
        ],
    }


def column_rows(profile: Mapping[str, Any], draft: Draft) -> list[dict[str, Any]]:
    """Describe what is decided about every column."""
    rows = []
    for column in profile["columns"]:
        decided = draft["columns"].get(column["name"], {})
        rows.append(
            {
                "number": column["number"],
                "name": column["name"],
                "type": column["type"],
                "distinct": column["distinct"],
                "missing": column["missing"] / profile["rows"],
                "reason": column["reason"],
                "suggested": column["role"],
                "role": role_in(draft, column["name"]),
                "kind": decided.get("kind"),
                "importance": decided.get("importance", 1),
                "grid": decided.get("grid", ""),
                "limits": {key: decided[key] for key in LIMITS if key in decided},
                "hierarchy": decided.get("hierarchy"),
                "more": fields.controls(
                    "columns",
                    decided,
                    [key for key in fields.keys_of(role) if key not in fields.LAID_OUT],
                    after=f".{column['number']}",
                )
                if (role := decided.get("role"))
                else [],
            }
        )
    return rows


def choices() -> dict[str, Any]:
    """Return the roles and kinds with what they mean."""
    return {
        "roles": [
            {"value": r.value, "label": r.label, "meaning": f"{r.meaning}: {r.outcome}"}
            for r in Role
        ],
        "labels": {role.value: role.label for role in Role},
        "kinds": [{"value": value, "meaning": meaning} for value, meaning in KINDS.items()],
    }


def release_fields(draft: Draft) -> list[dict[str, Any]]:
    """Describe how the release is made, all but what limits it."""
    return fields.controls("release", draft["release"], [k for k in RELEASE if k != "suppress"])


def evidence_fields(draft: Draft) -> list[dict[str, Any]]:
    """Describe what the report says beyond figures."""
    return fields.controls("evidence", draft.get("evidence", {}), EVIDENCE, "evidence.")

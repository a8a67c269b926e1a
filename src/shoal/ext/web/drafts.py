"""Turn the forms of the page Decide into a plan and a command line.

A draft is the plain data of a plan, faults and all: a half-typed number must come back to its
field as it was typed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from shoal.base.errors import ShoalError, format_names
from shoal.base.params import Param
from shoal.base.roles import Kind, Role
from shoal.catalog import DEFAULT_METHOD, METHODS, RULES
from shoal.ext.web import fields
from shoal.plan.parts import EvidencePart, ReleasePart
from shoal.plan.plan import Plan
from shoal.plan.setting import declared_settings
from shoal.tables.schema import DATE, NUMBER, TIME, WHOLE
from shoal.verbs.first_plan import first_rules

Draft = dict[str, Any]

RELEASE, EVIDENCE = tuple(declared_settings(ReleasePart)), tuple(declared_settings(EvidencePart))
KINDS = {
    Kind.TAXONOMY.value: "by its hierarchy",
    Kind.ORDERED.value: "to intervals",
    Kind.SET.value: "to one value or * (give it a hierarchy to show more)",
}


def first_draft(profile: Mapping[str, Any]) -> Draft:
    """Return the draft that the guesses make; what nobody decided about is not released."""
    columns = {}
    for column in profile["columns"]:
        kind = {"kind": column["kind"]} if column["kind"] else {}
        columns[column["name"]] = {"role": column["role"], **kind}
    return {
        "columns": columns,
        "rules": usual_rules(profile, columns),
        "method": {"name": DEFAULT_METHOD, **defaults(METHODS[DEFAULT_METHOD].params)},
        "release": {"sets": "never"},
    }


def usual_rules(
    profile: Mapping[str, Any], columns: Mapping[str, Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return the rules of a first plan with the roles of some columns."""
    rules = {
        column["name"]: column["rule"]
        for column in profile["columns"]
        if columns.get(column["name"], {}).get("role") == Role.SENSITIVE and column["rule"]
    }
    return first_rules(rules, None)


def kept_decisions(old: Draft, before: Any, profile: Mapping[str, Any]) -> Draft:
    """Return the draft of a table that is read in another way than its profile ``before``.

    What somebody decided about a column stays; what was only guessed is guessed again.
    """
    guessed = first_draft(before)["columns"] if before else {}
    new = first_draft(profile)
    columns = new["columns"]
    for name in columns.keys() & guessed.keys():
        own = old["columns"].get(name, {"role": Role.DROP.value})
        said = {key: value for key, value in own.items() if value != guessed[name].get(key)}
        columns[name] = _kept({**columns[name], **said}, said.get("role", columns[name]["role"]))
    return {**new, **old, "columns": columns}


def defaults(params: Sequence[Param]) -> dict[str, Any]:
    """Return the default of every parameter that has one."""
    return {param.name: param.default for param in params if param.default is not None}


def from_form(form: Mapping[str, str], profile: Mapping[str, Any], old: Draft) -> Draft:
    """Read the form of the Decide page; what it does not show stays as it was.

    Fields: ``role.3``, ``kind.3`` and other settings by the number of the column; ``rule.0.name``,
    ``rule.0.k`` by the place of the rule; ``method``, ``option.effort``; ``prove``, ``seed``; those
    of the release by their keys; ``evidence.why``.
    """
    columns: dict[str, dict[str, Any]] = {}
    for column in profile["columns"]:
        columns[column["name"]] = _column(form, column, _role(form, column, old), old)
    draft = {
        **old,
        "columns": columns,
        "rules": _rules(form, [n for n, part in columns.items() if part["role"] == "sensitive"]),
        "method": _method(form, old),
        "release": fields.read("release", old["release"], RELEASE, form),
    }
    evidence = fields.read("evidence", old.get("evidence", {}), EVIDENCE, form, "evidence.")
    other: dict[str, Any] = {"evidence": evidence or None}
    if "prove" in form:
        other["prove"] = bool(form["prove"]) or None
    if "seed" in form:
        other["seed"] = number_of(form["seed"].strip(), int) if form["seed"].strip() else None
    return {key: part for key, part in {**draft, **other}.items() if part is not None}


def role_in(draft: Draft, name: str) -> str:
    """Return the role of a column; one that a plan does not name is not published."""
    role: str = draft["columns"].get(name, {}).get("role", Role.DROP.value)
    return role


def _role(form: Mapping[str, str], column: Mapping[str, Any], old: Draft) -> str:
    """Return the role that a form gives a column; if it says nothing, the role stays."""
    role = form.get(f"role.{column['number']}", "")
    return role if role in list(Role) else role_in(old, column["name"])


def _column(
    form: Mapping[str, str], column: Mapping[str, Any], role: str, old: Draft
) -> dict[str, Any]:
    """Return what is decided about a column; what is wrong with it the plan says."""
    keys = fields.keys_of(role)
    decided = _kept(old["columns"].get(column["name"], {}), role)
    decided = fields.read("columns", decided, keys, form, after=f".{column['number']}")
    if role == Role.QUASI.value:
        decided.setdefault("kind", column["kind"] or usual_kind(column))
    if decided.get("kind") != Kind.ORDERED.value:
        decided.pop("grid", None)
    return decided


def _kept(decided: Mapping[str, Any], role: str) -> dict[str, Any]:
    """Return what is decided about a column as far as it is about columns of a role."""
    keys = fields.keys_of(role)
    return {**{key: value for key, value in decided.items() if key in keys}, "role": role}


def usual_kind(column: Mapping[str, Any]) -> str:
    """Return how a column is generalized when nobody says."""
    numbers = column["type"] in (WHOLE, NUMBER, DATE, TIME)
    return Kind.ORDERED.value if numbers else Kind.SET.value


def with_roles(form: Mapping[str, str], profile: Mapping[str, Any], old: Draft) -> Draft:
    """Read the roles of the See page; whatever else is decided about a column stays."""
    columns: dict[str, dict[str, Any]] = {}
    for column in profile["columns"]:
        name, role = column["name"], _role(form, column, old)
        columns[name] = _kept(old["columns"].get(name, {}), role)
        if role == Role.QUASI.value:
            columns[name].setdefault("kind", column["kind"] or usual_kind(column))
    return {**old, "columns": columns}


def roles_of(draft: Draft) -> dict[str, str]:
    """Return the role of every column that the draft names."""
    return {name: part["role"] for name, part in draft["columns"].items()}


def _rules(form: Mapping[str, str], sensitive: Sequence[str]) -> list[dict[str, Any]]:
    named = [key.split(".") for key in form if key.startswith("rule.") and key.endswith(".name")]
    places = sorted({int(key[1]) for key in named if key[1].isdecimal()})
    rules = []
    for number in places:
        name = form[f"rule.{number}.name"]
        if name not in RULES or form.get("remove") == str(number):
            continue
        spec: dict[str, Any] = {"name": name}
        if RULES[name].sensitive and (column := form.get(f"rule.{number}.column", "")):
            spec["column"] = column
        spec |= _values(RULES[name].params, form, f"rule.{number}.")
        rules.append(spec)
    added = form.get("add", "")
    if form.get("do") == "add" and added in addable(rules, sensitive):
        rules.append({"name": added, **defaults(RULES[added].params)})
        twin = [rule for rule in rules if rule["name"] == added]
        if len(twin) > 1:  # the first speaks of every sensitive column, the next of one of them
            taken = {rule.get("column") for rule in twin}
            twin[-1]["column"] = next(name for name in sensitive if name not in taken)
    return rules


def addable(rules: Sequence[Mapping[str, Any]], sensitive: Sequence[str]) -> list[str]:
    """Return the rules that can be added: once each, or once for each sensitive column."""
    there = Counter(rule["name"] for rule in rules)
    taken = {(rule["name"], rule.get("column")) for rule in rules}

    def free(name: str) -> bool:
        return len(sensitive) > 1 and any((name, column) not in taken for column in sensitive)

    return [
        name
        for name, entry in RULES.items()
        if not entry.lasting
        and (not there[name] or (entry.sensitive and there[name] < len(sensitive) and free(name)))
    ]


def _method(form: Mapping[str, str], old: Draft) -> dict[str, Any]:
    name = form.get("method", old["method"]["name"])
    if name not in METHODS:
        name = DEFAULT_METHOD
    if name != form.get("method-was", name):  # the options on the form are another method's
        return {"name": name, **defaults(METHODS[name].params)}
    return {"name": name, **_values(METHODS[name].params, form, "option.")}


def _values(params: Sequence[Param], form: Mapping[str, str], prefix: str) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for param in params:
        text = form.get(prefix + param.name, "").strip()
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if param.each and "=" in text:  # a number for each of some values
            pairs = [line.rpartition("=") for line in lines]
            values[param.name] = {
                name.strip(): number_of(own, param.type) for name, _, own in pairs
            }
        elif param.type is bool:
            values[param.name] = bool(text)
        elif param.type is tuple:
            if lines:
                values[param.name] = lines
        elif text:
            values[param.name] = number_of(text, param.type)
    return values


def number_of(text: str, kind: type) -> Any:
    """Return a number as its parameter wants it, or the text as it is for the error to name."""
    if kind not in (int, float):
        return text
    try:
        number = float(text)
    except ValueError:
        return text
    return int(number) if number.is_integer() and kind is int else number


def to_plan(draft: Draft, data: Mapping[str, Any]) -> Plan:
    """Return the plan that a draft is, or raise all its faults at once.

    ``data``: where the table is and how it is read, as a plan says it.
    """
    tables = {key: part for key, part in draft.items() if key in Plan.model_fields}
    plan, faults = Plan(), []
    try:
        plan = plan.replaced(**tables, data=dict(data))
    except ShoalError as error:
        faults += str(error).splitlines()
    if not draft["rules"]:
        faults.append("No rule was chosen, so nothing would be promised. Add at least one.")
    if not any(column["role"] == Role.QUASI.value for column in draft["columns"].values()):
        faults.append(
            "No column is a quasi-identifier. Give that role to what others may know of a person."
        )
    if faults:
        raise Faults(faults)
    return plan


def not_carried(plan: Plan, columns: Collection[str], trees: Collection[str]) -> list[str]:
    """Say which keys of a plan the page cannot carry out; ``trees``: columns with a hierarchy."""
    faults = []
    if lacking := [name for name in plan.columns if name not in columns]:
        faults.append(
            f"It names columns that this table does not have: {format_names(lacking)}. Take "
            "their tables "
            "out of the plan, or open the table that it was made for."
        )
    for name, part in plan.tree()["columns"].items():
        keys = {"role", "importance", *fields.keys_of(part["role"])}
        if other := [key for key in part if key not in keys]:
            faults.append(
                f"Columns of the role {part['role']}, such as {name!r}, have no "
                f"{format_names(other)}. "
                "Take these settings out of the plan, or give the column another role in it."
            )
    if plan.data.history is not None:
        faults.append(
            "It has a history (history under [data]), and the page keeps none. Carry it out with "
            "'shoal anonymize --plan', or take the key out."
        )
    open_kinds = [n for n in plan.names(Role.QUASI) if plan.columns[n].kind is None]
    needed = [n for n in open_kinds if n not in trees and plan.columns[n].hierarchy is None]
    if plan.data.hierarchies is not None and needed:
        faults.append(
            f"It takes hierarchies from the folder {plan.data.hierarchies!r} (hierarchies under "
            "[data]), which the page cannot read, and does not say the kind of "
            f"{format_names(needed)}. "
            "Upload the hierarchies of these columns first, or write their kinds into the plan."
        )
    return faults


class Faults(ShoalError):
    """All that is wrong with a draft."""

    def __init__(self, faults: Sequence[str]) -> None:
        self.faults = list(faults)
        super().__init__("\n".join(faults))


def said_of_files(text: str, named: Mapping[str, str]) -> str:
    """Return what was said of uploaded files with the names that they were uploaded by."""
    for name, path in named.items():
        text = text.replace(path, name)
    return text


def command(
    plan: Plan,
    profile: Mapping[str, Any],
    data: str,
    earlier: Sequence[str] = (),
    *,
    prove: bool = False,
) -> str:
    """Return the command line that repeats a run; ``earlier``: releases from before.

    A kind that the command line would find by itself is left out.
    """
    usual = {column["name"]: usual_kind(column) for column in profile["columns"]}
    columns = {
        name: {k: v for k, v in part.items() if k != "kind" or v != usual.get(name)}
        for name, part in plan.tree()["columns"].items()
    }
    more = [word for name in earlier for word in ("--against", name)]
    more += ["--prove"] if prove else []
    return plan.replaced(columns=columns).to_command(data, more)

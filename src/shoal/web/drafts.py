"""What the forms of the Decide page say, as the plan that it is and as a command line.

A draft is the plain data of a plan, faults and all: a half-typed number must come back to its
field as it was typed.
"""

from __future__ import annotations

import csv
import io
import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from shoal.base.errors import ParameterError, ShoalError
from shoal.base.params import Param
from shoal.base.roles import Kind, Role
from shoal.catalog import DEFAULT_METHOD, DEFAULT_RULE, METHODS, RULES
from shoal.plan.parts import LIMITS
from shoal.plan.plan import Plan
from shoal.tables.limits import limit_of, share_of

Draft = dict[str, Any]

RELEASE = {"typed": "--typed", "mid": "--mid", "csv_safe": "--csv-safe"}
"""How the release is written: what can be ticked, and its flag."""
LEFT_OUT = "left out"
_ANY_ROLE = ("role", "missing", "order")  # of what is decided about a column
ROLES = {
    Role.QUASI.value: "others may know it of a person (age, place, job): made less exact",
    Role.SENSITIVE.value: "nobody should learn it about a person: promises protect it",
    Role.IDENTIFIER.value: "names a person: never released",
    Role.PERSON.value: "tells whose row it is: people are counted, not rows; never released",
    Role.OTHER.value: "harmless: released unchanged",
    Role.UNDECIDED.value: "not decided yet: not released",
    LEFT_OUT: "not released",
}
KINDS = {
    Kind.TAXONOMY.value: "by its hierarchy",
    Kind.ORDERED.value: "to intervals",
    Kind.SET.value: "to sets of values",
}


def first_draft(profile: Mapping[str, Any]) -> Draft:
    """Return the draft that the guesses make; what nobody decided about is not released."""
    columns = {}
    for column in profile["columns"]:
        kind = {"kind": column["kind"]} if column["kind"] else {}
        columns[column["name"]] = {"role": column["role"], **kind}
    rule = {"name": DEFAULT_RULE, **defaults(RULES[DEFAULT_RULE].params)}
    return {
        "columns": columns,
        "rules": [rule],
        "method": {"name": DEFAULT_METHOD, **defaults(METHODS[DEFAULT_METHOD].params)},
        "release": {},
    }


def defaults(params: Sequence[Param]) -> dict[str, Any]:
    """Return the default of every parameter that has one."""
    return {param.name: param.default for param in params if param.default is not None}


def from_form(form: Mapping[str, str], profile: Mapping[str, Any], old: Draft) -> Draft:
    """Read the form of the Decide page.

    Fields: ``role.3``, ``kind.3``, ``importance.3``, ``grid.3`` by the number of the column;
    ``rule.0.name``, ``rule.0.k`` by the place of the rule; ``method``, ``option.effort``;
    ``prove``; ``typed``, ``csv_safe``, ``seed``.
    """
    columns: dict[str, dict[str, Any]] = {}
    for column in profile["columns"]:
        number, name = column["number"], column["name"]
        role = form.get(f"role.{number}", LEFT_OUT)
        if role not in ROLES or role == LEFT_OUT:
            continue
        kept = {k: v for k, v in old["columns"].get(name, {}).items() if k in ("missing", "order")}
        columns[name] = {"role": role, **kept}
        if role == Role.QUASI.value:
            kind = form.get(f"kind.{number}", column["kind"]) or usual_kind(column)
            columns[name]["kind"] = kind
            weight = form.get(f"importance.{number}", "1").strip() or "1"
            if weight not in ("1", "1.0"):
                columns[name]["importance"] = number_of(weight, float)
            if grid := form.get(f"grid.{number}", "").strip():
                columns[name]["grid"] = grid
            if hierarchy := old["columns"].get(name, {}).get("hierarchy"):
                columns[name]["hierarchy"] = hierarchy
            columns[name] |= _limits(form, number)
    return {
        "columns": columns,
        "rules": _rules(form, [n for n, part in columns.items() if part["role"] == "sensitive"]),
        "method": _method(form, old),
        "release": {key: True for key in RELEASE if form.get(key)} | _budget(form),
        **({"prove": True} if form.get("prove") else {}),
        **({"seed": number_of(seed, int)} if (seed := form.get("seed", "").strip()) else {}),
    }


def _limits(form: Mapping[str, str], number: int) -> dict[str, Any]:
    """Read the limits of a column; what is no number is left to the plan to refuse."""
    limits: dict[str, Any] = {"within": True} if form.get(f"within.{number}") else {}
    for key in LIMITS[1:]:
        if text := form.get(f"{key}.{number}", "").strip():
            limits[key] = limit_of(text)
    return limits


def _budget(form: Mapping[str, str]) -> dict[str, Any]:
    if not (text := form.get("suppress", "").strip()):
        return {}
    try:
        return {"suppress": share_of(text)}
    except ParameterError:
        return {"suppress": text}  # the plan says what is wrong with it


def usual_kind(column: Mapping[str, Any]) -> str:
    """Return how a column is generalized when nobody says."""
    numbers = column["type"] in ("whole numbers", "numbers", "dates", "times")
    return Kind.ORDERED.value if numbers else Kind.SET.value


def with_roles(form: Mapping[str, str], profile: Mapping[str, Any], old: Draft) -> Draft:
    """Read the roles of the See page; whatever else is decided about a column stays."""
    columns: dict[str, dict[str, Any]] = {}
    for column in profile["columns"]:
        name = column["name"]
        decided = old["columns"].get(name, {})
        role = form.get(f"role.{column['number']}", decided.get("role", LEFT_OUT))
        if role not in ROLES or role == LEFT_OUT:
            continue
        columns[name] = {**decided, "role": role}
        if role == Role.QUASI.value:
            columns[name].setdefault("kind", column["kind"] or usual_kind(column))
        else:
            columns[name] = {k: v for k, v in columns[name].items() if k in _ANY_ROLE}
    return {**old, "columns": columns}


def roles_of(draft: Draft) -> dict[str, str]:
    """Return the role of every column that is not left out."""
    return {name: part["role"] for name, part in draft["columns"].items()}


def _rules(form: Mapping[str, str], sensitive: Sequence[str]) -> list[dict[str, Any]]:
    named = [key.split(".") for key in form if key.startswith("rule.") and key.endswith(".name")]
    places = sorted({int(key[1]) for key in named if key[1].isdigit()})
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
        if param.type is bool:
            values[param.name] = bool(text)
        elif param.type is tuple:
            lines = [line.strip() for line in text.splitlines() if line.strip()]
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


def to_plan(
    draft: Draft,
    missing: Sequence[str],
    delimiter: str | None,
    reading: Mapping[str, str] | None = None,
) -> Plan:
    """Return the plan that a draft is, or raise all its faults at once."""
    data: dict[str, Any] = {"missing": list(missing), **(reading or {})}
    if delimiter is not None:
        data["delimiter"] = delimiter
    plan = Plan().override(data=data, release=draft["release"])
    method = {key: value for key, value in draft["method"].items() if key != "name"}
    faults: list[str] = []
    steps: tuple[Callable[[Plan], Plan], ...] = (
        lambda plan: plan.with_columns(draft["columns"]),
        lambda plan: plan.with_rules(draft["rules"]),
        lambda plan: plan.override(method=draft["method"]["name"], options=method),
        lambda plan: plan.override(seed=draft.get("seed")),
    )
    for step in steps:
        try:
            plan = step(plan)
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

    In flags where flags can say it all, else with the plan, which always can.
    """
    start = ["shoal", "anonymize", data]
    # Reports show this command: where the seed is, not what it is.
    end = [*(["--seed-file", "seed.txt"] if plan.seeded else []), "-o", "release.csv"]
    end = [*(word for name in earlier for word in ("--against", name)), *end]
    end = ["--prove", *end] if prove else end
    if not _flags_suffice(plan, profile):
        return shlex.join([*start, "--plan", "plan.toml", *end])
    words: list[str] = []
    for role in (Role.QUASI, Role.SENSITIVE, Role.IDENTIFIER, Role.PERSON, Role.OTHER):
        if names := plan.names(role):
            words += [f"--{role.value}", _listed(names)]
    for rule in plan.filled().rules:
        words += _rule_flags(rule.spec)
    words += ["--method", plan.method.name]
    for name, value in plan.filled().method.options.items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        words += ["--option", f"{name}={text}"]
    for text in plan.data.missing:
        words += ["--missing", text] if text else []
    if plan.data.delimiter:
        words += ["--delimiter", plan.data.delimiter]
    for key, value in plan.data.how.items():
        words += [f"--{key}", value]
    words += [flag for key, flag in RELEASE.items() if getattr(plan.release, key)]
    for name, part in plan.columns.items():
        words += ["--grid", f"{name}={part.grid}"] if part.grid is not None else []
        for key, limit in part.limits.items():
            words += [f"--{key}", name if limit is True else f"{name}={limit}"]
    if plan.release.suppress:
        words += ["--suppress", str(plan.release.suppress)]
    return shlex.join([*start, *words, *end])


def _flags_suffice(plan: Plan, profile: Mapping[str, Any]) -> bool:
    """Tell whether the command line would guess the same kinds and has a flag for all the rest."""
    usual = {column["name"]: usual_kind(column) for column in profile["columns"]}
    for name, part in plan.columns.items():
        if part.hierarchy or part.missing or part.order or part.importance != 1.0:
            return False
        if part.role is Role.QUASI and part.kind is not None and part.kind != usual.get(name):
            return False
        if name.startswith("-") or not name.strip() or name != name.strip():
            return False
    names = [rule.name for rule in plan.rules]
    lists = {p.name for name in names for p in RULES[name].params if p.type is tuple}
    special = any(
        rule.column is not None
        or lists & {*rule.spec}
        or any(isinstance(value, Mapping) for value in rule.spec.values())
        for rule in plan.rules
    )
    # Two rules behind one flag (--l), or with a k of their own, cannot both be said.
    flags = [flag for name in names for flag, _ in RULES[name].flags]
    return len(set(flags)) == len(flags) and not special


def _rule_flags(spec: Mapping[str, Any]) -> list[str]:
    entry = RULES[spec["name"]]
    words: list[str] = []
    for flag, name in entry.flags:
        value = spec.get(name)
        if isinstance(value, bool):
            words += [f"--{flag}"] if value else []
        elif value is not None:
            words += [f"--{flag}", str(value)]
    if entry.family:
        words += [f"--{entry.family[0]}", entry.family[1]]
    return words


def _listed(names: Sequence[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(names)
    return text.getvalue()

"""Rules as plans and flags write them: ``{"name": "k-anonymity", "k": 5}`` and ``--k 5``."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from shoal.base.errors import ParameterError, PlanError, suggest_nearest
from shoal.base.params import Param, check_options
from shoal.catalog import DEFAULT_RULE, RULES, RuleEntry, find_rule
from shoal.plan.setting import listed_names

if TYPE_CHECKING:
    from shoal.privacy import Rule


def rule_flags() -> dict[str, Param]:
    """Return every command-line flag of the rules, with the parameter behind it.

    A flag that several rules share is described by the first of them; the flag of a family offers
    the words of all its members.
    """
    flags: dict[str, Param] = {}
    words: dict[str, list[str]] = {}
    for entry in RULES.values():
        declared = {param.name: param for param in entry.params}
        for flag, name in entry.flags:
            param = replace(declared[name], meaning=f"{entry.name}: {declared[name].meaning}")
            if flag == entry.flags[0][0] and entry.name != DEFAULT_RULE:
                param = replace(param, default=None)  # no rule without its flag
            known = flags.setdefault(flag, param)
            if {known.type, param.type} == {int, float}:
                flags[flag] = replace(known, type=float)
        if entry.family:
            flag, word = entry.family
            words.setdefault(flag, []).append(word)
            chosen = tuple(words[flag])
            meaning = f"which rule --{entry.flags[0][0]} calls for"
            flags[flag] = Param(flag, meaning, str, default=chosen[0], choices=chosen)
    return flags


def rules_asked(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Turn the values of flags (None: not given) into the rules of a plan."""
    flags = rule_flags()
    given = {flag: value for flag, value in values.items() if value is not None}
    asked: list[dict[str, Any]] = []
    used: set[str] = set()
    for entry in RULES.values():
        first = entry.flags[0][0]
        own = _own_numbers(entry, given)
        if first not in given and not own:
            continue
        if entry.family:
            flag, word = entry.family
            used.add(flag)
            if flags[flag].check(given.get(flag, flags[flag].default), "the rules") != word:
                continue
        declared = {param.name: param for param in entry.params}
        spec: dict[str, Any] = {"name": entry.name}
        of_columns: dict[str, dict[str, Any]] = {}
        for flag, name in entry.flags:
            if flag not in given:
                continue
            used.add(flag)
            if declared[name].type is tuple:
                for column, texts in _by_column(flag, given[flag]).items():
                    of_columns.setdefault(column, {})[name] = texts
            else:
                value = given[flag]
                # A flag shared by a whole and a real parameter is read as a real number.
                real = declared[name].type is int and isinstance(value, float)
                spec[name] = int(value) if real and value.is_integer() else value
        asked += [spec] if first in given else []
        asked += [
            {**spec, "column": column, **(own.get(column) or values)}
            for column, values in of_columns.items()
        ]
    if unused := [f"--{flag}" for flag in given if flag not in used]:
        raise ParameterError(
            f"{', '.join(unused)} only refines a rule that was not asked for. Ask for the rule, "
            "or leave it out; 'shoal methods' lists the rules and their flags."
        )
    return asked


def _own_numbers(entry: RuleEntry, given: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the numbers that values of a column were given: ``{"job": {"alpha": {...}}}``.

    ``COLUMN=VALUE:NUMBER`` gives a value its own; others of the column have that of the rule's
    flag, without which every value needs one.
    """
    flags = {name: flag for flag, name in entry.flags}
    by_column: dict[str, dict[str, Any]] = {}
    for param in entry.params:
        if not param.each or flags[param.each] not in given:
            continue
        common = given.get(flags[param.name])
        for column, texts in _by_column(flags[param.each], given[flags[param.each]]).items():
            split = {text: _numbered(text) for text in texts}
            if not any(number is not None for _, number in split.values()):
                continue
            if common is None and any(number is None for _, number in split.values()):
                return {}
            numbers = {
                value: common if number is None else number for value, number in split.values()
            }
            by_column[column] = {param.name: numbers}
    return by_column


def _numbered(text: str) -> tuple[str, float | None]:
    """Split ``HIV:0.1`` into a value and its number, None where there is none."""
    value, colon, number = text.rpartition(":")
    try:
        return (value, float(number)) if colon and value else (text, None)
    except ValueError:
        return text, None


def _by_column(flag: str, texts: Sequence[str] | str) -> dict[str, list[str]]:
    """Read ``COLUMN=VALUE``, given as often as there are values."""
    by_column: dict[str, list[str]] = {}
    for text in listed_names(texts):
        column, equals, value = text.partition("=")
        if not (column and equals and value):
            raise ParameterError(
                f"--{flag} takes COLUMN=VALUE, a sensitive column and one of its values, or "
                f"COLUMN=VALUE:SHARE. Got {text!r} instead."
            )
        by_column.setdefault(column, []).append(value)
    return by_column


def build_rules(specs: Sequence[Mapping[str, Any]], sensitive: Sequence[str]) -> tuple[Rule, ...]:
    """Make the rules of a plan: ``{"name": ..., "k": ...}`` each, faults gathered.

    A rule on sensitive values without a ``column`` holds for every sensitive column, except those
    for which the same rule stands there with parameters of its own.
    """
    faults: list[str] = []
    rules: list[Rule] = []
    for spec in specs:
        same = [other for other in specs if other["name"] == spec["name"]]
        own = {other["column"] for other in same if other.get("column") is not None}
        try:
            rules.extend(_build(spec, sensitive, own))
        except ParameterError as error:
            faults.append(str(error))
    if faults:
        raise PlanError(faults)
    return tuple(rules)


def _build(spec: Mapping[str, Any], sensitive: Sequence[str], own: Collection[str]) -> list[Rule]:
    entry = find_rule(spec["name"])
    numbers = {key: value for key, value in spec.items() if key not in ("name", "column")}
    column = spec.get("column")
    if not entry.sensitive:
        if column is not None:
            raise ParameterError(
                f"The rule {entry.name!r} takes no 'column': it holds for the whole class. "
                "Leave the key out."
            )
        return [entry.load()(**check_options(numbers, entry.params, entry.name))]
    columns = [name for name in sensitive if name not in own] if column is None else [column]
    if not columns and not own:
        raise ParameterError(
            f"The rule {entry.name!r} needs a sensitive column and none is declared. "
            'Name one with --sensitive, or with role = "sensitive" in the plan.'
        )
    for name in columns:
        if name not in sensitive:
            raise ParameterError(
                f"The rule {entry.name!r} names the column {name!r}, which is not declared "
                f"sensitive; sensitive columns: {', '.join(map(repr, sensitive)) or 'none'}."
                f"{suggest_nearest(name, sensitive)}"
            )
    options = check_options(numbers, entry.params, entry.name)
    make = entry.load()
    return [make(column=name, **own) for name in columns for own in _apart(options, entry)]


def _apart(options: dict[str, Any], entry: RuleEntry) -> list[dict[str, Any]]:
    """Return the options of a rule for every value that has a number of its own, or as they are."""
    for param in entry.params:
        numbers = options[param.name]
        if param.each and isinstance(numbers, Mapping):
            if options[param.each] is not None:
                raise ParameterError(
                    f"The rule {entry.name!r} names values twice: in {param.name!r}, with a number "
                    f"for each, and in {param.each!r}. Leave {param.each!r} out."
                )
            return [
                {**options, param.name: own, param.each: (value,)} for value, own in numbers.items()
            ]
    return [options]


def rule_spec(rule: Rule) -> dict[str, Any] | None:
    """Return a rule as a plan writes it, None for a rule that is not in the catalog."""
    if rule.name not in RULES:
        return None
    entry = RULES[rule.name]
    column = {"column": rule.column} if entry.sensitive else {}
    numbers = {param.name: getattr(rule, param.name) for param in entry.params}
    return {"name": rule.name, **column, **{k: v for k, v in numbers.items() if v is not None}}


def smallest_class(specs: Iterable[Mapping[str, Any]]) -> int:
    """Return how many rows must look alike under some rules, 0 when none of them says."""
    asked = [spec.get(RULES[spec["name"]].crowd or "") for spec in specs]
    return max((int(rows) for rows in asked if rows is not None), default=0)

"""Describe the faults of a plan, one sentence each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from shoal.base.address import plan_fault
from shoal.base.errors import ParameterError, format_names, suggest_nearest
from shoal.base.params import Param, check_options
from shoal.base.roles import Kind, Role
from shoal.catalog import DEFAULT_METHOD, METHODS, RULES
from shoal.plan import text as plan_text
from shoal.plan.parts import TABLES
from shoal.plan.setting import same_groups

_WANTED = {
    "a table of keys": ("model_type", "model_attributes_type", "dict_type", "mapping_type"),
    "a list": ("list_type", "tuple_type", "iterable_type", "set_type"),
    "a text": ("string_type", "string_sub_type", "string_unicode"),
    "a whole number": ("int_type", "int_parsing", "int_from_float", "int_parsing_size"),
    "a number": ("float_type", "float_parsing"),
    "a number that is not infinite": ("finite_number",),
    "true or false": ("bool_type", "bool_parsing"),
    "empty": ("none_required",),
}
_BOUNDS = {"gt": "above", "ge": "at least", "lt": "below", "le": "at most"}
_SHOWN = 200  # characters of a value that is no good


def describe_fault(fault: Any, tables: Iterable[str], source: str, text: str) -> str:
    """Turn one pydantic fault into our sentence: where, what was got, what is allowed.

    ``tables``: the tables and keys that a plan has.
    """
    # Validation walks through unions and keys of its own; only real keys help the reader.
    loc = tuple(part for part in fault["loc"] if part != "[key]")
    where = where_is(loc, source, text)
    key = ".".join(map(str, loc))
    if loc == ("seed",):  # it may be the secret but for one sign
        return (
            f"{where}'seed' must be a whole number, from 0 on. The given value is not repeated "
            "here."
        )
    if fault["type"] == "extra_forbidden":
        allowed = list(TABLES[str(loc[0])].model_fields if len(loc) > 1 else tables)
        return (
            f"{where}unknown key {key!r}. Allowed here: {', '.join(allowed)}."
            f"{suggest_nearest(str(loc[-1]), allowed)}"
        )
    if fault["type"] == "enum":
        choices = [kind.value for kind in (Role if loc[-1] == "role" else Kind)]
        return (
            f"{where}{key!r} must be one of {', '.join(map(repr, choices))}. "
            f"Got {shorten_value(fault['input'])} "
            f"instead.{suggest_nearest(str(fault['input']), choices)}"
        )
    if fault["type"] == "literal_error":
        allowed = fault["ctx"]["expected"]
        return f"{where}{key!r} must be {allowed}. Got {shorten_value(fault['input'])} instead."
    if fault["type"] == "missing":
        return f"{where}{key!r} is missing."
    if loc[0] in TABLES and (limits := _limits(TABLES[str(loc[0])].model_fields.get(str(loc[-1])))):
        got = shorten_value(fault["input"])
        return f"{where}{key!r} must be a number {limits}. Got {got} instead."
    return f"{where}{key!r} {_wanted(fault)}. Got {shorten_value(fault['input'])} instead."


def _limits(field: Any) -> str:
    """Say which limits are declared of a number."""
    found = [
        f"{words} {getattr(limit, sign):,}"
        for limit in getattr(field, "metadata", ())
        for sign, words in _BOUNDS.items()
        if hasattr(limit, sign)
    ]
    return " and ".join(found)


def _wanted(fault: Any) -> str:
    """Say in our words what a value must be."""
    kind, about = fault["type"], fault.get("ctx", {})
    for words, kinds in _WANTED.items():
        if kind in kinds:
            return f"must be {words}"
    if kind == "value_error":
        return f"cannot be: {about['error']}".rstrip(".")
    return "is of a form that is not known here"


def shorten_value(value: Any) -> str:
    """Write a value as it was given, the beginning of a long one."""
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def where_is(loc: Sequence[Any], source: str, text: str) -> str:
    """Say on which line of a plan's text a key stands."""
    if not source:
        return ""
    line = plan_text.find_line(text, loc)
    return f"{source}, line {line}: " if line else f"{source}: "


def option_faults(tree: Mapping[str, Any], source: str, text: str) -> list[str]:
    """Check names and options of the method and the rules against the catalog."""
    faults: list[str] = []
    data = tree.get("data", {})
    if isinstance(data, dict) and (fault := plan_fault(data.get("source"))):
        faults.append(where_is(("data", "source"), source, text) + fault)
    columns = tree.get("columns", {})
    for name, part in columns.items() if isinstance(columns, dict) else ():
        if isinstance(part, dict) and isinstance(part.get("domain"), (list, tuple)):
            where = where_is(("columns", name, "domain"), source, text)
            faults += [where + fault for fault in _domain_faults(name, part["domain"])]
    release = tree.get("release", {})
    groups = release.get("same") if isinstance(release, dict) else None
    texts = [groups] if isinstance(groups, str) else groups
    # Anything but texts is refused where the types of all settings are checked.
    if texts and isinstance(texts, list) and all(isinstance(text, str) for text in texts):
        try:
            same_groups(texts)
        except ParameterError as fault:
            faults.append(where_is(("release", "same"), source, text) + str(fault))
    method = tree.get("method", {})
    if isinstance(method, dict) and isinstance(method.get("name", DEFAULT_METHOD), str):
        name = method.get("name", DEFAULT_METHOD)
        if name in METHODS:
            options = {key: value for key, value in method.items() if key != "name"}
            declared = METHODS[name].params
            faults += _check(options, declared, name, ("method",), source, text)
        else:
            faults.append(_unknown("method", name, METHODS, ("method", "name"), source, text))
    rules = tree.get("rules", [])
    for i, rule in enumerate(rules if isinstance(rules, list) else []):
        if not isinstance(rule, dict) or not isinstance(rule.get("name"), str):
            continue
        name = rule["name"]
        if name in RULES:
            options = {k: v for k, v in rule.items() if k not in ("name", "column")}
            declared = RULES[name].params
            faults += _check(options, declared, name, ("rules", i), source, text)
        else:
            faults.append(_unknown("rule", name, RULES, ("rules", i, "name"), source, text))
    return faults


def _domain_faults(name: str, domain: Sequence[Any]) -> list[str]:
    """Say what is wrong with a declared domain."""
    if not domain:
        return [
            f"the domain of column {name!r} lists no value. List every value that the column can "
            "have, or leave the domain out: then it is the values of the table."
        ]
    faults = []
    counts = Counter(str(value) for value in domain)
    if twice := sorted(value for value, count in counts.items() if count > 1):
        faults.append(
            f"the domain of column {name!r} lists {format_names(twice)} more than once. List "
            "each once."
        )
    if any(isinstance(value, str) and not value.strip() for value in domain):
        faults.append(
            f"the domain of column {name!r} lists an empty text, which means missing. Leave it out."
        )
    return faults


def _check(
    options: Mapping[str, Any],
    declared: tuple[Param, ...],
    owner: str,
    loc: tuple[Any, ...],
    source: str,
    text: str,
) -> list[str]:
    faults = []
    for key, value in options.items():
        try:
            check_options({key: value}, declared, owner)
        except ParameterError as error:
            faults.append(f"{where_is((*loc, key), source, text)}{error}")
    return faults


def _unknown(
    what: str, name: str, known: Iterable[str], loc: tuple[Any, ...], source: str, text: str
) -> str:
    names = list(known)
    return (
        f"{where_is(loc, source, text)}there is no {what} {name!r}; there "
        f"{'are' if len(names) > 1 else 'is'} "
        f"{', '.join(map(repr, names))}.{suggest_nearest(name, names)}"
    )

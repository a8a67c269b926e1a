"""List the settings to be compared."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from shoal.base.errors import ParameterError, format_names, suggest_nearest
from shoal.catalog import DEFAULT_RULE, METHODS, find_method
from shoal.plan.plan import Plan
from shoal.plan.rule_specs import rule_flags, rules_asked

DEFAULT_K = (2, 5, 10, 50)


@dataclass(frozen=True, eq=False)
class ComparedSetting:
    """One method with one promise, and what came of it.

    Parameters
    ----------
    method
        The method as it was asked for, options included.
    values
        What the flags of the rules say, for instance ``{"k": 5}``.
    label
        Both in a few words.
    plan
        The plan that was carried out.
    verified
        Whether there is a release and checking it found no fault.
    promised
        What the release promises.
    reason, detail
        Why there is no release: in short, without any value of the table, and in full.
    figures
        What was measured; means over the repeats, of risks the highest.
    spread
        Lowest and highest loss of the repeats.
    release
        The release of the first repeat with its figures, unless it was not to be kept.
    """

    method: str
    values: Mapping[str, Any]
    label: str
    plan: Plan
    verified: bool = False
    promised: tuple[str, ...] = ()
    reason: str = ""
    detail: str = field(default="", repr=False)
    figures: Mapping[str, float] = field(default_factory=dict)
    spread: tuple[float, float] | None = None
    release: Any = field(default=None, repr=False)


def format_flag_value(value: Any) -> str:
    """Write the value of a flag."""
    if isinstance(value, float):
        return f"{value:g}"
    return ",".join(value) if isinstance(value, (list, tuple)) else str(value)


def choices(
    plan: Plan, methods: Sequence[str] | None, rule_values: Mapping[str, Sequence[Any]]
) -> tuple[ComparedSetting, ...]:
    """Return every method with every combination of the values, in the order asked for.

    Parameters
    ----------
    plan
        What all settings share.
    methods
        Names, each with options if wanted: ``shoal:effort=max``.
    rule_values
        Per flag of a rule the values to try, for instance ``{"k": [5, 10], "l": [2, 3]}``.
    """
    unknown = [flag for flag in rule_values if flag not in (flags := rule_flags())]
    if unknown:
        raise ParameterError(
            f"No rule has a flag {unknown[0]!r}; there are {format_names(flags, 20)}."
            f"{suggest_nearest(unknown[0], flags)}"
        )
    if empty := [flag for flag, values in rule_values.items() if not values]:
        raise ParameterError(f"There is no value of {empty[0]!r} to try. Give at least one.")
    if methods is not None and not methods:
        raise ParameterError(
            f"There is no method to compare. Choose from {format_names(_default(plan))}."
        )
    rule_values = dict(rule_values) or default_rule_values(plan)
    combined = [
        dict(zip(rule_values, values, strict=True))
        for values in itertools.product(*(_once(values) for values in rule_values.values()))
    ]
    tried = []
    for text in dict.fromkeys(methods or _default(plan)):
        name, options = read_method(text)
        for values in combined:
            asked = rules_asked(values)
            full = plan.changed({"promised": asked, "method": {"name": name, **options}})
            label = " ".join(
                (text, *(f"{flag}={format_flag_value(v)}" for flag, v in values.items()))
            )
            tried.append(ComparedSetting(text, values, label, full))
    return tuple(tried)


def default_rule_values(plan: Plan) -> dict[str, list[Any]]:
    """Return what is tried when nothing is asked for: some k around the plan's own.

    A plan that promises something else than k-anonymity is taken at its word.
    """
    named = [rule.spec for rule in plan.rules if rule.name == DEFAULT_RULE]
    if not named:
        return {}
    own = named[0].get("k")
    return {"k": sorted({*DEFAULT_K, *([own] if own is not None else [])})}


def _default(plan: Plan) -> list[str]:
    """Return the plan's own method and the usual ones."""
    usual = [entry.name for entry in METHODS.values() if entry.baseline]
    return usual if plan.method.name in usual else [plan.method.name, *usual]


def read_method(text: str) -> tuple[str, dict[str, Any]]:
    """Read ``NAME`` or ``NAME:OPTION=VALUE:OPTION=VALUE``."""
    name, *parts = text.split(":")
    entry = find_method(name)
    declared = {param.name: param for param in entry.params}
    options: dict[str, Any] = {}
    for word in parts:
        option, equals, value = word.partition("=")
        if not equals:
            raise ParameterError(
                f"A method is written NAME or NAME:OPTION=VALUE. Got {text!r} instead; the options "
                f"of {name!r} are {', '.join(map(repr, declared)) or 'none'}."
            )
        # An unknown name is kept as it is: the plan names it together with all other faults.
        options[option] = declared[option].read(value) if option in declared else value
    return name, options


def _once(values: Sequence[Any]) -> list[Any]:
    once: list[Any] = []
    for value in values:
        if value not in once:
            once.append(value)
    return once

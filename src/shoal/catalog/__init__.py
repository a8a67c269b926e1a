"""The catalog of all methods, rules, losses, shapes and estimators by name.

The command line, the plan and the docs are made from these tables, so a new method or rule is one
more entry here. Nothing heavy is imported before an entry is loaded.
"""

from __future__ import annotations

from collections.abc import Iterable

from shoal.base.errors import ParameterError, suggest_nearest
from shoal.catalog.entries import AsInPaper, Estimator, LossEntry, Method, Reading, RuleEntry
from shoal.catalog.estimators import ESTIMATORS
from shoal.catalog.losses import DEFAULT_LOSS, LOSSES
from shoal.catalog.methods import METHODS
from shoal.catalog.rules import RULES
from shoal.catalog.shapes import DOMAIN, GENERALIZED, SHAPES, Shape

DEFAULT_METHOD = "shoal"

DEFAULT_RULE = "k-anonymity"

__all__ = [
    "DEFAULT_LOSS",
    "DEFAULT_METHOD",
    "DEFAULT_RULE",
    "DOMAIN",
    "ESTIMATORS",
    "GENERALIZED",
    "LOSSES",
    "METHODS",
    "RULES",
    "SHAPES",
    "AsInPaper",
    "Estimator",
    "LossEntry",
    "Method",
    "Reading",
    "RuleEntry",
    "Shape",
    "find_estimator",
    "find_method",
    "find_paper",
    "find_rule",
]


def find_estimator(name: str) -> Estimator:
    """Return the way to estimate called ``name`` or say which there are."""
    if name not in ESTIMATORS:
        raise ParameterError(_unknown("way to estimate called", name, ESTIMATORS))
    return ESTIMATORS[name]


def find_method(name: str) -> Method:
    """Return the method called ``name`` or say which there are."""
    if name not in METHODS:
        raise ParameterError(_unknown("method", name, METHODS))
    return METHODS[name]


def find_paper(name: str) -> AsInPaper:
    """Return how a method is run as in its paper, or say that no paper has it."""
    entry = find_method(name)
    if entry.paper is None:
        able = [repr(each.name) for each in METHODS.values() if each.paper is not None]
        raise ParameterError(
            f"--as-in-paper (as_in_paper=True) runs a method as its paper has it, and no paper has "
            f"{name!r}: {entry.ours}. Leave it out, or use one of {', '.join(able)}."
        )
    return entry.paper


def find_rule(name: str) -> RuleEntry:
    """Return the rule called ``name`` or say which there are."""
    if name not in RULES:
        raise ParameterError(_unknown("rule", name, RULES))
    return RULES[name]


def _unknown(what: str, name: str, known: Iterable[str]) -> str:
    names = list(known)
    return (
        f"There is no {what} {name!r}; there are {', '.join(map(repr, names))}."
        f"{suggest_nearest(name, names)}"
    )

"""Publish tables about people so that each person stays in a crowd.

>>> import shoal
>>> outcome = shoal.anonymize("patients.csv", quasi=["age", "zip"], k=5)  # doctest: +SKIP
>>> outcome.release, outcome.loss.rate  # doctest: +SKIP
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.base.errors import (
        Infeasible,
        InputError,
        MissingExtra,
        NotVerified,
        OutputError,
        ParameterError,
        PlanError,
        Refused,
        SchemaError,
        ShoalError,
        ShoalWarning,
    )
    from shoal.base.roles import Kind, Role
    from shoal.engines.spark.settings import Spark
    from shoal.plan.plan import Plan
    from shoal.privacy import (
        All,
        AlphaK,
        BetaLikeness,
        EntropyLDiversity,
        FrequencyLDiversity,
        KAnonymity,
        LDiversity,
        RecursiveLDiversity,
        TCloseness,
    )
    from shoal.releases.generalized.check import Verdict
    from shoal.report import write_report
    from shoal.tables.domain import Taxonomy
    from shoal.tables.files import read_table, write_table
    from shoal.tables.hierarchy import read_hierarchy, write_hierarchy
    from shoal.tables.schema import Column, Schema
    from shoal.verbs.anonymize import anonymize
    from shoal.verbs.attack import attack
    from shoal.verbs.audit import audit
    from shoal.verbs.compare import Comparison, compare, compare_queries
    from shoal.verbs.estimate import Estimates, estimate, read_release
    from shoal.verbs.inspect import inspect
    from shoal.verbs.outcome import Outcome
    from shoal.verbs.risk import Risks, risk

__version__ = "0.1.0"

# Loaded at first use, so that importing the package costs nothing.
_HOMES = {
    "shoal.verbs.risk": ("Risks", "risk"),
    "shoal.verbs.attack": ("attack",),
    "shoal.verbs.audit": ("audit",),
    "shoal.verbs.compare": ("Comparison", "compare", "compare_queries"),
    "shoal.tables.domain": ("Taxonomy",),
    "shoal.engines.spark.settings": ("Spark",),
    "shoal.base.errors": (
        "Infeasible",
        "InputError",
        "MissingExtra",
        "NotVerified",
        "OutputError",
        "ParameterError",
        "PlanError",
        "Refused",
        "SchemaError",
        "ShoalError",
        "ShoalWarning",
    ),
    "shoal.verbs.estimate": ("Estimates", "estimate", "read_release"),
    "shoal.tables.hierarchy": ("read_hierarchy", "write_hierarchy"),
    "shoal.verbs.inspect": ("inspect",),
    "shoal.verbs.outcome": ("Outcome",),
    "shoal.plan.plan": ("Plan",),
    "shoal.report": ("write_report",),
    "shoal.privacy": (
        "All",
        "AlphaK",
        "BetaLikeness",
        "EntropyLDiversity",
        "FrequencyLDiversity",
        "KAnonymity",
        "LDiversity",
        "RecursiveLDiversity",
        "TCloseness",
    ),
    "shoal.verbs.anonymize": ("anonymize",),
    "shoal.base.roles": ("Kind", "Role"),
    "shoal.tables.schema": ("Column", "Schema"),
    "shoal.tables.files": ("read_table", "write_table"),
    "shoal.releases.generalized.check": ("Verdict",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "All",
    "AlphaK",
    "BetaLikeness",
    "Column",
    "Comparison",
    "EntropyLDiversity",
    "Estimates",
    "FrequencyLDiversity",
    "Infeasible",
    "InputError",
    "KAnonymity",
    "Kind",
    "LDiversity",
    "MissingExtra",
    "NotVerified",
    "Outcome",
    "OutputError",
    "ParameterError",
    "Plan",
    "PlanError",
    "RecursiveLDiversity",
    "Refused",
    "Risks",
    "Role",
    "Schema",
    "SchemaError",
    "ShoalError",
    "ShoalWarning",
    "Spark",
    "TCloseness",
    "Taxonomy",
    "Verdict",
    "anonymize",
    "attack",
    "audit",
    "compare",
    "compare_queries",
    "estimate",
    "inspect",
    "read_hierarchy",
    "read_release",
    "read_table",
    "risk",
    "write_hierarchy",
    "write_report",
    "write_table",
]


def __getattr__(name: str) -> Any:
    """Load a public name from where it lives."""
    if name not in _HOME:
        raise AttributeError(f"module 'shoal' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return sorted({*__all__, *globals()})

"""Publish tables about people so that each person stays in a crowd.

>>> import shoal
>>> outcome = shoal.anonymize("patients.csv", quasi=["age", "zip"], k=5)  # doctest: +SKIP
>>> outcome.release, outcome.loss.rate  # doctest: +SKIP
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.assessing import Risks, risk
    from shoal.attacking import attack
    from shoal.auditing import audit
    from shoal.comparing import Comparison, compare, compare_queries
    from shoal.domain import Taxonomy
    from shoal.engines.spark.settings import Spark
    from shoal.errors import (
        Infeasible,
        InputError,
        MissingExtra,
        NotVerified,
        OutputError,
        ParameterError,
        PlanError,
        SchemaError,
        ShoalError,
        ShoalWarning,
    )
    from shoal.estimating import Estimates, estimate, read_release
    from shoal.hierarchy import read_hierarchy, write_hierarchy
    from shoal.inspection import inspect
    from shoal.outcome import Outcome
    from shoal.plan import Plan
    from shoal.report import write_report
    from shoal.rules import (
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
    from shoal.run import anonymize
    from shoal.schema import Column, Kind, Role, Schema
    from shoal.table import read_table, write_table
    from shoal.verify import Verdict

__version__ = "0.1.0"

# Loaded at first use, so that importing the package costs nothing.
_HOMES = {
    "shoal.assessing": ("Risks", "risk"),
    "shoal.attacking": ("attack",),
    "shoal.auditing": ("audit",),
    "shoal.comparing": ("Comparison", "compare", "compare_queries"),
    "shoal.domain": ("Taxonomy",),
    "shoal.engines.spark.settings": ("Spark",),
    "shoal.errors": (
        "Infeasible",
        "InputError",
        "MissingExtra",
        "NotVerified",
        "OutputError",
        "ParameterError",
        "PlanError",
        "SchemaError",
        "ShoalError",
        "ShoalWarning",
    ),
    "shoal.estimating": ("Estimates", "estimate", "read_release"),
    "shoal.hierarchy": ("read_hierarchy", "write_hierarchy"),
    "shoal.inspection": ("inspect",),
    "shoal.outcome": ("Outcome",),
    "shoal.plan": ("Plan",),
    "shoal.report": ("write_report",),
    "shoal.rules": (
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
    "shoal.run": ("anonymize",),
    "shoal.schema": ("Column", "Kind", "Role", "Schema"),
    "shoal.table": ("read_table", "write_table"),
    "shoal.verify": ("Verdict",),
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

"""Anonymize tables of personal data: everyone looks like at least k - 1 others.

>>> import shoal
>>> table = shoal.open("patients.csv", quasi=["age", "zip"])  # doctest: +SKIP
>>> release = table.anonymize(k=5)  # doctest: +SKIP
>>> release.frame, release.loss.rate, release.risk()  # doctest: +SKIP
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal import hierarchies
    from shoal.api import testing
    from shoal.api.catalog import methods, rules
    from shoal.api.functions import (
        anonymize,
        attack,
        audit,
        compare,
        estimate,
        inspect,
        risk,
        start,
    )
    from shoal.api.opening import open, open_release, read_table  # noqa: A004 -- shoal.open
    from shoal.api.release import Release
    from shoal.api.table import Table
    from shoal.base.errors import (
        Cautioned,
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
    from shoal.base.roles import Kind, Role
    from shoal.ext.spark.settings import Spark
    from shoal.measures.losses.ncp import Loss
    from shoal.measures.risks.results import Attacks
    from shoal.plan.plan import Plan
    from shoal.privacy import (
        All,
        AlphaK,
        BetaLikeness,
        EntropyLDiversity,
        FrequencyLDiversity,
        KAnonymity,
        LDiversity,
        MInvariance,
        RecursiveLDiversity,
        TCloseness,
    )
    from shoal.releases.base import By
    from shoal.releases.verdict import Verdict
    from shoal.tables.domain import Taxonomy
    from shoal.tables.hierarchy import read_hierarchy, write_hierarchy
    from shoal.tables.schema import Column, Schema
    from shoal.tables.write_files import write_table
    from shoal.verbs.compare import Comparison
    from shoal.verbs.estimate import Estimates
    from shoal.verbs.inspect import Inspection
    from shoal.verbs.risk import Risks
    from shoal.verbs.run import Run

__version__ = "1.0.0rc1"

# Loaded at first use, so that importing the package costs nothing.
_HOMES = {
    "shoal.api.catalog": "methods rules",
    "shoal.api.functions": "anonymize attack audit compare estimate inspect risk start",
    "shoal.api.opening": "open open_release read_table",
    "shoal.api.release": "Release",
    "shoal.api.table": "Table",
    "shoal.base.errors": "Infeasible InputError MissingExtra NotVerified OutputError "
    "ParameterError PlanError Cautioned SchemaError ShoalError ShoalWarning",
    "shoal.base.roles": "Kind Role",
    "shoal.verbs.run": "Run",
    "shoal.ext.spark.settings": "Spark",
    "shoal.measures.losses": "Loss",
    "shoal.measures.risks.results": "Attacks",
    "shoal.plan.plan": "Plan",
    "shoal.privacy": "All AlphaK BetaLikeness EntropyLDiversity "
    "FrequencyLDiversity KAnonymity LDiversity MInvariance RecursiveLDiversity TCloseness",
    "shoal.releases.base": "By",
    "shoal.releases.verdict": "Verdict",
    "shoal.tables.domain": "Taxonomy",
    "shoal.tables.write_files": "write_table",
    "shoal.tables.hierarchy": "read_hierarchy write_hierarchy",
    "shoal.tables.schema": "Column Schema",
    "shoal.verbs.compare": "Comparison",
    "shoal.verbs.estimate": "Estimates",
    "shoal.verbs.inspect": "Inspection",
    "shoal.verbs.risk": "Risks",
}
_MODULES = {"hierarchies": "shoal.hierarchies", "testing": "shoal.api.testing"}
_HOME = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = [
    "All",
    "AlphaK",
    "Attacks",
    "BetaLikeness",
    "By",
    "Cautioned",
    "Column",
    "Comparison",
    "EntropyLDiversity",
    "Estimates",
    "FrequencyLDiversity",
    "Infeasible",
    "InputError",
    "Inspection",
    "KAnonymity",
    "Kind",
    "LDiversity",
    "Loss",
    "MInvariance",
    "MissingExtra",
    "NotVerified",
    "OutputError",
    "ParameterError",
    "Plan",
    "PlanError",
    "RecursiveLDiversity",
    "Release",
    "Risks",
    "Role",
    "Run",
    "Schema",
    "SchemaError",
    "ShoalError",
    "ShoalWarning",
    "Spark",
    "TCloseness",
    "Table",
    "Taxonomy",
    "Verdict",
    "anonymize",
    "attack",
    "audit",
    "compare",
    "estimate",
    "hierarchies",
    "inspect",
    "methods",
    "open",
    "open_release",
    "read_hierarchy",
    "read_table",
    "risk",
    "rules",
    "start",
    "testing",
    "write_hierarchy",
    "write_table",
]


def __getattr__(name: str) -> Any:
    """Load a public name from where it lives."""
    if name in _MODULES:
        return import_module(_MODULES[name])
    if name not in _HOME:
        raise AttributeError(f"module 'shoal' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names alone."""
    return [*__all__, "__version__"]

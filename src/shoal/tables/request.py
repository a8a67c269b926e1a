"""The class Request: what a run is asked to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shoal.base.roles import Kind, Role
from shoal.catalog import DEFAULT_RULE, RULES, Method
from shoal.plan.parts import TABLES
from shoal.plan.plan import Plan
from shoal.plan.setting import declared_settings
from shoal.privacy import Rule, flatten
from shoal.tables.schema import Column, Schema

SPARK = {
    "data": {"source", "missing", "delimiter", "hierarchies"},
    "columns": {"kind", "hierarchy", "missing", "order", "domain", "importance", "grid"}
    | {"sets", "allow_labels"},
    "release": {"typed", "slack", "sets"},
}
"""What is carried out on Spark, too; any other setting is refused there."""


@dataclass(frozen=True)
class Request:
    """What a run is to do, as far as it is known.

    ``key``: a key for pseudonyms was given. ``lasting``: people stay with the classes or values of
    earlier releases. ``history``: a history, or earlier releases, were given. ``timed``: the work
    is to end with the best so far.
    """

    plan: Plan
    method: Method
    rules: Sequence[Rule] | None = None
    schema: Schema | None = None
    key: bool = False
    prove: bool = False
    strict: bool = False
    lasting: bool = False
    history: bool = False
    timed: bool = False
    spark: bool = False

    @property
    def person(self) -> str | None:
        """The column that says whose row it is."""
        named = self.plan.names(Role.PERSON)
        return self.schema.person if self.schema is not None else next(iter(named), None)

    @property
    def quasi(self) -> list[Column]:
        """The quasi-identifiers of the table, none before it is known."""
        return [] if self.schema is None else [self.schema[name] for name in self.schema.quasi]


def on_spark(request: Request) -> str:
    """Return the name of Spark if the run is carried out there."""
    return "Spark" if request.spark else ""


def method_name(request: Request) -> str:
    """Return the method, as a condition that always holds."""
    return request.method.name


def exact_shape(request: Request) -> str:
    """Return the method if it publishes quasi-identifiers as they are."""
    return request.method.name if request.method.shape.exact else ""


def unsafe_rule(request: Request) -> str:
    """Return the first rule that two classes may keep and both together break."""
    rules = flatten(list(request.rules or ()))
    return next((r.name for r in rules if not getattr(r, "grows_safely", False)), "")


def lasting_rule(request: Request) -> str:
    """Return the rule that speaks of all releases, if one does."""
    names = [rule.name for rule in request.rules or ()]
    return next((name for name in names if name in RULES and RULES[name].lasting), "")


def rules_beside_lasting(request: Request) -> str:
    """Return the rules if one of them does not go with one that speaks of all releases."""
    names = [rule.name for rule in request.rules or ()]
    return ", ".join(names) if {*names} - {lasting_rule(request), DEFAULT_RULE} else ""


def unserved_rule(request: Request) -> str:
    """Return the first rule that the method cannot keep."""
    served = request.method.rules
    names = [
        rule.name for rule in request.rules or () if served is not None and rule.name not in served
    ]
    return names[0] if names else ""


def lacking_rule(request: Request) -> str:
    """Return the rules that are asked for where none is one that the method is made for."""
    names = [rule.name for rule in request.rules or ()]
    return "" if {*names} & {*request.method.needs} else ", ".join(names) or "no rule"


def unequal_weights(request: Request) -> str:
    """Say how columns differ in their importance."""
    weights = {column.name: column.importance for column in request.quasi}
    usual = next(iter(weights.values()), 1.0)
    other = [(name, value) for name, value in weights.items() if value != usual]
    return f"{other[0][1]:g} for {other[0][0]!r} beside {usual:g} for others" if other else ""


def no_weights(request: Request) -> str:
    """Say why the method cannot go by the importance of columns, if it cannot."""
    if request.method.weighs:
        return ""
    exact = request.method.shape.exact
    as_is = "it publishes quasi-identifiers as they are"
    return as_is if exact else "its way to form classes knows no weights of columns"


def rows_together(request: Request) -> str:
    """Say what asks for all rows of a person to be published alike."""
    if not request.plan.release.together:
        return ""
    return "a pseudonym" if request.plan.release.pseudonym else "person_rows = 'together'"


def first_limit(request: Request) -> str:
    """Name the first limit that is asked for."""
    names = [column.name for column in request.quasi]
    for name, part in request.plan.columns.items():
        if part.limits and name in names:
            key, value = next(iter(part.limits.items()))
            return f"{_written(key, value)} of column {name!r}"
    suppress = request.plan.release.suppress
    return f"suppress = {suppress:g}" if suppress and request.schema is not None else ""


def bounded_columns(request: Request) -> list[Column]:
    """Return the columns whose cells may not become coarser than so."""
    return [column for column in request.quasi if column.within or column.coarsest is not None]


def unbounded_width(request: Request) -> str:
    """Return the first ordered column whose intervals may not be wider than so."""
    wide = [
        each for each in bounded_columns(request) if each.kind is Kind.ORDERED and not each.within
    ]
    return repr(wide[0].name) if wide else ""


def suppressed_share(request: Request) -> str:
    """Return the share of the rows that may be left out."""
    suppress = request.plan.release.suppress
    return f"{suppress:g}" if suppress and request.schema is not None else ""


def open_ends(request: Request) -> str:
    """Say that a column is published as two, of which one has no end."""
    coded = [
        column.name
        for column in request.quasi
        if column.kind is Kind.ORDERED and not (column.top is column.bottom is None)
    ]
    return "two columns x_lo and x_hi" if coded and request.plan.release.ends else ""


def local_setting(request: Request) -> str:
    """Name the first setting that is asked for and that Spark does not carry out."""
    plan = request.plan
    columns = [("columns", part, f" of column {name!r}") for name, part in plan.columns.items()]
    for table, part, where in (("data", plan.data, ""), ("release", plan.release, ""), *columns):
        for key in (key for key in declared_settings(TABLES[table]) if key not in SPARK[table]):
            value, default = getattr(part, key), TABLES[table].model_fields[key].default
            if value != default and not (default is None and value is False):
                return f"{_written(key, value)}{where}"
    return ""


def _written(key: str, value: object) -> str:
    return f"{key} = {str(value).lower() if isinstance(value, bool) else value}"


def crowd_size(request: Request) -> int:
    """Return how many rows must look alike."""
    return max((rule.least for rule in request.rules or ()), default=1)

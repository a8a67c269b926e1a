"""Sixty good releases and sixty bad ones, each bad one with its reason.

A good release is laid out by hand (:mod:`tests.corpus.tables`); its rules stand exactly at what
its classes reach. A bad one is a good one with an edit whose effect is known without a check:
a cell changed, a row moved, a column added. ``seen`` says what one must have to see it: the
published ``cells``, the ``original``, or the ``order`` of its rows as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import polars as pl

from shoal.base.roles import Kind, Role
from shoal.plan.parts import ColumnPart, ReleasePart, RulePart
from shoal.plan.plan import Plan
from shoal.tables.domain import Taxonomy
from tests.corpus.tables import TOWNS, ends, laid_out, shuffled

Seen = Literal["cells", "original", "order"]
TREES = {"town": Taxonomy.from_rows(list(TOWNS.values()), "town")}
QUASI, SENSITIVE = ("age", "day", "town", "job"), ("ill", "pay")
KINDS = {"age": "ordered", "day": "ordered", "town": "taxonomy", "job": "set"}


@dataclass(frozen=True)
class Case:
    """A release, what it promises, and what it was made from; ``why`` is empty for a good one."""

    name: str
    tables: Mapping[str, pl.DataFrame]
    original: pl.DataFrame
    order: list[int]
    plan: Plan
    why: str = ""
    seen: Seen = "cells"

    @property
    def frame(self) -> pl.DataFrame:
        """The published table."""
        return self.tables["release"]

    def bad(self, name: str, why: str, seen: Seen = "cells", **tables: pl.DataFrame) -> Case:
        """Return the case with other tables, a bad one."""
        name = f"{self.name}: {name}"
        return replace(self, name=name, why=why, seen=seen, tables={**self.tables, **tables})


def rule(name: str, column: str | None = None, **numbers: Any) -> RulePart:
    """Return a rule of a plan."""
    return RulePart(name=name, column=column, **numbers)


K = rule("k-anonymity", k=8)
# Of eight known values two are the same at most: each bound is exactly what every class reaches.
RULES: dict[str, tuple[RulePart, ...]] = {
    "k": (K,),
    "l": (K, rule("l-diversity", "ill", l=5), rule("l-diversity", "pay", l=5)),
    "entropy": (K, rule("entropy-l-diversity", "ill", l=4.756)),
    "recursive": (K, rule("recursive-l-diversity", "ill", l=4, c=1.001)),
    "frequency": (K, rule("frequency-l-diversity", "ill", l=4)),
    "alpha": (rule("alpha-k-anonymity", "ill", alpha=0.25, k=8),),
    "alpha of a value": (
        rule("alpha-k-anonymity", "ill", alpha=0.125, k=8, values=("polio", "typhus")),
    ),
    "t": (K, rule("t-closeness", "ill", t=0.001)),
    "t ordered": (K, rule("t-closeness", "pay", t=0.001, distance="ordered")),
    "beta": (K, rule("beta-likeness", "ill", beta=0.001)),
    "m": (K, rule("m-invariance", "ill", m=4)),
}


def plan_of(
    rules: tuple[RulePart, ...],
    roles: Mapping[str, str] | None = None,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    **release: Any,
) -> Plan:
    """Return a plan over the columns of the corpus; ``settings`` add keys to some of them."""
    own = dict.fromkeys(QUASI, "quasi") | {"ill": "sensitive", "pay": "sensitive"}
    own |= {"note": "keep", "who": "identifier"} | dict(roles or {})
    columns = {
        name: ColumnPart(
            role=Role(role),
            kind=Kind(KINDS[name]) if role == "quasi" else None,
            **(settings or {}).get(name, {}),
        )
        for name, role in own.items()
    }
    columns["ill"] = columns["ill"].model_copy(update={"missing": ("unknown",)})
    return Plan(columns=columns, rules=rules, release=ReleasePart(**release))


def generalized(name: str, seed: int, *, typed: bool = False, **plan: Any) -> Case:
    """Return a good generalized release."""
    laid = laid_out(seed)
    table, order = shuffled(ends(laid.released) if typed else laid.released, seed)
    asked = plan_of(RULES[name.partition(",")[0]], typed=typed, **plan)
    return Case(f"{name}, {seed}", {"release": table}, laid.original, order, asked)


# Edits


def put(case: Case, row: int, **cells: Any) -> pl.DataFrame:
    """Return the released table with other cells in one row."""
    here = pl.int_range(pl.len()) == row
    frame = case.frame
    return frame.with_columns(
        pl.when(here).then(pl.lit(value, dtype=frame[name].dtype)).otherwise(name).alias(name)
        for name, value in cells.items()
    )


def put_class(case: Case, cell: tuple[str, Any], **cells: Any) -> pl.DataFrame:
    """Return the released table with other cells in every row that has a cell."""
    name, value = cell
    return case.frame.with_columns(
        pl.when(pl.col(name) == value)
        .then(pl.lit(new, dtype=case.frame[other].dtype))
        .otherwise(other)
        .alias(other)
        for other, new in cells.items()
    )


def row_of(case: Case, **cells: Any) -> int:
    """Return the first released row with some cells."""
    here = [pl.col(name) == value for name, value in cells.items()]
    found: int = case.frame.with_row_index("at").filter(*here)["at"][0]
    return found


def swapped(case: Case, one: int, other: int, name: str) -> pl.DataFrame:
    """Return the released table with the cells of two rows exchanged."""
    a, b = case.frame[name][one], case.frame[name][other]
    first = replace(case, tables={"release": put(case, one, **{name: b})})
    return put(first, other, **{name: a})


def _rule_breaks() -> list[Case]:
    """Return releases of which one class breaks one rule, seen in its cells alone."""
    found = []
    for name in RULES:
        case = generalized(name, 11)
        typhus = row_of(case, age="[30-39]", ill="typhus")
        frame = put(case, typhus, ill="asthma")
        if "ordered" in name:
            frame = put(case, row_of(case, age="[30-39]", pay=50), pay=10)
        if name == "alpha of a value":
            frame = put(case, row_of(case, age="[30-39]", ill="flu"), ill="typhus")
        if name != "k":
            found.append(
                case.bad("one value more", "a class has one value too often", release=frame)
            )
    for name in ("l", "entropy", "frequency", "recursive"):
        case = generalized(name, 12)
        at = row_of(case, age="[40-49]", ill="polio")
        for text in (None, "", "*", "unknown") if name in ("l", "frequency") else (None,):
            why = "a missing value adds no diversity"
            found.append(case.bad(f"value {text}", why, release=put(case, at, ill=text)))
    for name in ("t", "beta", "alpha", "l"):
        case = generalized(name, 13)
        frame = put_class(case, ("age", "[50-59]"), ill=None)
        found.append(case.bad("no values", "a class has no known value", release=frame))
    case = generalized("t", 14)
    one, other = row_of(case, age="25", ill="flu"), row_of(case, age="[30-39]", ill="polio")
    frame = swapped(case, one, other, "ill")
    found.append(
        case.bad("exchanged", "two classes have another mix than the table", release=frame)
    )
    return found


def with_gaps(name: str, *, missing: str) -> Case:
    """Return a release in which two of eight values are missing in every class but the first.

    That has six rows, the known values of the others, and no gap. It is good where missing values
    are ignored.
    """
    kind, _, distance = name.partition(" ")
    column, gone = ("pay", 20) if distance else ("ill", "flu")
    laid = laid_out(15)
    empty = pl.when(pl.col(column) != gone).then(column).alias(column)
    kept = pl.Series(laid.label).ne(0) | laid.original[column].ne(gone)
    original, released = (
        frame.filter(kept).with_columns(empty) for frame in (laid.original, laid.released)
    )
    asked = rule(
        {"t": "t-closeness", "beta": "beta-likeness"}[kind],
        column,
        **{kind: 0.01, "missing": missing},
        **({"distance": distance} if distance else {}),
    )
    table, order = shuffled(released, 15)
    plan = plan_of((rule("k-anonymity", k=6), asked))
    return Case(f"{name}, missing: {missing}", {"release": table}, original, order, plan)


UNEVEN = ("t", "t ordered", "beta")


def _gaps() -> list[Case]:
    """Return releases of which the first class lacks the gaps that the others have."""
    why = "a class has fewer missing values than the table"
    return [with_gaps(name, missing="value").bad("no gaps", why) for name in UNEVEN]


def _crowds() -> list[Case]:
    """Return releases with a class of fewer rows than k."""
    case, typed = generalized("k", 21), generalized("k, typed", 21, typed=True)
    young = row_of(case, age="[30-39]")
    why, null = "a row is alone in its class", "a missing cell is a value like any other"
    return [
        case.bad("a cell narrower", why, release=put(case, young, age="[30-38]")),
        case.bad("a cell wider", why, release=put(case, young, age="*")),
        case.bad("a cell with a space", why, release=put(case, young, town="xp ")),
        case.bad("a null", null, release=put(case, young, job=None)),
        case.bad("a row less", "a class has seven rows", release=case.frame.filter(without(young))),
        typed.bad("another end", why, release=put(typed, 0, age_hi=99)),
        typed.bad("an end less", why, release=put(typed, 0, day_lo=None)),
        case.bad("no rows", "an empty table keeps no promise", release=case.frame.clear()),
    ]


def without(row: int) -> pl.Expr:
    return pl.int_range(pl.len()) != row


def _covers() -> list[Case]:
    """Return releases whose classes keep their rules and do not stand for their originals."""
    case, typed = generalized("k", 31), generalized("k, typed", 31, typed=True)
    ages = ("age", "[30-39]")
    other, note = row_of(case, age="25"), case.frame["note"][0]
    wrong: list[tuple[str, str, Seen, pl.DataFrame]] = [
        ("interval", "39 is outside", "original", put_class(case, ages, age="[30-38]")),
        ("low end", "30 is outside", "original", put_class(case, ages, age="[31-39]")),
        ("node", "the towns lie under another node", "original", put_class(case, ages, town="yq")),
        ("unknown node", "no such node", "original", put_class(case, ages, town="zz")),
        ("set", "a nurse is in no such set", "original", put_class(case, ages, job="clerk")),
        ("value", "25 is not 26", "original", put_class(case, ("age", "25"), age="26")),
        ("missing age", "only * covers a missing value", "original",
         put_class(case, ("age", "*"), age="[70-79]")),
        ("missing job", "only * covers a missing value", "original",
         put_class(case, ("job", "*"), job="{clerk, nurse}")),
        ("row twice", "more rows than the original", "original",
         pl.concat([case.frame, case.frame[:1]])),
        ("values moved", "rows got each other's values", "order",
         swapped(case, other, row_of(case, age="[30-39]", ill=_unlike(case, other)), "ill")),
        ("value changed", "the original has another value", "original",
         put(case, other, ill=_unlike(case, other))),
        ("note changed", "the original has another note", "original",
         put(case, 0, note="n0" if note != "n0" else "n1")),
    ]  # fmt: skip
    found = [case.bad(name, why, seen, release=frame) for name, why, seen, frame in wrong]
    ends_wrong = put_class(typed, ("age_lo", 30), age_hi=38)
    found.append(typed.bad("end", "39 is outside", "original", release=ends_wrong))
    days = put_class(typed, ("age_lo", 30), day_lo=None)
    half = typed.bad("half a pair", "a pair with one end covers nothing", "original", release=days)
    return [*found, half]


def _unlike(case: Case, row: int) -> str:
    return "flu" if case.frame["ill"][row] != "flu" else "gout"


def _columns() -> list[Case]:
    """Return releases with a column that should not be there, or not like that."""
    case = generalized("k", 41)
    who = case.original["who"].gather(case.order)
    undecided = generalized("k", 41, roles={"note": "undecided"})
    person = generalized("k, persons", 41, roles={"who": "person"})
    people = person.frame.with_columns(who=who)
    return [
        case.bad("identifier", "it names everybody", release=case.frame.with_columns(who=who)),
        case.bad(
            "unknown column", "nobody declared it", release=case.frame.with_columns(index=who)
        ),
        undecided.bad("undecided", "nobody decided about it"),
        person.bad("persons", "it names everybody", release=people),
    ]


def generalized_cases() -> tuple[list[Case], list[Case]]:
    """Return the good generalized releases, and the bad ones made of them."""
    good = [generalized(name, seed) for name in RULES for seed in (1, 2, 3)]
    good += [generalized(f"{name}, typed", 4, typed=True) for name in RULES]
    good += [with_gaps(name, missing="ignore") for name in UNEVEN]
    return good, [*_rule_breaks(), *_gaps(), *_crowds(), *_covers(), *_columns()]

"""Releases with limits, strata, people and counterfeits, and of the shapes that hide values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from shoal.plan.parts import RulePart
from shoal.plan.plan import Plan
from tests.corpus.cases import (
    QUASI,
    RULES,
    Case,
    plan_of,
    put,
    row_of,
    rule,
    swapped,
    without,
)
from tests.corpus.tables import anatomy, dummies, laid_out, shuffled


def limits_cases() -> tuple[list[Case], list[Case]]:
    """Return releases that keep the limits of their plan, and some that do not."""
    wide = {"age": {"coarsest": 9}, "town": {"coarsest": 2}}
    fine = {"town": {"finest": 1}, "day": {"coarsest": "quarter"}}
    coded = {"age": {"top": 50, "bottom": 28}}
    laid = laid_out(51)
    # Limits allow * for missing values alone: the classes with one are left out.
    full = [n for n, label in enumerate(laid.label) if label < 4]
    original = laid.original[full]
    table, order = shuffled(laid.released[full], 51)

    def case(name: str, settings: Mapping[str, Any], frame: pl.DataFrame, why: str = "") -> Case:
        plan = plan_of(RULES["k"], settings=settings)
        return Case(f"limits, {name}", {"release": frame}, original, order, plan, why)

    nodes = table.with_columns(town=pl.col("town").str.slice(0, 2))
    leaves = nodes.with_columns(town=pl.col("town").replace({"xp": "xp1"}))
    open_ended = table.with_columns(age=pl.col("age").replace({"[50-59]": "50+", "25": "<=28"}))
    never = {"job": {"sets": "never"}}
    good = [
        case("coarsest", wide, table),
        case("finest", fine, nodes),
        case("no sets", never, table.with_columns(job=pl.lit("*"))),
        case("coded", coded, open_ended),
    ]
    bad = [
        case("width", {"age": {"coarsest": 8}}, table, "9 years are more than 8"),
        case("narrow", {"age": {"finest": 10}}, table, "9 years are less than 10"),
        case("level", {"town": {"coarsest": 1}}, table, "a town stands at level 2"),
        case("finest level", {"town": {"finest": 1}}, leaves, "xp1 is a leaf"),
        case("sets", never, table, "sets are never to be published"),
        case("top", {"age": {"top": 55}}, table, "[50-59] tells values beyond the top"),
        case("bottom", {"age": {"bottom": 28}}, table, "25 tells a value below the bottom"),
        case("day", {"day": {"coarsest": "week"}}, table, "eight days are more than a week"),
        case("within", {"town": {"within": True}}, table, "a town is no single value"),
        case("within, set", {"job": {"within": True}}, table, "a set is no single value"),
    ]
    starred = table.with_columns(age=pl.lit("*"))
    for name in ("within", "coarsest"):
        settings = {"age": {name: True if name == "within" else 20}}
        found = case(f"{name}, star", settings, starred, "* stands for known values")
        bad.append(replace(found, seen="original"))
    fewer = replace(case("suppress", {}, table[8:], "an eighth may be left out, a quarter is"))
    plan = plan_of((rule("k-anonymity", k=2),), suppress=0.125)
    bad.append(replace(fewer, plan=plan, order=order[8:], seen="original"))
    return good, bad


def _wards(name: str, t: float, wards: Mapping[str, tuple[str, list[int]]], why: str = "") -> Case:
    """Return classes of ten rows by ward: of each how many have the first of its two values."""
    cells, label = [], 0
    for ward, (ills, shares) in wards.items():
        for share in shares:
            label += 1
            cells += [(ward, label, ills[0] if n < share else ills[1]) for n in range(10)]
    original = pl.DataFrame(
        {
            "who": [f"p{n}" for n in range(len(cells))],
            "age": [10 * label for _, label, _ in cells],
            "day": pl.Series([None] * len(cells), dtype=pl.Date),
            "town": pl.Series([None] * len(cells), dtype=pl.String),
            "job": [ward for ward, _, _ in cells],
            "ill": [ill for _, _, ill in cells],
            "pay": 1,
            "note": "n",
        }
    )
    age = pl.format("[{}-{}]", "age", pl.col("age") + 9)
    released = original.drop("who").with_columns(age=age, day=pl.lit("*"), town=pl.lit("*"))
    table, order = shuffled(released, 3)
    rules = (rule("k-anonymity", k=10), rule("t-closeness", "ill", t=t))
    plan = plan_of(rules, settings={"job": {"within": True}})
    return Case(f"within, {name}", {"release": table}, original, order, plan, why)


def strata_cases() -> tuple[list[Case], list[Case]]:
    """Return releases whose rules must hold inside each ward.

    Distances are differences of the share of one value, worked out by hand.
    """
    apart = {"n": ("fg", [5, 5]), "s": ("ap", [5, 5])}
    # Shares in n 0.5, 0.7, 0.7 (ward 0.633), in s 0.6, 0.5, 0.6 (ward 0.567), in all 0.6.
    alike = {"n": ("fg", [5, 7, 7]), "s": ("fg", [6, 5, 6])}
    return [_wards("apart", 0.001, apart), _wards("alike", 0.134, alike)], [
        _wards("over all", 0.101, alike, "0.5 is 0.133 from its ward, and 0.1 from the table"),
        _wards("mixed", 0.2, {"n": ("fg", [2, 8]), "s": ("ap", [5, 5])}, "0.3 from the ward"),
    ]


def people_cases() -> tuple[list[Case], list[Case]]:
    """Return releases about people with two rows each, with pseudonyms."""
    laid = laid_out(61)
    # Rows 2n and 2n + 1 are of one person: each class of eight rows has four people.
    number = pl.int_range(pl.len()) // 2
    twice = laid.original.with_columns(who=pl.format("p{}", number))
    digits = [f"{1000 + n // 2:032x}" for n in range(48)]
    released = laid.released.with_columns(who=pl.Series(digits))
    table, order = shuffled(released, 61)
    four = (rule("k-anonymity", k=4),)
    ways = {"person_rows": "together", "pseudonym": True}
    plan = plan_of(four, roles={"who": "person"}, **ways)
    good = Case("people, pseudonyms", {"release": table}, twice, order, plan)
    five = plan_of((rule("k-anonymity", k=5),), roles={"who": "person"}, **ways)
    at = row_of(good, age="[30-39]")
    whose = good.frame["who"][at]
    names = table.with_columns(who=twice["who"].gather(order))
    other = good.frame.filter(pl.col("age") == "25")["who"][0]
    both = table.with_columns(who=pl.col("who").replace({whose: other}))
    in_class = good.frame.filter(pl.col("age") == "[30-39]", pl.col("who") != whose)["who"][0]
    return [good], [
        replace(good, name="people, five", plan=five, why="a class has four people, not five"),
        good.bad("names", "names stand where pseudonyms belong", release=names),
        good.bad("one of two classes", "rows of one person lie in two classes", release=both),
        good.bad("one for two", "a pseudonym stands for two people", release=table.with_columns(
            who=pl.col("who").replace({whose: in_class}))),
        good.bad("two for one", "a person has two pseudonyms", "order",
                 release=put(good, at, who=f"{7:032x}")),
    ]  # fmt: skip


def counterfeits_cases() -> tuple[list[Case], list[Case]]:
    """Return releases with counterfeits: one row of a class is nobody's."""
    laid = laid_out(71)
    gone = 9  # row 9 is in the second class
    original = laid.original.filter(without(gone))
    cells = laid.released.select(*QUASI)[gone]
    told = cells.with_columns(counterfeits=pl.lit(1))
    seven = plan_of((rule("k-anonymity", k=7),))
    tables = {"release": laid.released, "counterfeits": told}
    good = Case("counterfeits", tables, original, [], seven)
    eight = replace(good, plan=plan_of(RULES["k"]), name="counterfeits, k = 8")
    elsewhere = told.with_columns(age=pl.lit("[30-35]"))
    whole = told.with_columns(counterfeits=pl.lit(8))
    return [good], [
        replace(eight, why="counterfeits make up no crowd"),
        good.bad("twice", "a class is named twice", counterfeits=pl.concat([told, told])),
        good.bad("elsewhere", "no such class is released", counterfeits=elsewhere),
        good.bad("all", "a class of counterfeits alone", counterfeits=whole),
        good.bad("none", "a count of none", counterfeits=told.with_columns(counterfeits=pl.lit(0))),
    ]


def exact_plan(rules: tuple[RulePart, ...]) -> Plan:
    """Return a plan of Anatomy or dummy values: one sensitive column."""
    plan = plan_of(rules)
    columns = {name: part for name, part in plan.columns.items() if name != "pay"}
    return plan.model_copy(update={"columns": columns})


def anatomy_cases() -> tuple[list[Case], list[Case]]:
    good = []
    for seed, name in enumerate(("l", "frequency", "entropy", "recursive", "alpha of a value")):
        laid = laid_out(80 + seed)
        first, second = anatomy(laid)
        table, order = shuffled(first, seed)
        rules = tuple(part for part in RULES[name] if part.column == "ill")
        plan = exact_plan(rules)
        tables = {"release": table, "st": second.sample(fraction=1, shuffle=True, seed=seed)}
        good.append(Case(f"anatomy, {name}", tables, laid.original.drop("pay"), order, plan))
    by_name = {case.name: case for case in good}
    case, freq = by_name["anatomy, l"], by_name["anatomy, frequency"]
    st = case.tables["st"].sort("group_id", "ill")
    first = pl.int_range(pl.len()) == 0
    more = st.with_columns(count=pl.col("count") + first.cast(pl.UInt32))
    gone = st.filter(pl.int_range(pl.len()) != 0)
    one = pl.lit(1, pl.UInt32)
    halved = st.with_columns(count=pl.when(first).then(one).otherwise("count"))
    double = pl.concat([halved, halved[:1]])
    named = st.with_columns(ill=pl.when(first).then(pl.lit("cancer")).otherwise("ill"))
    zero = pl.concat([st, st[:1].with_columns(ill=pl.lit("cancer"), count=pl.lit(0, pl.UInt32))])
    counts = freq.tables["st"].sort("group_id", "ill")
    shifted = pl.Series("count", [3, 1, *counts["count"][2:]], dtype=pl.UInt32)
    often = counts.with_columns(shifted)
    q = case.frame
    a, b = (int(q.with_row_index("at").filter(pl.col("group_id") == g)["at"][0]) for g in (0, 3))
    void = st.with_columns(ill=pl.when(first).then(pl.lit("unknown")).otherwise("ill"))
    changed = put(case, 0, note="n9")
    return good, [
        case.bad("a count more", "the tables count different rows", st=more),
        case.bad("a line less", "the tables count different rows", st=gone),
        case.bad("a value twice", "a value of a class is listed twice", st=double),
        case.bad("another value", "the original has no such value", "original", st=named),
        case.bad("a count of none", "a count must be 1 at least", st=zero),
        case.bad("a missing value", "a missing value adds no diversity", st=void),
        freq.bad("a value too often", "3 of 8 are more than a quarter", st=often),
        case.bad("rows moved", "two rows changed their classes", "order",
                 release=swapped(case, *_apart(case, a, b), "group_id")),
        case.bad("changed", "the original has another note", "original", release=changed),
    ]  # fmt: skip


def _apart(case: Case, one: int, other: int) -> tuple[int, int]:
    """Return two rows of two classes whose true values differ."""
    ills = case.original["ill"]
    groups = case.frame["group_id"]
    for row in range(case.frame.height):
        if groups[row] == groups[other] and ills[case.order[row]] != ills[case.order[one]]:
            return one, row
    raise AssertionError


def dummies_cases() -> tuple[list[Case], list[Case]]:
    good = []
    for seed, size in enumerate((3, 4, 5)):
        laid = laid_out(90 + seed)
        table, order = shuffled(dummies(laid, size, seed), seed)
        plan = exact_plan((rule("l-diversity", "ill", l=size),))
        original = laid.original.drop("pay")
        good.append(Case(f"dummies, l = {size}", {"release": table}, original, order, plan))
    case = good[0]
    domain = case.plan.columns["ill"].model_copy(update={"domain": ("asthma", "flu", "polio")})
    columns = case.plan.columns | {"ill": domain}
    few = replace(
        case, name="dummies, domain", plan=case.plan.model_copy(update={"columns": columns})
    )
    sets = case.frame["ill"].to_list()
    true = case.original["ill"][case.order[0]]
    other = sorted({"asthma", "flu", "gout", "polio", "typhus"} - {true})

    def first(members: list[str]) -> pl.DataFrame:
        return case.frame.with_columns(ill=pl.Series([members, *sets[1:]]))

    twice = sorted([true, true, other[0]])
    return good, [
        case.bad("without its value", "the true value is not in it", "order",
                 release=first(other[:3])),
        case.bad("unsorted", "an order can carry a message", release=first(sets[0][::-1])),
        case.bad("a value twice", "two values are fewer than three", release=first(twice)),
        case.bad("too few", "two values are fewer than three", release=first(sets[0][:2])),
        case.bad("too many", "sets have one length", release=first(sorted([true, *other[:3]]))),
        case.bad("changed", "the original has another note", "original",
                 release=put(case, 0, note="n9")),
        few.bad("", "gout and typhus are not of the domain"),
    ]  # fmt: skip


MAKERS = (
    limits_cases,
    strata_cases,
    people_cases,
    counterfeits_cases,
    anatomy_cases,
    dummies_cases,
)

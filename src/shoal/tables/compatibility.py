"""What cannot be asked for together, and why: one table for command line, Python and page.

A row says what was asked for, what it does not go with, and the sentence about both. A request is
refused by the first row of which both hold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from shoal.base.errors import ParameterError
from shoal.base.roles import Kind, Role
from shoal.catalog import DEFAULT_RULE, METHODS, RULES, Method
from shoal.plan.parts import SPARK, TABLES
from shoal.plan.plan import Plan
from shoal.plan.setting import declared
from shoal.privacy import Rule, flatten
from shoal.tables.schema import Column, Schema


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


@dataclass(frozen=True)
class Conflict:
    """A row of the table: two conditions, each in words or empty, and the sentence about them.

    ``able``: which methods could do it.
    """

    asked: Callable[[Request], Any]
    clash: Callable[[Request], Any]
    sentence: str
    able: Callable[[Method, Request], bool] | None = None

    def fault(self, request: Request) -> str:
        """Return what is wrong with a request, empty if nothing is."""
        if not (asked := self.asked(request)) or not (clash := self.clash(request)):
            return ""
        able = self.able
        names = [] if able is None else [m.name for m in METHODS.values() if able(m, request)]
        words = {"method": request.method.name, "able": ", ".join(names) or "none yet"}
        return self.sentence.format(asked=asked, clash=clash, **words)


def faults(request: Request) -> list[str]:
    """Return everything that a request asks for and cannot have together."""
    return [fault for row in CONFLICTS if (fault := row.fault(request))]


def refuse(request: Request) -> None:
    """Refuse a request that asks for what cannot be together."""
    if found := next((fault for row in CONFLICTS if (fault := row.fault(request))), ""):
        raise ParameterError(found)


def refuse_on_spark(*, strict: bool = False, prove: bool = False, history: object = None) -> None:
    """Refuse on Spark what no plan says, before one is read."""
    plan = Plan()
    request = Request(plan, METHODS[plan.method.name], spark=True, strict=strict, prove=prove)
    refuse(replace(request, history=bool(history)))


def _spark(request: Request) -> str:
    return "Spark" if request.spark else ""


def _method(request: Request) -> str:
    return request.method.name


def _exact(request: Request) -> str:
    return request.method.name if request.method.shape.exact else ""


def _unsafe(request: Request) -> str:
    """Return the first rule that two classes may keep and both together break."""
    rules = flatten(list(request.rules or ()))
    return next((r.name for r in rules if not getattr(r, "grows_safely", False)), "")


def _lasting(request: Request) -> str:
    """Return the rule that speaks of all releases, if one does."""
    names = [rule.name for rule in request.rules or ()]
    return next((name for name in names if name in RULES and RULES[name].lasting), "")


def _beside_lasting(request: Request) -> str:
    """Return the rules if one of them does not go with one that speaks of all releases."""
    names = [rule.name for rule in request.rules or ()]
    return ", ".join(names) if {*names} - {_lasting(request), DEFAULT_RULE} else ""


def _unserved(request: Request) -> str:
    """Return the first rule that the method cannot keep."""
    served = request.method.rules
    names = [
        rule.name for rule in request.rules or () if served is not None and rule.name not in served
    ]
    return names[0] if names else ""


def _lacking(request: Request) -> str:
    """Return the rules that are asked for where none is one that the method is made for."""
    names = [rule.name for rule in request.rules or ()]
    return "" if {*names} & {*request.method.needs} else ", ".join(names) or "no rule"


def _weights(request: Request) -> str:
    """Say how columns differ in their importance."""
    weights = {column.name: column.importance for column in request.quasi}
    usual = next(iter(weights.values()), 1.0)
    other = [(name, value) for name, value in weights.items() if value != usual]
    return f"{other[0][1]:g} for {other[0][0]!r} beside {usual:g} for others" if other else ""


def _unweighed(request: Request) -> str:
    if request.method.weighs:
        return ""
    exact = request.method.shape.exact
    as_is = "it publishes quasi-identifiers as they are"
    return as_is if exact else "its way to form classes knows no weights of columns"


def _together(request: Request) -> str:
    if not request.plan.release.together:
        return ""
    return "a pseudonym" if request.plan.release.pseudonym else "person_rows = 'together'"


def _limit(request: Request) -> str:
    """Name the first limit that is asked for."""
    names = [column.name for column in request.quasi]
    for name, part in request.plan.columns.items():
        if part.limits and name in names:
            key, value = next(iter(part.limits.items()))
            return f"{_written(key, value)} of column {name!r}"
    suppress = request.plan.release.suppress
    return f"suppress = {suppress:g}" if suppress and request.schema is not None else ""


def _cut(request: Request) -> list[Column]:
    """Return the columns whose cells may not become coarser than so."""
    return [column for column in request.quasi if column.within or column.coarsest is not None]


def _wide(request: Request) -> str:
    wide = [each for each in _cut(request) if each.kind is Kind.ORDERED and not each.within]
    return repr(wide[0].name) if wide else ""


def _suppress(request: Request) -> str:
    suppress = request.plan.release.suppress
    return f"{suppress:g}" if suppress and request.schema is not None else ""


def _open_ends(request: Request) -> str:
    """Say that a column is published as two, of which one has no end."""
    coded = [
        column.name
        for column in request.quasi
        if column.kind is Kind.ORDERED and not (column.top is column.bottom is None)
    ]
    return "two columns x_lo and x_hi" if coded and request.plan.release.ends else ""


def _local_only(request: Request) -> str:
    """Name the first setting that is asked for and that Spark does not carry out."""
    plan = request.plan
    columns = [("columns", part, f" of column {name!r}") for name, part in plan.columns.items()]
    for table, part, where in (("data", plan.data, ""), ("release", plan.release, ""), *columns):
        for key in (key for key in declared(TABLES[table]) if key not in SPARK[table]):
            value, default = getattr(part, key), TABLES[table].model_fields[key].default
            if value != default and not (default is None and value is False):
                return f"{_written(key, value)}{where}"
    return ""


def _written(key: str, value: object) -> str:
    return f"{key} = {str(value).lower() if isinstance(value, bool) else value}"


def _crowd(request: Request) -> int:
    caps = [rule.caps() for rule in flatten(list(request.rules or ()))]
    return max((each.size for each in caps if each is not None), default=1)


_LIMITS = "{asked} was asked for, and {clash}. Leave one of them out."
CONFLICTS = (
    Conflict(
        lambda r: r.prove,
        _spark,
        "prove (--prove) needs all rows in one place, which Spark does not have. Leave it out, or "
        "leave out the engine.",
    ),
    Conflict(
        lambda r: r.strict,
        _spark,
        "strict (--strict) looks at the whole table for what to warn about, which Spark does not. "
        "Leave it out, or leave out the engine.",
    ),
    Conflict(
        lambda r: r.history,
        _spark,
        "A history (--history) or earlier releases (--against) are followed from release to "
        "release, which is done on one machine. Leave out the engine, or them.",
    ),
    Conflict(
        lambda r: r.key,
        lambda r: not r.plan.release.pseudonym,
        "A key for pseudonyms was given, and no pseudonym is to be published. Name its column with "
        "--pseudonym (pseudonym=True), or leave the key out.",
    ),
    Conflict(
        _together,
        lambda r: r.person is None,
        "{asked} was asked for, and no column says whose row it is. Name it with --person "
        "(person=...).",
    ),
    Conflict(
        lambda r: r.plan.release.pseudonym,
        lambda r: r.plan.release.person_rows == "apart",
        "A pseudonym links the rows of a person within the release, so that the classes of all of "
        "them together are a trail, which may be hers alone. It is published with person_rows = "
        "'together' only: leave 'apart' out, or the pseudonym.",
    ),
    Conflict(
        _together,
        _exact,
        "{asked} was asked for, and the method {clash!r} publishes the quasi-identifiers as they "
        "are: nobody has a class to hide in. Use a method that generalizes ('shoal'), or leave it "
        "out.",
    ),
    Conflict(
        lambda r: any(part.name == "m-invariance" for part in r.plan.rules),
        _spark,
        "m-invariance follows people from release to release, which is done on one machine. Leave "
        "out the engine, or ask for another rule.",
    ),
    Conflict(
        _spark,
        lambda r: not r.method.shape.spark and r.method.shape.no_spark,
        "The method {method!r} cannot run on Spark: {clash}. Use the local engine, or the method "
        "'dummies'.",
    ),
    Conflict(
        _spark,
        lambda r: r.person,
        "People cannot be counted on Spark: {clash!r} says whose row it is, and Spark collapses "
        "equal rows of different people to one tuple with a count. Use the local engine, or make "
        "one row per person first and leave the person out.",
    ),
    Conflict(
        _local_only,
        _spark,
        "{asked} was asked for, and that is carried out on one machine only. Leave it out, or "
        "leave out the engine.",
    ),
    Conflict(
        _spark,
        lambda r: r.method.shape.drawn and r.plan.seed is not None,
        "The method {method!r} takes no seed on Spark: what it draws there comes from secure "
        "sources, and no seed could repeat that. Leave the seed out.",
    ),
    Conflict(
        lambda r: not r.spark and r.person,
        lambda r: r.method.rows_only,
        "The method {method!r} counts rows, and {asked!r} says whose row it is: {clash}. Methods "
        "that count people: {able}.",
        lambda method, r: not method.rows_only,
    ),
    Conflict(
        lambda r: r.timed,
        lambda r: not r.method.anytime,
        "The method {method!r} cannot be ended with the best so far: it has no release before it "
        "is done. Leave --time-limit (time_limit) out, or use one that can: {able}.",
        lambda method, r: method.anytime,
    ),
    Conflict(
        _lasting,
        _beside_lasting,
        "{asked} goes with k-anonymity and no other rule: it says which values a class has, and "
        "others may ask for others. Got: {clash}. Leave the others out.",
    ),
    Conflict(
        _lasting,
        lambda r: not r.method.tight,
        "The method {method!r} publishes the table on one level, and {asked} forms the classes of "
        "each signature by themselves. Use 'shoal', 'mondrian' or 'buckets'.",
    ),
    Conflict(
        _lasting,
        _together,
        "{asked} was asked for together with {clash}: a counterfeit has no person, and a pseudonym "
        "would show it. Leave it out.",
    ),
    Conflict(
        _lasting,
        lambda r: not r.history,
        "{asked} is a promise over all releases of a table, and no history was given that says "
        "what was published before. Name its folder with --history (history=...); an empty one "
        "begins a series.",
    ),
    Conflict(
        lambda r: r.history and r.rules is not None and ", ".join(rule.name for rule in r.rules),
        lambda r: not (_lasting(r) or r.method.shape.domains),
        "A history was given, and nothing asked for needs one: the method {method!r} and {asked} "
        "speak of one release. Ask for m-invariance (--m, m=...), use the method 'dummies', which "
        "keeps sets, or leave the history out.",
    ),
    Conflict(
        lambda r: r.history and r.schema is not None,
        lambda r: r.person is None,
        "A history follows people from release to release, and no column says whose row it is. "
        "Name it with --person (person=...).",
    ),
    Conflict(
        lambda r: r.rules is not None and " or ".join(r.method.needs),
        _lacking,
        "The method {method!r} is made for {asked}, and no such rule was asked for. Got: {clash}. "
        "Add one, or use another method.",
    ),
    Conflict(
        _unsafe,
        _method,
        "The rule {asked!r} does not say that two classes that keep it keep it when joined "
        "(grows_safely = True), and the method {clash!r} relies on that, as every method does. "
        "Check it by an audit of a release that was made under another rule.",
    ),
    Conflict(
        _unserved,
        lambda r: ", ".join(r.method.rules or ()),
        "The method {method!r} cannot keep the rule {asked!r}; it serves {clash}. Methods that "
        "can: {able}.",
        lambda method, r: method.rules is None or _unserved(r) in method.rules,
    ),
    Conflict(
        _weights,
        _unweighed,
        "The method {method!r} cannot go by the importance of columns: {clash}. Got {asked}. Leave "
        "importance out, or use one of: {able}.",
        lambda method, r: method.weighs,
    ),
    Conflict(
        lambda r: r.plan.release.slack,
        lambda r: r.person,
        "slack = {asked} may publish two classes alike, and those may share people ({clash!r}) and "
        "break together what each of them keeps. Leave slack out.",
    ),
    Conflict(
        lambda r: r.plan.release.slack,
        _exact,
        "slack = {asked} makes generalized cells wider, and the method {clash!r} publishes every "
        "quasi-identifier as it is. Leave slack out.",
    ),
    Conflict(
        lambda r: r.prove,
        _exact,
        "The method {clash!r} publishes every quasi-identifier as it is and loses nothing of them: "
        "there is nothing to prove. Leave out --prove (prove=True), or use a method that "
        "generalizes ('shoal').",
    ),
    Conflict(
        lambda r: r.prove,
        lambda r: _crowd(r) < 2,
        "--prove (prove=True) needs a promise of how many rows look alike, and the rules asked for "
        "name none. Add k-anonymity (--k), or leave it out.",
    ),
    Conflict(
        _limit,
        _exact,
        "{asked} was asked for, and the method {clash!r} publishes every quasi-identifier as it "
        "is: nothing bounds its cells. Use a method that generalizes ('shoal').",
    ),
    Conflict(
        lambda r: _cut(r) and _limit(r),
        lambda r: r.method.stars,
        "{asked} was asked for, and the method {method!r} publishes '*' for the rows that it "
        "suppresses, which is coarser than any limit. Methods that can: {able}.",
        lambda method, r: not (method.stars or method.shape.exact),
    ),
    Conflict(
        _wide,
        lambda r: not r.method.tight,
        "coarsest of column {asked} was asked for, and the method {method!r} cuts numbers and "
        "dates into intervals of its own. Give the column a hierarchy ('shoal hierarchy'), whose "
        "levels it keeps to, or use the method 'shoal'.",
    ),
    Conflict(
        _suppress,
        lambda r: not r.method.tight,
        "suppress was asked for, and the method {method!r} publishes one level in the whole table "
        "and chooses itself which rows it leaves out: say --option suppression={asked}, or use the "
        "method 'shoal'.",
    ),
    Conflict(
        _limit,
        lambda r: (
            r.plan.release.slack
            and "slack makes cells wider than they need be, beyond their limits"
        ),
        _LIMITS,
    ),
    Conflict(
        _limit,
        lambda r: (
            r.prove
            and r.plan.release.suppress
            and "a proof says what no release of all rows can go below"
        ),
        _LIMITS,
    ),
    Conflict(
        _limit,
        lambda r: r.lasting and "people are to stay with the classes or values of earlier releases",
        _LIMITS,
    ),
    Conflict(_limit, lambda r: _open_ends(r) and f"{_open_ends(r)} have no end for 90+", _LIMITS),
)

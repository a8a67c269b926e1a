"""Settings that cannot be combined, with the reason.

A row says what was asked for, what it does not go with, and the sentence about both. A request is
refused by the first row of which both hold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from shoal.base.errors import ParameterError
from shoal.catalog import METHODS, Method
from shoal.plan.plan import Plan
from shoal.tables.request import (
    Request,
    bounded_columns,
    crowd_size,
    exact_shape,
    first_limit,
    lacking_rule,
    lasting_rule,
    local_setting,
    method_name,
    no_weights,
    on_spark,
    open_ends,
    rows_together,
    rules_beside_lasting,
    suppressed_share,
    unbounded_width,
    unequal_weights,
    unsafe_rule,
    unserved_rule,
)


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


_LIMITS = "{asked} was asked for, and {clash}. Leave one of them out."
CONFLICTS = (
    Conflict(
        lambda r: r.prove,
        on_spark,
        "prove (--prove) needs all rows in one place, which Spark does not have. Leave it out, or "
        "leave out the engine.",
    ),
    Conflict(
        lambda r: r.strict,
        on_spark,
        "strict (--strict) looks at the whole table for what to warn about, which Spark does not. "
        "Leave it out, or leave out the engine.",
    ),
    Conflict(
        lambda r: r.history,
        on_spark,
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
        rows_together,
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
        rows_together,
        exact_shape,
        "{asked} was asked for, and the method {clash!r} publishes the quasi-identifiers as they "
        "are: nobody has a class to hide in. Use a method that generalizes ('shoal'), or leave it "
        "out.",
    ),
    Conflict(
        lambda r: any(part.name == "m-invariance" for part in r.plan.rules),
        on_spark,
        "m-invariance follows people from release to release, which is done on one machine. Leave "
        "out the engine, or ask for another rule.",
    ),
    Conflict(
        on_spark,
        lambda r: not r.method.shape.spark and r.method.shape.no_spark,
        "The method {method!r} cannot run on Spark: {clash}. Use the local engine, or the method "
        "'dummies'.",
    ),
    Conflict(
        on_spark,
        lambda r: r.person,
        "People cannot be counted on Spark: {clash!r} says whose row it is, and Spark collapses "
        "equal rows of different people to one tuple with a count. Use the local engine, or make "
        "one row per person first and leave the person out.",
    ),
    Conflict(
        on_spark,
        local_setting,
        "{clash} was asked for, and that is carried out on one machine only. Leave it out, or "
        "leave out the engine.",
    ),
    Conflict(
        on_spark,
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
        lasting_rule,
        rules_beside_lasting,
        "{asked} goes with k-anonymity and no other rule: it says which values a class has, and "
        "others may ask for others. Got: {clash}. Leave the others out.",
    ),
    Conflict(
        lasting_rule,
        lambda r: not r.method.tight,
        "The method {method!r} publishes the table on one level, and {asked} forms the classes of "
        "each signature by themselves. Use 'shoal', 'mondrian' or 'buckets'.",
    ),
    Conflict(
        lasting_rule,
        rows_together,
        "{asked} was asked for together with {clash}: a counterfeit has no person, and a pseudonym "
        "would show it. Leave it out.",
    ),
    Conflict(
        lasting_rule,
        lambda r: not r.history,
        "{asked} is a promise over all releases of a table, and no history was given that says "
        "what was published before. Name its folder with --history (history=...); an empty one "
        "begins a series.",
    ),
    Conflict(
        lambda r: r.history and r.rules is not None and ", ".join(rule.name for rule in r.rules),
        lambda r: not (lasting_rule(r) or r.method.shape.domains),
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
        lacking_rule,
        "The method {method!r} is made for {asked}, and no such rule was asked for. Got: {clash}. "
        "Add one, or use another method.",
    ),
    Conflict(
        unsafe_rule,
        method_name,
        "The rule {asked!r} does not say that two classes that keep it keep it when joined "
        "(grows_safely = True), and the method {clash!r} relies on that, as every method does. "
        "Check it by an audit of a release that was made under another rule.",
    ),
    Conflict(
        unserved_rule,
        lambda r: ", ".join(r.method.rules or ()),
        "The method {method!r} cannot keep the rule {asked!r}; it serves {clash}. Methods that "
        "can: {able}.",
        lambda method, r: method.rules is None or unserved_rule(r) in method.rules,
    ),
    Conflict(
        unequal_weights,
        no_weights,
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
        lambda r: "; ".join(r.plan.release.same),
        lambda r: exact_shape(r) or lasting_rule(r),
        "Values that count as one (same: {asked}) were named, and {clash!r} publishes sensitive "
        "values in sets of its own, in which each counts. Spell them in one way in the table, or "
        "leave same out.",
    ),
    Conflict(
        lambda r: r.plan.release.slack,
        exact_shape,
        "slack = {asked} makes generalized cells wider, and the method {clash!r} publishes every "
        "quasi-identifier as it is. Leave slack out.",
    ),
    Conflict(
        lambda r: r.prove,
        exact_shape,
        "The method {clash!r} publishes every quasi-identifier as it is and loses nothing of them: "
        "there is nothing to prove. Leave out --prove (prove=True), or use a method that "
        "generalizes ('shoal').",
    ),
    Conflict(
        lambda r: r.prove,
        lambda r: crowd_size(r) < 2,
        "--prove (prove=True) needs a promise of how many rows look alike, and the rules asked for "
        "name none. Add k-anonymity (--k), or leave it out.",
    ),
    Conflict(
        first_limit,
        exact_shape,
        "{asked} was asked for, and the method {clash!r} publishes every quasi-identifier as it "
        "is: nothing bounds its cells. Use a method that generalizes ('shoal').",
    ),
    Conflict(
        lambda r: bounded_columns(r) and first_limit(r),
        lambda r: r.method.stars,
        "{asked} was asked for, and the method {method!r} publishes '*' for the rows that it "
        "suppresses, which is coarser than any limit. Methods that can: {able}.",
        lambda method, r: not (method.stars or method.shape.exact),
    ),
    Conflict(
        unbounded_width,
        lambda r: not r.method.tight,
        "coarsest of column {asked} was asked for, and the method {method!r} cuts numbers and "
        "dates into intervals of its own. Give the column a hierarchy ('shoal hierarchy'), whose "
        "levels it keeps to, or use the method 'shoal'.",
    ),
    Conflict(
        suppressed_share,
        lambda r: not r.method.tight,
        "suppress was asked for, and the method {method!r} publishes one level in the whole table "
        "and chooses itself which rows it leaves out: say --option suppression={asked}, or use the "
        "method 'shoal'.",
    ),
    Conflict(
        first_limit,
        lambda r: (
            r.plan.release.slack
            and "slack makes cells wider than they need be, beyond their limits"
        ),
        _LIMITS,
    ),
    Conflict(
        first_limit,
        lambda r: (
            r.prove
            and r.plan.release.suppress
            and "a proof says what no release of all rows can go below"
        ),
        _LIMITS,
    ),
    Conflict(
        first_limit,
        lambda r: r.lasting and "people are to stay with the classes or values of earlier releases",
        _LIMITS,
    ),
    Conflict(
        first_limit, lambda r: open_ends(r) and f"{open_ends(r)} have no end for 90+", _LIMITS
    ),
)

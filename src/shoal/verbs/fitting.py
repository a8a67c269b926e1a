"""What does not go together in a plan, said before any work."""

from __future__ import annotations

from shoal.base.errors import ParameterError
from shoal.base.roles import Kind
from shoal.catalog import METHODS, Method
from shoal.plan.plan import Plan
from shoal.tables.schema import Schema


def check_together(plan: Plan, entry: Method, person: str | None, key: bytes | None = None) -> None:
    """Refuse rows of a person together, and pseudonyms, where that cannot be."""
    asked = "a pseudonym" if plan.release.pseudonym else "person_rows = 'together'"
    if key is not None and not plan.release.pseudonym:
        raise ParameterError(
            "A key for pseudonyms was given, and no pseudonym is to be published. Name its column "
            "with --pseudonym (pseudonym=True), or leave the key out."
        )
    if plan.release.together and person is None:
        raise ParameterError(
            f"{asked} was asked for, and no column says whose row it is. Name it with --person "
            "(person=...)."
        )
    if plan.release.pseudonym and plan.release.person_rows == "apart":
        raise ParameterError(
            "A pseudonym links the rows of a person within the release, so that the classes of "
            "all of them together are a trail, which may be hers alone. It is published with "
            "person_rows = 'together' only: leave 'apart' out, or the pseudonym."
        )
    if plan.release.together and entry.shape.exact:
        raise ParameterError(
            f"{asked} was asked for, and the method {entry.name!r} publishes the quasi-identifiers "
            "as they are: nobody has a class to hide in. Use a method that generalizes ('shoal'), "
            "or leave it out."
        )


def check_limits(
    plan: Plan, entry: Method, schema: Schema, *, prove: bool = False, lasting: bool = False
) -> None:
    """Refuse limits that a method, a shape or another wish does not go with.

    ``lasting``: classes or values are to be as in an earlier release.
    """
    told = _limits_told(plan, schema)
    if not told:
        return
    if entry.shape.exact:
        raise ParameterError(
            f"{told} was asked for, and the method {entry.name!r} publishes every quasi-identifier "
            f"as it is: nothing bounds its cells. Use a method that generalizes ('shoal')."
        )
    cut = [n for n in schema.quasi if schema[n].within or schema[n].coarsest is not None]
    if entry.stars and cut:
        able = [m.name for m in METHODS.values() if not (m.stars or m.shape.exact)]
        raise ParameterError(
            f"{told} was asked for, and the method {entry.name!r} publishes '*' for the rows that "
            f"it suppresses, which is coarser than any limit. Methods that can: {', '.join(able)}."
        )
    wide = [n for n in cut if schema[n].kind is Kind.ORDERED and not schema[n].within]
    if wide and not entry.tight:
        raise ParameterError(
            f"coarsest of column {wide[0]!r} was asked for, and the method {entry.name!r} cuts "
            "numbers and dates into intervals of its own. Give the column a hierarchy ('shoal "
            "hierarchy'), whose levels it keeps to, or use the method 'shoal'."
        )
    if plan.release.suppress and not entry.tight:
        raise ParameterError(
            f"suppress was asked for, and the method {entry.name!r} publishes one level in the "
            "whole table and chooses itself which rows it leaves out: say --option "
            f"suppression={plan.release.suppress:g}, or use the method 'shoal'."
        )
    for asked, with_what in (
        (plan.release.slack, "slack makes cells wider than they need be, beyond their limits"),
        (prove and plan.release.suppress, "a proof says what no release of all rows can go below"),
        (lasting, "people are to stay with the classes or values of earlier releases"),
        (_typed_open(plan, schema), "two columns x_lo and x_hi have no end for 90+"),
    ):
        if asked:
            raise ParameterError(f"{told} was asked for, and {with_what}. Leave one of them out.")


def _limits_told(plan: Plan, schema: Schema) -> str:
    """Name the first limit that was asked for, empty if there is none."""
    for name, part in plan.columns.items():
        if part.limits and name in schema.quasi:
            key, value = next(iter(part.limits.items()))
            return f"{key} = {str(value).lower() if value is True else value} of column {name!r}"
    return f"suppress = {plan.release.suppress:g}" if plan.release.suppress else ""


def _over_time(plan: Plan) -> bool:
    return any(part.name == "m-invariance" for part in plan.rules)


def _typed_open(plan: Plan, schema: Schema) -> bool:
    columns = (schema[name] for name in schema.quasi)
    coded = any(
        c.kind is Kind.ORDERED and (c.top is not None or c.bottom is not None) for c in columns
    )
    return plan.release.ends and coded


def check_where(plan: Plan) -> None:
    """Refuse on Spark what is done on one machine."""
    limited = [name for name, part in plan.columns.items() if part.limits]
    if limited or plan.release.suppress:
        what = f"Limits of column {limited[0]!r} were" if limited else "suppress was"
        raise ParameterError(
            f"{what} asked for, and limits are kept on one machine. Leave out the engine, or them."
        )
    if _over_time(plan):
        raise ParameterError(
            "m-invariance follows people from release to release, which is done on one machine. "
            "Leave out the engine, or ask for another rule."
        )

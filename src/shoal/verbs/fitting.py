"""What does not go together in a plan, said before any work."""

from __future__ import annotations

from shoal.base.errors import ParameterError
from shoal.catalog import Method
from shoal.plan.plan import Plan


def check_slack(plan: Plan, entry: Method, person: str | None = None) -> None:
    """Refuse slack where no cell is generalized, and where people are counted."""
    if plan.release.slack and person is not None:
        raise ParameterError(
            f"slack = {plan.release.slack} may publish two classes alike, and those may share "
            f"people ({person!r}) and break together what each of them keeps. Leave slack out."
        )
    if plan.release.slack and entry.shape.exact:
        raise ParameterError(
            f"slack = {plan.release.slack} makes generalized cells wider, and the method "
            f"{entry.name!r} publishes every quasi-identifier as it is. Leave slack out."
        )


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


def check_where(plan: Plan) -> None:
    """Refuse on Spark what is done on one machine."""
    if any(part.name == "m-invariance" for part in plan.rules):
        raise ParameterError(
            "m-invariance follows people from release to release, which is done on one machine. "
            "Leave out the engine, or ask for another rule."
        )

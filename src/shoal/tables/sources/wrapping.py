"""Queries that people write, made part of ours."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.base.address import Address
from shoal.base.errors import InputError, listed


def bare(query: str) -> str:
    """Return a query without the semicolons and blanks around it."""
    text = query.strip()
    while text.endswith(";"):
        text = text[:-1].rstrip()
    if not text:
        raise InputError("The query is empty. Give one such as: select age, sex from patients")
    return text


def subquery(query: str, name: str = "shoal_query") -> str:
    """Return a query as one that can stand inside another.

    It stands on lines of its own, so that a comment at its end does not swallow what follows. A
    text that closes the bracket itself and goes on must have been refused before: see
    :meth:`shoal.tables.sources.database.Database.confine`.
    """
    return f"select * from (\n{bare(query)}\n) as {name}"


def not_one_select(address: Address, reason: str) -> InputError:
    """Say that a text is more, or something else, than one query that only reads."""
    return InputError(
        f"The query on {address} must be one SELECT that only reads, and {reason}. Nothing of it "
        "was run. Give one SELECT; prepare a view or a table in the database if one does not do."
    )


def check_columns(names: Sequence[str], address: Address) -> None:
    """Refuse a result with two columns of one name: nobody could tell which is meant."""
    twice = [name for name in dict.fromkeys(names) if list(names).count(name) > 1]
    if twice:
        raise InputError(
            f"The query on {address} has duplicate column names: {listed(twice)}. Give every "
            "column a name of its own: select a.id as a_id, b.id as b_id"
        )

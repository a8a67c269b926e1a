"""Queries that people write, made part of ours."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.base.address import Address
from shoal.base.errors import InputError, listed


def subquery(query: str, name: str = "shoal_query") -> str:
    """Return a query as one that can stand inside another.

    It stands on lines of its own, so that a comment at its end does not swallow what follows; a
    second statement after a semicolon cannot stand there at all.
    """
    text = query.strip()
    while text.endswith(";"):
        text = text[:-1].rstrip()
    if not text:
        raise InputError("The query is empty. Give one such as: select age, sex from patients")
    return f"select * from (\n{text}\n) as {name}"


def check_columns(names: Sequence[str], address: Address) -> None:
    """Refuse a result with two columns of one name: nobody could tell which is meant."""
    twice = [name for name in dict.fromkeys(names) if list(names).count(name) > 1]
    if twice:
        raise InputError(
            f"The query on {address} has duplicate column names: {listed(twice)}. Give every "
            "column a name of its own: select a.id as a_id, b.id as b_id"
        )

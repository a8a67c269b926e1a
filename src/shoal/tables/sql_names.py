"""Read names of tables and queries, and quote them for SQL."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from shoal.base.address import Address
from shoal.base.errors import InputError, format_names


@dataclass(frozen=True)
class Name:
    """A table, with the schema that it is in if one was named."""

    schema: str | None
    table: str

    @property
    def sql(self) -> str:
        """The name as SQL: every part in quotes."""
        return ".".join(quote(part) for part in (self.schema, self.table) if part is not None)

    def __str__(self) -> str:
        return ".".join(_plain(part) for part in (self.schema, self.table) if part is not None)

    def with_suffix(self, ending: str) -> Name:
        """Return the name with an ending, in the same schema."""
        return Name(self.schema, self.table + ending)


def quote(name: str) -> str:
    """Return one identifier in quotes, whatever signs it has."""
    return '"' + name.replace('"', '""') + '"'


def columns(names: Iterable[str]) -> str:
    """Return names of columns as SQL lists them."""
    return ", ".join(map(quote, names))


def _plain(name: str) -> str:
    return quote(name) if "." in name or name.startswith('"') else name


def read_name(text: str) -> Name:
    """Read ``table`` or ``schema.table``.

    Names are taken as they are written, capitals and spaces too. A part that holds a dot, or
    begins with a quote, is put in double quotes; a double quote inside those is doubled.
    """
    parts = []
    rest = text
    while True:
        part, rest = _quoted(rest, text) if rest.startswith('"') else _up_to_a_dot(rest)
        if not part or "\x00" in part:
            raise _bad(text, "a part of it is empty" if not part else "it has a NUL character")
        parts.append(part)
        if not rest:
            break
        if not rest.startswith("."):
            raise _bad(text, "something stands between a closing quote and the next dot")
        rest = rest[1:]
        if not rest:
            raise _bad(text, "a part of it is empty")
    if len(parts) > 2:
        raise _bad(text, f"it has {len(parts)} parts")
    return Name(None if len(parts) == 1 else parts[0], parts[-1])


def _up_to_a_dot(rest: str) -> tuple[str, str]:
    part, dot, more = rest.partition(".")
    return part, dot + more


def _quoted(rest: str, text: str) -> tuple[str, str]:
    position = 1
    while True:
        end = rest.find('"', position)
        if end < 0:
            raise _bad(text, "a quote is not closed")
        if rest[end : end + 2] != '""':
            return rest[1:end].replace('""', '"'), rest[end + 1 :]
        position = end + 2


def _bad(text: str, reason: str) -> InputError:
    return InputError(
        f"Cannot read the table name {text!r}: {reason}. Write table or schema.table, and put a "
        'part that holds a dot in double quotes: "my.table".'
    )


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
    :meth:`shoal.ext.databases.database.Database.confine`.
    """
    return f"select * from (\n{bare(query)}\n) as {name}"  # noqa: S608 -- quoted names only


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
            f"The query on {address} has duplicate column names: {format_names(twice)}. Give every "
            "column a name of its own: select a.id as a_id, b.id as b_id"
        )

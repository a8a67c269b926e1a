"""k-anonymity and l-diversity as expectations of Great Expectations 1.x, on any SQL data source.

The SQL is made by two functions that need no library; an expectation hands it to the database.
"""

# ruff: noqa: S608 -- names and texts are quoted, numbers are checked
from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def small_classes(quasi: Sequence[str], k: int, person: str | None = None) -> str:
    """Return the SQL that finds classes of fewer than k rows, or people; of an empty table one."""
    cells = _cells(quasi)
    _check("k", k)
    counted = "*" if person is None else f"distinct {_quoted(person)}"
    return (
        f"with classes as (select {cells}, count({counted}) as class_size "
        f"from {{batch}} group by {cells}) "
        f"select * from classes where class_size < {k} {_nothing(quasi)}"
    )


def uniform_classes(
    quasi: Sequence[str], sensitive: str, least: int, nothing: Sequence[str] = ()
) -> str:
    """Return the SQL that finds classes with fewer than ``least`` values of a sensitive column.

    Missing values, ``*``, the empty text and those of ``nothing`` are no values; capitals and
    spaces around a value do not make it another one.
    """
    cells = _cells(quasi)
    if sensitive in quasi:
        raise ValueError(f"The sensitive column {sensitive!r} cannot be one of quasi, too.")
    _check("l", least)
    none_of = ", ".join(_text(text.strip().lower()) for text in ("", "*", *nothing))
    value = f"lower(trim(cast({_quoted(sensitive)} as varchar)))"
    return (
        f"with texts as (select {cells}, {value} as shoal_value from {{batch}}), "
        f"classes as (select {cells}, count(distinct case when shoal_value not in ({none_of}) "
        f"then shoal_value end) as different_values from texts group by {cells}) "
        f"select * from classes where different_values < {least} {_nothing(quasi)}"
    )


def expect_k_anonymity(quasi: Sequence[str], k: int, person: str | None = None) -> Any:
    """Return the expectation that every class has at least k rows, or people."""
    unit = "rows" if person is None else "people"
    return _expectation(
        small_classes(quasi, k, person),
        f"Every class of {', '.join(quasi)} has at least {k} {unit}.",
    )


def expect_l_diversity(
    quasi: Sequence[str], sensitive: str, least: int, nothing: Sequence[str] = ()
) -> Any:
    """Return the expectation that every class has ``least`` different sensitive values."""
    return _expectation(
        uniform_classes(quasi, sensitive, least, nothing),
        f"Every class of {', '.join(quasi)} has at least {least} values of {sensitive}.",
    )


def _expectation(query: str, description: str) -> Any:
    import great_expectations.expectations as gxe

    # The query goes through SQLAlchemy, to which a colon announces a parameter.
    query = query.replace(":", r"\:")
    return gxe.UnexpectedRowsExpectation(unexpected_rows_query=query, description=description)


def _cells(quasi: Sequence[str]) -> str:
    if isinstance(quasi, str) or not quasi:
        raise ValueError(f"quasi is a list of columns, such as ['age', 'zip']; got {quasi!r}.")
    return ", ".join(map(_quoted, quasi))


def _check(name: str, value: int) -> None:
    if not isinstance(value, int) or value < 2:
        raise ValueError(f"{name} is a whole number of at least 2; got {value!r}.")


def _nothing(quasi: Sequence[str]) -> str:
    empty = "null, " * len(quasi)
    return f"union all select {empty}0 where not exists (select 1 from classes)"


def _quoted(name: str) -> str:
    return _braced('"' + name.replace('"', '""') + '"')


def _text(text: str) -> str:
    return _braced("'" + text.replace("'", "''") + "'")


def _braced(text: str) -> str:
    # The library puts the table where {batch} stands, with str.format.
    return text.replace("{", "{{").replace("}", "}}")

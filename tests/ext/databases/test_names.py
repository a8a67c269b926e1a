"""Names of tables and columns: as people write them, and through every database unharmed."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shoal.base.errors import InputError
from shoal.ext.databases.reading import read_source
from shoal.ext.databases.writing import written
from shoal.tables.source import parse_place, parse_target
from shoal.tables.sql_names import Name, quote, read_name
from tests.ext.databases.cluster import Server

ODD = ['o"dd', "two words", "a.b", "select", "Äpfel 🍏", "x'; drop table patients; --", "%s $1 ?"]


@pytest.mark.parametrize(
    ("text", "schema", "table"),
    [
        ("patients", None, "patients"),
        ("s.patients", "s", "patients"),
        ("My Table", None, "My Table"),
        ('"a.b"', None, "a.b"),
        ('"s ""x"".y"."t"', 's "x".y', "t"),
        ('s."a.b"', "s", "a.b"),
        ('o"dd', None, 'o"dd'),
    ],
)
def test_names_are_read(text: str, schema: str | None, table: str) -> None:
    assert read_name(text) == Name(schema, table)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "a part of it is empty"),
        ("a.", "a part of it is empty"),
        (".a", "a part of it is empty"),
        ("a.b.c", "it has 3 parts"),
        ('"a', "a quote is not closed"),
        ('"a"b', "something stands between a closing quote"),
        ("a\0b", "it has a NUL character"),
    ],
)
def test_a_wrong_name_is_refused(text: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason) as caught:
        read_name(text)
    assert "Write table or schema.table" in str(caught.value)


parts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)


@given(st.none() | parts, parts)
def test_a_name_is_read_as_it_is_written(schema: str | None, table: str) -> None:
    name = Name(schema, table)
    assert read_name(str(name)) == name
    assert name.sql.endswith(quote(table))


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(table=parts, column=parts, cell=parts)
@pytest.mark.parametrize("system", ["duckdb", "sqlite"])
def test_odd_names_and_cells_survive_in_files(
    tmp_path: Path, system: str, table: str, column: str, cell: str
) -> None:
    address = f"{system}:{tmp_path / 'x.db'}"
    if table.casefold().startswith("sqlite_"):
        return
    frame = pl.DataFrame({column: [f"x{cell}"], f"{column}2": [1]})
    name = quote(table)
    with written({parse_target(address, name): frame}, force=True):  # type: ignore[dict-item]
        pass
    found = read_source(parse_place(address, name))  # type: ignore[arg-type]
    assert found.equals(frame)


@pytest.mark.parametrize("odd", ODD)
def test_odd_names_survive_on_a_server(server: Server, odd: str) -> None:
    server.sql('create schema "o\'d.d"')
    frame = pl.DataFrame({odd: ["a", None], "b": ["x'; drop table patients; --", '"']})
    name = f'"o\'d.d".{quote(odd)}'
    with written({parse_target(server.address(), name): frame}):  # type: ignore[dict-item]
        pass
    assert read_source(parse_place(server.address(), name)).equals(frame)  # type: ignore[arg-type]
    assert "patients" in server.tables()


def test_capitals_count_on_a_server_only(server: Server, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has no table 'Patients' that you may see. Did you mean"):
        read_source(parse_place(server.address(), "Patients"))  # type: ignore[arg-type]
    lite = f"sqlite:{tmp_path / 'x.db'}"
    with written({parse_target(lite, "Patients"): pl.DataFrame({"a": [1]})}):  # type: ignore[dict-item]
        pass
    assert read_source(parse_place(lite, "pAtients")).height == 1  # type: ignore[arg-type]

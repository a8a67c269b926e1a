"""Databases to test with: a server of our own, and files."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest

from shoal.ext.databases.database import _DRIVERS
from tests.ext.databases.cluster import PASSWORD, Server, binaries, started

MISSING = "PostgreSQL is not installed (Debian: apt-get install postgresql)"
Shoal = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="session")
def cluster() -> Iterator[Server]:
    if binaries() is None:
        pytest.skip(MISSING)
    with started() as server:
        quoted = PASSWORD.replace("'", "''")
        server.sql(
            f"create role keeper login password '{quoted}'",
            "create role reader login",
        )
        yield server


@pytest.fixture
def server(cluster: Server) -> Server:
    """The server with nothing but a table of patients in it."""
    cluster.sql(
        'drop schema if exists "o\'d.d" cascade',
        "drop schema public cascade",
        "create schema public",
        "grant all on schema public to keeper",
        "grant usage on schema public to reader",
        "create table patients (name text, age int, sex text, zip int, disease text)",
        "insert into patients select 'N' || i, 20 + i % 30, case when i % 2 = 1 then 'f' else 'm' "
        "end, case when i % 7 <> 0 then 100 + i % 9 end, "
        "(array['flu', 'cold', 'secret'])[1 + i % 3] from generate_series(0, 59) i",
        "grant select on patients to reader, keeper",
    )
    return cluster


@pytest.fixture
def people() -> pl.DataFrame:
    """The same patients as a frame."""
    rows = range(60)
    return pl.DataFrame(
        {
            "name": [f"N{i}" for i in rows],
            "age": [20 + i % 30 for i in rows],
            "sex": ["f" if i % 2 else "m" for i in rows],
            "zip": [100 + i % 9 if i % 7 else None for i in rows],
            "disease": [("flu", "cold", "secret")[i % 3] for i in rows],
        }
    )


@pytest.fixture(params=list(_DRIVERS))
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database of each kind."""
    if request.param == "postgresql":
        server: Server = request.getfixturevalue("server")
        server.sql("drop table patients")
        return server.address()
    return f"{request.param}:{tmp_path / 'clinic.db'}"


@pytest.fixture
def shoal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Shoal:
    """Run the command line in this process, which spares seconds of loading for every command."""
    from shoal.cli.app import run

    monkeypatch.chdir(tmp_path)

    def call(*words: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["shoal", *map(str, words)])
        try:
            code = run()
        except SystemExit as stop:
            code = int(stop.code or 0)
        said = capsys.readouterr()
        return code, said.out, " ".join(said.err.split())

    return call

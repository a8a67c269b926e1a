"""What is special about databases that are files."""

from __future__ import annotations

import datetime as dt
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import duckdb
import polars as pl
import pytest

from shoal.base.errors import InputError, MissingExtra, OutputError
from shoal.ext.databases.writing import check_target
from shoal.tables.source import Source, parse_place
from tests.ext.databases.test_round_trip import get, put


@pytest.fixture
def lite(tmp_path: Path) -> Path:
    path = tmp_path / "x.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("create table t (late text, mixed, number real, day date, flag boolean)")
        gaps = [(None, None, None, None, None)] * 3000
        rows = [("x", 1, 1, "2020-01-02", 1), ("y", "a", 2.5, "2021-01-02", 0)]
        connection.executemany("insert into t values (?, ?, ?, ?, ?)", gaps + rows)
        connection.commit()
    return path


def test_sqlite_cells_decide_on_the_type_not_the_first_rows(lite: Path) -> None:
    found = get(str(lite), "t").tail(2)
    assert found.to_dict(as_series=False) == {
        "late": ["x", "y"],
        "mixed": ["1", "a"],
        "number": [1.0, 2.5],
        "day": [dt.date(2020, 1, 2), dt.date(2021, 1, 2)],
        "flag": [True, False],
    }
    assert get(str(lite), query="select flag, day from t").tail(1).row(0) == (
        False,
        dt.date(2021, 1, 2),
    )


def test_texts_that_are_none_are_refused(lite: Path) -> None:
    with closing(sqlite3.connect(lite)) as connection:
        connection.execute("create table bad as select cast(x'ff41' as text) as a")
        connection.commit()
    with pytest.raises(InputError, match="holds a text that is not UTF-8"):
        get(str(lite), "bad")


def test_a_file_is_known_by_its_first_bytes(tmp_path: Path, lite: Path) -> None:
    odd = tmp_path / "table.csv"
    lite.rename(odd)
    assert isinstance(parse_place(odd), Source)
    assert get(str(odd), "t").height == 3002
    put(f"duckdb:{tmp_path}/d.csv", "t", pl.DataFrame({"a": [1]}))
    assert get(str(tmp_path / "d.csv"), "t").height == 1


def test_a_pipe_is_not_looked_into(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert parse_place(tmp_path / "pipe") == tmp_path / "pipe"  # would wait for ever otherwise


@pytest.mark.parametrize("system", ["duckdb", "sqlite"])
def test_wrong_files(tmp_path: Path, system: str) -> None:
    with pytest.raises(InputError, match=r"none.db does not exist. Check the name of the file."):
        get(f"{system}:{tmp_path}/none.db", "t")
    assert list(tmp_path.iterdir()) == []
    inside = str(tmp_path).lstrip("/")
    (tmp_path / "real").touch()
    with pytest.raises(InputError, match=rf"For a path from the root write {system}:/{inside}/rea"):
        get(f"{system}:///{inside}/real", "t")
    (tmp_path / "text").write_text("hello " * 1000)
    with pytest.raises(InputError, match=r"Cannot open .*text: .*not a"):
        get(f"{system}:{tmp_path}/text", "t")


def test_duckdb_types_without_a_place_come_as_text(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "x.duckdb")) as connection:
        connection.execute("create type mood as enum ('sad', 'ok')")
        connection.execute(
            "create table t as select interval '1 day' as i, 'ok'::mood as e, 5::hugeint as h, "
            "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid as u, map {'a': 1} as m, "
            "1.50::decimal(5, 2) as d"
        )
    found = get(str(tmp_path / "x.duckdb"), "t").select(pl.all().cast(pl.String))
    assert found.row(0) == (
        "1 day",
        "ok",
        "5",
        "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
        "{a=1}",
        "1.50",
    )


def test_a_query_sees_no_variables_of_python(tmp_path: Path) -> None:
    put(f"duckdb:{tmp_path}/x.db", "t", pl.DataFrame({"a": [1]}))
    frame = pl.DataFrame({"secret": [1]})
    with pytest.raises(InputError, match="Table with name frame does not exist"):
        get(f"duckdb:{tmp_path}/x.db", query="select * from frame")
    assert frame.height == 1


def test_a_file_in_use_is_refused_before_the_work(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    put(f"sqlite:{path}", "t", pl.DataFrame({"a": [1]}))
    # Another process, because locks do not count within one.
    hold = f"import sqlite3, sys; c = sqlite3.connect({str(path)!r}); c.execute('begin exclusive')"
    wait = "; print('held', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", hold + wait], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(OutputError, match=r"database is locked.* Somebody else is using it"):
            check_target([parse_place(f"sqlite:{path}", "new")])  # type: ignore[list-item]
        other.communicate()


def test_without_the_library_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(f"duckdb:{tmp_path}/x.db", "t", pl.DataFrame({"a": [1]}))
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(MissingExtra, match=r"'duckdb', which is not installed. .*'shoal\[db\]'"):
        get(f"duckdb:{tmp_path}/x.db", "t")

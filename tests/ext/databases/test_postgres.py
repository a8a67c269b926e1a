"""A real PostgreSQL: its types, its passwords, its users, and connections that are lost."""

from __future__ import annotations

import datetime as dt
import signal
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.base.errors import InputError, OutputError, ShoalError
from shoal.ext.databases import writing
from shoal.ext.databases.writing import check_target
from shoal.tables.source import parse_target
from tests.cli.test_interrupted import PLAIN
from tests.ext.databases.cluster import ENCODED, PASSWORD, Server
from tests.ext.databases.conftest import Shoal
from tests.ext.databases.test_round_trip import ALL, get, put, source

SIMPLE = ("--method", "kaim", "--k", "2")
QUASI = ("--quasi", "age,sex,zip", "--method", "mondrian", "--k", "3")


def test_every_type_is_read(server: Server) -> None:
    server.sql(
        "create type mood as enum ('sad', 'ok')",
        "create domain positive as int check (value > 0)",
        "create table t as select 'ok'::mood as mood, 7::positive as positive, "
        "'ab'::char(5) as padded, "
        "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid as uuid, '{1,2}'::int[] as numbers, "
        "'{x,y}'::text[] as texts, '1 day'::interval as span, '{\"a\": 1}'::jsonb as json, "
        "'10.0.0.1'::inet as inet, 12.30::numeric(8,2) as exact, 'NaN'::numeric as nan, "
        "'2020-01-02 03:04:05+02'::timestamptz as zoned, '12:34'::time as time, 1::oid as oid, "
        "12.5::float4 as single",
        "insert into t (mood) values (null)",
    )
    found = get(server.address(), "t")
    assert found.row(0) == (
        "ok",
        7,
        "ab",
        "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
        "{1,2}",
        ["x", "y"],
        "1 day",
        '{"a": 1}',
        "10.0.0.1/32",
        Decimal("12.30"),
        None,
        dt.datetime(2020, 1, 2, 1, 4, 5, tzinfo=dt.UTC),
        dt.time(12, 34),
        "1",
        12.5,
    )
    assert set(found.row(1)) == {None}


@pytest.mark.parametrize(
    "value", ["'infinity'::date", "'-infinity'::timestamp", "'0044-1-1 BC'::date"]
)
def test_days_outside_the_calendar_are_refused(server: Server, value: str) -> None:
    with pytest.raises(
        InputError, match=r"Column 'd' of a query on .* has 1 dates outside the yea"
    ):
        get(server.address(), query=f"select {value} as d union all select null")


def test_a_schema_can_be_named_and_is_looked_up(server: Server) -> None:
    server.sql('create schema "o\'d.d"', 'create table "o\'d.d".x as select 1 as a')
    assert get(server.address(), '"o\'d.d".x').height == 1
    with pytest.raises(InputError, match=r"no table 'x' .* Did you mean '.*d\"\.x'\? It has"):
        get(server.address(), "x")
    with pytest.raises(OutputError, match='schema "none" does not exist'):
        check_target([parse_target(server.address(), "none.x")])  # type: ignore[list-item]


def test_a_reader_cannot_write_and_learns_it_before_the_work(server: Server, shoal: Shoal) -> None:
    address = server.address("reader")
    assert get(address, "patients").height == 60
    code, _, said = shoal(
        "anonymize", address, "--table", "patients", "-o", address, "--into", "r", *QUASI
    )
    assert code == 2
    assert "permission denied for schema public. Nothing was written. Ask its owner" in said
    put(server.address(), "r", ALL)
    server.sql("grant create on schema public to reader")
    with pytest.raises(OutputError, match=r"must be owner of table r. Nothing was written."):
        check_target([parse_target(address, "r")], force=True)  # type: ignore[list-item]
    server.sql("create table hidden as select 1 as a")
    with pytest.raises(InputError, match=r"permission denied for table hidden. Ask its owner"):
        get(address, "hidden")


def test_what_depends_on_the_old_release_is_not_taken_away(server: Server) -> None:
    put(server.address(), "r", ALL)
    server.sql("create view v as select text from r")
    with pytest.raises(OutputError, match=r"other objects depend on it.* Drop what depends on the"):
        check_target([parse_target(server.address(), "r")], force=True)  # type: ignore[list-item]
    assert get(server.address(), "v").height == 3


def lose(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the server end our connection after the first batch of a release."""
    real = writing.batches

    def losing(columns: Any, stop: Any) -> Any:
        import pyarrow as pa

        reader = real(columns, stop)

        def each() -> Any:
            for batch in reader:
                yield batch
                server.sql(
                    "select pg_terminate_backend(pid) from pg_stat_activity "
                    "where application_name = 'shoal'"
                )

        return pa.RecordBatchReader.from_batches(reader.schema, each())

    monkeypatch.setattr(writing, "batches", losing)


def test_a_connection_lost_in_the_middle_leaves_the_old_release(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(server.address(), "r", ALL)
    before = server.tables()
    lose(server, monkeypatch)
    for force, table in ((True, "r"), (False, "new")):
        with pytest.raises(OutputError) as caught:
            put(server.address(), table, pl.DataFrame({"a": range(200_000)}), force=force)
        assert "Nothing was written. The connection was lost; run it again" in str(caught.value)
    assert server.tables() == before
    assert get(server.address(), "r").equals(ALL)


def test_figures_and_tables_are_written_together(
    server: Server, shoal: Shoal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = server.address()
    words = ("anonymize", address, "--table", "patients", *QUASI, "-o", address, "--into", "r")
    code, _, said = shoal(*words, "--json", "no/x.json")
    assert (code, server.tables()) == (2, {"patients"}), said
    from adbc_driver_manager import OperationalError

    def lost(_: object) -> None:
        raise OperationalError("server closed the connection unexpectedly", status_code=0)

    with monkeypatch.context() as patch:
        patch.setattr("shoal.ext.databases.postgres.Postgres.commit", lost)
        code, _, said = shoal(*words, "--json", "x.json")
    assert code == 2
    assert "Nothing was written. The connection was lost" in said
    assert not (tmp_path / "x.json").exists()
    assert server.tables() == {"patients"}
    code, out, said = shoal(*words, "--json", "x.json")
    assert code == 0, said
    assert f"Wrote {address}#r and x.json." in out


def test_a_release_that_fails_its_check_is_not_written(
    server: Server, shoal: Shoal, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataclasses import replace

    from shoal.releases.generalized import check

    real = check.check
    monkeypatch.setattr(
        check, "check", lambda *given: replace(real(*given), holds=False, faults=("bad",))
    )
    put(server.address(), "r", ALL)
    words = ("-o", server.address(), "--into", "r", "--force", *QUASI)
    code, _, said = shoal("anonymize", server.address(), "--table", "patients", *words)
    assert code == 2
    assert "The release was not handed over" in said
    assert get(server.address(), "r").equals(ALL)


HOLD = """
import sys, time
import shoal.ext.databases.writing as writing
real = writing.batches
def held(columns, stop):
    import pyarrow as pa
    reader = real(columns, stop)
    def each():
        yield from reader
        sys.stdout.write("here\\n"); sys.stdout.flush()
        time.sleep(1.5)  # the driver hears ctrl-C itself and lets us know once it is done
    return pa.RecordBatchReader.from_batches(reader.schema, each())
writing.batches = held
from shoal.cli.main import main
main()
"""


@pytest.mark.parametrize(("sign", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stop_in_the_middle_leaves_the_old_release(
    server: Server, tmp_path: Path, sign: signal.Signals, code: int
) -> None:
    put(server.address(), "r", ALL)
    words = ["anonymize", server.address(), "--table", "patients", "-o", server.address()]
    process = subprocess.Popen(
        [sys.executable, "-c", PLAIN + HOLD, *words, "--into", "r", "--force", *QUASI[:2], *SIMPLE],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "here\n"
        process.send_signal(sign)
        _, said = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == code, said
    assert "Stopped. Nothing was written." in said
    assert "Traceback" not in said
    assert get(server.address(), "r").equals(ALL)
    assert server.tables() == {"patients", "r"}


def keeper(server: Server, password: str = ENCODED) -> str:
    return server.address(f"keeper:{password}")


def test_a_password_opens_the_door_and_is_never_seen(
    server: Server, shoal: Shoal, tmp_path: Path
) -> None:
    address = keeper(server)
    code, out, said = shoal(
        "anonymize", address, "--table", "patients", "-o", address, "--into", "r",
        "--json", "j.json", *QUASI,
    )  # fmt: skip
    assert code == 0, said
    texts = [out, said, (tmp_path / "j.json").read_text()]
    for words in (
        ("inspect", address, "--table", "patients"),
        ("init", address, "--table", "patients", "-o", "plan.toml"),
        (
            "audit",
            address,
            "--table",
            "r",
            "--original",
            f"{address}#patients",
            *QUASI[:2],
            "--k",
            "3",
        ),
        ("anonymize", address, "--table", "patients", "-o", address, "--into", "r", *QUASI),
        ("inspect", address, "--table", "nobody"),
        ("inspect", address, "--query", "select"),
        ("inspect", address, address),
        ("inspect", address.replace("/clinic", "/none"), "--table", "patients"),
        ("inspect", address.replace("keeper", "nobody"), "--table", "patients"),
        ("inspect", address.replace("127.0.0.1", "127.0.0.1:x"), "--table", "patients"),
        ("estimate", address, "--of", "disease"),
        ("hierarchy", "make", address, "age", "--how", "flat", "-o", "x.csv"),
        ("anonymize", "people.csv", "-o", address),
        ("anonymize", "people.csv", "-o", "x.csv", "--plan", address),
        ("demo", "--out", "x", address),
    ):
        texts += shoal(*words)[1:]
    texts.append((tmp_path / "plan.toml").read_text())
    for text in texts:
        assert PASSWORD not in text
        assert ENCODED not in text
        assert "Geh" not in text
    assert f"postgresql://keeper:***@127.0.0.1:{server.port}/clinic#r" in texts[0]
    assert f'source = "postgresql://keeper@127.0.0.1:{server.port}/clinic"' in texts[-1]


def test_passwords_come_from_the_usual_places(
    server: Server, shoal: Shoal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = server.address("keeper")
    for name in ("PGPASSWORD", "PGPASSFILE", "PGSERVICEFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PGPASSFILE", str(tmp_path / "none"))
    with pytest.raises(InputError, match=r"no password supplied. Check the user and the password"):
        get(bare, "patients")
    with pytest.raises(InputError, match=r"keeper:\*\*\*@.* password authentication failed") as bad:
        get(keeper(server, "Wrong-Word"), "patients")
    chain: BaseException | None = bad.value
    while chain is not None:
        assert "Wrong-Word" not in str(chain)
        chain = chain.__cause__ or chain.__context__
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    assert get(bare, "patients").height == 60
    monkeypatch.delenv("PGPASSWORD")
    passfile = tmp_path / "pgpass"
    passfile.write_text(
        f"127.0.0.1:*:clinic:keeper:{PASSWORD.replace(chr(92), '').replace(':', chr(92) + ':')}\n"
    )
    passfile.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(passfile))
    assert get(bare, "patients").height == 60
    # A plan made from it repeats the run.
    assert shoal("init", bare, "--table", "patients", "-o", "plan.toml")[0] == 0
    code, out, said = shoal(
        "anonymize", "--plan", "plan.toml", "--trust-plan", "--method", "mondrian", "-o", "o.csv"
    )
    assert code == 0, said
    assert "60 rows in" in out
    services = tmp_path / "services"
    services.write_text(f"[here]\nhost=127.0.0.1\nport={server.port}\ndbname=clinic\nuser=keeper\n")
    monkeypatch.setenv("PGSERVICEFILE", str(services))
    assert get("postgresql://?service=here", "patients").height == 60


def test_no_server_is_said_before_the_work(server: Server, shoal: Shoal, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age,sex\n1,f\n2,m\n")
    code, _, said = shoal(
        "anonymize", "people.csv", "--quasi", "age", "-o", "postgresql://u:pw@127.0.0.1:1/d#r"
    )
    assert code == 2
    assert "Cannot connect to postgresql://u:***@127.0.0.1:1/d: " in said
    assert "Nothing was written. Check the host and the port, and that the server is runn" in said


def test_files_and_servers_mix(
    server: Server, shoal: Shoal, tmp_path: Path, people: pl.DataFrame
) -> None:
    people.write_csv(tmp_path / "people.csv")
    (tmp_path / "q.sql").write_text("select age, sex, zip from patients -- all of them\n")
    address = server.address()
    out: dict[str, tuple[int, str, str]] = {}
    out["in"] = shoal("anonymize", "people.csv", *QUASI, "-o", f"{address}#from_file")
    out["query"] = shoal("anonymize", address, "--query-file", "q.sql", *QUASI, "-o", "x.csv")
    out["lite"] = shoal(
        "anonymize", address, "--table", "patients", *QUASI, "-o", "x.db", "--into", "r"
    )
    out["duck"] = shoal("anonymize", "x.db#r", "--quasi", "age", "-o", "y.csv")
    assert [out[name][0] for name in ("in", "query", "lite")] == [0, 0, 0], out
    assert out["duck"][0] == 2  # a path is a path: '#' belongs to addresses
    audit = ("audit", "x.db", "--table", "r", "--original", address, "--original-table", "patients")
    code, text, said = shoal(*audit, *QUASI[:2], "--k", "3")
    assert code == 0, text + said
    assert get(address, "from_file").height == 60
    assert (
        "Both --query and --query-file"
        in shoal("inspect", address, "--query", "select 1", "--query-file", "q.sql")[2]
    )
    assert (
        "query file none.sql cannot be read"
        in shoal("inspect", address, "--query-file", "none.sql")[2]
    )


def test_the_library_takes_an_address(server: Server) -> None:
    outcome = shoal.anonymize(
        keeper(server), table="patients", quasi=["age", "sex"], method="mondrian", k=3
    )
    assert isinstance(outcome.frame, pl.DataFrame)
    assert "127.0.0.1" not in outcome.to_json()
    with pytest.raises(InputError, match=r"There is no table to read. Name a file or the address"):
        shoal.anonymize(quasi=["age"])
    call: Callable[[], object] = lambda: shoal.open_release(server.address())  # noqa: E731
    with pytest.raises(ShoalError, match=r"is a database. Say what to read"):
        call()
    assert source(server.address(), "patients").table == "patients"

"""A PostgreSQL server of the tests' own: a temporary cluster, unprivileged, on a free port."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Who comes from the network as 'keeper' needs a password; everybody else is trusted.
HBA = """\
local all all trust
host all keeper 127.0.0.1/32 scram-sha-256
host all all 127.0.0.1/32 trust
"""
PASSWORD = "Geh%eim/:@ 7'x"
ENCODED = "Geh%25eim%2F%3A%40%207%27x"
SETTINGS = {"listen_addresses": "127.0.0.1", "fsync": "off", "max_connections": "40"}


def binaries() -> Path | None:
    """Return the folder of the newest PostgreSQL programs that are installed."""
    found = [path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    if not found and (program := shutil.which("initdb")):
        found = [Path(program).parent]
    return max(found, key=lambda path: int(path.parent.name or 0), default=None)


@dataclass(frozen=True)
class Server:
    """A running server."""

    port: int
    process: subprocess.Popen[bytes]

    def address(self, user: str = "steward", table: str = "") -> str:
        return f"postgresql://{user}@127.0.0.1:{self.port}/clinic" + (table and f"#{table}")

    def sql(self, *statements: str, user: str = "steward") -> list[tuple[Any, ...]]:
        """Run statements in one transaction, by the driver alone."""
        import adbc_driver_postgresql.dbapi as driver

        rows: list[tuple[Any, ...]] = []
        with driver.connect(self.address(user)) as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
                rows = cursor.fetchall() if cursor.description else []
            connection.commit()
        return rows

    def tables(self) -> set[str]:
        """Return the tables and views of the schema that everything goes to."""
        rows = self.sql(
            "select relname::text from pg_class "
            "where relkind in ('r', 'v') and relnamespace = 'public'::regnamespace"
        )
        return {name for (name,) in rows}


def _unprivileged() -> tuple[list[str], int | None, int | None]:
    """Return what to put before a command so that it does not run as root, which is refused."""
    if os.getuid() != 0:
        return [], None, None
    names = {user.pw_name: user for user in pwd.getpwall()}
    user = names.get("postgres") or names["nobody"]
    ids = [f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
    return ["setpriv", *ids], user.pw_uid, user.pw_gid


@contextmanager
def started() -> Iterator[Server]:
    """Make a cluster, run it, and leave nothing of it behind."""
    programs = binaries()
    assert programs is not None
    before, uid, gid = _unprivileged()
    folder = Path(tempfile.mkdtemp(prefix="shoal-pg-"))
    if uid is not None and gid is not None:
        os.chown(folder, uid, gid)
    data = folder / "data"
    plain = {**os.environ, "LC_ALL": "C", "HOME": str(folder)}
    try:
        make = [programs / "initdb", "-D", data, "-U", "steward", "-A", "trust", "-E", "UTF8"]
        subprocess.run(
            [*before, *make, "--no-sync", "--locale=C"], check=True, capture_output=True, env=plain
        )
        (data / "pg_hba.conf").write_text(HBA)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        flags = [word for key, value in SETTINGS.items() for word in ("-c", f"{key}={value}")]
        log = (folder / "log").open("wb")
        process = subprocess.Popen(
            [*before, programs / "postgres", "-D", data, "-p", str(port), "-k", folder, *flags],
            stdout=log,
            stderr=log,
            env=plain,
        )
        log.close()
        try:
            _wait(port, process, folder / "log")
            yield Server(port, process)
        finally:
            process.send_signal(signal.SIGINT)  # a fast shutdown: open connections are closed
            process.wait(20)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _wait(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    import adbc_driver_postgresql.dbapi as driver

    address = f"postgresql://steward@127.0.0.1:{port}/postgres"
    for _ in range(100):
        assert process.poll() is None, log.read_text()
        try:
            with driver.connect(address, autocommit=True) as connection:
                with connection.cursor() as cursor:
                    cursor.execute("create database clinic")
                return
        except driver.Error:
            time.sleep(0.1)
    raise AssertionError(log.read_text())

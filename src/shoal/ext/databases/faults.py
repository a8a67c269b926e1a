"""Turn errors of database drivers into messages without passwords."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from shoal.base.address import Address
from shoal.base.errors import InputError, OutputError, ShoalError

# The next step, by what stands in the driver's words.
_NEXT = (
    (
        r"password|authentication|no pg_hba",
        "Check the user and the password: PGPASSWORD, ~/.pgpass and PGSERVICE are read as usual",
    ),
    (
        r"\bterminat|closed the connection|connection to server was lost|shut(?:ting)? ?down"
        r"|no connection to the server|not connected|broken pipe|reset by peer",
        "The connection was lost; run it again when the server is back",
    ),
    (
        r"connection refused|could not translate|timeout expired|no such file|unreachable"
        r"|name or service|timed out",
        "Check the host and the port, and that the server is running",
    ),
    (r"permission denied|must be owner|not authorized", "Ask its owner for the right to do that"),
    (
        r"read-only|readonly|recovery",
        "The database can only be read here; choose another for the release",
    ),
    (
        r"other objects depend|cannot drop",
        "Drop what depends on the old table first, or choose another name with --into",
    ),
    (
        r"could not set lock|database is locked|database table is locked|lock timeout"
        r"|conflicting lock",
        "Somebody else is using it; close that and run again",
    ),
    (r"lock|busy", "Somebody else is using it; run again later"),
    (r"does not exist|no such|not found", "Check the names"),
    (
        r"disabled by configuration",
        "Neither a view nor a plan may read other files. Name them in a query of your own: --query "
        "\"select * from read_csv('FILE')\"",
    ),
    (r"syntax error|parser error|data-modifying", "Check the query"),
    (r"disk|space|full", "Free some space and run again"),
)


def error_text(fault: BaseException, address: Address) -> str:
    """Return the driver's own words in one line, scrubbed."""
    text = address.scrub(str(fault))
    text = re.split(r"\n\s*(?:Query was|query|LINE \d+|CONTEXT)\b", text)[0]
    text = text.split("Is the server running")[0]
    text = re.sub(r"^[A-Z_]+: ", "", text)
    text = re.sub(r"\[(?:libpq|SQLite)\] ?|Failed to connect: ?", "", text)
    text = re.sub(r"\bSQLSTATE: \w+", "", text)
    match = re.search(r"(?:ERROR|FATAL|PANIC):\s+(.*)", text, re.S)
    return " ".join((match[1] if match else text).split()).rstrip(". ")


@contextmanager
def translate_errors(
    address: Address, doing: str, error: type[ShoalError] = InputError
) -> Iterator[None]:
    """Turn whatever a driver raises into ``error``: what was tried, why not, what to do next."""
    try:
        yield
    except ShoalError:
        raise
    except Exception as fault:
        if not _from_driver(fault):
            raise
        said = error_text(fault, address)
        # Whoever logs the chain of errors must not find the password there either.
        fault.args = (said,)
        step = next((step for pattern, step in _NEXT if re.search(pattern, said, re.I)), "")
        nothing = " Nothing was written." if issubclass(error, OutputError) else ""
        raise error(f"{doing}: {said}.{nothing}{f' {step}.' if step else ''}") from None


def _from_driver(fault: Exception) -> bool:
    if isinstance(fault, OSError):
        return True
    home = type(fault).__module__.split(".")[0]
    return home in ("adbc_driver_manager", "_duckdb", "duckdb", "pyarrow", "sqlite3")

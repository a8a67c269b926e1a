"""Addresses of databases, and how their passwords stay out of everything that is shown.

An address is parsed once; from then on its password lives in one field that nothing prints, and
the address is shown as ``postgresql://user:***@host/db``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, quote_plus, unquote

from shoal.base.errors import InputError, suggest_nearest

SYSTEMS = {
    "postgresql": "postgresql",
    "postgres": "postgresql",
    "duckdb": "duckdb",
    "sqlite": "sqlite",
}
HIDDEN = "***"
FORM = "postgresql://user@host:port/database#table"

# Two letters at least, since C:\ is a drive.
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")
_BAD_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_OPTION = re.compile(r"[a-z_]+")
# What can stand for a password besides the one before the host.
_SECRET_OPTION = re.compile(r"password|secret|scram", re.IGNORECASE)
_SECRET_PAIR = re.compile(r"([?&][A-Za-z_]*(?:password|secret|scram)[A-Za-z_]*=)[^&#\s'\"]*", re.I)
# PostgreSQL's other form, host=... password='...', which is not read here but may be tried.
_PAIRS = re.compile(r"\s*(?:host|hostaddr|port|dbname|user|password|passfile|service)\s*=", re.I)
_SECRET_WORD = re.compile(
    r"(\b[A-Za-z_]*(?:password|secret|scram)[A-Za-z_]*\s*=\s*)"
    r"('(?:[^'\\]|\\.)*'?|\"[^\"]*\"?|[^\s&#'\"]+)",
    re.I | re.S,
)
# Up to the *last* @: an unencoded one inside a password must not let half of it through.
_USERINFO = re.compile(r"(postgres(?:ql)?:/+)([^\s'\"]*)@", re.I)
_USERINFO_WORD = re.compile(r"(postgres(?:ql)?:/+)(.*)@", re.I | re.S)


@dataclass(frozen=True)
class Address:
    """A database that was named.

    Parameters
    ----------
    system
        ``postgresql``, ``duckdb`` or ``sqlite``.
    bare
        The address without any password, as a plan may hold it.
    shown
        The address for messages: ``***`` where a password was.
    path
        The file of DuckDB and SQLite.
    settings
        What the PostgreSQL client is told, passwords included; never shown.
    """

    system: str
    bare: str
    shown: str
    path: Path | None = None
    settings: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @property
    def secrets(self) -> tuple[str, ...]:
        """Every text that must not be seen, in all the ways it could be written."""
        plain = [value for key, value in self.settings if _SECRET_OPTION.search(key) and value]
        ways = {way for text in plain for way in (text, quote(text, safe=""), quote_plus(text))}
        ways |= {text.replace("\\", "\\\\").replace("'", "\\'") for text in plain}
        return tuple(sorted(ways, key=len, reverse=True))

    def scrub(self, text: str) -> str:
        """Return a driver's words without the password, however it was written there."""
        for secret in self.secrets:
            text = text.replace(secret, HIDDEN)
        return hide(text)

    def __str__(self) -> str:
        return self.shown


def is_address(value: object) -> bool:
    """Tell whether a text names a database and not a file."""
    match = _SCHEME.match(value) if isinstance(value, str) else None
    if not match or not isinstance(value, str):
        return False
    return match[1].lower() in SYSTEMS or value[match.end() :].startswith("//")


def is_database(value: object) -> bool:
    """Tell whether a text is the address of a database that we know."""
    match = _SCHEME.match(value) if isinstance(value, str) else None
    return match is not None and match[1].lower() in SYSTEMS


def hide(text: str) -> str:
    """Return text whose addresses show ``***`` where a password was."""
    return _without_values(_USERINFO.sub(_masked, text))


def _without_values(text: str) -> str:
    return _SECRET_WORD.sub(rf"\g<1>{HIDDEN}", _SECRET_PAIR.sub(rf"\g<1>{HIDDEN}", text))


def refuse_pairs(text: object) -> None:
    """Refuse ``host=... password=...`` where an address or a file is meant, and repeat none of it.

    It would be taken for the name of a file, and an error would show it.
    """
    if isinstance(text, str) and _PAIRS.match(text):
        raise InputError(
            "A table was named in the form key=value of PostgreSQL's client, which is not read "
            f"here. Write it like {FORM}, and give the password with PGPASSWORD or in ~/.pgpass."
        )


def _masked(match: re.Match[str]) -> str:
    user, colon, password = match[2].partition(":")
    return f"{match[1]}{user}:{HIDDEN}@" if colon and password else match[0]


def parse(text: str) -> tuple[Address, str | None]:
    """Return the address that a text names, and the table after its ``#``."""
    text = _TAKEN.get(text, text)
    match = _SCHEME.match(text)
    if not match or not is_address(text):
        raise InputError(f"This is not a database address. Write it like {FORM}.")
    scheme = match[1].lower()
    if scheme not in SYSTEMS:
        raise InputError(
            f"There is no database system {scheme!r}; Shoal reads postgresql://, duckdb: and "
            f"sqlite: addresses, and files.{suggest_nearest(scheme, SYSTEMS)}"
        )
    rest = text[match.end() :]
    return _server(rest) if SYSTEMS[scheme] == "postgresql" else _file(scheme, rest)


def _refuse(system: str, reason: str) -> InputError:
    # Not a sign of the address is repeated: it was not understood, so its password is anywhere.
    return InputError(
        f"The {system} address cannot be read: {reason}. Write it like {FORM}; inside a name or a "
        "password write @ as %40, : as %3A, / as %2F, ? as %3F, # as %23 and % as %25."
    )


def _decoded(part: str, system: str) -> str:
    try:
        if not _BAD_PERCENT.search(part):
            text = unquote(part, errors="strict")
            if "\x00" not in text:
                return text
    except UnicodeDecodeError:
        pass
    raise _refuse(system, "a % is not followed by two digits that stand for a character")


def _server(rest: str) -> tuple[Address, str | None]:
    system = "postgresql"
    if not rest.startswith("//"):
        raise _refuse(system, "it does not begin with postgresql://")
    body, hash_, fragment = rest[2:].partition("#")
    body, asked, options = body.partition("?")
    authority, slash, database = body.partition("/")
    if "@" in database + options + fragment:
        raise _refuse(system, "there is an @ after the host")
    userinfo, at, hosts = authority.rpartition("@")
    if "@" in userinfo:
        raise _refuse(system, "there is more than one @ before the host")
    user, _, password = userinfo.partition(":")
    settings: dict[str, str] = {}
    if hosts:
        settings |= _hosts(hosts)
    if user:
        settings["user"] = _decoded(user, system)
    if password:
        settings["password"] = _decoded(password, system)
    if "/" in database:
        raise _refuse(system, "there is a / after the name of the database")
    if database:
        settings["dbname"] = _decoded(database, system)
    hidden, kept = [], []
    for pair in options.split("&") if options else ():
        key, equals, value = pair.partition("=")
        if not equals or not _OPTION.fullmatch(key):
            raise _refuse(system, "what follows the ? is not a list of option=value")
        settings[key] = _decoded(value, system)
        secret = _SECRET_OPTION.search(key) and value
        hidden.append(f"{key}={HIDDEN}" if secret else pair)
        kept += [] if secret else [pair]
    if settings.get("password") == HIDDEN:
        raise InputError(
            "The address has *** where a password was hidden. Leave it out (user@host) and give "
            "the password with PGPASSWORD or in ~/.pgpass."
        )
    tail = f"{hosts}{slash}{database}"
    shown = f"postgresql://{user}{f':{HIDDEN}' if password else ''}{at}{tail}"
    bare = f"postgresql://{user}{at}{tail}"
    address = Address(
        system,
        bare=bare + (f"?{'&'.join(kept)}" if kept else ""),
        shown=shown + (asked and f"?{'&'.join(hidden)}"),
        settings=tuple(settings.items()),
    )
    return address, _decoded(fragment, system) if hash_ and fragment else None


def _hosts(text: str) -> dict[str, str]:
    """Read ``host:port`` or several of them after commas, as the PostgreSQL client does."""
    names, ports = [], []
    for host in text.split(","):
        match = re.fullmatch(r"(\[[0-9A-Fa-f:.%]+\]|[^:\[\]]*)(?::([0-9]*))?", host)
        if not match:
            raise _refuse("postgresql", "the port after the host is not a number")
        names.append(_decoded(match[1].strip("[]"), "postgresql"))
        ports.append(match[2] or "")
    settings = {"host": ",".join(names)} if any(names) else {}
    return settings | ({"port": ",".join(ports)} if any(ports) else {})


def _file(system: str, rest: str) -> tuple[Address, str | None]:
    """Read ``sqlite:PATH``, or with slashes: three for a relative path, four for an absolute."""
    rest, hash_, fragment = rest.partition("#")
    where = rest
    if rest.startswith("//"):
        if not rest.startswith("///"):
            raise InputError(
                f"The {system} address cannot be read: a file has no host. Write "
                f"{system}:///folder/file for a path that starts here, {system}:////folder/file "
                f"for one that starts at the root, or just {system}:PATH."
            )
        where = rest[3:]
    if "?" in where or not where:
        raise InputError(
            f"The {system} address cannot be read: "
            + ("it has options after a ?, and none are known" if where else "it names no file")
            + f". Write {system}:PATH#table; a ? in a file name is written %3F, a # %23."
        )
    path = Path(_decoded(where, system))
    shown = f"{system}:{where}"
    address = Address(system, bare=shown, shown=shown, path=path)
    return address, _decoded(fragment, system) if hash_ and fragment else None


def file_address(path: Path, system: str) -> Address:
    """Return the address of a database file that was named by its path alone."""
    return Address(system, bare=f"{system}:{quote(str(path))}", shown=str(path), path=path)


def plan_fault(source: object) -> str | None:
    """Say what is wrong with the source of a plan, above all a password in it."""
    try:
        refuse_pairs(source)
        if not isinstance(source, str) or not is_address(source):
            return None
        address, _ = parse(source)
    except InputError as fault:
        return str(fault)
    if not any(_SECRET_OPTION.search(key) for key, _ in address.settings):
        return None
    return (
        f"the address {address.shown} has a password. A plan is kept and passed on, so it never "
        f"holds one: write {address.bare}, and give the password with PGPASSWORD or in ~/.pgpass."
    )


# The command line takes passwords out of its own words before anything else reads them, so that
# no usage message can repeat one; here they are found again by the words that remain.
_TAKEN: dict[str, str] = {}


def take_passwords(words: Sequence[str]) -> list[str]:
    """Return the words of a command line with every password hidden, and remember them."""
    return [_without(word) for word in words]


def _without(word: str) -> str:
    start = re.search(r"postgres(?:ql)?:/", word, re.I)
    if not start:
        # Two pairs at least: COLUMN=VALUE is said about tables, too.
        return _without_values(word) if _PAIRS.match(word) and word.count("=") > 1 else word
    original = word[start.start() :]
    hidden = _SECRET_PAIR.sub(rf"\g<1>{HIDDEN}", _USERINFO_WORD.sub(_masked, original))
    if hidden == original:
        return word
    if _TAKEN.setdefault(hidden, original) != original:
        raise InputError(
            f"The address {hidden} was given twice with different passwords. Give one of them."
        )
    return word[: start.start()] + hidden

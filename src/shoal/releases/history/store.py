"""Read and write the history of a series of releases.

A folder has a file for each release, in order. Each holds all records so far and the classes of its
release; it names the digest of the file before it and of what was published. The files are as
sensitive as the original, and no part of them is published.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from shoal.base.atomic import atomic_file, remove_leftovers
from shoal.base.errors import InputError, OutputError, ParameterError, format_names
from shoal.base.parsing import Unreadable
from shoal.plan.plan import Plan
from shoal.releases.history.crypt import decrypt, encrypt, history_key
from shoal.tables.cells import as_text, missing_to_null
from shoal.tables.files import read_file
from shoal.tables.set_cells import SETS, to_json

FORMAT = 2
_MAGIC = b"shoal history\n"
_COPY = (
    "Nothing was written. Bring it back from a copy that is as new as the newest release; with an "
    "older one the next release would undo it."
)
_FORM = {
    str: object,
    "about": {str: object},
    "release": {str: object, "digest": str, "name": (str, type(None))},
    "before": str,
    "series?": str,
    "parts": [{"bytes": int, "sha256": str}],
}
RECORDS: dict[str, Any] = {
    "column": pl.String,
    "person": pl.String,
    "value": pl.String,
    "signature": pl.List(pl.String),
}
"""A record: a person with a value, None for a missing one; a change makes another record."""
CLASSES: dict[str, Any] = {"person": pl.String, "value": pl.String, "class": pl.String}
"""Who was in a release, with which value and in which class."""


@dataclass(frozen=True, eq=False)
class History:
    """A series of releases so far.

    Parameters
    ----------
    folder
        Where it is kept.
    heads
        What each file says of its release, in order.
    records
        Every record that was in a release (column, person, value) and its signature.
    digest
        Of the newest file.
    series
        What its releases are known by as one series, drawn at random; empty for old histories.
    key
        Under which its files are encrypted, if they are.
    """

    folder: Path
    heads: tuple[Mapping[str, Any], ...] = ()
    records: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=RECORDS))
    digest: str = ""
    series: str = ""
    key: bytes | None = field(default=None, repr=False)

    @classmethod
    def read(cls, folder: str | Path, key: str | Path | None = None) -> History:
        """Read a history; an empty folder is the beginning of one.

        ``key``: the file of the key of one that is encrypted; else the environment has it.
        """
        folder, secret = Path(folder), history_key(key)
        if folder.is_file():
            raise InputError(
                f"The history {folder} is a file, and a history is a folder with a file for each "
                "release. Give the folder."
            )
        if not folder.is_dir():
            raise InputError(
                f"There is no history {folder}. A series of releases begins with an empty folder: "
                f"make it first (mkdir {folder}). If there were releases before, give the folder "
                "that was named for them: without it they would be undone by this one."
            )
        remove_leftovers(folder)
        files = sorted(folder.glob("*.history"))
        wanted = [folder / f"{number:04d}.history" for number in range(1, len(files) + 1)]
        if files != wanted:
            lost = next(name for name, file in zip(wanted, files, strict=True) if name != file)
            raise _damaged(folder, f"{lost.name} is missing").fault()
        others = [file.name for file in folder.iterdir() if file.suffix not in (".history", "")]
        if not files and others:
            raise InputError(
                f"The folder {folder} has no history and holds {format_names(others)}: an empty "
                "folder "
                "begins one. Check the name, or make a folder for it."
            )
        heads: list[Mapping[str, Any]] = []
        records, before = pl.DataFrame(schema=RECORDS), ""
        for file in files:
            head, records, _ = _opened(file, secret)
            if head["before"] != before:
                raise _damaged(folder, f"{file.name} does not follow the file before it").fault()
            heads.append(head)
            before = _sum(file.read_bytes())
        series = heads[-1].get("series", "") if heads else secrets.token_hex(16)
        return cls(folder, tuple(heads), records, before, series, secret)

    @property
    def manifest_entry(self) -> dict[str, Any]:
        """What the manifest of the next release tells of the series; nothing of its people."""
        return {"series": self.series, "number": len(self.heads) + 1} if self.series else {}

    @property
    def names(self) -> list[str]:
        """Where its releases were written, as far as that is known."""
        return [head["release"]["name"] for head in self.heads if head["release"]["name"]]

    def before(self, number: int) -> History:
        """Return the history as it was before a release, counted from 1."""
        if len(self.heads) < number - 1:
            raise ParameterError(
                f"The history {self.folder} has {len(self.heads)} releases, and was {number - 1} "
                "long before this one: it is an older copy. Give the one that was kept with it."
            )
        if number == 1:
            return History(self.folder, series=self.series, key=self.key)
        file = self.folder / f"{number - 1:04d}.history"
        records = _opened(file, self.key)[1]
        return replace(
            self, heads=self.heads[: number - 1], records=records, digest=_sum(file.read_bytes())
        )

    def classes(self, number: int) -> pl.DataFrame:
        """Return who was in which class of a release, counted from 0."""
        return _opened(self.folder / f"{number + 1:04d}.history", self.key)[2]

    def number(self, released: pl.DataFrame) -> int | None:
        """Return which release of the series this is, None if it is none of them."""
        return next(reversed(self.numbers(released)), None)

    def numbers(self, released: pl.DataFrame) -> list[int]:
        """Return which releases of the series say what this one says."""
        checksum = digest(released)
        return [n for n, head in enumerate(self.heads) if head["release"]["digest"] == checksum]

    def check_same(self, about: Mapping[str, Any]) -> None:
        """Refuse to go on with the history of another table, or of another promise."""
        for head in self.heads[-1:]:
            for key, own in about.items():
                if head["about"].get(key) != own:
                    raise ParameterError(
                        f"The history {self.folder} is one of another series: its {key} is "
                        f"{_said(head['about'].get(key))}, and here it is {_said(own)}. Give the "
                        "history of this table, or an empty folder to begin another series."
                    )

    def check_people(self, persons: pl.Series) -> None:
        """Refuse a history of which nobody is in the table."""
        known = self.records["person"]
        if len(known) and not persons.is_in(known.unique().implode()).any():
            raise ParameterError(
                f"None of the {known.n_unique():,} people of the history {self.folder} is in this "
                "table: it is the history of another one, or persons are written differently. If "
                "all of them have left, begin a new series with an empty folder."
            )

    def check_goal(self, name: str, files: Sequence[Path]) -> None:
        """Refuse a name that a release of the series has, files in its folder, changed releases."""
        for file in files:
            if file.resolve().is_relative_to(self.folder.resolve()):
                raise OutputError(
                    f"{file} would lie in the history {self.folder}, which is never published, and "
                    "what is published does not belong there. Choose another folder."
                )
        for number, head in enumerate(self.heads):
            known = head["release"]["name"]
            if known == name:
                raise OutputError(
                    f"{name} is the name of release {number + 1} of the history {self.folder}. "
                    "What was published cannot be taken back: give this release another name."
                )
            if known is not None and Path(known).is_file():
                self._check_file(number, Path(known))

    def _check_file(self, number: int, file: Path) -> None:
        if digest(read_file(file, quoted=True)[0]) != self.heads[number]["release"]["digest"]:
            raise InputError(
                f"{file} is not what the history {self.folder} says of release {number + 1}: the "
                "file was changed or replaced since, or the history is older than it or of another "
                "series. Nothing was written. Give the history that was kept with it."
            )

    def check_released(self, released: Mapping[str, pl.DataFrame]) -> None:
        """Refuse a history that lacks a release which others have."""
        for name, frame in released.items():
            if self.number(frame) is None:
                raise ParameterError(
                    f"{name} is not a release of the history {self.folder}, which has "
                    f"{len(self.heads)}: the history is older than it or of another series, or "
                    "the file was changed. Give the history that was kept with it."
                )


@dataclass(frozen=True, eq=False)
class Pending:
    """What the history becomes with a release that is not handed over yet."""

    history: History
    about: Mapping[str, Any]
    release: Mapping[str, Any]
    records: pl.DataFrame
    classes: pl.DataFrame

    @contextlib.contextmanager
    def recorded(self, name: str | None = None) -> Iterator[None]:
        """Write it, and take it back if the block goes wrong.

        It is there before the release is: a release that the history does not know would be undone
        by the next one, and a release that it knows and nobody has does no harm.
        """
        history = self.history
        number = len(history.heads) + 1
        file = history.folder / f"{number:04d}.history"
        head = {
            "format": FORMAT,
            "about": dict(self.about),
            "release": {**self.release, "name": name},
            "before": history.digest,
            "series": history.series,
        }
        content = to_bytes(head, self.records, self.classes)
        if history.key is not None:
            content = encrypt(content, history.key, file.name)
        with atomic_file(file, private=True) as stream:
            stream.write(content)
        try:
            yield
        except BaseException:
            file.unlink(missing_ok=True)
            raise


def digest(released: pl.DataFrame) -> str:
    """Return the digest of what a table says, in whatever order, format and types it says so."""
    texts = [
        (to_json(column) if column.dtype == SETS else as_text(missing_to_null(column))).fill_null(
            ""
        )
        for column in sorted(released, key=lambda column: column.name)
    ]
    rows = pl.DataFrame(texts).select(pl.concat_str(pl.all(), separator="\x1f")).to_series()
    names = "\x1f".join(column.name for column in texts)
    return _sum("\x1e".join([names, *rows.sort()]).encode())


def to_bytes(head: Mapping[str, Any], records: pl.DataFrame, classes: pl.DataFrame) -> bytes:
    """Return the bytes of a file: a line on what it is, and two tables."""
    parts = []
    for frame in (records, classes):
        stream = io.BytesIO()
        frame.write_parquet(stream)
        parts.append(stream.getvalue())
    sums = [{"bytes": len(part), "sha256": _sum(part)} for part in parts]
    line = json.dumps({**head, "parts": sums}, ensure_ascii=True).encode()
    return _MAGIC + _sum(line).encode() + b"\n" + line + b"\n" + b"".join(parts)


def _opened(file: Path, key: bytes | None) -> tuple[Mapping[str, Any], pl.DataFrame, pl.DataFrame]:
    try:
        content = decrypt(file.read_bytes(), key, file)
    except OSError as fault:
        raise InputError(f"{file} cannot be read: {fault.strerror or fault}.") from fault
    damaged = _damaged(file.parent, f"{file.name} was changed or cut off")
    told, line, rest = (*content.removeprefix(_MAGIC).split(b"\n", 2), b"", b"")[:3]
    if not content.startswith(_MAGIC) or told != _sum(line).encode():
        raise damaged.fault()
    with damaged.parsing("json"):
        head = json.loads(line)
    damaged.check_shape(head, {str: object, "format": int})
    if head["format"] != FORMAT:
        raise InputError(
            f"{file} has format {head['format']}, and this version of Shoal reads {FORMAT}. Use "
            "the version that wrote it."
        )
    damaged.check_shape(head, _FORM)
    from shoal.tables.parquet import read_parquet  # Arrow's reader, which few runs need

    tables, begin = [], 0
    for part, columns in zip(head["parts"], (RECORDS, CLASSES), strict=False):
        own = rest[begin : begin + part["bytes"]]
        begin += part["bytes"]
        if _sum(own) != part["sha256"]:
            raise damaged.fault()
        with damaged.parsing("arrow", "polars"):
            tables.append(read_parquet(own))
        # Sets that are kept for life have classes for each column: one column more.
        wanted = {**columns, "column": pl.String}
        if (
            not dict(pl.Schema(columns)).items()
            <= dict(tables[-1].schema).items()
            <= dict(pl.Schema(wanted)).items()
        ):
            raise damaged.fault()
    if len(tables) != 2 or begin != len(rest):
        raise damaged.fault()
    return head, tables[0], tables[1]


def _damaged(folder: Path, why: str) -> Unreadable:
    return Unreadable(f"The history {folder} is damaged: {why}", _COPY)


def _sum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _said(value: Any) -> str:
    return format_names(value) if isinstance(value, list) else repr(value)


def history_of(
    where: str | Path | History | None, plan: Plan | None = None, key: Path | None = None
) -> History | None:
    """Return the history that a call or its plan names; ``key``: the file of its key."""
    if where is None and plan is not None and plan.data.history is not None:
        where = plan.path(plan.data.history)
    if where is None and key is not None:
        raise ParameterError(
            "The key of a history was given (--history-key) and no history. Name its folder with "
            "--history, or leave the key out."
        )
    return History.read(where, key) if isinstance(where, str | Path) else where

"""Folders and files as Spark sees them: read, staged, and moved into place when complete."""

from __future__ import annotations

import atexit
import contextlib
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from shoal.base.column_names import check_twice
from shoal.base.errors import InputError, OutputError, ParameterError, format_names
from shoal.ext.spark.session import first_line
from shoal.ext.spark.settings import Spark
from shoal.tables.csvfile import sniff
from shoal.verbs.provenance import SUFFIX

ENDINGS = {".parquet": "parquet", ".csv.gz": "csv", ".csv": "csv", ".tsv": "csv"}


class Files:
    """The file system behind a path: this machine's, HDFS, or whatever Spark is set up for."""

    def __init__(self, spark: Any) -> None:
        self._context = spark.sparkContext

    def _at(self, path: str) -> tuple[Any, Any]:
        where = self._context._jvm.org.apache.hadoop.fs.Path(path)
        return where.getFileSystem(self._context._jsc.hadoopConfiguration()), where

    def exists(self, path: str) -> bool:
        """Tell whether there is anything at ``path``."""
        system, where = self._at(path)
        return bool(system.exists(where))

    def is_folder(self, path: str) -> bool:
        """Tell whether ``path`` is a folder."""
        system, where = self._at(path)
        return bool(system.exists(where) and system.getFileStatus(where).isDirectory())

    def names(self, path: str) -> list[str]:
        """Return the names of the files of a folder that hold data, or of the file itself."""
        system, where = self._at(path)
        names = [status.getPath().getName() for status in system.listStatus(where)]
        return sorted(name for name in names if not name.startswith(("_", ".")))

    def parent(self, path: str) -> str:
        """Return the folder that ``path`` lies in."""
        _, where = self._at(path)
        return str(where.getParent().toString())

    def name(self, path: str) -> str:
        """Return the last part of ``path``."""
        _, where = self._at(path)
        return str(where.getName())

    def real(self, path: str) -> str:
        """Return ``path`` in full, so that two names of one place are equal."""
        system, where = self._at(path)
        full = str(system.makeQualified(where).toString())
        local = full.removeprefix("file:")
        return f"file:{Path(local).resolve()}" if local != full else full

    def rename(self, source: str, target: str) -> None:
        """Give a folder or file its name; the target must not exist."""
        system, where = self._at(source)
        if not system.rename(where, self._at(target)[1]):
            raise OutputError(
                f"The finished release at {source} could not be renamed to {target}. Nothing was "
                "written; check that nobody else writes there."
            )

    def make_for_now(self, path: str) -> None:
        """Make a folder that Java deletes when it ends, should nobody have done so before.

        Java ends when this process does, however that ends: even kill -9 leaves nothing.
        """
        system, where = self._at(path)
        system.mkdirs(where)
        system.deleteOnExit(where)

    def delete(self, path: str) -> None:
        """Delete a folder or file with everything in it, if it is there."""
        system, where = self._at(path)
        system.delete(where, True)


@contextlib.contextmanager
def staging(spark: Any, settings: Spark) -> Iterator[str]:
    """Give a folder for what must be on a disk before it is checked; it is gone afterwards.

    It may hold originals, so on one machine nobody else may look into it.
    """
    files = Files(spark)
    local = str(spark.sparkContext.master).startswith("local")
    base = settings.staging
    if base is None and settings.out is not None:
        base = files.parent(settings.out)
    if base is None and not local:
        base = spark.sparkContext._jsc.sc().getCheckpointDir().getOrElse(None)
    if base is not None:
        folder = f"{base.rstrip('/')}/.shoal-{secrets.token_hex(6)}.part"
    elif local:
        folder = "file://" + tempfile.mkdtemp(prefix="shoal-")
    else:
        raise ParameterError(
            "On a cluster the Spark engine needs a folder that the driver and all executors can "
            "write to, and got none. Give Spark(staging='hdfs://...'), or set a checkpoint folder."
        )
    if local:
        with contextlib.suppress(OSError):  # there already, or not a folder of this machine
            Path(re.sub("^file:/+", "/", folder)).mkdir(mode=0o700)
    try:
        files.make_for_now(folder)
        yield folder
    finally:
        files.delete(folder)


def kept_folder(spark: Any) -> str:
    """Return a private folder that lives as long as this process."""
    folder = tempfile.mkdtemp(prefix="shoal-release-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    Files(spark).make_for_now(f"file://{folder}")
    return f"file://{folder}"


def format_of(spark: Any, path: str) -> str:
    """Tell from names whether a folder or file is Parquet or CSV."""
    files = Files(spark)
    if not files.exists(path):
        raise InputError(f"{path} does not exist. Check the name of the folder or file.")
    names = files.names(path)
    formats = {kind for name in names if (kind := ending(name)[1]) is not None}
    if len(formats) != 1:
        content = format_names(names) if names else "nothing"
        raise InputError(
            f"{path} holds {content}: Spark reads folders of Parquet or of CSV files (.parquet, "
            ".csv, .csv.gz, .tsv), one kind only."
        )
    return formats.pop()


def ending(name: str) -> tuple[str, str | None]:
    """Return the ending of a name that tells its format, and the format."""
    for suffix, kind in ENDINGS.items():
        if name.lower().endswith(suffix):
            return suffix, kind
    return "", None


def read(spark: Any, path: str, delimiter: str | None) -> tuple[Any, str]:
    """Read a folder or file; return the frame and its format. CSV comes as texts."""
    kind = format_of(spark, path)
    try:
        if kind == "parquet":
            return spark.read.parquet(path), kind
        return _read_csv(spark, path, delimiter), kind
    except InputError:
        raise
    except Exception as fault:  # Spark's own classes differ from version to version
        raise InputError(f"{path} cannot be read as {kind}: {first_line(fault)}") from fault


def _read_csv(spark: Any, path: str, delimiter: str | None) -> Any:
    head = "\n".join(row[0] for row in spark.read.text(path).head(50))
    separator = delimiter or sniff(head.encode())
    reader = spark.read.options(**_csv_options(separator), multiLine=True, mode="FAILFAST")
    # Names are read as a row: Spark itself would number names that stand twice.
    first = reader.options(header=False, inferSchema=False).csv(path).head(1)
    if not first:
        raise InputError(
            f"{path} is empty. A table needs a line of column names and at least one row."
        )
    names = [str(cell or "").removeprefix("\ufeff") for cell in first[0]]
    check_twice(names, path)
    fields = ", ".join(f"`{name.replace('`', '``')}` string" for name in names)
    return reader.options(header=True, enforceSchema=False).schema(fields).csv(path)


def _csv_options(separator: str) -> dict[str, Any]:
    return {
        "sep": separator,
        "quote": '"',
        "escape": '"',  # a quote in a quoted cell stands twice, as everywhere but in Spark
        "nullValue": "",
        "emptyValue": "",
        "ignoreLeadingWhiteSpace": False,
        "ignoreTrailingWhiteSpace": False,
    }


def write(frame: Any, path: str, kind: str, name: str = "") -> None:
    """Write a frame as a folder of Parquet or CSV files. CSV cells must be texts."""
    writer = frame.write.mode("errorifexists")
    if kind == "parquet":
        writer.parquet(path)
        return
    packed = {"compression": "gzip"} if name.lower().endswith(".gz") else {}
    separator = "\t" if name.lower().endswith(".tsv") else ","
    writer.options(**_csv_options(separator), header=True, **packed).csv(path)


def read_back(spark: Any, path: str, kind: str, name: str, schema: Any) -> Any:
    """Read what :func:`write` wrote, CSV as texts. The schema is known: it is not looked for."""
    if kind == "parquet":
        return spark.read.schema(schema).parquet(path)
    separator = "\t" if name.lower().endswith(".tsv") else ","
    options = _csv_options(separator) | {"multiLine": True, "mode": "FAILFAST", "header": True}
    return spark.read.options(**options, enforceSchema=True).schema(schema).csv(path)


def check_out(spark: Any, settings: Spark, source: str | None) -> None:
    """Say before any work why a release may not be written at ``settings.out``."""
    if settings.out is None:
        return
    files, out = Files(spark), settings.out
    name = files.name(out)
    if "." in name and ending(name)[1] is None and Path(name).suffix in (".arrow", ".feather"):
        raise OutputError(
            f"Spark cannot write {name}. Let the name of one file end in one of "
            f"{', '.join(ENDINGS)}; a name without an ending becomes a folder."
        )
    if source is not None:
        here, there = files.real(out), files.real(source)
        if here == there or here.startswith(f"{there}/") or there.startswith(f"{here}/"):
            raise OutputError(
                f"The output {out} is, or lies in or around, the input {source}. Shoal never "
                "writes over the data it reads: choose another place."
            )
    if files.exists(out) and not settings.force:
        raise OutputError(
            f"The output {out} already exists. Choose another name, or allow it to be replaced "
            "with --force (force=True)."
        )
    if not files.is_folder(files.parent(out)):
        raise OutputError(
            f"Cannot write {out}: the folder {files.parent(out)} does not exist. Create it first."
        )


def move_into_place(files: Files, folder: str, out: str, *, force: bool) -> None:
    """Give a complete release its name: the folder as it is, or the one file in it.

    What had the name before is put aside first, and has it again if that fails.
    """
    old = ""
    if files.exists(out):
        if not force:
            raise OutputError(
                f"The output {out} appeared while it was being made; it was left alone. "
                "Choose another name, or allow it to be replaced with --force (force=True)."
            )
        old = f"{files.parent(out)}/.{files.name(out)[:100]}.{secrets.token_hex(4)}.old"
        files.rename(out, old)
    try:
        made = folder
        if ending(files.name(out))[1] is not None:
            (piece,) = files.names(folder)
            made = f"{folder}/{piece}"
        files.rename(made, out)
    except BaseException:
        if old:
            files.rename(old, out)
        raise
    if made != folder:  # Hadoop's checksum of one file is of no use to anybody else
        files.delete(f"{files.parent(out)}/.{files.name(out)}.crc")
    if old:
        files.delete(f"{out}{SUFFIX}")  # it describes the old one
        files.delete(old)

"""Write tables to files and databases: all of them or none."""

from __future__ import annotations

import contextlib
import gzip
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, cast

import polars as pl

from shoal.base.atomic import Batch, Pathlike, atomic_files
from shoal.base.errors import NotVerified, OutputError
from shoal.catalog.extensions import require
from shoal.tables.files import STATISTICS_WRITTEN, TEXT_FORMATS, check_output_format, second_path
from shoal.tables.native import from_native
from shoal.tables.set_cells import SETS, to_json
from shoal.tables.source import Source, parse_place, parse_target, side_table
from shoal.tables.spreadsheet import TEXTS, quote, unquote


def write_table(
    frame: Any,
    path: Pathlike,
    force: bool = False,
    inputs: Sequence[Pathlike] = (),
    *,
    into: str | None = None,
    csv_safe: bool = False,
) -> None:
    """Write ``frame`` whole or not at all, in the format that the name's ending says.

    Parameters
    ----------
    frame
        A polars, pandas or pyarrow frame.
    path
        The file, or the address of a database.
    into
        The table of that database, unless the address names it: ``sqlite:x.db#release``.
    force
        Replace an existing file.
    inputs
        The files that the table came from, which are never written over.
    csv_safe
        Put an apostrophe before the texts of a CSV file that a spreadsheet would run as formulas.
    """
    table = frame if isinstance(frame, pl.DataFrame) else from_native(frame)
    write_release({"release": table}, path, force, inputs, into=into, csv_safe=csv_safe)


def write_release(
    tables: Mapping[str, pl.DataFrame],
    path: Pathlike,
    force: bool = False,
    inputs: Sequence[Pathlike] = (),
    *,
    into: str | None = None,
    csv_safe: bool = False,
) -> None:
    """Write the tables of a release, all of them or none: the second one next to the first."""
    with write_tables(output_places(path, tables, into), tables, force, inputs, csv_safe=csv_safe):
        pass


@contextlib.contextmanager
def write_tables(
    goals: Mapping[str, Path | Source],
    tables: Mapping[str, pl.DataFrame],
    force: bool,
    inputs: Sequence[Pathlike],
    *,
    csv_safe: bool,
) -> Iterator[Batch]:
    """Write tables where they go; the block adds files to them, all get their names together.

    If it goes wrong, nothing new is left; a file that was replaced with ``force`` is gone.
    """
    sources = {goal: tables[name] for name, goal in goals.items() if isinstance(goal, Source)}
    with atomic_files() as files, contextlib.ExitStack() as stack:
        if sources:
            require("databases")
            from shoal.ext.databases.writing import written

            used = [parse_place(source) for source in inputs]
            stack.enter_context(written(sources, force=force, inputs=used))
        # The release comes last: it is not there before its second table.
        for name, goal in reversed(list(goals.items())):
            if isinstance(goal, Path):
                _stage(files, goal, tables[name], force, inputs, csv_safe=csv_safe)
        yield files
        files.publish()


def output_places(
    path: Pathlike, names: Iterable[str], into: str | None = None
) -> Mapping[str, Path | Source]:
    """Return where every table of a release goes: the second one next to the first."""
    goal = path if isinstance(path, Source) else parse_target(path, into)
    second = [name for name in names if name != "release"]
    if isinstance(goal, Source):
        return {"release": goal} | {name: side_table(goal, name) for name in second}
    return {"release": goal} | {name: second_path(goal, name) for name in second}


def _stage(
    files: Batch,
    path: Path,
    frame: pl.DataFrame,
    force: bool,
    inputs: Sequence[Pathlike],
    *,
    csv_safe: bool,
) -> None:
    """Write a table into a file that gets its name later."""
    suffix = check_output_format(path)
    with files.open(path, force=force, inputs=inputs) as stream:
        try:
            _write(frame, stream, suffix, csv_safe=csv_safe)
        except pl.exceptions.PolarsError as fault:
            raise OutputError(
                f"Cannot write {path} as {suffix}: {fault}. Nothing was written; "
                "try another format, for instance .parquet."
            ) from fault


def _write(frame: pl.DataFrame, stream: IO[bytes], suffix: str, *, csv_safe: bool) -> None:
    if suffix in (*TEXT_FORMATS, ".xlsx", *STATISTICS_WRITTEN):
        # These files have no lists: a set of values is written as a JSON list.
        frame = frame.with_columns(to_json(s) for s in frame if s.dtype == SETS)
    if suffix in TEXT_FORMATS and csv_safe:
        frame = _harmless(frame)
    if suffix == ".csv.gz":
        # No name and no time inside, so that equal tables make equal files.
        with gzip.GzipFile("", "wb", compresslevel=4, fileobj=stream, mtime=0) as packed:
            frame.write_csv(cast(IO[bytes], packed))
    elif suffix in (".csv", ".tsv"):
        frame.write_csv(stream, separator="\t" if suffix == ".tsv" else ",")
    elif suffix == ".parquet":
        frame.write_parquet(stream)
    elif suffix == ".xlsx":
        require("exchange")
        from shoal.ext.exchange.workbooks import write_workbook

        write_workbook(frame, stream)
    elif suffix in STATISTICS_WRITTEN:
        require("exchange")
        from shoal.ext.exchange.statistics import write_statistics

        write_statistics(frame, stream, suffix)
    else:
        # As plain texts: not every reader knows views, least of all in lists.
        frame.write_ipc(
            stream,
            compression="lz4" if suffix == ".feather" else "uncompressed",
            compat_level=pl.CompatLevel.oldest(),
        )


def to_csv(frame: pl.DataFrame, *, csv_safe: bool = False) -> bytes:
    """Return the bytes of a CSV file."""
    stream = io.BytesIO()
    _write(frame, stream, ".csv", csv_safe=csv_safe)
    return stream.getvalue()


def _harmless(frame: pl.DataFrame) -> pl.DataFrame:
    """Quote what a spreadsheet would run, and check that a reader gets back what was published."""
    quoted = quote(frame)
    texts = frame.with_columns(s.cast(pl.String) for s in frame if s.dtype in TEXTS)
    if not unquote(quoted).equals(texts):
        raise NotVerified(
            "Nothing was written: the texts that --csv-safe (csv_safe) quotes would not be read "
            "back as they are published. This is a fault in Shoal: please report it."
        )
    return quoted

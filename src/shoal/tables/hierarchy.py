"""Read, write and check hierarchy files.

The format is ARX's: one row per value, the value first, ever wider labels after it, the top last.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from pathlib import Path

from shoal.base.atomic import atomic_file
from shoal.base.errors import InputError, SchemaError, format_names, suggest_nearest
from shoal.tables.domain import Taxonomy

_DELIMITERS = (";", ",", "\t")


def read_hierarchy(path: Path | str, column: str) -> Taxonomy:
    """Read an ARX hierarchy file for ``column``.

    The delimiter (``;``, ``,`` or tab) is found out, fields may be quoted. A row whose value is
    the top label itself describes missing values and is skipped: missing has its own place.
    """
    path = Path(path)
    text = _text(path, column)
    rows = _rows(text, path, column)
    # A blank or top-labelled value stands for "missing", which every domain has beside its leaves.
    known = [row for row in rows if len(row) == 1 or (row[0] != row[-1] and row[0].strip())]
    try:
        return Taxonomy.from_rows(known, column)
    except SchemaError as fault:
        raise SchemaError([f"{text} (file {path})" for text in fault.faults]) from None


def _text(path: Path, column: str) -> str:
    if not path.is_file():
        raise InputError(
            f"The hierarchy file {path} of column {column!r} does not exist. Check the name."
        )
    try:
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise InputError(
            f"The hierarchy file {path} of column {column!r} is not UTF-8 (byte {fault.start}). "
            "Save it as UTF-8, for instance: iconv -f latin1 -t utf-8."
        ) from None
    except OSError as fault:
        raise InputError(
            f"The hierarchy file {path} of column {column!r} cannot be read: {fault.strerror}."
        ) from None


def _rows(text: str, path: Path, column: str) -> list[list[str]]:
    if not text.strip():
        raise SchemaError(
            f"The hierarchy of column {column!r} is empty: it needs one row per value, the value "
            f"first, the top last (file {path})."
        )
    rows = _parse(text, _sniff(text))
    for number, row in enumerate(rows, 1):
        if len(row) > 1 and any(not label.strip() for label in row[1:]):
            raise SchemaError(
                f"The hierarchy of column {column!r} has an empty label in row {number}. "
                "Give every group a name; repeat a label to fill up "
                f"(file {path})."
            )
    return rows


def _parse(text: str, delimiter: str) -> list[list[str]]:
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        return [row for row in rows if row]
    except csv.Error:  # the longest text that the reader takes: no label is as long
        raise SchemaError(
            f"A hierarchy has a label of more than {csv.field_size_limit():,} characters in line "
            f"{rows.line_num + 1}, or a quote there that is never closed. Check the quotes."
        ) from None


def _sniff(text: str) -> str:
    """Find the delimiter: the one that cuts every row into the same number of labels."""
    head = "\n".join(text.splitlines()[:200])
    best, score = _DELIMITERS[0], (-1.0, False)
    for delimiter in _DELIMITERS:
        counts = [len(row) for row in _parse(head, delimiter)]
        cut = sum(count > 1 for count in counts) / max(len(counts), 1)
        this = (cut, len(set(counts)) == 1)
        if cut and this > score:
            best, score = delimiter, this
    return best


def write_hierarchy(
    taxonomy: Taxonomy, path: Path | str, *, delimiter: str = ";", force: bool = False
) -> None:
    """Write ``taxonomy`` as an ARX file, one row per leaf; over an old one only by ``force``."""
    columns = [[taxonomy.labels[node] for node in level] for level in taxonomy.levels.tolist()]
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(zip(*columns, strict=True))
    with atomic_file(path, force=force) as stream:
        stream.write(text.getvalue().encode())


def hierarchy_files(directory: Path) -> list[Path]:
    """Return the files of a folder that may be hierarchies."""
    return sorted(p for p in directory.iterdir() if p.suffix.lower() == ".csv" and p.is_file())


def read_directory(directory: Path | str, columns: Iterable[str]) -> dict[str, Taxonomy]:
    """Read the hierarchies of ``columns`` that a directory holds.

    A column's file is ``COLUMN.csv`` or ``NAME_hierarchy_COLUMN.csv``;
    columns without a file are left out of the answer, files of other columns are not read. All
    faults are reported at once.
    """
    directory = Path(directory)
    if not directory.is_dir():
        raise InputError(
            f"The hierarchy directory {directory} does not exist or is not a directory. "
            "Give a directory of files COLUMN.csv."
        )
    columns = list(columns)
    files = hierarchy_files(directory)
    taxonomies: dict[str, Taxonomy] = {}
    faults: list[str] = []
    matched = False
    for column in columns:
        mine = [p for p in files if p.stem == column or p.stem.endswith(f"_hierarchy_{column}")]
        exact = [p for p in mine if p.stem == column]
        matched = matched or bool(mine)
        if len(mine) > 1 and len(exact) != 1:
            faults.append(
                f"Column {column!r} has {len(mine)} hierarchy files in {directory}: "
                f"{format_names(p.name for p in mine)}. Keep one of them."
            )
            continue
        for path in (exact or mine)[:1]:
            try:
                taxonomies[column] = read_hierarchy(path, column)
            except SchemaError as fault:
                faults.extend(fault.faults)
            except InputError as fault:
                faults.append(str(fault))
    if columns and not matched:
        stems = [p.stem.rpartition("_hierarchy_")[2] for p in files]
        hint = next((h for column in columns if (h := suggest_nearest(column, stems))), "")
        faults.append(
            f"The directory {directory} has no hierarchy for any of the columns "
            f"{format_names(columns)}; its files are {format_names(p.name for p in files)}.{hint} "
            "Name a column's file COLUMN.csv."
        )
    if faults:
        raise SchemaError(faults)
    return taxonomies


def uncovered(taxonomy: Taxonomy, counts: Mapping[str, int], column: str) -> str | None:
    """Say which values of ``column`` have no leaf and how many rows hold them; None if all have.

    Parameters
    ----------
    counts
        How many rows hold each known value, by the text of the value.
    """
    leaves = set(taxonomy.values)
    lacking = {value: count for value, count in counts.items() if value not in leaves}
    if not lacking:
        return None
    worst = sorted(lacking.items(), key=lambda item: (-item[1], item[0]))
    shown = ", ".join(f"{value!r} ({_rows_text(count)})" for value, count in worst[:5])
    more = f", and {len(worst) - 5} more" if len(worst) > 5 else ""
    first = worst[0][0]
    rows = sum(lacking.values())
    noun = "value that is" if len(worst) == 1 else "values that are"
    return (
        f"The hierarchy of column {column!r} lacks {len(worst):,} {noun} in {_rows_text(rows)}: "
        f"{shown}{more}.{_why(first, leaves)} Add a row for each value to the hierarchy, or list "
        "it as missing if it means that."
    )


def check_cover(taxonomy: Taxonomy, counts: Mapping[str, int], column: str) -> None:
    """Raise a SchemaError when a value of ``column`` has no leaf; see :func:`uncovered`."""
    fault = uncovered(taxonomy, counts, column)
    if fault:
        raise SchemaError(fault)


def _rows_text(count: int) -> str:
    return f"{count:,} row" if count == 1 else f"{count:,} rows"


def _why(value: str, leaves: set[str]) -> str:
    """Guess why a value has no leaf: spaces, another spelling."""
    if value != value.strip() and value.strip() in leaves:
        return f" The hierarchy has {value.strip()!r} without the spaces around it."
    if len(leaves) > 2000:  # looking for a near name would take longer than it is worth
        return ""
    return suggest_nearest(value, leaves)

"""The table of a plan that says which data it is about and how its file is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from shoal.plan.setting import Part, Setting, missing_texts

ENCODINGS = ["cp1252", "latin1", "cp1250", "mac_roman", "utf-16", "shift_jis", "detect"]
Dates = Literal["d.m.y", "d/m/y", "m/d/y", "d-m-y", "m-d-y", "y/m/d", "y.m.d", "off"]


def _of_files(meaning: str, takes: str, *kinds: str, offers: Sequence[str] = ()) -> Setting:
    """Declare how files of some kinds are read."""
    return Setting(meaning, takes, group="Input", rare=True, files=kinds, offers=offers)


class DataPart(Part):
    """Which table (when a call names none) and how it is read."""

    source: Annotated[
        str | None, Setting("The table, unless the command names one.", flag=None)
    ] = None
    table: Annotated[str | None, Setting("Table of a database.", flag=None)] = None
    query: Annotated[str | None, Setting("Query of a database.", flag=None)] = None
    missing: Annotated[
        tuple[str, ...],
        Setting(
            "Text that means missing, such as '?'; may be repeated.",
            "TEXT",
            group="Input",
            read=missing_texts,
            in_file="texts that mean missing; the empty text always does",
        ),
    ] = ("",)
    delimiter: Annotated[
        str | None, _of_files("CSV delimiter, if the guess is wrong.", "CHAR", "text")
    ] = None
    encoding: Annotated[
        str | None,
        _of_files(
            "Encoding of text files other than UTF-8: cp1252, utf-16, ...; detect: guess it.",
            "NAME",
            "text",
            "statistics",
            offers=ENCODINGS,
        ),
    ] = None
    dates: Annotated[
        Dates | None,
        _of_files(
            "Form of dates in text files: d.m.y, d/m/y, m/d/y, ...; off: read them as text.",
            "FORM",
            "text",
        ),
    ] = None
    decimal: Annotated[
        Literal["point", "comma"] | None,
        _of_files("Decimal sign in text files: comma or point.", "WORD", "text"),
    ] = None
    sheet: Annotated[str | None, _of_files("Sheet of an Excel file.", "NAME", "workbook")] = None
    hidden: Annotated[
        Literal["include", "skip"] | None,
        _of_files(
            "Hidden rows, columns and sheets of an Excel file: include or skip; without this "
            "option a file with hidden parts is refused.",
            "WORD",
            "workbook",
        ),
    ] = None
    labels: Annotated[
        Literal["texts", "codes"] | None,
        _of_files(
            "Values of Stata, SPSS and SAS files: texts (default) or codes.", "WORD", "statistics"
        ),
    ] = None
    hierarchies: Annotated[
        str | None, Setting("Folder of COLUMN.csv hierarchies (ARX format).", "DIR")
    ] = None
    history: Annotated[
        str | None,
        Setting("Folder with the history of earlier releases of the same people.", flag=None),
    ] = None

    @property
    def released(self) -> DataPart:
        """How a release of the table is read: only empty means missing, and texts stay texts."""
        kept = ("encoding", "sheet", "hidden", "labels")
        return DataPart(**{name: getattr(self, name) for name in kept})

"""Rows, columns and sheets of a workbook that nobody sees: found, named, and left out or read."""

from __future__ import annotations

import io
import re
import zipfile
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

from shoal.base.errors import InputError, format_names

_BLOCK = 1 << 20
_SHOWN = 5
# Cheap to look for: a sheet without any of these hides nothing. A value may have spaces around it,
# and its signs may be written by their numbers.
_SIGNS = re.compile(
    rb"\b(?:hidden|zeroHeight)\s*=\s*[\"'](?!(?:0|false)[\"'])|"
    rb"\b(?:ht|width|defaultRowHeight|defaultColWidth)\s*=\s*[\"'](?:0*\.\d*[\"']|0+[\"']|[^\"']*[eE&\s-])"
)
_HEIGHT, _WIDTH = 1.0, 0.5
"""Points and characters below which nobody sees a row or a column."""

_ROW = re.compile(rb"<((?:\w+:)?row)\b[^>]*?(?:/>|>.*?</\1>)", re.DOTALL)


@dataclass(frozen=True)
class HiddenParts:
    """What of a sheet is hidden, by the numbers that Excel shows.

    ``corner``: the leftmost column that holds anything. ``places``: which row elements of the sheet
    are hidden. ``top``, ``bottom``, ``left``, ``right``: where the cells of all others lie.
    ``filtered``: a filter may hide rows. ``sheet``: it is hidden itself.
    """

    rows: tuple[int, ...] = ()
    columns: tuple[int, ...] = ()
    corner: int = 1
    places: frozenset[int] = frozenset()
    top: int = 0
    bottom: int = 0
    left: int = 0
    right: int = 0
    filtered: bool = False
    sheet: bool = False

    def __bool__(self) -> bool:
        return bool(self.rows or self.columns or self.sheet)

    @property
    def header(self) -> bool:
        """Whether the first row that holds anything is hidden: the names stand there."""
        return bool(self.rows and self.top and self.rows[0] < self.top)

    @property
    def everything(self) -> bool:
        """Whether nothing is left to be seen."""
        seen = set(range(self.left, self.right + 1)) - set(self.columns)
        return not self.top or not seen

    def without_rows(self, raw: bytes, member: str) -> bytes:
        """Return the workbook with its hidden rows empty, so that types are those of the others."""
        made = io.BytesIO()
        numbers = dict(zip(sorted(self.places), self.rows, strict=True))
        place = count()

        def emptied(match: re.Match[bytes]) -> bytes:
            number = numbers.get(next(place))
            return match[0] if number is None else b'<%s r="%d"/>' % (match[1], number)

        with zipfile.ZipFile(io.BytesIO(raw)) as box, zipfile.ZipFile(made, "w") as other:
            for part in box.namelist():
                content = box.read(part)
                other.writestr(part, _ROW.sub(emptied, content) if part == member else content)
        return made.getvalue()

    def left_over(self, shape: tuple[int, int], path: Path) -> tuple[list[int], list[int]]:
        """Return which rows and columns of a grid without hidden rows are to be read."""
        if shape != (self.bottom - self.top + 1, self.right - self.left + 1):
            raise InputError(
                f"Shoal cannot tell which rows and columns of {path} are hidden. Delete them in "
                "the workbook, or copy what you see into a new one."
            )
        rows, columns = (
            [at - first for at in range(first, last + 1) if at not in set(hidden)]
            for first, last, hidden in (
                (self.top, self.bottom, self.rows),
                (self.left, self.right, self.columns),
            )
        )
        return rows, columns

    def describe(self, names: list[str]) -> str:
        """Count and name what is hidden; ``names``: of the columns."""
        said = ["the sheet itself"] if self.sheet else []
        if self.rows:
            more = f" and {len(self.rows) - _SHOWN:,} more" if len(self.rows) > _SHOWN else ""
            numbers = ", ".join(map(str, self.rows[:_SHOWN])) + more
            why = ", by a filter or by hand" if self.filtered else ""
            said.append(f"{_many(len(self.rows), 'row')} ({numbers}{why})")
        if self.columns:
            own = [names[column - self.corner] for column in self.columns]
            said.append(f"{_many(len(own), 'column')} ({format_names(own)})")
        return " and ".join(said)


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'s' * (count > 1)}"


def hidden_in(box: zipfile.ZipFile, member: str, *, sheet: bool) -> HiddenParts:
    """Say what of a sheet is hidden; ``sheet``: whether it is hidden itself."""
    with box.open(member) as stream:
        rest, found = b"", False
        while not found and (block := stream.read(_BLOCK)):
            found = _SIGNS.search(rest + block) is not None
            rest = block[-64:]
    if not found:
        return HiddenParts(sheet=sheet)
    with box.open(member) as stream:
        return _walked(stream, sheet)


def _walked(stream: Any, sheet: bool) -> HiddenParts:
    """Go through the cells of a sheet that hides something."""
    spans: list[tuple[int, int]] = []
    hidden: dict[int, int] = {}
    used: set[int] = set()
    seen: set[int] = set()
    shown: list[tuple[int, int]] = []
    place, number, top, bottom, filtered, low, narrow = -1, 0, 0, 0, False, False, False
    for _, part in Xml.iterparse(stream):  # noqa: S314 -- expat bounds entities
        tag = _name(part)
        if tag == "sheetFormatPr":
            zero = _true(part, "zeroHeight")
            low = zero or _below(part, "defaultRowHeight", _HEIGHT)
            narrow = _below(part, "defaultColWidth", _WIDTH)
        elif tag == "col":
            span = (int(part.get("min", "1")), int(part.get("max", "16384")))
            thin = narrow if part.get("width") is None else _below(part, "width", _WIDTH)
            (spans if thin or _true(part, "hidden") else shown).append(span)
        elif tag in ("autoFilter", "tablePart"):
            filtered = True
        elif tag == "row":
            place, number = place + 1, int(part.get("r", number + 1))
            own = _filled(part)
            used |= own
            if own and _row_hidden(part, low=low):
                hidden[place] = number
            elif own:
                seen |= own
                top, bottom = top or number, number
            part.clear()
    return HiddenParts(
        tuple(hidden.values()),
        tuple(
            at for at in sorted(used) if _within(at, spans) or (narrow and not _within(at, shown))
        ),
        min(used, default=1),
        frozenset(hidden),
        top,
        bottom,
        min(seen, default=0),
        max(seen, default=0),
        filtered,
        sheet,
    )


def _row_hidden(row: Xml.Element, *, low: bool) -> bool:
    """Tell whether nobody sees a row; ``low``: nobody sees one that says nothing of itself."""
    if _true(row, "hidden"):
        return True
    if row.get("ht") is None:
        return low and row.get("hidden") is None
    return _below(row, "ht", _HEIGHT)


def _name(part: Xml.Element) -> str:
    """Return a tag without its namespace: strict workbooks have another one."""
    return part.tag.rpartition("}")[2]


def _true(part: Xml.Element, word: str) -> bool:
    return part.get(word, "").strip() in ("1", "true")


def _below(part: Xml.Element, size: str, least: float) -> bool:
    return float(part.get(size, least)) < least


def _within(at: int, spans: list[tuple[int, int]]) -> bool:
    return any(first <= at <= last for first, last in spans)


def _filled(row: Xml.Element) -> set[int]:
    """Return the numbers of the columns in which a row holds something."""
    at, filled = 0, set()
    for cell in row.iterfind("{*}c"):
        letters = re.match("[A-Z]+", cell.get("r", ""))
        at = _number(letters[0]) if letters else at + 1
        if any(_name(own) in ("v", "is") for own in cell):
            filled.add(at)
    return filled


def _number(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number

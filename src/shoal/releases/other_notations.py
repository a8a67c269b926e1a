"""Convert cells written by other tools into Shoal's notation.

What a cell means is decided beside the values that a column can have: a text that is one of them is
exact, whatever it looks like, and so nothing in a release of our own is ever read differently.
Only what covers values is translated; a cell of no notation that is known here stays as it is.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import Any

import numpy as np
import polars as pl

from shoal.base.errors import InputError, ParameterError, SchemaError, format_names, warn
from shoal.base.roles import Kind
from shoal.releases import notation
from shoal.releases.opened import Opened
from shoal.tables.cells import as_text
from shoal.tables.domain import STAR
from shoal.tables.schema import guess_kind, plain, unknown_column

GAPS = ("NULL", "(null)", "null", "NA", "<NA>")
"""What tools write where a value is missing or was taken away."""
EXACT = "exact"
_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|inf|∞)"
_DAY = r"\d{4}-\d\d-\d\d"
_FORMS = (
    r"(?P<left>[\[\](])\s*(?P<lo>{end})\s*[,;-]\s*(?P<hi>{end})\s*(?P<right>[\])\[])",
    r"(?P<lo>{end})\s*[-–]\s*(?P<hi>{end})",
    r"(?P<left>>=?|≥)\s*(?P<lo>{end})",
    r"(?P<lo>{end})\s*\+",
    r"(?P<right><=?|≤)\s*(?P<hi>{end})",
)
"""Intervals in the wild; ``( ] >`` and ``) [ <`` leave their end out."""


def interpret_with_original(opened: Opened, original: pl.DataFrame) -> Opened:
    """Return a release with the cells of other tools in our notation, and say what they mean."""
    if opened.shape.exact:
        return opened
    spellings = dict(opened.spellings)
    for name in opened.quasi:
        both = [frame[name] for frame in (opened.frame, original) if name in frame.columns]
        if len(both) < 2 or not all(plain(column.dtype) for column in both):
            continue
        raw = as_text(opened.frame[name]).drop_nulls().unique().sort()
        before = dict(opened.spellings.get(name, {}))
        cells = [before.get(cell, cell) for cell in raw]
        ours, lost = _column(opened, name, original[name], cells)
        if ours:
            spellings[name] = {
                cell: ours.get(mid, mid) for cell, mid in zip(raw, cells, strict=True)
            }
        _say(name, ours, lost)
    return replace(opened, spellings=spellings)


def interpret_as_declared(opened: Opened, notations: Mapping[str, str]) -> Opened:
    """Return a release whose cells are written as somebody says, by column."""
    spellings = dict(opened.spellings)
    for name, pattern in notations.items():
        if not opened.has(name):
            raise SchemaError(unknown_column(name, opened.frame.columns, "The release"))
        spellings[name] = _by_pattern(opened.frame[name], pattern)
    return replace(opened, spellings=spellings)


def _by_pattern(cells: pl.Series, pattern: str) -> dict[str, str]:
    """Read the cells of a column by a pattern such as ``LO to HI``, or take them for exact.

    An interval may lack one end; ``)`` or ``[`` after HI leaves it out, ``(`` or ``]`` before LO.
    """
    texts = as_text(cells).drop_nulls().unique().sort()
    if pattern == EXACT:
        return {cell: quoted for cell in texts if (quoted := _quoted(cell)) != cell}
    form = re.escape(pattern)
    for word in ("LO", "HI"):
        form = form.replace(word, f"(?P<{word.lower()}>.+?)", 1)
    compiled = re.compile(form)
    matches = {cell: met.groupdict() for cell in texts if (met := compiled.fullmatch(cell))}
    if not compiled.groupindex or not matches:
        raise ParameterError(
            f"The notation {pattern!r} of column {cells.name!r} fits none of its cells, such as "
            f"{format_names(texts, 3)}. Write LO and HI where the ends of an interval stand, as in "
            f"'LO to HI', or {EXACT!r} for cells that are values as they are."
        )
    left = "(" if re.search(r"[(\]]\s*LO", pattern) else "["
    right = ")" if re.search(r"HI\s*[)\[]", pattern) else "]"
    return {
        cell: f"{left}{ends.get('lo', '-inf')}, {ends.get('hi', 'inf')}{right}"
        for cell, ends in matches.items()
    }


def _quoted(cell: str) -> str:
    return str(notation.exact(pl.Series([cell]))[0])


def _say(name: str, ours: Mapping[str, str], lost: Sequence[str]) -> None:
    """Say what cells were taken for, an example of each kind, and which were not understood."""
    if ours:
        forms: dict[str, str] = {}
        for cell in ours:
            forms.setdefault(re.sub(r"[\w.]+", "a", cell), cell)
        told = ", ".join(f"{cell!r} for {ours[cell]}" for cell in list(forms.values())[:5])
        warn(
            f"Column {name!r}: {len(ours):,} different cells are written as other tools do, and "
            f"were taken for what they cover of the original: {told}. If that is wrong, say how "
            f"they are written with --notation '{name}=LO to HI', or '{name}={EXACT}'.",
        )
    if lost:
        warn(
            f"Column {name!r}: {len(lost):,} different cells are in no notation that is known, "
            f"such as {format_names(lost, 3)}. Say how they are written with --notation "
            f"'{name}=LO to HI', LO and HI standing for the ends.",
        )


def _column(
    opened: Opened, name: str, source: pl.Series, cells: Sequence[str]
) -> tuple[dict[str, str], list[str]]:
    """Return the cells of a column that are not ours in our notation, and those of no notation."""
    column = opened.column(name)
    known = column.clean(source).drop_nulls().unique().sort()
    tree = opened.taxonomies.get(name) if column.kind in (None, Kind.TAXONOMY) else None
    kind = column.kind or (Kind.ORDERED if column.order else guess_kind(known, tree is not None)[0])
    texts = as_text(known) if tree is None else pl.Series(tree.labels, dtype=pl.String)
    values = {STAR, *texts}
    read = _reader(known.dtype) if kind is Kind.ORDERED else None
    settings = opened.plan.columns.get(name)
    coded = settings is not None and (settings.top is not None or settings.bottom is not None)
    ours: dict[str, str] = {}
    lost = []
    for cell in cells:
        if kind is Kind.SET and cell in values and cell.startswith("["):
            ours[cell] = _quoted(cell)  # we quote such a text
            continue
        own = coded and len(notation.read(cell, known.dtype).parts) > 1
        if own or cell in values or _is_ours(cell, known.dtype if read else pl.String(), read):
            continue
        text = None
        if cell in GAPS or not cell.strip(STAR):
            text = STAR
        elif read is not None:
            text = _interval(cell, known, texts, read)
        elif kind is Kind.SET:
            text = _set(cell, texts)
        if text is not None:
            ours[cell] = text
        elif read is not None:
            lost.append(cell)
    return ours, lost


def _reader(dtype: pl.DataType) -> Callable[[str], Any] | None:
    """Return what reads a value of an ordered column, None for texts, which have no forms here."""
    if dtype.is_numeric():
        return lambda text: float(text.replace("∞", "inf"))
    if dtype == pl.Date:
        return date.fromisoformat
    moments = isinstance(dtype, pl.Datetime) and dtype.time_zone is None
    return datetime.fromisoformat if moments else None


def _is_ours(cell: str, dtype: pl.DataType, read: Callable[[str], Any] | None) -> bool:
    """Tell whether a cell is in our notation, or a value that is spelled in another way."""
    if cell[:1] not in ("[", "{"):
        return cell[:1] == '"' or (read is not None and _value(cell, read) is not None)
    try:
        return len(notation.read(cell, dtype).parts) > 1
    except InputError:
        return False


def _value(text: str, read: Callable[[str], Any]) -> Any:
    try:
        return read(text)
    except ValueError:
        return None


def _interval(
    cell: str, known: pl.Series, texts: pl.Series, read: Callable[[str], Any]
) -> str | None:
    """Return the interval of known values that a cell means."""
    end = _NUMBER if known.dtype.is_numeric() else rf"{_DAY}(?:[ T][\d:.]+)?"
    ordered = known.to_list()
    for form in _FORMS:
        if (met := re.fullmatch(form.format(end=end), cell)) is None:
            continue
        ends = met.groupdict()
        first, last = 0, len(ordered) - 1
        if "lo" in ends:
            cut = bisect_right if ends.get("left") in ("(", "]", ">") else bisect_left
            first = cut(ordered, read(ends["lo"]))
        if "hi" in ends:
            cut = bisect_left if ends.get("right") in (")", "[", "<") else bisect_right
            last = cut(ordered, read(ends["hi"])) - 1
        return _between(texts, first, last)
    at = _masked(cell, texts)
    whole = len(at) and at[-1] - at[0] + 1 == len(at)
    return _between(texts, at[0], at[-1]) if whole else None


def _between(texts: pl.Series, first: int, last: int) -> str | None:
    if first > last:
        return None
    return str(texts[first]) if first == last else f"[{texts[first]}-{texts[last]}]"


def _set(cell: str, texts: pl.Series) -> str | None:
    """Return the set of known values that a cell means: masked ones, or those that it lists."""
    at = _masked(cell, texts)
    if not at:
        bare = cell[1:-1] if cell.startswith("{") and cell.endswith("}") else cell
        elements = [element.strip() for element in re.split("[,;|]", bare)]
        position = {text: number for number, text in enumerate(texts)}
        if len(elements) < 2 or not all(element in position for element in elements):
            return None
        at = sorted({position[element] for element in elements})
    if len(at) == 1:
        return _quoted(texts[at[0]])
    return str(notation.sets(texts.to_list(), np.array([0, len(at)]), np.array(at))[0])


def _masked(cell: str, texts: pl.Series) -> list[int]:
    """Return the known values of which some characters are hidden by ``*``."""
    if STAR not in cell:
        return []
    hidden = "".join("." if sign == STAR else re.escape(sign) for sign in cell)
    fits = texts.str.contains(f"^{hidden}$")
    if not fits.any() and cell.find(STAR) == len(cell) - 1:  # one star for all that follows
        fits = texts.str.starts_with(cell[:-1])
    return fits.arg_true().to_list()

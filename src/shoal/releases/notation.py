"""How a generalized cell is written, and how it is read back without doubt.

============== ==================== =====================================================
cell           written              note
============== ==================== =====================================================
exact value    ``39``, ``Haiti``    as it is
interval       ``[20-39]``          both ends included; numbers, dates, ranks
from, up to    ``90+``, ``<=18``    open at an end: top and bottom coded numbers
set            ``{Haiti, Peru}``    in the order of the domain
anything       ``*``                what a missing value is published as
============== ==================== =====================================================

A text of the data that itself looks like one of these (it starts with ``*``, ``[``, ``{`` or ``"``)
is written as a JSON string, and so is an element that holds a separator. So two different
generalized values of a column are never written alike. The labels of a taxonomy are published as
its file has them, the top's too: there the file says what a label means, and ``*`` is a missing
value unless the top itself is called so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.base.errors import InputError
from shoal.tables.cells import as_text
from shoal.tables.domain import STAR, Taxonomy

# A set that needs the full reader: quotes inside, or no set at all.
_QUOTED = r'(?s)^[\["]|^\{.*"'
_NUMBER = r"[+-]?(?:\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|inf)"
_FROM, _UP_TO = rf"^({_NUMBER})\+$", rf"^<=({_NUMBER})$"
UNBOUNDED = "[-inf-inf]"
"""A number that was coded at both ends: any, and not missing."""
_DATE = r"[+-]?\d{4,}-\d\d-\d\d"
_MOMENT = _DATE + r"(?: [^\]]*?)?"
# What marks a cell as notation when it comes first, and what parts the elements inside.
_OPENING = r'^[*\[{"]'
_IN_INTERVAL = r'["\[\]{}*\-]|^\s|\s$|^$'
_IN_SET = r'[,"{}]|^[*\[]|^\s|\s$|^$'


@dataclass(frozen=True)
class Cell:
    """A cell as read: ``form`` is ``"star"``, ``"exact"``, ``"interval"`` or ``"set"``.

    ``parts`` holds nothing, the value, the two ends, or the elements.
    """

    form: str
    parts: tuple[str, ...] = ()


# Writing


def exact(values: pl.Series) -> pl.Series:
    """Write exact values: as they are, quoted when they look like notation.

    Give all values of a column at once: how a float or a moment is said depends on its neighbours.
    """
    return _quote_where(as_text(values), _OPENING)


def intervals(
    low: pl.Series,
    lo: npt.NDArray[np.integer],
    hi: npt.NDArray[np.integer],
    high: pl.Series | None = None,
) -> pl.Series:
    """Write intervals between values of a column, given by their positions in ``low``.

    ``high``: where those at the upper end are found, if not there.
    """
    both = as_text(low if high is None else pl.concat([low, high]))
    if _between(low.dtype) is None:
        both = _quote_where(both, _IN_INTERVAL)
    frame = pl.DataFrame({"lo": both.gather(lo), "hi": both[-len(low) :].gather(hi)})
    parts = pl.lit("["), pl.col("lo"), pl.lit("-"), pl.col("hi"), pl.lit("]")
    return frame.select(pl.concat_str(parts)).to_series()


def from_on(low: pl.Series, lo: npt.NDArray[np.integer]) -> pl.Series:
    """Write numbers from some positions on."""
    return as_text(low).gather(lo) + "+"


def up_to(high: pl.Series, hi: npt.NDArray[np.integer]) -> pl.Series:
    """Write numbers up to some positions."""
    return "<=" + as_text(high).gather(hi)


def sets(
    values: Sequence[str], starts: npt.NDArray[np.integer], members: npt.NDArray[np.integer]
) -> pl.Series:
    """Write sets; set ``s`` has the values at positions ``members[starts[s]:starts[s + 1]]``."""
    elements = _quote_where(pl.Series(values, dtype=pl.String), _IN_SET)
    count = starts.size - 1
    listed = pl.DataFrame(
        {
            "set": np.repeat(np.arange(count), np.diff(starts)),
            "element": elements.gather(members.astype(np.int64)),
        }
    )
    joined = listed.group_by("set", maintain_order=True).agg(pl.col("element").str.join(", "))
    braced = pl.concat_str(pl.lit("{"), pl.col("element"), pl.lit("}"))
    return joined.select(braced).to_series()


def node_labels(taxonomy: Taxonomy) -> pl.Series:
    """Return the published label of every node of a taxonomy, its own, and ``*`` after the last.

    Only a label that could be taken for ``*`` is quoted, unless it is the top's.
    """
    labels = _quote_where(pl.Series(taxonomy.labels, dtype=pl.String), r'^\*$|^"')
    return pl.concat([labels[:-1], pl.Series([top_label(taxonomy), STAR])])


def top_label(taxonomy: Taxonomy) -> str:
    """Return what a value is published as that was generalized to the top."""
    own = taxonomy.labels[taxonomy.root]
    return json.dumps(own, ensure_ascii=False) if own.startswith('"') else own


def _quote_where(values: pl.Series, pattern: str) -> pl.Series:
    """JSON-quote the texts that match; few do, so only those pass through Python."""
    risky = values.str.contains(pattern).fill_null(value=False)
    if not risky.any():
        return values
    where = risky.arg_true()
    quoted = [json.dumps(text, ensure_ascii=False) for text in values.gather(where)]
    return values.clone().scatter(where, pl.Series(quoted, dtype=pl.String))


# Reading


def read(cell: str, dtype: pl.DataType | type[pl.DataType] = pl.String) -> Cell:
    """Read one cell of a set or an ordered column whose values have the type ``dtype``."""
    if cell == STAR:
        return Cell("star")
    if cell.startswith('"'):
        return Cell("exact", (_unquote(cell, cell),))
    if cell.startswith("{"):
        return Cell("set", _elements(cell, ", ", r'[^,"{}]+', "{}"))
    if cell.startswith("["):
        plain = _between(dtype)
        if plain is None:
            parts = _elements(cell, "-", r'[^"\[\]{}*\-]+', "[]")
        else:
            match = re.fullmatch(plain, cell, re.DOTALL)
            parts = match.groups() if match else ()
        if len(parts) == 2:
            return Cell("interval", parts)
        raise _unreadable(cell)
    if dtype.is_numeric() and (above := re.fullmatch(_FROM, cell)):
        return Cell("interval", (above[1], "inf"))
    if dtype.is_numeric() and (below := re.fullmatch(_UP_TO, cell)):
        return Cell("interval", ("-inf", below[1]))
    return Cell("exact", (cell,))


def read_ordered(cells: pl.Series, dtype: pl.DataType) -> pl.DataFrame:
    """Read the cells of an ordered column at once: text columns ``lo`` and ``hi``, ``star``.

    An exact value is an interval with two equal ends; ``*`` has no ends.
    """
    plain = _between(dtype)
    if plain is None:
        return _read_each(cells, dtype)
    if dtype.is_numeric():
        cells = cells.str.replace(_FROM, "[$1-inf]").str.replace(_UP_TO, "[-inf-$1]")
    frame = pl.DataFrame({"cell": cells})
    dashed = pl.col("cell").str.starts_with("[")
    ends = pl.col("cell").str.extract_groups(plain)
    read_back = frame.select(
        lo=pl.when(dashed).then(ends.struct[0]).otherwise(pl.col("cell")),
        hi=pl.when(dashed).then(ends.struct[1]).otherwise(pl.col("cell")),
        star=pl.col("cell") == STAR,
    )
    broken = read_back["lo"].is_null() & cells.is_not_null()
    if broken.any():
        raise _unreadable(cells.filter(broken)[0])
    starless = pl.when(~pl.col("star"))
    return read_back.with_columns(starless.then("lo").alias("lo"), starless.then("hi").alias("hi"))


def read_sets(cells: pl.Series) -> pl.DataFrame:
    """Read the cells of a set column at once: one row per element, ``cell`` its number.

    ``*`` (and a null) gives no row: the caller knows which cells those are.
    """
    frame = pl.DataFrame({"text": cells}).with_row_index("cell")
    text = pl.col("text")
    frame = frame.filter(text.is_not_null() & (text != STAR))
    # A quote anywhere needs the full reader; the others are cut at their separators.
    quoted = frame.filter(text.str.contains(_QUOTED))
    braced = pl.col("text").str.starts_with("{")
    plain = frame.filter(~text.str.contains(_QUOTED)).select(
        "cell",
        element=pl.when(braced)
        .then(text.str.strip_prefix("{").str.strip_suffix("}").str.split(", "))
        .otherwise(pl.concat_list("text")),
    )
    slow = [_as_elements(cell) for cell in quoted["text"]]
    rest = pl.DataFrame(
        {"cell": quoted["cell"], "element": pl.Series(slow, dtype=pl.List(pl.String))}
    )
    return pl.concat([plain, rest]).explode("element")


def read_labels(cells: pl.Series) -> pl.Series:
    """Undo the quoting of :func:`node_labels`; ``*`` stays."""
    odd = cells.str.starts_with('"').fill_null(value=False)
    if not odd.any():
        return cells
    where = odd.arg_true()
    plain = [_unquote(text, text) for text in cells.gather(where)]
    return cells.clone().scatter(where, pl.Series(plain, dtype=pl.String))


def _as_elements(cell: str) -> list[str]:
    parsed = read(cell)
    if parsed.form == "interval":
        raise _unreadable(cell)
    return list(parsed.parts)


def _read_each(cells: pl.Series, dtype: pl.DataType) -> pl.DataFrame:
    parsed = [None if cell is None else read(cell, dtype) for cell in cells]
    if any(cell is not None and cell.form == "set" for cell in parsed):
        raise _unreadable(
            next(c for c, p in zip(cells, parsed, strict=True) if p and p.form == "set")
        )
    ends = [None if cell is None or not cell.parts else cell.parts for cell in parsed]
    return pl.DataFrame(
        {
            "lo": pl.Series([end and end[0] for end in ends], dtype=pl.String),
            "hi": pl.Series([end and end[-1] for end in ends], dtype=pl.String),
            "star": pl.Series([cell is not None and cell.form == "star" for cell in parsed]),
        }
    )


def _between(dtype: pl.DataType | type[pl.DataType]) -> str | None:
    """Return the pattern of an interval of this type, None when its ends may be quoted."""
    if dtype.is_numeric():
        end = _NUMBER
    elif dtype == pl.Date:
        end = _DATE
    elif dtype == pl.Datetime:
        end = _MOMENT
    else:
        return None
    return rf"^\[({end})-({end})\]$"


def _elements(cell: str, separator: str, bare: str, brackets: str) -> tuple[str, ...]:
    """Cut a cell into its elements, each bare or a JSON string."""
    elements: list[str] = []
    at = 1
    pattern = re.compile(bare)
    while True:
        if cell.startswith('"', at):
            element, at = _decode(cell, at)
        else:
            match = pattern.match(cell, at)
            if match is None:
                raise _unreadable(cell)
            element, at = match.group(), match.end()
        elements.append(element)
        if cell[at:] == brackets[1]:
            return tuple(elements)
        if not cell.startswith(separator, at):
            raise _unreadable(cell)
        at += len(separator)


def _decode(cell: str, at: int) -> tuple[str, int]:
    try:
        element, end = json.JSONDecoder().raw_decode(cell, at)
    except ValueError:
        raise _unreadable(cell) from None
    return str(element), end


def _unquote(text: str, cell: str) -> str:
    element, end = _decode(text, 0)
    if end != len(text):
        raise _unreadable(cell)
    return element


def _unreadable(cell: str) -> InputError:
    shown = cell if len(cell) <= 60 else cell[:57] + "..."
    return InputError(
        f"Cannot read the cell {shown!r}: a released cell is a value, an interval such as [20-39], "
        'a set such as {a, b}, or *; a value that starts with one of * [ { " stands in quotes. '
        "Check that the file is a release made by Shoal and that the column's kind is right."
    )

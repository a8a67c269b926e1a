"""What the cells of a generalized column stand for, read from their texts alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from shoal.base.errors import InputError, ParameterError, listed
from shoal.base.partition import Bools, Floats, Ints
from shoal.releases import notation
from shoal.releases.ends import ENDS, cell_texts
from shoal.releases.published import Published
from shoal.releases.readback import Sides
from shoal.tables.cells import as_text, typed
from shoal.tables.domain import STAR, Taxonomy

_NUMBER = r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
_NUMERIC = rf"^(?:{_NUMBER}|\[{_NUMBER}-{_NUMBER}\])$"
_DATE = r"\d{4,}-\d\d-\d\d"
_DATED = rf"^(?:{_DATE}|\[{_DATE}-{_DATE}\])$"
_MOMENT = r"^\[?\d{4,}-\d\d-\d\d \d\d:"
_DENSE = 100_000  # whole numbers or days between the ends that are worth listing one by one
_TOO_MANY = 50_000_000


@dataclass(frozen=True, eq=False)
class Spread:
    """The cells of a column, each spread evenly over the values it covers.

    Cell ``c`` covers the positions ``lo[c] .. hi[c]`` of ``values``, or for sets
    ``members[starts[c]:starts[c + 1]]``; ``cells`` is the cell of every class.
    """

    values: pl.Series
    cells: Ints
    lo: Ints
    hi: Ints
    starts: Ints | None = None
    members: Ints | None = None

    @classmethod
    def of(cls, side: Sides) -> Spread:
        """Take cells that were read beside the original; a cell that says nothing can be any."""
        # Of a set only the members count, unless it has none.
        whole = unknown(side) if side.starts is None else np.ones(side.lo.size, np.bool_)
        lo, hi = np.where(whole, 0, side.lo), np.where(whole, side.span - 2, side.hi)
        return cls(side.known, side.cells, lo, hi, side.starts, side.members)

    def shares(self, category: Ints, many: int) -> Floats:
        """Return which part of every class falls into each category, ``[classes, many]``."""
        size = len(self.values)
        if size * many > _TOO_MANY:
            raise ParameterError(
                f"The question has {many:,} categories over {size:,} values in one column, too "
                "many to share cells out. Use wider intervals (age:10)."
            )
        inside = category[:size]
        hits = np.zeros((size + 1, many))
        hits[1:][np.arange(size)[inside >= 0], inside[inside >= 0]] = 1.0
        upto = np.cumsum(hits, axis=0)
        part = (upto[self.hi + 1] - upto[self.lo]) / (self.hi - self.lo + 1)[:, None]
        if self.starts is not None and self.members is not None:
            counts = np.diff(self.starts)
            owner = np.repeat(np.arange(counts.size), counts)
            kind = inside[self.members]
            keys = owner[kind >= 0] * many + kind[kind >= 0]
            of_sets = np.bincount(keys, minlength=counts.size * many).reshape(-1, many)
            some = counts > 0
            part[some] = of_sets[some] / counts[some, None]
        shares: Floats = part[self.cells]
        return shares


def unknown(side: Sides) -> Bools:
    """Say which cells leave every value possible: ``*``, and those published empty."""
    open_ = (side.lo < 0) | (side.hi >= side.span - 1) | (side.hi < side.lo)
    if side.starts is not None:
        open_ &= np.diff(side.starts) == 0
    return np.asarray(open_)


def spread(
    published: Published,
    name: str,
    taxonomy: Taxonomy | None = None,
    domain: pl.Series | None = None,
    order: Sequence[str] = (),
) -> Spread:
    """Read the cells of a column and find what each may stand for.

    ``domain``: the values that the column can have, ascending, when they are known; else they are
    found in the cells. ``order``: the texts of an ordered column, lowest first.
    """
    cells = published.cells
    if name not in cells.columns:
        low, high = (as_text(cells[name + end]).fill_null(STAR) for end in ENDS)
        if order or _moments(low):
            ends = pl.DataFrame({"lo": low, "hi": high, "star": (low == STAR) & (high == STAR)})
            return _between(ends, np.arange(low.len()), name, order)
    texts = cell_texts(cells, name, taxonomy)
    shown = texts.unique().sort()
    which = shown.search_sorted(texts).to_numpy().astype(np.int64)
    if taxonomy is not None:
        return _taxonomy(shown, which, taxonomy, name)
    known = shown.filter(shown != STAR)
    if domain is None and (order or _moments(known)):
        ends = notation.read_ordered(shown, pl.String() if order else pl.Datetime("us"))
        return _between(ends, which, name, order)
    if domain is not None and known.is_empty():
        everything = np.full(len(shown), len(domain) - 1, np.int64)
        return Spread(domain, which, np.zeros(len(shown), np.int64), everything)
    for pattern, dtype in ((_NUMERIC, pl.Float64()), (_DATED, pl.Date())):
        if len(known) and known.str.contains(pattern).all() and _meant(known, dtype):
            return _ordered(shown, which, dtype, domain)
    return _sets(shown, which, domain)


def _meant(known: pl.Series, dtype: pl.DataType) -> bool:
    """Tell whether exact cells are numbers or dates: '007' is a text, as in every table."""
    exact = known.filter(~known.str.starts_with("["))
    kind = typed(exact).dtype
    return exact.is_empty() or kind == dtype or (kind.is_numeric() and dtype.is_numeric())


def _taxonomy(shown: pl.Series, which: Ints, taxonomy: Taxonomy, name: str) -> Spread:
    labels = pl.Series(taxonomy.labels, dtype=pl.String)
    plain = notation.read_labels(shown)
    star = (shown == STAR).to_numpy()
    nodes = plain.replace_strict(
        labels, pl.Series(np.arange(len(labels))), default=None, return_dtype=pl.Int64
    )
    lost = nodes.is_null().to_numpy() & ~star
    if lost.any():
        raise InputError(
            f"Column {name!r} holds {listed(plain.filter(lost), 3)}, which its hierarchy does not "
            "list. Give the hierarchies that the release was made with."
        )
    node = np.where(star, taxonomy.root, nodes.fill_null(taxonomy.root).to_numpy())
    values = pl.Series(taxonomy.values, dtype=pl.String)
    lo, hi = (end[node].astype(np.int64) for end in (taxonomy.lo, taxonomy.hi))
    return Spread(values, which, lo, hi)


def _ordered(shown: pl.Series, which: Ints, dtype: pl.DataType, domain: pl.Series | None) -> Spread:
    """Whole numbers and days are all listed; of other numbers those that are an end somewhere."""
    ends = notation.read_ordered(shown, dtype)
    low, high = (
        ends[end].str.to_date("%Y-%m-%d") if dtype == pl.Date else ends[end].cast(pl.Float64)
        for end in ("lo", "hi")
    )
    points = pl.concat([low, high]).drop_nulls().to_physical().cast(pl.Float64)
    whole = bool((points == points.round()).all())
    values = points.unique().sort()
    first, last = (float(values[at]) for at in (0, -1))
    if domain is not None:
        values = domain.to_physical().cast(pl.Float64)
    elif whole and last - first <= _DENSE:
        values = pl.Series(np.arange(first, last + 1))
    star = ends["star"].to_numpy()
    ends_at = (end.to_physical().cast(pl.Float64).fill_null(0.0).to_numpy() for end in (low, high))
    lo = np.searchsorted(values.to_numpy(), next(ends_at), "left").clip(0, len(values) - 1)
    hi = np.searchsorted(values.to_numpy(), next(ends_at), "right") - 1
    lo, hi = np.where(star, 0, lo), np.where(star, len(values) - 1, np.maximum(lo, hi))
    if domain is not None:
        values = domain
    elif dtype == pl.Date:
        values = values.cast(pl.Int32).cast(pl.Date)
    elif whole:
        values = values.cast(pl.Int64)
    return Spread(values, which, lo.astype(np.int64), hi.astype(np.int64))


def _moments(texts: pl.Series) -> bool:
    known = texts.filter(texts != STAR).head(50)
    return len(known) > 0 and bool(known.str.contains(_MOMENT).all())


def _between(ends: pl.DataFrame, which: Ints, name: str, order: Sequence[str]) -> Spread:
    """Take intervals between listed texts, or between moments, which are counted by the day."""
    star = ends["star"].fill_null(value=True).to_numpy()
    texts = [ends[end].set(ends["star"].fill_null(value=True), None) for end in ("lo", "hi")]
    if order:
        values = pl.Series(list(dict.fromkeys(order)), dtype=pl.String)
        ranks = pl.Series(np.arange(len(values)))
        low, high = (
            text.replace_strict(values, ranks, default=None, return_dtype=pl.Int64)
            for text in texts
        )
    else:
        days = [text.str.slice(0, 10).str.to_date("%Y-%m-%d") for text in texts]
        numbers = [day.to_physical().cast(pl.Int64) for day in days]
        every = pl.concat(numbers).drop_nulls().to_numpy()
        first, last = (int(every.min()), int(every.max())) if every.size else (0, 0)
        low, high = (number - first for number in numbers)
        values = pl.Series(np.arange(first, last + 1, dtype=np.int32)).cast(pl.Date)
    lo, hi = (end.fill_null(-1).to_numpy().astype(np.int64) for end in (low, high))
    if ((lo < 0) | (hi < lo))[~star].any():
        raise InputError(f"Cells of {name!r} do not lie between the values that its order lists.")
    lo, hi = np.where(star, 0, lo), np.where(star, len(values) - 1, hi)
    return Spread(values, which, lo, hi)


def _sets(shown: pl.Series, which: Ints, domain: pl.Series | None) -> Spread:
    elements = notation.read_sets(shown).sort("cell", maintain_order=True)
    known = (
        elements["element"] if domain is None else pl.concat([as_text(domain), elements["element"]])
    )
    values = known.unique().sort()
    if values.is_empty():  # suppressed throughout
        values = pl.Series([STAR])
    members = values.search_sorted(elements["element"]).to_numpy().astype(np.int64)
    count = np.bincount(elements["cell"].to_numpy(), minlength=len(shown))
    starts = np.concatenate(([0], np.cumsum(count))).astype(np.int64)
    everything = np.full(len(shown), len(values) - 1, np.int64)
    return Spread(values, which, np.zeros(len(shown), np.int64), everything, starts, members)

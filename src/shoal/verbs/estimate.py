"""Counts and shares of sensitive values, estimated from any release."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from shoal.base.errors import ParameterError, SchemaError, listed, nearest
from shoal.engines.spark.settings import is_spark_frame
from shoal.plan.plan import Plan
from shoal.releases.base import By, Counts, Release
from shoal.releases.categories import read_by
from shoal.releases.estimates.bayes import check_method
from shoal.releases.estimates.intervals import quantile
from shoal.releases.opening import open_release
from shoal.tables.prepare import Hierarchies, gather, load
from shoal.verbs.audit_exact import second_table


@dataclass(frozen=True, eq=False)
class Estimates:
    """What :func:`estimate` found: the counts, and how they were found."""

    counts: Counts
    shape: str
    method: str
    level: float

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "shape": self.shape,
            "method": self.method,
            "level": self.level,
            "of": self.counts.of,
            "by": list(self.counts.by),
            "estimates": self.counts.frame().to_dicts(),
        }

    def to_json(self) -> str:
        """Return :meth:`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n"


def read_release(
    released: Any,
    of: str,
    *,
    st: Any = None,
    quasi: Sequence[str] | None = None,
    hierarchies: Hierarchies | None = None,
) -> Release:
    """Open a published release, so that it can be asked: ``expect``, ``counts``, ``beliefs``.

    Parameters
    ----------
    released
        The published table, a file or a frame.
    of
        The sensitive column.
    st
        Anatomy's second table; next to a file ``x.csv`` it is found as ``x.st.csv``.
    quasi
        The quasi-identifiers; every column but the sensitive ones by default.
    hierarchies
        The hierarchies that a generalized release was made with.
    """
    plan = Plan()
    frame = load(released, plan, released=True)
    table = second_table(released, frame, st)
    taxonomies = gather(plan, frame, hierarchies) if hierarchies is not None else {}
    return open_release(frame, of, table=table, quasi=quasi, taxonomies=taxonomies)


def estimate(
    released: Any,
    of: str,
    by: Sequence[str | By] = (),
    *,
    method: str = "iterative",
    level: float = 0.95,
    st: Any = None,
    quasi: Sequence[str] | None = None,
    hierarchies: Hierarchies | None = None,
) -> Estimates:
    """Estimate how many rows have each sensitive value, by categories of quasi-identifiers.

    Parameters
    ----------
    released, st, quasi, hierarchies
        As for :func:`read_release`.
    of
        The sensitive column, or ``disease=flu`` for one of its values.
    by
        ``"sex"``: every value; ``"age:10"``: intervals of ten; ``"sex=f"``: that value only.
    method
        For dummy values: ``iterative`` (the paper's), ``closed`` or ``em``.
    level
        How often an interval holds the truth.

    Notes
    -----
    Intervals know of the randomness that the release itself has: the draw of dummies, the order of
    values in a group of Anatomy, the place of a row in its generalized cell. Those of Anatomy and
    of generalized tables take for granted that nothing ties the sensitive value to the quasi-
    identifiers inside a group, which no release can tell.
    """
    check_method(method)
    quantile(level)
    name, equals, value = of.partition("=")
    if is_spark_frame(released):
        from shoal.engines.spark.counting import rows_of

        column = of if of in released.columns else name
        named = [each.column if isinstance(each, By) else _column(each, released) for each in by]
        released = rows_of(released, column, named)
    try:
        release = read_release(released, of, st=st, quasi=quasi, hierarchies=hierarchies)
        name, equals, value = of, "", ""
    except SchemaError:
        if not equals:
            raise
        release = read_release(released, name, st=st, quasi=quasi, hierarchies=hierarchies)
    columns: list[str] = list(getattr(release, "quasi", ()))
    asked = [each if isinstance(each, By) else read_by(each, columns) for each in by]
    if twice := {each.column for each in asked if [e.column for e in asked].count(each.column) > 1}:
        raise ParameterError(
            f"The column {min(twice)!r} is named twice to split by. Name it once: as it is, with "
            "a width (age:10), or with a value (sex=f)."
        )
    counts = release.counts(name, asked, method=method, level=level)
    if equals:
        counts = _only(counts, value)
    used = method if release.shape == "dummies" else "uniform"
    return Estimates(counts, release.shape, used, level)


def _column(text: str, released: Any) -> str:
    """Return the column that ``age``, ``age:10`` or ``sex=f`` speaks of."""
    names = {name.removesuffix("_lo").removesuffix("_hi") for name in released.columns}
    return read_by(text, sorted({*released.columns, *names})).column


def _only(counts: Counts, value: str) -> Counts:
    if value not in counts.values:
        raise ParameterError(
            f"No row of the release has the value {value!r} in column {counts.of!r}; it has "
            f"{listed(counts.values)}.{nearest(value, counts.values)}"
        )
    place = [counts.values.index(value)]
    figures = (each[:, place] for each in (counts.count, counts.low, counts.high))
    return Counts(counts.of, counts.by, counts.labels, (value,), counts.rows, *figures)

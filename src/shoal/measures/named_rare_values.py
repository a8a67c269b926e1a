"""Find rare values that labels, sets or interval ends of a release would name.

A hierarchy whose labels spell out such a value is refused, whoever made it. What sets and intervals
name follows from how the rows are grouped, so it is counted afterwards and said.
"""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from shoal.base.errors import SchemaError, format_names
from shoal.base.partition import Bools, Ints
from shoal.base.roles import Kind
from shoal.catalog import find_method
from shoal.coding.encode import Encoded
from shoal.plan.plan import Plan
from shoal.releases import notation
from shoal.releases.ends import cell_texts
from shoal.releases.opened import Opened
from shoal.tables.cells import as_text
from shoal.tables.domain import Nominal, Ordered, Taxonomy
from shoal.tables.grid import AUTO
from shoal.tables.rare import rare_below
from shoal.tables.rare_labels import RareLabel, find_rare_labels
from shoal.tables.schema import Schema

_MOST = 0.75  # of the values may lie on a grid that hides them: on one of 2 every other does
_SHOWN = 3  # labels that an error shows


def rare_positions(data: Encoded, name: str, few: int, rows: Ints | None = None) -> Bools:
    """Say which values of a quasi-identifier fewer people than ``few`` have, but somebody has.

    ``rows``: how many rows each row of the table stands for, where it holds each kind once.
    """
    j = data.names.index(name)
    codes = data.codes[:, j].astype(np.int64)
    if data.people is not None:
        pairs = np.unique(codes * max(data.people.count, 1) + data.people.codes)
        codes = pairs // max(data.people.count, 1)
    many = np.bincount(codes, weights=rows, minlength=data.domains[j].size + 1)[:-1]
    return np.asarray((many > 0) & (many < few))


def check_labels(
    data: Encoded, schema: Schema, plan: Plan, rows: Mapping[str, Ints] | None = None
) -> list[str]:
    """Refuse labels that spell out a rare value and were not allowed; say which were.

    Parameters
    ----------
    rows
        Per column how many rows of the original each row of ``data`` stands for; one each if not
        given.
    """
    few = rare_below(part.spec for part in plan.rules)
    unit = "people" if schema.person is not None else "rows"
    faults, texts = [], []
    for name, domain in zip(data.names, data.domains, strict=True):
        if schema[name].kind is not Kind.TAXONOMY or not isinstance(domain, Taxonomy):
            continue
        rare = pl.Series(domain.values, dtype=pl.String).filter(
            pl.Series(rare_positions(data, name, few, (rows or {}).get(name)))
        )
        found = find_rare_labels(domain, rare)
        allowed = set(plan.columns[name].allow_labels) if name in plan.columns else set()
        refused = [one for one in found if one.label not in allowed]
        if refused:
            faults.append(_fault(name, refused, few, unit))
        elif found:
            many = len({one.label for one in found})
            texts.append(
                f"{many:,} label{'s' if many > 1 else ''} of the hierarchy of {name!r} may spell "
                f"out a value that fewer than {few} {unit} have, because the plan allows it "
                "(allow_labels)."
            )
    if faults:
        raise SchemaError(faults)
    return texts


def _fault(name: str, found: Sequence[RareLabel], few: int, unit: str) -> str:
    values: dict[str, str] = {}
    for one in found:
        values.setdefault(one.label, one.value)
    many, first = len(values), next(iter(values))
    shown = "; ".join(f"{label!r} names {value!r}" for label, value in [*values.items()][:_SHOWN])
    more = f"; and {many - _SHOWN:,} more" if many > _SHOWN else ""
    count = "1 label spells" if many == 1 else f"{many:,} labels spell"
    quoted = io.StringIO()
    csv.writer(quoted, lineterminator="").writerow([first])
    allowed = shlex.quote(f"{name}={quoted.getvalue()}")
    return (
        f"In the hierarchy of column {name!r} {count} out a value that fewer than {few} {unit} "
        f"have. A cell with such a label would publish the value: {shown}{more}. Give these groups "
        f"labels that name no rare value ('shoal hierarchy make' with --how frequency --k {few} "
        "does). If a label reveals nothing, for instance because it stands in an official list, "
        f"allow it by its text: --allow-labels {allowed} (allow_labels={{{name!r}: [{first!r}]}})."
    )


def named_values(opened: Opened, data: Encoded, plan: Plan) -> list[str]:
    """Say how many rare values the sets and the intervals of a release name, by column."""
    few = rare_below(part.spec for part in plan.rules)
    unit = "rows" if data.people is None else "people"
    texts: list[str] = []
    if opened.shape.exact:
        return texts
    for name, domain in zip(data.names, data.domains, strict=True):
        cells = cell_texts(opened.published.cells, name).unique()
        if isinstance(domain, Nominal):
            many = len(_rare_among(_members(cells), data, name, few))
            if many:
                texts.append(
                    f"The sets of values in column {name!r} name {_values(many)} that fewer than "
                    f"{few} {unit} have. Publish one value or * instead (--sets {name}=never, "
                    f"sets={{{name!r}: 'never'}}), or give the column a hierarchy."
                )
        elif isinstance(domain, Ordered) and not _is_rounded(name, domain, plan):
            many = len(_rare_among(_ends(cells, domain), data, name, few))
            if many:
                way = _how_to_round(name, domain, plan)
                texts.append(
                    f"The intervals in column {name!r} begin or end at {_values(many)} that fewer "
                    f"than {few} {unit} have. {way}, or leave the column out."
                )
    return texts


def _is_rounded(name: str, domain: Ordered, plan: Plan) -> bool:
    """Tell whether ends of intervals lie on an automatic grid, or one that is not too fine.

    On a grid as fine as the values the ends are values, as without one.
    """
    if domain.ends is None:
        return False
    if not _has_own_grid(name, plan):
        return True
    values, *ends = (
        column.to_physical().cast(pl.Float64).to_numpy() for column in (domain.values, *domain.ends)
    )
    tolerance = 1e-6 * float(np.ptp(values))
    same = [np.isclose(end, values, rtol=0.0, atol=tolerance) for end in ends]
    return bool(np.mean(np.logical_or(*same)) <= _MOST)


def _has_own_grid(name: str, plan: Plan) -> bool:
    part = plan.columns.get(name)
    return part is not None and part.grid not in (None, AUTO)


def _how_to_round(name: str, domain: Ordered, plan: Plan) -> str:
    dtype = domain.values.dtype
    if not (dtype.is_numeric() or dtype == pl.Date):
        return "Give the column a hierarchy"
    grid: str | int = "week" if dtype.is_temporal() else 2
    if _has_own_grid(name, plan):
        grid = AUTO  # the step that suits the column, which somebody has replaced
    return f"Round the ends (--grid {name}={grid}, grid={{{name!r}: {grid!r}}})"


def uncounted(schema: Schema, plan: Plan) -> list[str]:
    """Say of which columns nobody has counted what their sets name: the rows are on Spark."""
    names = [
        name
        for name in schema.quasi
        if schema[name].kind is Kind.SET and not schema[name].within and plan.allows_sets(name)
    ]
    if not names or find_method(plan.method.name).shape.exact:
        return []
    return [
        f"Columns that may be published as sets of values: {format_names(names)}. On Spark, "
        "Shoal does "
        "not count how many of these values fewer than k people have. Publish one value or * "
        "instead (--sets never, sets='never'), or give these columns hierarchies."
    ]


def _values(many: int) -> str:
    return "1 value" if many == 1 else f"{many:,} values"


def _rare_among(shown: pl.Series, data: Encoded, name: str, few: int) -> pl.Series:
    domain = data.domains[data.names.index(name)]
    assert not isinstance(domain, Taxonomy)
    values = as_text(pl.Series(domain.values))
    return values.filter(pl.Series(rare_positions(data, name, few)) & values.is_in(shown.implode()))


def _members(cells: pl.Series) -> pl.Series:
    return notation.read_sets(cells.filter(cells.str.starts_with("{")))["element"].unique()


def _ends(cells: pl.Series, domain: Ordered) -> pl.Series:
    wide = notation.read_ordered(cells.filter(cells.str.starts_with("[")), domain.values.dtype)
    return pl.concat([wide["lo"], wide["hi"]]).drop_nulls().unique()

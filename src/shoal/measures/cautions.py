"""Warn about choices that are allowed but risky.

Each function looks at one risk and yields a sentence for every column that has it. A sentence names
columns and counts, never a value that only the table has: it also stands in the figures of a run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import polars as pl

from shoal.base.errors import format_names
from shoal.base.roles import Kind, Role
from shoal.measures.outliers import idle_grids, outlier_warnings
from shoal.plan.plan import Plan
from shoal.plan.setting import same_values
from shoal.privacy import Rule
from shoal.tables.cells import as_text, merge_values
from shoal.tables.original import Original
from shoal.tables.rare import rare_below
from shoal.tables.schema import Schema
from shoal.tables.spreadsheet import TEXTS, formulas

Rules = Sequence[Rule]

NEARLY_ALL = 0.9  # of the known cells differ: the column is as good as a name
FEW_ROWS = 20  # in a smaller table most columns are nearly unique
PLACEHOLDERS = (
    "unknown", "not known", "unk", "null", "none", "nil", "nan", "n/a", "na", "missing", "other",
    "?", "-", "--", ".", "x", "xx", "xxx",
)  # fmt: skip


def cautions(table: Original, rules: Rules) -> tuple[str, ...]:
    """Return what the keeper of the table should know before it is released."""
    return tuple(text for look in CAUTIONS for text in look(table, rules))


def cautions_of_plan(schema: Schema, plan: Plan, rules: Rules) -> tuple[str, ...]:
    """Return what can be told of a table that is not at hand."""
    table = Original(pl.DataFrame(), schema, plan=plan)
    return tuple(text for look in PLANNED for text in look(table, rules))


def _unique_others(table: Original, _rules: Rules) -> Iterator[str]:
    """Columns passed through that tell nearly every row from all others."""
    for name in table.schema.names(Role.KEEP):
        known = table.frame[name].drop_nulls()
        if len(known) < FEW_ROWS or known.dtype.is_nested():
            continue
        different = known.n_unique()
        if different >= NEARLY_ALL * len(known):
            yield (
                f"Column {name!r} is passed through as it is, and {different:,} of its "
                f"{len(known):,} cells differ: anyone who knows a person's cell finds the row. "
                "Make it an identifier (left out), or a quasi-identifier."
            )


def _kept_order(table: Original, _rules: Rules) -> Iterator[str]:
    if not table.plan.release.shuffle:
        yield (
            "The rows are released in the order of the input (shuffle = false): anyone who knows "
            "that order, for instance by date or by name, finds rows by their place. Leave "
            "shuffle out."
        )


def _bare_sensitive(table: Original, rules: Rules) -> Iterator[str]:
    """Sensitive columns without a rule beside others that have one."""
    ruled = {rule.column for rule in rules if rule.column is not None}
    for name in table.schema.sensitive:
        if ruled and name not in ruled:
            yield (
                f"The sensitive column {name!r} has no rule of its own, others have: everybody in "
                "a class may share its value. Add a rule for it, or name no column in the rule."
            )


def _doubtful(table: Original, rules: Rules) -> Iterator[str]:
    """Sensitive values that a rule counts as different and that may be none, or one."""
    ruled = dict.fromkeys(rule.column for rule in rules if rule.column is not None)
    for name in ruled:
        if name in table.schema and name in table.frame.columns:
            cells = table.schema[name].clean(table.frame[name])
            yield from doubtful_values(name, as_text(merge_values(cells, table.plan.release.same)))


def _unknown_same(table: Original, _rules: Rules) -> Iterator[str]:
    """Values that were to count as one and that nobody has."""
    if not table.plan.release.same:
        return
    there = [table.schema[name].clean(table.frame[name]) for name in table.schema.sensitive]
    known = {text for cells in there for text in _spelled(as_text(cells.unique().drop_nulls()))}
    named = list(same_values(table.plan.release.same))
    if lost := [name for name in named if _spelled(pl.Series([name]))[0] not in known]:
        yield (
            f"same says that {format_names(lost)} counts as another value, and no sensitive column "
            "has it. Check the spelling, or leave it out."
        )


def doubtful_values(name: str, texts: pl.Series) -> Iterator[str]:
    """Look at the values of one sensitive column: placeholders, and spellings of one value."""
    texts = texts.unique().drop_nulls()
    missing = texts.str.strip_chars().str.to_lowercase().is_in(PLACEHOLDERS)
    words = texts.filter(missing).sort()
    if len(words):
        shown = format_names([word.strip() for word in words], len(words))
        yield (
            f"The sensitive column {name!r} holds {shown}, which counts as a value like any "
            "other when diversity is measured. If it stands for a missing value, say so with "
            f"--missing (missing=[{shown}])."
        )
    values = texts.filter(~missing)
    if spare := len(values) - _spelled(values).n_unique():
        yield (
            f"In the sensitive column {name!r} {spare:,} of {len(values):,} values differ from "
            "another one by nothing but spaces, capitals or the notation of a number, and count "
            "as different when diversity is measured. Spell every value in one way first, or "
            "count them as one with --same (same=[...])."
        )


def _spelled(values: pl.Series) -> pl.Series:
    """Return texts so that spellings of one value are equal."""
    plain = values.str.normalize("NFKC").str.to_lowercase()
    plain = plain.str.replace_all(r"\s+", " ").str.strip_chars()
    sizes = plain.cast(pl.Float64, strict=False)
    # More than 15 digits would be rounded, and different numbers become one.
    exact = sizes.is_finite().fill_null(value=False) & (plain.str.len_chars() <= 15)
    return as_text(sizes).zip_with(exact, plain)


def _formulas(table: Original, _rules: Rules) -> Iterator[str]:
    """Columns whose texts, or names, a spreadsheet would take for a formula and run."""
    if table.plan.release.csv_safe:
        return
    names = [column.name for column in table.schema.columns if column.role.published]
    for name in names:
        if table.frame[name].dtype not in TEXTS:
            continue
        cells = int(formulas(table.frame[name].cast(pl.String)).sum())
        if cells:
            yield f"{cells:,} cells of column {name!r} {_RUN}"
    if run := [name for name in names if formulas(pl.Series([name])).item()]:
        yield f"The names of the columns {format_names(run)} {_RUN}"


_RUN = (
    "begin with =, +, -, @, a tab or a line break: a spreadsheet that opens them from a CSV file "
    "takes them for formulas and runs them. Look at them and correct them, write a CSV file with "
    "--csv-safe (csv_safe=True), or write Parquet."
)


def _unread(table: Original, _rules: Rules) -> Iterator[str]:
    """Dates and decimals in a notation that is not read: their sets hold the values themselves."""
    for column in table.schema.columns:
        if column.role is not Role.QUASI or column.kind is not Kind.SET:
            continue
        series = column.clean(table.frame[column.name])
        if series.dtype != pl.String:
            continue
        values = series.drop_nulls().unique()
        for what, pattern, written in _UNREAD:
            fits = values.str.strip_chars().str.contains(pattern)
            if len(values) and int(fits.sum()) >= NEARLY_ALL * len(values):
                yield (
                    f"Column {column.name!r} holds {what}, which are read as names without an "
                    "order: its cells become sets of the very values. Write them as "
                    f"{written}, give the column a hierarchy, or leave it out."
                )


_UNREAD = (
    ("dates such as 31.12.2024", r"^\d{1,2}[./]\d{1,2}[./]\d{2,4}([ T]\d{1,2}:.*)?$", "2024-12-31"),
    ("numbers with a decimal comma", r"^[+-]?\d+,\d+$", "22.48"),
)


def _outliers(table: Original, _rules: Rules) -> Iterator[str]:
    few = rare_below(part.spec for part in table.plan.rules)
    yield from outlier_warnings(table.frame, table.schema, few, table.taxonomies)
    yield from idle_grids(table.frame, table.schema)


PLANNED: tuple[Callable[[Original, Rules], Iterator[str]], ...] = (_kept_order, _bare_sensitive)
"""What can be told from the plan alone, wherever the table lies."""

CAUTIONS: tuple[Callable[[Original, Rules], Iterator[str]], ...] = (
    _unique_others,
    *PLANNED,
    _doubtful,
    _unknown_same,
    _formulas,
    _unread,
    _outliers,
)
"""What is looked at, in the order in which it is told."""

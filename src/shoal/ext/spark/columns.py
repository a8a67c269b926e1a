"""Clean and type the columns of a Spark table as the local engine does.

Columns are numbered inside (``c0``, ``c1``, ...): whatever a column is called, with dots, quotes or
in two spellings that Spark takes for one, cannot confuse a query.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from shoal.base.column_names import check_twice
from shoal.base.errors import SchemaError, format_names
from shoal.base.roles import Role
from shoal.ext.spark.functions import F
from shoal.ext.spark.hashing import to_polars
from shoal.plan.plan import Plan
from shoal.tables.cells import TYPES, fitting, missing_to_null
from shoal.tables.schema import plain, unknown_column

# What Unicode calls white space; Spark's own trim knows the blank only.
_SPACES = "\t\n\x0b\x0c\r \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B)))
_SPACES += "\u2028\u2029\u202f\u205f\u3000"
_CASTS = {
    "integer": "cast({} as bigint)",
    "decimal": "if(lower({0}) = 'nan', null, cast({0} as double))",
    "boolean": "lower({}) = 'true'",
    "date": "cast({} as date)",
    "moment": "cast(replace({}, 'T', ' ') as timestamp_ntz)",
}


@dataclass(frozen=True, eq=False)
class SparkTable:
    """The declared columns of a Spark table, cleaned.

    Parameters
    ----------
    rows
        The frame; column ``c<i>`` is the declared column ``names[i]``.
    names
        The declared columns that are no identifiers, in the order of the table.
    every
        All columns of the table.
    kinds
        The type that the texts of a column were read as, by name.
    """

    rows: Any
    names: tuple[str, ...]
    every: tuple[str, ...]
    kinds: Mapping[str, str]

    def at(self, name: str) -> str:
        """Return the number of a column, as it is called inside."""
        return f"c{self.names.index(name)}"

    def head(self, cells: pl.DataFrame | None = None) -> pl.DataFrame:
        """Return all columns in the table's order: those of ``cells``, the others empty.

        What the schema asks of a column are its name, its type and its values, each once.
        """
        height = 0 if cells is None else cells.height
        types = _empty(self.rows)
        columns = []
        for name in self.every:
            if cells is not None and name in cells.columns:
                columns.append(cells[name])
            else:
                dtype = types[self.at(name)].dtype if name in self.names else pl.Null()
                columns.append(pl.Series(name, [None] * height, dtype=dtype))
        return pl.DataFrame(columns)


def take_in(frame: Any, plan: Plan, *, texts: bool) -> SparkTable:
    """Number and clean the declared columns. ``texts``: types are to be found, as for CSV."""
    every = tuple(frame.columns)
    check_twice(every, "The frame")
    if not plan.columns:
        raise SchemaError(
            "The Spark engine does not guess roles, which would mean looking at every cell of "
            f"every column, and none are declared. Name them with --quasi (quasi=[...]) or in a "
            "plan; 'shoal inspect' on a part of the table proposes some. It has: "
            f"{format_names(every)}."
        )
    faults = [
        unknown_column(name, every, role=column.role)
        for name, column in plan.columns.items()
        if name not in every
    ]
    if faults:
        raise SchemaError(faults)
    names = tuple(
        name for name in every if name in plan.columns and plan.columns[name].role.published
    )
    numbered = frame.toDF(*(f"c{i}" if i >= 0 else f"x{n}" for n, i in _places(every, names)))
    rows = numbered.select(*(f"c{i}" for i in range(len(names))))
    _check_types(rows, names, plan)
    rows = _blanked(rows, dict.fromkeys(rows.columns, plan.data.missing))
    return _typed(rows, names, every, plan, texts)


def _places(every: Sequence[str], names: Sequence[str]) -> Iterator[tuple[int, int]]:
    for number, name in enumerate(every):
        yield number, names.index(name) if name in names else -1


def _check_types(rows: Any, names: Sequence[str], plan: Plan) -> None:
    """Refuse what has no order and no hash, so that rows could not be compared."""
    faults = []
    types = _empty(rows)
    for name, field in zip(names, rows.schema.fields, strict=True):
        role = plan.columns[name].role
        if "map<" in field.dataType.simpleString() or "variant" in field.dataType.simpleString():
            faults.append(
                f"Column {name!r} has the type {field.dataType.simpleString()}, whose values "
                "cannot be compared. Split it into plain columns first, or do not declare it."
            )
        elif role in (Role.QUASI, Role.SENSITIVE) and not plain(types[field.name].dtype):
            faults.append(
                f"Column {name!r} holds values of type {field.dataType.simpleString()}; a "
                f"{role.value} column needs numbers, texts, dates or booleans. "
                "Split it into plain columns first."
            )
    if faults:
        raise SchemaError(faults)


def _empty(rows: Any) -> pl.DataFrame:
    """Return the columns as polars has them, without a row."""
    from pyspark.sql.pandas.types import to_arrow_schema

    try:
        return to_polars(to_arrow_schema(rows.schema, timezone="UTC").empty_table())
    except Exception:  # a map or variant: _check_types names the column
        return pl.DataFrame({name: pl.Series([], dtype=pl.Object) for name in rows.columns})


def _blanked(rows: Any, missing: Mapping[str, Sequence[str]]) -> Any:
    """Turn NaN, empty texts and texts that mean missing into null (``cells.missing_to_null``)."""
    columns = []
    for field in rows.schema.fields:
        column, kind = F.col(field.name), field.dataType.simpleString()
        texts = sorted({"", *(text.strip() for text in missing.get(field.name, ()))})
        if kind in ("float", "double"):
            column = F.when(~F.isnan(column), column)
        elif _is_text(kind) and field.name in missing:
            filled = ~F.btrim(column, F.lit(_SPACES)).isin(texts)
            # Trimming is slow and most cells need none.
            column = F.when(
                _unpadded(column, texts) | filled if kind == "string" else filled, column
            )
        columns.append(column.alias(field.name))
    return rows.select(*columns)


def _unpadded(column: Any, texts: Sequence[str]) -> Any:
    """Tell the cells that begin with a visible letter of ASCII and with none of the texts.

    They cannot be one of the texts between spaces. Spark compares texts byte by byte, and every
    other space begins with a byte above these.
    """
    plain = (column >= "!") & (column < "\x7f")
    for text in texts:
        plain = plain & ~column.startswith(text) if text else plain
    return plain


def _is_text(kind: str) -> bool:
    return kind.startswith(("string", "varchar", "char"))


def _typed(
    rows: Any, names: tuple[str, ...], every: tuple[str, ...], plan: Plan, texts: bool
) -> SparkTable:
    """Give text columns the type that all their cells have.

    Texts that mean missing in one quasi-identifier only are taken out of it first. They stay in a
    sensitive column, which is published as it is.
    """
    own = {
        f"c{i}": plan.columns[name].missing
        for i, name in enumerate(names)
        if plan.columns[name].role == Role.QUASI and plan.columns[name].missing
    }
    written = [f.name for f in rows.schema.fields if _is_text(f.dataType.simpleString())]
    kinds = _kinds(rows, written, {}) if texts and written else {}
    left = [name for name in written if name in own and name not in kinds]
    if left:
        rows = _blanked(rows, {name: own[name] for name in left})
        unordered = [name for name in left if not plan.columns[names[int(name[1:])]].order]
        kinds |= _kinds(rows, unordered, own) if unordered else {}
    return SparkTable(
        _cast(rows, kinds),
        names,
        every,
        {names[int(name[1:])]: kind for name, kind in kinds.items()},
    )


def _kinds(rows: Any, columns: list[str], missing: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Find the type of every text column, with the local engine's own eyes, piece by piece."""

    def look(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        fit = {name: set(TYPES) for name in columns}
        known = dict.fromkeys(columns, 0)
        for batch in batches:
            piece = to_polars(batch)
            for name in columns:
                cells = missing_to_null(piece[name], missing.get(name, ())).unique()
                known[name] += len(cells) - cells.null_count()
                if fit[name]:
                    fit[name] &= set(fitting(cells))
        yield pa.RecordBatch.from_pydict(
            {
                "column": columns,
                "types": [sorted(fit[name]) for name in columns],
                "known": [known[name] for name in columns],
            },
            pa.schema(
                [("column", pa.string()), ("types", pa.list_(pa.string())), ("known", pa.int64())]
            ),
        )

    counted = (
        rows.select(*columns)
        .mapInArrow(look, "column string, types array<string>, known bigint")
        .toArrow()
    )
    fit = {name: set(TYPES) for name in columns}
    known = dict.fromkeys(columns, 0)
    for row in counted.to_pylist():
        fit[row["column"]] &= set(row["types"])
        known[row["column"]] += row["known"]
    return {
        name: next(kind for kind in TYPES if kind in fit[name])
        for name in columns
        if fit[name] and known[name]
    }


def _cast(rows: Any, kinds: Mapping[str, str]) -> Any:
    columns = []
    for name in rows.columns:
        if name in kinds:
            trimmed = f"btrim({name}, '{_SPACES}')"
            columns.append(F.expr(_CASTS[kinds[name]].format(trimmed)).alias(name))
        else:
            columns.append(F.col(name))
    return rows.select(*columns)


def without_missing(schema: Any, quasi: Sequence[str]) -> Any:
    """Return the schema for cells that were cleaned: nothing more means missing there."""
    return replace(
        schema,
        columns=tuple(
            replace(column, missing=()) if column.name in quasi else column
            for column in schema.columns
        ),
    )


def side_by_side(columns: Sequence[pl.Series]) -> pl.DataFrame:
    """Return columns of different lengths as one frame; the shorter ones end in nulls."""
    height = max(len(column) for column in columns)
    return pl.DataFrame([c.extend_constant(None, height - len(c)) for c in columns])

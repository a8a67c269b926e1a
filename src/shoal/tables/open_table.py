"""Read a table as a plan declares it, and settle roles and kinds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from shoal.base.address import is_database
from shoal.base.errors import InputError, ParameterError, SchemaError, warn
from shoal.base.roles import Kind, Role
from shoal.plan.apply_changes import collect_changes
from shoal.plan.data import DataPart
from shoal.plan.origin import refuse_untrusted
from shoal.plan.parts import ColumnPart
from shoal.plan.plan import Plan
from shoal.plan.rule_specs import rule_spec
from shoal.privacy import Rule, flatten
from shoal.tables.cells import as_text
from shoal.tables.domain import Taxonomy
from shoal.tables.files import read_file
from shoal.tables.find_hierarchies import is_path
from shoal.tables.grid import DEFAULT_GRID, OFF, kept_grid
from shoal.tables.guessing.guess import guess
from shoal.tables.guessing.guess_person import check_persons, not_people
from shoal.tables.limits import on_grid
from shoal.tables.native import from_native
from shoal.tables.original import Original
from shoal.tables.schema import Column, Schema, declare, plain, unknown_column
from shoal.tables.source import Source, parse_place

Domains = Mapping[str, Sequence[Any] | str | Path]
Names = Sequence[str] | str

_GUESSED = (Role.QUASI, Role.SENSITIVE, Role.IDENTIFIER)


def merge_plan(plan: Plan | str | Path | None, *, trust: bool = False, **given: Any) -> Plan:
    """Return the plan, or its file, with the arguments of a call in place of what it says.

    Every command and every function comes through here. ``trust``: its file may read outside its
    folder. ``given``: see :func:`shoal.plan.apply_changes.collect_changes`; a domain may be a file.
    """
    base = plan if isinstance(plan, Plan) else Plan()
    if is_path(plan):
        base = Plan.read(plan, trust=trust)
    trees = given.pop("hierarchies", None)
    if is_path(trees):
        given["hierarchies"] = Path(trees)
    if domains := given.pop("domain", None):
        given["domain"] = {name: _domain(name, own) for name, own in domains.items()}
    return base.changed(collect_changes(given))


def _domain(name: str, values: Sequence[Any] | str | Path) -> list[str]:
    """Return the values of a domain as texts; a file has one a line."""
    if not isinstance(values, (str, Path)):
        return as_text(pl.Series(list(values), strict=False)).to_list()
    try:
        lines = Path(values).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as fault:
        raise InputError(
            f"The domain of column {name!r} cannot be read from {str(values)!r}: {fault}. Give a "
            "text file (UTF-8) with one value a line."
        ) from None
    return [line for line in lines if line.strip()]


def extra_rules(rules: Sequence[Rule] | Rule | None) -> tuple[Rule, ...]:
    """Return the rules that no plan can hold, because they are not in the catalog."""
    return tuple(rule for rule in flatten(one_or_more(rules or ())) if not rule_spec(rule))


def one_or_more(rules: Sequence[Rule] | Rule) -> Sequence[Rule]:
    """Take a rule for a list of one."""
    return rules if isinstance(rules, Sequence) else [rules]


def settle_table(frame: pl.DataFrame, plan: Plan, taxonomies: Mapping[str, Taxonomy]) -> Original:
    """Settle what the plan leaves open of a table that was read before."""
    if plan.paper and plan.paper.top:
        taxonomies = {name: tree.with_top(plan.paper.top) for name, tree in taxonomies.items()}
    plan, schema = resolve_schema(frame, plan, taxonomies)
    schema = with_reasons(schema, frame)
    warn_undecided(schema)
    if repeated := not_people(schema, frame):
        warn(repeated)
    return Original(frame, schema, taxonomies=taxonomies, plan=plan)


def with_reasons(schema: Schema, frame: pl.DataFrame) -> Schema:
    """Say of every undecided column what its name and values suggest."""
    if not schema.undecided:
        return schema
    guesses = guess(frame)
    return Schema(
        tuple(
            replace(column, reason=_suggestion(guesses[column.name]))
            if column.role is Role.UNDECIDED
            else column
            for column in schema.columns
        )
    )


def _suggestion(guessed: Column) -> str:
    if guessed.role is Role.UNDECIDED:
        return guessed.reason
    return f"it looks like {guessed.role.label} ({guessed.reason}), but no role was given"


def warn_undecided(schema: Schema) -> None:
    """Name the columns that are held back, each with the reason."""
    if not schema.undecided:
        return
    by_reason: dict[str, list[str]] = {}
    for name in schema.undecided:
        by_reason.setdefault(schema[name].reason, []).append(repr(name))
    why = "; ".join(f"{', '.join(names)}: {reason}" for reason, names in by_reason.items())
    many = len(schema.undecided)
    warn(
        f"{many} column{'s are' if many > 1 else ' is'} not released, because nobody has decided "
        f"what {'they are' if many > 1 else 'it is'} ({why}). Give each a role in the plan, or "
        "name it with --quasi, --sensitive, --identifier, --keep or --drop.",
    )


def locate_table(data: Any, plan: Plan, table: str | None = None, query: str | None = None) -> Any:
    """Return where the table is: a path, or a :class:`Source`; a frame is what it is.

    Without ``data`` it is where the plan says, whose table or query also serves a database that
    was named without one.
    """
    asked = table is not None or query is not None
    if data is None:
        if plan.data.source is None:
            raise InputError(
                "There is no table to read. Name a file or the address of a database, or give a "
                "plan that says where it is: source under [data]."
            )
        data = _from(parse_place(plan.data.source), plan)
    if not is_path(data):
        if asked:
            raise ParameterError(
                "table= and query= go with the address of a database, and a frame was given. "
                "Leave them out."
            )
        return data
    where = parse_place(data, table, query)
    if isinstance(where, Source) and where.table is None and where.query is None:
        where = replace(where, table=plan.data.table, query=plan.data.query, own=plan.trusted)
        if where.query is not None and where.address.path is None and not plan.trusted:
            raise refuse_untrusted(
                f"The plan holds a query for {where.address}, and a query can call whatever "
                "functions that server has"
            )
    return where


def check_no_database(data: Any, table: str | None, query: str | None) -> None:
    """Refuse a database where only Spark's own files and frames can be read."""
    if isinstance(data, Source) or table is not None or query is not None or is_database(data):
        raise ParameterError(
            "Spark reads files, directories and Spark frames, and a table of a database was given. "
            "Leave out the engine, or export the table to Parquet first."
        )


def _from(where: Path | Source, plan: Plan) -> Path | Source:
    """Let a path of a plan start at the plan's folder."""
    if isinstance(where, Path):
        return parse_place(plan.path(str(where)))
    if where.address.path is None:
        if not plan.trusted:
            raise refuse_untrusted(
                f"The plan names the server {where.address}, which would be sent your password"
            )
        return where
    return replace(where, address=replace(where.address, path=plan.path(str(where.address.path))))


def load_table(data: Any, plan: Plan) -> pl.DataFrame:
    """Read a file or a table of a database, or take a frame in, as the plan says."""
    return read_data(locate_table(data, plan), plan.data)[0]


def read_data(
    data: Any,
    how: DataPart,
    text: Callable[[Sequence[str]], Collection[str]] | None = None,
) -> tuple[pl.DataFrame, str]:
    """Read a file or a database, or take a frame; return also the SHA-256 of a file.

    ``text``: of a published table, which of its columns stay text, because a reader can tell 1.5
    from 1.50.
    """
    if isinstance(data, Source) or is_path(data):
        path = data if isinstance(data, Source) else Path(data)
        return read_file(path, how, text=text or (), quoted=text is not None)
    # The sheet of a frame, say, is nobody's: what is said of files stays with files.
    forms = {} if text is not None else {"dates": how.dates, "decimal": how.decimal}
    return from_native(data, missing=how.missing, **forms), ""


def check_columns(frame: pl.DataFrame | None, what: str, names: Sequence[str]) -> None:
    """Refuse a table that lacks one of some columns, or holds more than single values there."""
    if frame is None:
        return
    faults = [
        f"Column {name!r} of {what.lower()} holds values of type {frame[name].dtype}; needed are "
        "numbers, texts, dates, booleans or categories. Split it into plain columns first."
        if name in frame.columns
        else unknown_column(name, frame.columns, what)
        for name in names
        if name not in frame.columns or not plain(frame[name].dtype)
    ]
    if faults:
        raise SchemaError(faults)


def resolve_schema(
    frame: pl.DataFrame, plan: Plan, taxonomies: Mapping[str, Taxonomy]
) -> tuple[Plan, Schema]:
    """Return the schema that the plan declares, and the plan with roles and kinds written out."""
    if not plan.columns:
        plan = _guessed(frame, plan, taxonomies)
    names: dict[str, Any] = {role.value: plan.names(role) for role in Role}
    schema = declare(frame, taxonomies=taxonomies, **names, **_declared(plan.columns))
    grid = OFF if plan.paper and plan.paper.exact_ends else DEFAULT_GRID
    columns = tuple(
        replace(
            column,
            importance=part.importance,
            domain=part.domain or (),
            grid=part.grid or grid,
            sets=plan.allows_sets(column.name),
            same=plan.release.same if column.role is Role.SENSITIVE else (),
            **part.limits,
        )
        for column, part in ((column, plan.columns[column.name]) for column in schema.columns)
    )
    Schema(columns).check(frame, taxonomies)
    check_persons(Schema(columns), frame)
    schema = Schema(tuple(on_grid(column, frame[column.name], taxonomies) for column in columns))
    kinds = {c.name: c.kind for c in schema.columns if c.kind}
    pairs = zip(columns, schema.columns, strict=True)
    grids = {c.name: kept_grid(own.grid, c.grid) for own, c in pairs if c.kind is Kind.ORDERED}
    parts = dict(plan.columns)
    for key, settled in (("kind", kinds), ("grid", grids)):
        for name, value in settled.items():
            parts[name] = parts[name].model_copy(update={key: value})
    return plan.model_copy(update={"columns": parts}), schema


def quasi_schema(
    frame: pl.DataFrame, plan: Plan, names: Sequence[str], taxonomies: Mapping[str, Taxonomy]
) -> Schema:
    """Return the kinds of some columns, taken as quasi-identifiers whatever else the plan says."""
    parts = {name: plan.columns[name] for name in names if name in plan.columns}
    schema = declare(frame, quasi=names, taxonomies=taxonomies, **_declared(parts))
    schema.check(frame, taxonomies)
    return schema


def _declared(columns: Mapping[str, ColumnPart]) -> dict[str, Any]:
    """Return kinds, missing texts and orders of columns, as :func:`declare` takes them."""
    ordered = {name: column for name, column in columns.items() if column.kind or column.order}
    return {
        "kinds": {name: column.kind or Kind.ORDERED for name, column in ordered.items()},
        "missing": {name: column.missing for name, column in columns.items()},
        "order": {name: column.order for name, column in columns.items()},
    }


def _guessed(frame: pl.DataFrame, plan: Plan, taxonomies: Mapping[str, Taxonomy]) -> Plan:
    """Fill in guessed roles and warn; what no role was found for stays undecided."""
    schema = guess(frame, taxonomies=taxonomies)
    if not schema.quasi:
        raise SchemaError(
            "No quasi-identifier was declared and none could be guessed from the column names "
            f"{', '.join(map(repr, frame.columns[:20]))}. Name them with --quasi (quasi=[...])."
        )
    roles = {role: schema.names(role) for role in _GUESSED if schema.names(role)}
    told = "; ".join(f"{role.value}: {', '.join(names)}" for role, names in roles.items())
    warn(
        f"Roles were guessed ({told}). A guess does not know what others know: check them "
        "with 'shoal inspect', and declare them.",
    )
    return plan.changed({"roles": {**roles, Role.UNDECIDED: schema.undecided}})

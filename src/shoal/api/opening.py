"""Open tables and releases; each input is read once."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar, Unpack, overload

import polars as pl

from shoal.api.arguments import (
    OpenArguments,
    OpenReleaseArguments,
)
from shoal.api.release import Release
from shoal.api.setting_arguments import ReadingArguments
from shoal.api.signatures import with_signature
from shoal.api.table import Table
from shoal.base.errors import ParameterError
from shoal.base.roles import Kind, Role
from shoal.plan.parts import LIMITS
from shoal.plan.plan import Plan
from shoal.releases import other_notations
from shoal.releases.open_release import open_published
from shoal.tables.files import read_file
from shoal.tables.find_hierarchies import Hierarchies, find_hierarchies, is_path
from shoal.tables.native import Native, is_spark_frame
from shoal.tables.open_table import (
    Domains,
    Names,
    locate_table,
    merge_plan,
    read_data,
)
from shoal.tables.source import parse_place

FrameT = TypeVar("FrameT")
Declare = Callable[[Sequence[str]], dict[str, Any]]
"""What says of columns what they are, once their names are known, by names of arguments."""


def read(
    data: Any,
    plan: Plan,
    declare: Declare | None = None,
    *,
    hierarchies: Hierarchies | None = None,
    only: bool = False,
) -> Table[Any]:
    """Read a table, once. ``declare`` may depend on the columns, which are known only then."""
    start = time.perf_counter()
    frame, digest = read_data(locate_table(data, plan), plan.data)
    seconds = time.perf_counter() - start
    plan = plan if declare is None else merge_plan(plan, **declare(frame.columns))
    taxonomies = find_hierarchies(plan, frame.columns, hierarchies)
    return Table(data, plan, frame, taxonomies, only, seconds, digest)


@overload
def open(  # noqa: A001 -- shoal.open
    data: str | PathLike[str] | None = ..., **declared: Unpack[OpenArguments]
) -> Table[pl.DataFrame]: ...
@overload
def open(data: FrameT, **declared: Unpack[OpenArguments]) -> Table[FrameT]: ...  # noqa: A001
@with_signature(OpenArguments)
def open(data: Any = None, **declared: Any) -> Table[Any]:  # noqa: A001 -- shoal.open
    """Open a table with personal data: read, cleaned, typed and declared, once.

    ``hierarchies`` may also be taxonomies, or their files, by column.

    Parameters
    ----------
    data
        A file (CSV, Parquet, Arrow, Excel, Stata, SPSS, SAS), the address of a database, or a
        pandas, polars or pyarrow frame. It is never changed. Without it, the source that the plan
        names.
    quasi, sensitive, identifier, keep, drop
        Names of columns by role, one or a list: what others may know, what nobody may learn, what
        names people, what is released as it is, what is left out. Columns that are not named are
        not released. Without any name, and without a plan, roles are guessed with a warning.
    person
        The column that says whose row it is: then classes are counted in different people, not in
        rows. It is never released.
    plan
        A plan or its file; the other arguments override it.
    {columns}
    {data}
    table, query
        What to read from a database: ``table="schema.table"``, or the text of a query.
    """
    if is_spark_frame(data):
        raise ParameterError(
            "A Spark frame stays where it is and cannot be opened as a table on this machine. "
            "Anonymize it with shoal.anonymize(frame, ...)."
        )
    opened = open_for_inspection(data, **declared)
    if opened.plan.columns:
        _ = opened.settled  # whatever is wrong with the roles is said now
    return opened


@with_signature(ReadingArguments)
def read_table(
    path: Path | str,
    *,
    text: Collection[str] | Callable[[Sequence[str]], Collection[str]] = (),
    quoted: bool = False,
    **how: Unpack[ReadingArguments],
) -> pl.DataFrame:
    """Read a table from a file (CSV, Parquet, Arrow, Excel, Stata, SPSS, SAS) or from a database.

    Parameters
    ----------
    path
        The file, whose first bytes tell what it is, not its name. Or an address such as
        ``postgresql://host/db#table``.
    {Input}
    text
        Columns of a CSV file to keep as text even if every cell looks like a number or a date; or
        what returns them, given all columns.
    quoted
        A CSV file may be a release that was written with ``csv_safe``: then undo that.
    """
    return read_file(parse_place(path), merge_plan(None, **how).data, text=text, quoted=quoted)[0]


def open_for_inspection(
    data: Any, *, table: str | None = None, query: str | None = None, **declared: Any
) -> Table[Any]:
    """Open a table without a look at its roles; the arguments are those of :func:`open`."""
    named, trees = declared.get("quasi") is not None, declared.get("hierarchies")
    plan = merge_plan(declared.pop("plan", None), **declared)
    return read(locate_table(data, plan, table, query), plan, hierarchies=trees, only=named)


def open_with_plan(
    released: Any,
    plan: Plan,
    declare: Declare | None = None,
    *,
    st: Any = None,
    hierarchies: Hierarchies | None = None,
    original: Any = None,
    notations: Mapping[str, str] | None = None,
    dictionary: Mapping[str, dict[str, Any]] | None = None,
) -> Release[Any]:
    """Open a release by a plan. ``declare`` may depend on the columns, which are known only then.

    ``dictionary``: what the file beside it says of every column.
    """

    def declared(columns: Sequence[str]) -> Plan:
        given = {} if declare is None else declare(columns)
        domains = given.pop("domain", None) or {}
        full = merge_plan(plan, **given)
        # Only a sensitive column has a domain.
        hidden = [*full.names(Role.SENSITIVE), *(n for n in domains if n not in full.columns)]
        return merge_plan(full, sensitive=hidden, domain=domains)

    opened = open_published(
        released,
        declared,
        st=st,
        hierarchies=hierarchies,
        complete=bool(plan.columns),
        how=plan.data,
    )
    if notations:
        opened = other_notations.interpret_as_declared(opened, notations)
    kind = Native() if is_path(released) else Native.from_frame(released)
    release: Release[Any] = Release(opened, None, kind, dictionary=dictionary)
    return release if original is None else release.with_original(original)


@overload
def open_release(
    released: str | PathLike[str], **opening: Unpack[OpenReleaseArguments]
) -> Release[pl.DataFrame]: ...
@overload
def open_release(released: FrameT, **opening: Unpack[OpenReleaseArguments]) -> Release[FrameT]: ...
@with_signature(OpenReleaseArguments)
def open_release(
    released: Any,
    *,
    quasi: Names | None = None,
    sensitive: Names | None = None,
    identifier: Names | None = None,
    person: str | None = None,
    plan: Plan | str | Path | None = None,
    original: Any = None,
    st: Any = None,
    hierarchies: Hierarchies | None = None,
    kind: Mapping[str, Kind | str] | None = None,
    domain: Domains | None = None,
    notations: Mapping[str, str] | None = None,
    **more: Any,
) -> Release[Any]:
    """Open a published table of any origin: its shape known once, its classes grouped once.

    The shape is told by the file's own marks and by what is declared: Anatomy by its second table,
    dummy values by sets in a column that is declared sensitive. Everything else is read as a
    generalized table, whose cells are values, intervals, sets or ``*``. If nothing is declared, a
    data dictionary beside the file (``--dictionary``) says what its columns are. How a table is
    read is said of the original's file; encoding, sheet, hidden and labels also of the release's.

    Parameters
    ----------
    released
        The published table, a file, the address of a database, or a frame.
    quasi, sensitive, identifier
        Its columns by role, one name or a list, unless the plan declares them.
    person
        The published column that says by a pseudonym whose row it is: people are counted then.
    plan
        The plan of the run; the other arguments override it.
    original
        The table it was made from, see :meth:`Release.beside`. A :class:`shoal.Table` also tells
        the roles of the columns when neither a plan nor names do.
    st
        Anatomy's second table; next to a file ``x.csv`` it is found as ``x.st.csv``.
    hierarchies
        The hierarchies that it was made with, to understand generalized cells.
    kind
        Per quasi-identifier how it was generalized.
    domain
        Per sensitive column the values from which dummy values were drawn, as :func:`shoal.open`
        takes them. Next to a file ``x.csv`` they are found as ``x.domain.csv``; without either they
        are the values in the sets.
    {Input}
    notations
        Per column how another tool wrote its cells, when that cannot be told by itself: a pattern
        such as ``"LO to HI"``, or ``"exact"``.
    within, coarsest, finest, top, bottom, suppress
        Limits that its cells and rows are to keep, as :func:`shoal.anonymize` takes them.
    """
    declared = getattr(original, "settled", None)
    if plan is None and declared is not None:
        plan = declared.plan
    late = {key: more.pop(key) for key in LIMITS if key in more}
    full = merge_plan(plan, hierarchies=hierarchies, **more)
    named: Mapping[Role, Any] = {Role.QUASI: quasi, Role.SENSITIVE: sensitive}
    named = {**named, Role.IDENTIFIER: identifier, Role.PERSON: person}
    told = None
    if plan is None and not any(named.values()) and is_path(released):
        from shoal.api.analysis import declared_beside

        told, named, kind = declared_beside(Path(released), named, kind)
    late |= {str(role): names for role, names in named.items()}
    if kind:  # they belong to columns, which are named last
        full = merge_plan(full, **late, kind=kind)
    trees = declared.taxonomies if hierarchies is None and declared is not None else hierarchies
    return open_with_plan(
        released,
        full,
        lambda _columns: late | {"domain": domain},
        st=st,
        hierarchies=trees,
        original=original,
        notations=notations,
        dictionary=told,
    )

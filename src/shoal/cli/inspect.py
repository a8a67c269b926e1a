"""``shoal inspect``: show the columns of a table and how unique its rows are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.cli import console, streams
from shoal.cli import options as opt
from shoal.cli.settings import TABLE, Given, with_settings

if TYPE_CHECKING:
    from shoal.measures.singling import Singling
    from shoal.tables.source import Place
    from shoal.verbs.inspect import Inspection

SHOWN = 3  # columns, combinations of each size, and rows that are shown


@with_settings(*TABLE, "quasi")
def command(
    data: opt.PlannedData = None,
    json: opt.JsonFile = None,
    force: opt.Force = False,
    *,
    given: Given,
) -> None:
    """Show columns, missing values, uniqueness, and a suggested role for each column.

    Example: shoal inspect patients.csv --missing '?'

    Nothing is written, except the file that --json names.
    """
    from shoal.api.opening import read
    from shoal.cli.output import check_named, keep

    inputs = [path for path in (data, given.plan_file) if path is not None]
    check_named({"--json": json}, force, inputs)
    full = given.plan()
    where = given.located(data, full)
    profile = read(where, full, given.late(), only="quasi" in given.values).inspect()
    _show(profile, where)
    keep(json, profile.to_json(), force, inputs)


def _show(profile: Inspection, where: Place) -> None:
    """Show the columns, those that identify people, and how unique the rows are."""
    console.line(f"{streams.named(where)}: {profile.rows:,} rows, {len(profile.columns)} columns\n")
    console.table(
        ("column", "type", "missing", "distinct", "example", "suggested role"),
        [
            (
                look.column.name,
                look.type_name,
                console.percent(look.missing / profile.rows),
                f"{look.distinct:,}",
                look.example[:24],
                look.column.role.label,
            )
            for look in profile.columns
        ],
        spare=("example",),
    )
    console.line("Why these roles:")
    for look in profile.columns:
        console.line(f"  {look.column.name}: {look.column.reason}")
    console.line()
    if profile.not_people:
        console.warning(profile.not_people)
    _show_singling(profile.singling)
    names = profile.schema.quasi
    if not names:
        console.line("No quasi-identifiers found or named. Name them with --quasi a,b,c.")
        return
    console.line(f"By the quasi-identifiers {', '.join(names)}:")
    console.line(f"  missing values                  {console.percent(profile.vmr)}")
    console.line(f"  rows with a missing value       {console.percent(profile.rmr)}")
    for size, rows in profile.below.items():
        what = "rows that are unique" if size == 2 else f"rows in a class below {size}"
        console.line(f"  {what:<30}  {console.percent(rows / profile.rows)} ({rows:,})")
    again = getattr(where, "again", where) if streams.named(where) != streams.STDIN else "FILE"
    console.line(f"\nNext: shoal start {again}, then check the roles in the plan that it writes.")


def _show_singling(singling: Singling) -> None:
    """Show which columns identify people, alone and together."""
    best = [one for one in singling.columns if one.unique][:SHOWN]
    for size in (2, 3):
        best += [one for one in singling.together if len(one.columns) == size][:SHOWN]
    if best:
        console.line("Columns that identify people, alone or together:")
        console.table(
            ("columns", "rows that are unique"),
            [
                (" + ".join(one.columns), f"{one.unique:,} ({console.percent(one.alone)})")
                for one in best
            ],
        )
    share = console.percent(singling.unique / max(singling.rows, 1))
    console.line(
        f"{singling.unique:,} rows ({share}) are unique by three or fewer of "
        f"{', '.join(singling.tried)}."
    )
    for row in singling.worst[:SHOWN]:
        sets = [" + ".join(names) for names in row.minimal]
        more = f", and {len(sets) - 2:,} more" if len(sets) > 2 else ""
        console.line(f"  Row {row.row + 1:,} is unique by {', by '.join(sets[:2])}{more}.")
    console.line()

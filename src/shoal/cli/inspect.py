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

_SETS = 6  # minimal unique combinations of a row that are told


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
    _tell(profile, where)
    keep(json, profile.to_json(), force, inputs)


def _tell(profile: Inspection, where: Place) -> None:
    """Show the columns, what singles rows out, and how rows stand on the quasi-identifiers."""
    console.line(f"{streams.named(where)}: {profile.rows:,} rows, {len(profile.columns)} columns\n")
    console.table(
        ("column", "type", "missing", "distinct", "example", "role", "kind", "why"),
        [
            (
                look.column.name,
                look.dtype,
                console.percent(look.missing / profile.rows),
                f"{look.distinct:,}",
                look.example[:24],
                look.column.role.label,
                look.column.kind.value if look.column.kind else "",
                look.column.reason,
            )
            for look in profile.columns
        ],
    )
    if profile.not_people:
        console.warning(profile.not_people)
    _tell_singling(profile.singling)
    names = profile.schema.quasi
    if not names:
        console.line("No quasi-identifiers found or named: say which with --quasi a,b,c.")
        return
    console.line(f"On the quasi-identifiers {', '.join(names)}:")
    console.line(f"  missing cells (VMR)             {console.percent(profile.vmr)}")
    console.line(f"  rows with a missing cell (RMR)  {console.percent(profile.rmr)}")
    for size, rows in profile.below.items():
        what = "rows that are unique" if size == 2 else f"rows in a class below {size}"
        console.line(f"  {what:<30}  {console.percent(rows / profile.rows)} ({rows:,})")
    again = getattr(where, "again", where) if streams.named(where) != streams.STDIN else "FILE"
    console.line(f"\nNext: shoal start {again}, then check the roles in the plan that it writes.")


def _tell_singling(singling: Singling) -> None:
    """Show which columns tell rows apart, alone and together."""
    console.line("Which columns single rows out, alone and up to three together:")
    console.table(
        ("columns", "rows unique by them", "distinction", "separation"),
        [
            (
                " + ".join(combination.columns),
                f"{combination.unique:,} ({console.percent(combination.alone)})",
                f"{combination.distinction:.4f}",
                f"{combination.separation:.4f}",
            )
            for combination in (*singling.columns, *singling.together)
        ],
    )
    share = console.percent(singling.unique / max(singling.rows, 1))
    console.line(
        f"{singling.unique:,} rows ({share}) are unique by at most three of "
        f"{', '.join(singling.tried)}.\n"
    )
    if singling.worst:
        console.line("The rows that the fewest columns single out:")
        for row in singling.worst:
            sets = [" + ".join(names) for names in row.minimal]
            more = f" and {len(sets) - _SETS:,} more" if len(sets) > _SETS else ""
            console.line(f"  row {row.row + 1:,}: {'; '.join(sets[:_SETS])}{more}")
        console.line()

"""``shoal inspect``: show the columns of a table and how unique its rows are."""

from __future__ import annotations

from shoal.cli import console, streams
from shoal.cli import options as opt
from shoal.cli.settings import TABLE, GivenOptions, with_settings


@with_settings(*TABLE, "quasi")
def command(
    data: opt.PlannedData = None,
    json: opt.JsonFile = None,
    force: opt.Force = False,
    *,
    given: GivenOptions,
) -> None:
    """Show columns, missing values, uniqueness, and a suggested role for each column.

    Example: shoal inspect patients.csv --missing '?'

    Nothing is written, except the file that --json names.
    """
    from shoal.api.opening import read
    from shoal.cli.output import check_named, write_text

    inputs = [path for path in (data, given.plan_file) if path is not None]
    check_named({"--json": json}, force, inputs)
    full = given.plan()
    where = given.located(data, full)
    profile = read(where, full, given.late(), only="quasi" in given.values).inspect()
    console.print_line(
        f"{streams.display_name(where)}: {profile.rows:,} rows, {len(profile.columns)} columns\n"
    )
    console.show(profile.pieces(examples=True))
    for note in profile.look_alike_notes:
        console.warning(note)
    if profile.schema.quasi:
        again = (
            getattr(where, "again", where)
            if streams.display_name(where) != streams.STDIN
            else "FILE"
        )
        command = f"shoal start {again}, then check the roles in the plan that it writes."
        console.print_line(f"\nNext: {command}")
    write_text(json, profile.to_json(), force, inputs)

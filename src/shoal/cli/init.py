"""``shoal init``: a commented plan with the guesses."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from shoal.cli import options as opt
from shoal.cli import say


def command(
    data: opt.Data,
    out: Annotated[Path, opt.flag("--out -o", "FILE", "Where the plan goes.")],
    table: opt.Table = None,
    query: opt.Query = None,
    query_file: opt.QueryFile = None,
    hierarchies: opt.Hierarchies = None,
    missing: opt.Missing = None,
    delimiter: opt.Delimiter = None,
    max_unpacked: opt.MaxUnpacked = None,
    force: opt.Force = False,
) -> None:
    """Write a commented plan for a table, with a guessed role and kind for every column.

    Example: shoal init patients.csv -o plan.toml

    Read the guesses before you use them: a name says little about what others know.
    """
    import os

    from shoal.api.opening import read
    from shoal.base.atomic import atomic_file, check_output
    from shoal.base.roles import Role
    from shoal.plan.origin import leads_out
    from shoal.tables.prepare import merge
    from shoal.tables.sources.source import Source

    check_output(out, force=force, inputs=[data])
    plan = merge(None, missing=missing, delimiter=delimiter, hierarchies=hierarchies)
    where = opt.located(data, plan, table, query, query_file)
    profile = read(where, plan).inspect()
    columns = {
        column.name: {"role": column.role.value}
        | ({"kind": column.kind.value} if column.kind else {})
        for column in profile.schema.columns
    }
    folder = out.absolute().parent
    if hierarchies is not None:
        # Paths in a plan start at the plan's own folder, so that both can move together.
        plan = plan.override(
            data={"hierarchies": Path(os.path.relpath(hierarchies, folder)).as_posix()}
        )
    if isinstance(where, Source):
        plan = plan.override(data=where.plan_keys(folder))
    plan = plan.with_columns(columns).filled()
    reasons = {column.name: column.reason for column in profile.schema.columns}
    with atomic_file(out, force=force, inputs=[data]) as stream:
        stream.write(plan.to_toml(reasons).encode())
    say.line(f"Wrote {out}: {len(columns)} columns, roles guessed. Check them, then run:")
    for column in profile.schema.columns:
        if column.role is Role.UNDECIDED:
            say.line(f"  undecided, not released: {column.name} ({column.reason})")
    named = "" if isinstance(where, Source) else f"{where} "
    places = [hierarchies, where.address.path] if isinstance(where, Source) else [hierarchies]
    server = isinstance(where, Source) and where.address.path is None
    outside = server or any(path is not None and leads_out(path, folder) for path in places)
    trust = " --trust-plan" if outside else ""
    say.line(f"  shoal anonymize {named}--plan {out}{trust} -o release.csv")

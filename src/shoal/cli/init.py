"""``shoal init``: write a plan with suggested roles and hierarchies."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from shoal.cli import console
from shoal.cli import options as opt
from shoal.cli.settings import Given, with_settings

if TYPE_CHECKING:
    import polars as pl

    from shoal.api.table import Table as OpenedTable
    from shoal.plan.plan import Plan
    from shoal.tables.domain import Taxonomy
    from shoal.tables.schema import Schema
    from shoal.tables.source import Source


@with_settings(
    "place",
    "Input",
    "hierarchies",
    "sets",
    sets="never (default): suggest a hierarchy for each column of categories. allowed: suggest "
    "none; "
    "the categories are then published as lists of values. For all columns, or for one.",
)
def command(
    data: opt.Data,
    out: Annotated[Path, opt.flag("--out -o", "FILE", "The plan.")],
    force: opt.Force = False,
    *,
    given: Given,
) -> None:
    """Write a commented plan with a suggested role for every column.

    Example: shoal init patients.csv -o plan.toml

    Check the suggested roles before you use the plan. Columns of categories get a suggested
    hierarchy in the folder PLAN.hierarchies: check each of them, and group values that belong
    together. From an ARX project (project.deid), roles, hierarchies, privacy models and weights are
    imported; what cannot be imported is listed.
    """
    from shoal.api.opening import read
    from shoal.base.atomic import check_output
    from shoal.base.roles import Role
    from shoal.tables.open_table import planned

    check_output(out, force=force, inputs=[data])
    if isinstance(data, Path) and data.suffix.lower() == ".deid":
        from shoal.catalog.extensions import require

        require("exchange")
        from shoal.ext.exchange.import_project import from_project

        from_project(data, out, force=force)
        return
    sets, hierarchies = given.values.get("sets", {}), given.values.get("hierarchies")
    plan = planned(None, **given.early | {"sets": {None: sets.pop(None, "never")}})
    where = given.located(data, plan)
    opened = read(where, plan)
    profile = opened.inspect()
    trees = write_plan(opened, where, out, (), hierarchies, force=force, sets=sets)
    console.line(f"Wrote {out}: {len(profile.columns)} columns with suggested roles.")
    for column in profile.schema.columns:
        if column.role is Role.UNDECIDED:
            console.line(f"  {column.role.label}: {column.name} ({column.reason})")
    for name, tree in trees.items():
        console.line(f"  suggested hierarchy of {name} ({tree.how}), {tree.named}: {tree.path}")
    if profile.not_people:
        console.warning(profile.not_people)
    console.line("Check roles and hierarchies, then run:")
    console.line(f"  shoal anonymize {again(where, hierarchies, out)} -o release.csv")


def write_plan(
    opened: OpenedTable[Any],
    where: Path | Source,
    out: Path,
    rules: Sequence[Mapping[str, Any]],
    hierarchies: Path | None,
    *,
    force: bool,
    sets: Mapping[str, str] | None = None,
    why: Mapping[str, str] | None = None,
) -> dict[str, _Tree]:
    """Write a plan with the roles of a table, and guessed hierarchies for its names.

    ``rules`` take the place of the default one, ``why`` gives reasons of roles that were declared.
    Returns the hierarchies, by column.
    """
    import os

    from shoal.base.atomic import atomic_file
    from shoal.plan.changing import changes
    from shoal.tables.source import Source

    schema = opened.inspect().schema
    columns = {
        column.name: {"role": column.role.value}
        | ({"kind": column.kind.value} if column.kind else {})
        for column in schema.columns
    }
    plan = opened.plan.replaced(columns=columns, **({"rules": list(rules)} if rules else {}))
    plan = plan.changed(changes({"sets": sets}))
    folder = out.absolute().parent
    if hierarchies is not None:
        # Paths in a plan start at the plan's own folder, so that both can move together.
        named = Path(os.path.relpath(hierarchies, folder)).as_posix()
        plan = plan.changed({"data": {"hierarchies": named}})
    if isinstance(where, Source):
        plan = plan.changed({"data": where.plan_keys(folder)})
    trees = _guessed(opened.frame, schema, plan, out.with_suffix(".hierarchies"))
    guessed = {n: {"kind": "taxonomy", "hierarchy": tree.named} for n, tree in trees.items()}
    plan = plan.changed({"columns": guessed}).final()
    reasons = {column.name: column.reason for column in schema.columns} | dict(why or {})
    for name, tree in trees.items():
        reasons[name] += f"; suggested hierarchy ({tree.how}): check it"
    files = _written(list(trees.values()), force=force)
    with files, atomic_file(out, force=force, inputs=[where]) as stream:
        stream.write(plan.to_toml(reasons).encode())
    return trees


def again(where: Path | Source, hierarchies: Path | None, out: Path) -> str:
    """Return the words that name the table and the plan, and whether the plan has to be trusted."""
    from shoal.plan.origin import leads_out

    file = isinstance(where, Path)
    places = [hierarchies, None if isinstance(where, Path) else where.address.path]
    server = not isinstance(where, Path) and where.address.path is None
    folder = out.absolute().parent
    outside = server or any(path is not None and leads_out(path, folder) for path in places)
    return f"{f'{where} ' if file else ''}--plan {out}{' --trust-plan' if outside else ''}"


@dataclass(frozen=True, eq=False)
class _Tree:
    """A guessed hierarchy: how it was made, and where it goes."""

    taxonomy: Taxonomy
    how: str
    file: Path

    @property
    def named(self) -> str:
        """The file as the plan beside it names it."""
        return f"{self.file.parent.name}/{self.file.name}"

    @property
    def path(self) -> str:
        """The way of the first value to the top, as an example."""
        labels, nodes = self.taxonomy.labels, self.taxonomy.levels[:, 0].tolist()
        return " > ".join(dict.fromkeys(labels[node] for node in nodes))


def _guessed(frame: pl.DataFrame, schema: Schema, plan: Plan, folder: Path) -> dict[str, _Tree]:
    """Make a hierarchy for every column of names that may not be published as sets."""
    from shoal.base.roles import Kind, Role
    from shoal.tables.guessing.hierarchies import guess_hierarchy
    from shoal.tables.rare import once_each, rare_below

    few = rare_below(rule.spec for rule in plan.final().rules)
    trees: dict[str, _Tree] = {}
    for number, column in enumerate(schema.columns, 1):
        names = column.role is Role.QUASI and column.kind is Kind.SET
        if not names or plan.allows_sets(column.name):
            continue
        if tree := guess_hierarchy(once_each(frame, schema, column.name), column.name, few):
            plain = re.sub(r"[^\w-]+", "_", column.name)[:60]
            file = f"{plain}.csv" if plain == column.name else f"{number}_{plain}.csv"
            trees[column.name] = _Tree(*tree, folder / file)
    return trees


@contextmanager
def _written(trees: Sequence[_Tree], *, force: bool) -> Iterator[None]:
    """Write the hierarchies, and take them back if the plan cannot be written after them."""
    from shoal.base.atomic import check_output
    from shoal.tables.hierarchy import write_hierarchy

    fresh = [folder for folder in {tree.file.parent for tree in trees} if not folder.exists()]
    made: list[Path] = []
    try:
        for folder in fresh:
            folder.mkdir()
        for tree in trees:
            check_output(tree.file, force=force)
        for tree in trees:
            made += [] if tree.file.exists() else [tree.file]
            write_hierarchy(tree.taxonomy, tree.file, force=force)
        yield
    except BaseException:
        for file in made:
            file.unlink(missing_ok=True)
        for folder in fresh:
            folder.rmdir()
        raise

"""``shoal init``: write a plan with suggested roles and hierarchies."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from shoal.cli import console
from shoal.cli import options as opt
from shoal.cli.settings import GivenOptions, with_settings

if TYPE_CHECKING:
    from shoal.plan.plan import Plan
    from shoal.tables.domain import Taxonomy
    from shoal.tables.source import Source
    from shoal.verbs.first_plan import FirstPlan


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
    given: GivenOptions,
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
    from shoal.tables.open_table import merge_plan
    from shoal.verbs.first_plan import first_plan

    check_output(out, force=force, inputs=[data])
    if isinstance(data, Path) and data.suffix.lower() == ".deid":
        from shoal.catalog.extensions import require

        require("exchange")
        from shoal.ext.exchange.import_project import from_project

        from_project(data, out, force=force)
        return
    sets, hierarchies = given.values.get("sets", {}), given.values.get("hierarchies")
    plan = merge_plan(None, **given.early | {"sets": {None: sets.pop(None, "never")}})
    where = given.located(data, plan)
    opened = read(where, plan)
    profile = opened.inspect()
    first = first_plan(profile, opened.plan, sets=sets)
    trees = write_plan(first, where, out, hierarchies, force=force)
    console.print_line(f"Wrote {out}: {len(profile.columns)} columns with suggested roles.")
    for name, role in first.roles.items():
        if role is Role.UNDECIDED:
            console.print_line(f"  {role.label}: {name} ({first.reasons[name]})")
    for name, tree in trees.items():
        console.print_line(
            f"  suggested hierarchy of {name} ({tree.how}), {tree.named}: {tree.path}"
        )
    console.print_line(describe_promise(first.plan))
    for note in profile.look_alike_notes:
        console.warning(note)
    if profile.not_people and first.plan.names(Role.PERSON) == []:
        console.warning(profile.not_people)
    console.print_line("Check roles and hierarchies, then run:")
    console.print_line(f"  shoal anonymize {command_words(where, hierarchies, out)} -o release.csv")


def describe_promise(plan: Plan) -> str:
    """Say in one line what a plan promises of every class."""
    rules = (
        f"{rule.name} ({', '.join(f'{key} = {v}' for key, v in rule.spec.items() if key in 'klt')}"
        f"{f' for {rule.column}' if rule.column else ''})"
        for rule in plan.final().rules
    )
    return f"Rules: {', '.join(rules)}."


def write_plan(
    first: FirstPlan, where: Path | Source, out: Path, hierarchies: Path | None, *, force: bool
) -> dict[str, _Tree]:
    """Write a first plan, and its guessed hierarchies beside it; return these by column."""
    import os

    from shoal.base.atomic import atomic_file
    from shoal.tables.source import Source

    plan = first.plan
    folder = out.absolute().parent
    if hierarchies is not None:
        # Paths in a plan start at the plan's own folder, so that both can move together.
        named = Path(os.path.relpath(hierarchies, folder)).as_posix()
        plan = plan.changed({"data": {"hierarchies": named}})
    if isinstance(where, Source):
        plan = plan.changed({"data": where.plan_keys(folder)})
    trees = _files(first, out.with_suffix(".hierarchies"))
    plan = plan.changed({"columns": {name: {"hierarchy": t.named} for name, t in trees.items()}})
    files = _written(list(trees.values()), force=force)
    with files, atomic_file(out, force=force, inputs=[where]) as stream:
        stream.write(plan.final().to_toml(first.reasons).encode())
    return trees


def command_words(where: Path | Source, hierarchies: Path | None, out: Path) -> str:
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


def _files(first: FirstPlan, folder: Path) -> dict[str, _Tree]:
    """Say where each guessed hierarchy goes."""
    trees: dict[str, _Tree] = {}
    for number, name in enumerate(first.plan.columns, 1):
        if name in first.trees:
            plain = re.sub(r"[^\w-]+", "_", name)[:60]
            file = f"{plain}.csv" if plain == name else f"{number}_{plain}.csv"
            trees[name] = _Tree(*first.trees[name], folder / file)
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

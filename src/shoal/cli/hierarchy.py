"""``shoal hierarchy``: make hierarchies from data, show them and check them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.base.errors import InputError, ParameterError, SchemaError
from shoal.cli import console, streams
from shoal.cli import options as opt
from shoal.cli.help import GroupedCommand, with_common_options
from shoal.cli.settings import GivenOptions, with_settings
from shoal.tables.source import Place

if TYPE_CHECKING:
    import polars as pl

    from shoal.tables.domain import Taxonomy

app = typer.Typer()
PREVIEW = 24  # lines of a tree that is shown before it is written


@app.command("make", cls=GroupedCommand)
@with_common_options
@with_settings("Input")
def make(
    data: opt.Data,
    column: Annotated[
        str, typer.Argument(metavar="COLUMN", help="The column to make a hierarchy for.")
    ],
    how: Annotated[
        str,
        opt.flag(
            "--how",
            "NAME",
            "For numbers: intervals, quantiles, ages. For dates: dates, weeks, decades. For codes: "
            "prefixes, nuts, icd10, country. For categories: frequency, rare, flat.",
        ),
    ],
    out: Annotated[
        Path | None,
        opt.flag(
            "--out -o",
            "FILE",
            "Hierarchy file, such as age.csv; without it the hierarchy is only shown.",
        ),
    ] = None,
    widths: Annotated[
        str | None,
        opt.flag("--widths", "NUMBERS", "intervals: width on each level, such as 5,10,20."),
    ] = None,
    steps: Annotated[
        str | None,
        opt.flag(
            "--steps",
            "NUMBERS",
            "intervals, quantiles: number of intervals on each level, finest first, such as "
            "16,8,4.",
        ),
    ] = None,
    drop: Annotated[
        str | None,
        opt.flag("--drop", "NUMBERS", "prefixes: number of hidden characters on each level."),
    ] = None,
    top_age: Annotated[
        str | None,
        opt.flag("--top-age", "AGE", "ages: one group for everyone from this age on (90+)."),
    ] = None,
    at_least: Annotated[
        str | None,
        opt.flag("--at-least", "ROWS", "rare: group the values that fewer rows have."),
    ] = None,
    k: Annotated[
        str | None,
        opt.flag(
            "--k",
            "INT",
            "frequency: labels name only values of at least this many rows. [default: 10]",
        ),
    ] = None,
    person: Annotated[
        str | None,
        opt.flag(
            "--person", "NAME", "Column that says which person a row belongs to, to count people."
        ),
    ] = None,
    force: opt.Force = False,
    *,
    given: GivenOptions,
) -> None:
    """Make a hierarchy from the values of a column, in ARX's CSV format, and show it.

    Example: shoal hierarchy make patients.csv age --how ages -o age.csv

    Example: shoal hierarchy make patients.csv age --how intervals --widths 5,10,20

    Without --out nothing is written.
    """
    from shoal.base.atomic import check_output
    from shoal.tables.hierarchy import write_hierarchy
    from shoal.tables.hierarchy_methods import make as make_hierarchy
    from shoal.tables.open_table import load_table, merge_plan
    from shoal.tables.schema import unknown_column

    if out is not None:
        check_output(out, force=force, inputs=[data])
    frame = load_table(data, merge_plan(None, **given.early))
    for name in (column, *([person] if person is not None else ())):
        if name not in frame.columns:
            raise SchemaError(unknown_column(name, frame.columns))
    if person is not None:
        frame = frame.unique([person, column], maintain_order=True)
    numbers = {"widths": widths, "steps": steps, "drop": drop, "at-least": at_least}
    numbers["top-age"] = top_age
    taxonomy = make_hierarchy(how, frame[column], column, numbers)
    _tree(taxonomy, frame, column, PREVIEW)
    if out is None:
        console.print_line(f"{_shape(taxonomy)}; nothing was written: -o {column}.csv keeps it.")
        return
    write_hierarchy(taxonomy, out, force=force)
    console.print_line(f"Wrote {out}: {_shape(taxonomy)}.")


@app.command("make-all", cls=GroupedCommand)
@with_common_options
@with_settings("Input")
def make_all(
    data: opt.Data,
    out: Annotated[Path, opt.flag("--out -o", "DIR", "Folder for the hierarchies.")],
    force: opt.Force = False,
    *,
    given: GivenOptions,
) -> None:
    """Make a suggested hierarchy for each column that looks like a quasi-identifier.

    Example: shoal hierarchy make-all patients.csv -o hierarchies

    Numbers are grouped into intervals, dates into months and years, countries into regions, codes
    by prefix, and other categories by frequency. Check each hierarchy before you use it.
    """
    from shoal.base.atomic import check_output
    from shoal.tables.guessing.guess import guess
    from shoal.tables.guessing.hierarchies import guess_any
    from shoal.tables.hierarchy import write_hierarchy
    from shoal.tables.open_table import load_table, merge_plan

    frame = load_table(data, merge_plan(None, **given.early))
    names = guess(frame).quasi
    if not names:
        raise InputError(
            "No column of this table looks like something that others may know, so there is "
            "nothing to make a hierarchy for. Make one by name: shoal hierarchy make"
        )
    made = {name: found for name in names if (found := guess_any(frame[name], name))}
    odd = [name for name in made if not re.fullmatch(r"[\w -]+", name)]
    if odd:
        raise ParameterError(
            f"The column {odd[0]!r} cannot be the name of a file. Rename it, or make its hierarchy "
            "by name: shoal hierarchy make"
        )
    for name in made:
        if out.is_dir():
            check_output(out / f"{name}.csv", force=force, inputs=[data])
    out.mkdir(parents=True, exist_ok=True)
    for name, (taxonomy, how) in made.items():
        write_hierarchy(taxonomy, out / f"{name}.csv", force=force)
        labels, way = taxonomy.labels, taxonomy.levels[:, 0].tolist()
        example = " > ".join(dict.fromkeys(labels[node] for node in way))
        console.print_line(f"{name}: {how}, {_shape(taxonomy)}: {example}")
    for name in names:
        if name not in made:
            console.print_line(f"{name}: no hierarchy, it has no known value")
    console.print_line(
        f"Wrote {len(made)} hierarchies to {out}. Look at one: shoal hierarchy show FILE"
    )


@app.command("show", cls=GroupedCommand)
@with_common_options
@with_settings("Input")
def show(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A hierarchy file.")],
    data: Annotated[
        Place | None,
        opt.flag("--data", "DATA", "Table whose rows are counted.", parser=streams.parse_input),
    ] = None,
    column: Annotated[
        str | None, opt.flag("--column", "NAME", "The column, if the file is not named after it.")
    ] = None,
    lines: Annotated[
        int, opt.flag("--lines", "INT", "Largest number of lines; 0 for all.", min=0)
    ] = 60,
    *,
    given: GivenOptions,
) -> None:
    """Show a hierarchy as a tree, with the number of rows below each label.

    Example: shoal hierarchy show hierarchies/zip.csv --data patients.csv
    """
    from shoal.tables.hierarchy import read_hierarchy
    from shoal.tables.open_table import load_table, merge_plan
    from shoal.tables.schema import unknown_column

    if not file.is_file():
        raise InputError(f"There is no hierarchy at {file}. Give a file, such as zip.csv.")
    name = column or file.stem.rpartition("_hierarchy_")[2]
    frame = None
    if data is not None:
        frame = load_table(data, merge_plan(None, **given.early))
        if name not in frame.columns:
            raise SchemaError(unknown_column(name, frame.columns))
    taxonomy = read_hierarchy(file, name)
    _tree(taxonomy, frame, name, lines)
    console.print_line(f"{_shape(taxonomy)}.")


def _tree(taxonomy: Taxonomy, frame: pl.DataFrame | None, name: str, most: int) -> None:
    """Draw a hierarchy, wide labels first; what does not fit is told by its number."""
    from shoal.tables.cells import as_text
    from shoal.tables.tree_text import tree_lines

    counts = None
    if frame is not None:
        counted = as_text(frame[name]).drop_nulls().rename("value").value_counts(name="count")
        counts = dict(counted.iter_rows())
    for line in tree_lines(taxonomy, counts, most):
        console.print_line(line)


@app.command("check", cls=GroupedCommand)
@with_common_options
@with_settings("Input")
def check(
    path: Annotated[
        Path, typer.Argument(metavar="PATH", help="A hierarchy file, or a folder of COLUMN.csv.")
    ],
    data: Annotated[
        Place | None,
        opt.flag(
            "--data", "DATA", "Table whose values they must cover.", parser=streams.parse_input
        ),
    ] = None,
    column: Annotated[
        str | None, opt.flag("--column", "NAME", "The column, if the file is not named after it.")
    ] = None,
    *,
    given: GivenOptions,
) -> None:
    """Check that hierarchies are trees and cover every value of a table.

    Example: shoal hierarchy check hierarchies/ --data patients.csv

    Exit codes: 0 all hierarchies are correct; 1 at least one is not; 2 wrong use.
    """
    from shoal.tables.hierarchy import hierarchy_files, read_hierarchy
    from shoal.tables.open_table import load_table, merge_plan

    files = hierarchy_files(path) if path.is_dir() else [path]
    if not path.exists() or not files:
        raise InputError(
            f"There is no hierarchy at {path}. Give a file, or a folder of COLUMN.csv files."
        )
    if column is not None and len(files) > 1:
        raise ParameterError("--column goes with a single file. Got a folder: leave --column out.")
    plan = merge_plan(None, **given.early)
    frame = None if data is None else load_table(data, plan)
    broken = 0
    for file in files:
        name = column or file.stem.rpartition("_hierarchy_")[2]
        try:
            taxonomy = read_hierarchy(file, name)
            note = "" if frame is None else _cover(taxonomy, frame, name, required=len(files) == 1)
            console.print_line(f"ok      {file.name}: {_shape(taxonomy)}{note}")
        except (SchemaError, InputError) as error:
            broken += 1
            console.print_line(f"BROKEN  {file.name}")
            for fault in str(error).splitlines():
                console.print_line(f"        {fault}")
    if broken:
        console.print_line(f"{broken} of {len(files)} hierarchies are broken.")
        raise typer.Exit(1)


def _cover(taxonomy: Taxonomy, frame: pl.DataFrame, name: str, *, required: bool) -> str:
    from shoal.tables.cells import as_text
    from shoal.tables.hierarchy import check_cover
    from shoal.tables.schema import unknown_column

    if name not in frame.columns:
        if required:
            raise SchemaError(unknown_column(name, frame.columns))
        return "; the table has no such column"
    counts = as_text(frame[name]).drop_nulls().rename("value").value_counts(name="count")
    check_cover(taxonomy, dict(counts.iter_rows()), name)
    return "; covers every value"


def _shape(taxonomy: Taxonomy) -> str:
    return f"{taxonomy.size:,} values, {taxonomy.levels.shape[0]} levels"

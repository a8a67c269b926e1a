"""``shoal hierarchy``: make hierarchies from data, and check them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.base.errors import InputError, ParameterError, SchemaError
from shoal.cli import options as opt
from shoal.cli import say, streams
from shoal.cli.helping import Command, told
from shoal.tables.sources.source import Place

if TYPE_CHECKING:
    import polars as pl

    from shoal.tables.domain import Taxonomy

app = typer.Typer()


@app.command("make", cls=Command)
@told
def make(
    data: opt.Data,
    column: Annotated[
        str, typer.Argument(metavar="COLUMN", help="The column to make a hierarchy for.")
    ],
    how: Annotated[
        str,
        typer.Option(
            "--how",
            help="intervals (equal width), quantiles (equally filled), prefixes (zip codes), "
            "dates (month, quarter, year), frequency (names of equal frequency) or flat.",
        ),
    ],
    out: Annotated[Path, opt.flag("--out -o", "FILE", "Where it goes, such as age.csv.")],
    widths: Annotated[
        str | None, typer.Option("--widths", help="intervals: widths level by level, as 5,10,20.")
    ] = None,
    steps: Annotated[
        str | None,
        typer.Option(
            "--steps", help="intervals, quantiles: how many on each level, as 16,8,4; finest first."
        ),
    ] = None,
    drop: Annotated[
        str | None, typer.Option("--drop", help="prefixes: characters hidden, level by level.")
    ] = None,
    missing: opt.Missing = None,
    delimiter: opt.Delimiter = None,
    max_unpacked: opt.MaxUnpacked = None,
    force: opt.Force = False,
) -> None:
    """Make a hierarchy from the values of a column, in ARX's CSV format.

    Example: shoal hierarchy make patients.csv age --how intervals --widths 5,10,20 -o age.csv
    """
    from shoal.base.atomic import check_output
    from shoal.tables import makers
    from shoal.tables.hierarchy import write_hierarchy
    from shoal.tables.prepare import load, merge
    from shoal.tables.schema import unknown_column

    check_output(out, force=force, inputs=[data])
    frame = load(data, merge(None, missing=missing, delimiter=delimiter))
    if column not in frame.columns:
        raise SchemaError(unknown_column(column, frame.columns))
    numbers = {"widths": widths, "steps": steps, "drop": drop}
    taxonomy = makers.make(how, frame[column], column, numbers)
    write_hierarchy(taxonomy, out, force=force)
    say.line(f"Wrote {out}: {_shape(taxonomy)}.")


@app.command("check", cls=Command)
@told
def check(
    path: Annotated[
        Path, typer.Argument(metavar="PATH", help="A hierarchy file, or a folder of COLUMN.csv.")
    ],
    data: Annotated[
        Place | None,
        opt.flag("--data", "DATA", "A table whose values they must cover.", parser=streams.given),
    ] = None,
    column: Annotated[
        str | None, opt.flag("--column", "NAME", "The column, if the file's name does not say.")
    ] = None,
    missing: opt.Missing = None,
    delimiter: opt.Delimiter = None,
    max_unpacked: opt.MaxUnpacked = None,
) -> None:
    """Check that hierarchies are trees, and that they cover every value of a table.

    Example: shoal hierarchy check hierarchies/ --data patients.csv

    Exit code 0 if all is well, 1 if not, 2 on bad use.
    """
    from shoal.tables.hierarchy import read_hierarchy
    from shoal.tables.prepare import load, merge

    files = sorted(path.glob("*.csv")) if path.is_dir() else [path]
    if not path.exists() or not files:
        raise InputError(
            f"There is no hierarchy at {path}. Give a file, or a folder of COLUMN.csv files."
        )
    if column is not None and len(files) > 1:
        raise ParameterError("--column goes with a single file. Got a folder: leave --column out.")
    plan = merge(None, missing=missing, delimiter=delimiter)
    frame = None if data is None else load(data, plan)
    broken = 0
    for file in files:
        name = column or file.stem.rpartition("_hierarchy_")[2]
        try:
            taxonomy = read_hierarchy(file, name)
            note = "" if frame is None else _cover(taxonomy, frame, name, required=len(files) == 1)
            say.line(f"ok      {file.name}: {_shape(taxonomy)}{note}")
        except (SchemaError, InputError) as error:
            broken += 1
            say.line(f"BROKEN  {file.name}")
            for fault in str(error).splitlines():
                say.line(f"        {fault}")
    if broken:
        say.line(f"{broken} of {len(files)} hierarchies are broken.")
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

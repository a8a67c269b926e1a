"""How the command line speaks: results to stdout, everything about the run to stderr."""

from __future__ import annotations

import sys
from collections.abc import Container, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console


def error(text: str) -> None:
    """Say what went wrong; several faults stand under each other."""
    lines = visible(text, keep="\n").splitlines() or [""]
    head = typer.style("Error:", fg=typer.colors.RED, bold=True)
    typer.echo(f"{head} {lines[0]}", err=True)
    for line in lines[1:]:
        typer.echo(f"       {line}", err=True)


def warning(text: str) -> None:
    """Say what the reader should know although the run goes on."""
    head = typer.style("Warning:", fg=typer.colors.YELLOW, bold=True)
    typer.echo(f"{head} {visible(text)}", err=True)


def note(text: str) -> None:
    """Say what is happening."""
    typer.echo(visible(text), err=True)


def line(text: str = "") -> None:
    """Write a line of the result."""
    typer.echo(visible(text, keep="\n"))


def console() -> Console:
    """Return a console for tables; a file or a pipe gets room enough to stay in columns."""
    from rich.console import Console

    return Console(highlight=False, width=None if sys.stdout.isatty() else 120)


def table(
    headers: Sequence[str],
    rows: Iterable[Sequence[Any]],
    title: str = "",
    strong: Container[tuple[int, int]] = (),
) -> None:
    """Write a table; cells are data, never markup. ``strong``: rows and columns of bold cells."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=title or None, title_justify="left")
    for header in headers:
        grid.add_column(Text(header), overflow="fold")
    for at, row in enumerate(rows):
        cells = enumerate(row)
        grid.add_row(
            *(Text(visible(str(cell)), "bold" if (at, j) in strong else "") for j, cell in cells)
        )
    console().print(grid)


def visible(text: str, keep: str = "") -> str:
    """Return text that cannot steer a terminal: control characters are written out."""
    return "".join(
        char if char.isprintable() or char in keep else char.encode("unicode_escape").decode()
        for char in text
    )


def percent(share: float) -> str:
    """Return a share as the tables show it."""
    return f"{100 * share:.1f} %"

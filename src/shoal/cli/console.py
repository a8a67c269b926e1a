"""Output of the command line: results to stdout, everything about the run to stderr."""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from collections.abc import Container, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TextIO

import typer

from shoal.base.results import Caution, Piece
from shoal.cli.progress import BAR

if TYPE_CHECKING:
    from rich.console import Console

# How much is said: warnings and errors alone (--quiet); what is done when, too (--verbose); results
# on stderr, because standard output is for a file that was asked for as "-".
_MANNER: set[str] = set()
FIGURE = 16  # characters that stay on one line, such as 3,625 (72.5 %)
_COMMAND = re.compile(r"(^\s*|[:'] )shoal [a-z-]+(?![a-z-]*=)")  # not: shoal k=5, a setting
_FIGURE_UNIT = re.compile(r"(\d) %")
KEPT = "\x00"  # a space at which no line is broken; control characters are never shown


def set_verbosity(*, quiet: bool = False, verbose: bool = False, aside: bool = False) -> None:
    """Say less, or more, or let results go to stderr; what was asked for before stays so."""
    asked = {"quiet": quiet, "verbose": verbose, "aside": aside}
    _MANNER.update(manner for manner, wanted in asked.items() if wanted)


def reset() -> None:
    """Forget --quiet and --verbose: several commands may run in one process."""
    _MANNER.clear()


def quiet() -> bool:
    """Return whether nothing but warnings and errors is to be said."""
    return "quiet" in _MANNER


def results() -> TextIO:
    """Return where results for people go."""
    return sys.stderr if "aside" in _MANNER else sys.stdout


def error(text: str) -> None:
    """Say what went wrong; several faults stand under each other."""
    _headed("Error:", typer.colors.RED, visible(text, keep="\n").splitlines())


def warning(text: str) -> None:
    """Say what the reader should know although the run goes on."""
    _headed("Warning:", typer.colors.YELLOW, [visible(text)])


def _headed(head: str, colour: str, lines: Sequence[str]) -> None:
    shown = [part for line in lines for part in _fitted(line, sys.stderr, len(head) + 1)] or [""]
    with BAR.aside():
        typer.echo(f"{typer.style(head, fg=colour, bold=True)} {shown[0]}", err=True)
        for line in shown[1:]:
            typer.echo(f"{' ' * len(head)} {line}", err=True)


def print_note(text: str) -> None:
    """Say what is happening."""
    if quiet():
        return
    with BAR.aside():
        for part in _fitted(visible(text), sys.stderr):
            typer.echo(part, err=True)


def print_detail(text: str) -> None:
    """Say what only those want to know who asked for more with --verbose."""
    if "verbose" in _MANNER:
        print_note(text)


def print_line(text: str = "") -> None:
    """Write a line of the result."""
    if quiet():
        return
    with BAR.aside():
        for own in visible(text, keep="\n").split("\n"):
            for part in _fitted(own, results()):
                typer.echo(part, err="aside" in _MANNER)


def _fitted(text: str, stream: TextIO, used: int = 0) -> list[str]:
    """Break a line for a terminal; a file or a pipe gets it as it is."""
    if not stream.isatty():
        return [text]
    return wrapped(text, max(shutil.get_terminal_size().columns - used, 20))


def console() -> Console:
    """Return a console for tables; a file or a pipe gets room enough to stay in columns."""
    from rich.console import Console

    stream = results()
    return Console(highlight=False, width=None if stream.isatty() else 120, file=stream)


def table(
    headers: Sequence[str],
    rows: Iterable[Sequence[Any]],
    title: str = "",
    strong: Container[tuple[int, int]] = (),
    spare: Sequence[str] = (),
) -> list[str]:
    """Write a table; cells are data, never markup. ``strong``: rows and columns of bold cells.

    Long sentences are wrapped. If the table is too wide even so, the columns ``spare`` are left
    out, the first one first. If that does not help, every row becomes a paragraph. Returns the
    columns that were left out.
    """
    if quiet():
        return []
    from rich import box
    from rich.table import Table
    from rich.text import Text

    screen = console()
    texts = [[visible(str(cell)) for cell in row] for row in rows]
    least = [max(map(_unbroken, cells)) for cells in zip(headers, *texts, strict=True)]
    shown = list(range(len(headers)))
    left: list[str] = []
    for name in spare:
        if sum(least[j] + 3 for j in shown) > screen.width and name in headers:
            shown.remove(headers.index(name))
            left.append(name)
    if sum(least[j] + 3 for j in shown) > screen.width:
        with BAR.aside():
            _stacked(headers, texts, title, screen)
        return []
    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=title or None, title_justify="left")
    for j in shown:
        grid.add_column(Text(headers[j]), overflow="fold", min_width=least[j])
    for at, row in enumerate(texts):
        grid.add_row(*(Text(row[j], "bold" if (at, j) in strong else "") for j in shown))
    with BAR.aside():
        screen.print(grid)
    return left


def show(pieces: Iterable[Piece]) -> None:
    """Show what was found: sentences, warnings and tables."""
    for piece in pieces:
        if isinstance(piece, Caution):
            warning(piece.text)
        elif isinstance(piece, str):
            print_line(piece)
        else:
            left = table(piece.heads, piece.rows, piece.title, piece.strong, piece.spare)
            for head, text in piece.meanings.items():
                if not head or (head in piece.heads and head not in left):
                    print_line(f"{head}: {text}" if head else text)
            if left and piece.meanings:
                print_line(
                    f"Not shown here: {', '.join(reversed(left))} (see --json, --csv, --report)."
                )


def _stacked(
    headers: Sequence[str], rows: Iterable[Sequence[str]], title: str, screen: Console
) -> None:
    from rich.text import Text

    screen.print(Text(title), end="\n" if title else "")
    first = 1 if headers[0] else 2  # a mark without a name stands before what it marks
    for row in rows:
        pairs = [f"{head} {cell}".strip() for head, cell in zip(headers, row, strict=True) if cell]
        lead = sum(map(bool, row[:first]))
        screen.print(Text(" ".join(pairs[:lead]), "bold"))
        for text in wrapped("  " + "; ".join(map(_kept, pairs[lead:])), screen.width):
            screen.print(Text(text))
    screen.print()


def _unbroken(cell: str) -> int:
    """Return how wide a cell has to be: all of a figure, the longest word of a sentence."""
    return len(cell) if len(cell) <= FIGURE else max(map(len, cell.split()), default=0)


def _kept(cell: str) -> str:
    """Return a cell that stays on one line if it is short."""
    return cell.replace(" ", KEPT) if len(cell) <= 2 * FIGURE else cell


def wrapped(text: str, width: int) -> list[str]:
    """Break a line at spaces, further lines indented; one that holds a command stays whole.

    A command is copied from the terminal, and must come out in one piece.
    """
    text = _FIGURE_UNIT.sub(rf"\1{KEPT}%", text)
    if len(text) <= width or _COMMAND.search(text):
        return [text.replace(KEPT, " ")]
    indent = " " * (len(text) - len(text.lstrip(" ")))
    lines = textwrap.wrap(
        text.strip(" "),
        width,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(KEPT, " ") for line in lines]


def visible(text: str, keep: str = "") -> str:
    """Return text that cannot steer a terminal: control characters are written out."""
    return "".join(
        char if char.isprintable() or char in keep else char.encode("unicode_escape").decode()
        for char in text
    )

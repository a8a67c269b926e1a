"""The commands, put together; what goes wrong on purpose becomes one message."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Annotated

import typer

from shoal import __version__
from shoal.base.address import hide, take_passwords
from shoal.base.errors import ShoalError
from shoal.base.system import peak_memory
from shoal.catalog.extensions import require
from shoal.cli import console
from shoal.cli.help import Command, CommandGroup, told
from shoal.cli.progress import BAR

# Every command is the function ``command`` (or the group ``app``) of the module of its name; its
# help opens with the sentence given here, which is all that ``shoal --help`` needs to load.
COMMANDS = {
    "demo": "Anonymize a table of made-up patients; show it before and after, and what it costs.",
    "start": "Go from a raw file to a first safe release: a few questions, a plan, a release, a "
    "report.",
    "inspect": "Show what a table holds: columns, missing values, how unique its rows are.",
    "init": "Write a commented plan for a table, with a guessed role and kind for every column.",
    "anonymize": "Anonymize a table and check the release before it is written.",
    "audit": "Check a published file against its promise, from its cells alone.",
    "risk": "Measure how likely it is to find people in a table, before and after.",
    "compare": "Compare methods and settings side by side, and recommend one of them.",
    "attack": "Attack a release as somebody would who knows a little about the people in it.",
    "estimate": "Count sensitive values by category from a release, with intervals.",
    "hierarchy": "Make a hierarchy from a column, or check the ones you have.",
    "serve": "Open the page on which a table is looked at, anonymized and downloaded.",
    "warmup": "Compile the search for this machine, so that later runs do not have to.",
    "methods": "List the methods with their options, and the rules they can keep.",
}
EXTENSIONS = {"serve": "web"}  # commands that come with an extension, in its module ``command``
GROUPS = ("hierarchy",)
SILENT = (None, "serve", "methods")  # nothing that takes long, or nothing that ends
MOVED = {
    "reproduce": "The experiments of the papers left the package: in a checkout of the project, "
    "make reproduce runs them all and python -m experiments PAPER one of them."
}


def build(wanted: str | None) -> typer.Typer:
    """Put the commands together; only the one that is wanted is imported."""
    app = typer.Typer(
        name="shoal",
        no_args_is_help=True,
        cls=CommandGroup,
        add_completion=_completes(),
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    for name, sentence in COMMANDS.items():
        if name != wanted:
            app.command(name, help=sentence, cls=Command)(_unloaded)
            continue
        if name in EXTENSIONS:
            require(EXTENSIONS[name])
            module = import_module(f"shoal.ext.{EXTENSIONS[name]}.command")
        else:
            module = import_module(f"shoal.cli.{name}")
        if name in GROUPS:
            app.add_typer(
                module.app, name=name, help=sentence, no_args_is_help=True, cls=CommandGroup
            )
        else:
            app.command(name, cls=Command)(told(module.command))
    return app


def _unloaded() -> None:
    """Stand in for a command in the list of commands."""


def _version(asked: bool) -> None:
    if asked:
        console.line(f"shoal {__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", "-V", callback=_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Publish a table about people so that nobody can be told apart from the others in their class.

    Example: shoal demo

    Example: shoal start patients.csv

    Example: shoal inspect patients.csv

    Every command explains itself: shoal COMMAND --help. To complete commands in your shell:
    shoal --install-completion.
    """


def _completes() -> bool:
    """Return whether this call is about the completion of words in a shell."""
    asked = {"--install-completion", "--show-completion"} & set(sys.argv)
    return bool(asked) or "_SHOAL_COMPLETE" in os.environ


def _spoken() -> list[str]:
    """Return the words of the command line, also of one that a shell asks to complete."""
    if "_SHOAL_COMPLETE" not in os.environ:
        return sys.argv[1:]
    typed = os.environ.get("_TYPER_COMPLETE_ARGS") or os.environ.get("COMP_WORDS", "")
    return typed.split()[1:]


def run() -> int:
    """Run the command line and return its exit code."""
    console.anew()
    try:
        return _run()
    finally:
        BAR.stop()
        _resources()


def _resources() -> None:
    """Say what the run took, to those who asked for more."""
    used = os.times()
    text = f"shoal {__version__}: {used.user + used.system:.1f} s of processor time"
    if (most := peak_memory()) is not None:
        text += f", {most / (1 << 20):,.0f} MB at most"
    console.detail(f"{text}.")


def _run() -> int:
    try:
        sys.argv[1:] = take_passwords(sys.argv[1:])
    except ShoalError as error:
        console.error(str(error))
        return 2
    # The first word is the command: no option of the whole program takes a value.
    wanted = next((word for word in _spoken() if not word.startswith("-")), None)
    if wanted in MOVED:
        console.error(MOVED[wanted])
        return 2
    if wanted not in SILENT and "_SHOAL_COMPLETE" not in os.environ:
        BAR.start()  # loading takes a while: a sign of life within half a second
    try:
        build(wanted)(prog_name="shoal")
    except ShoalError as error:
        console.error(str(error))
        return 2
    except MemoryError:
        console.error(
            "There is not enough memory for this table. Nothing was written. Try fewer rows or "
            "columns, or a machine with more memory."
        )
        return 2
    except BrokenPipeError:
        # The reader of a pipe went away; hand the closed end a place to flush to.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        console.error(f"The operating system refused: {hide(str(error))}. Nothing was written.")
        return 2
    return 0

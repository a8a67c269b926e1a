"""All commands in one application, and one message for every expected error."""

from __future__ import annotations

import os
import sys
import warnings
from importlib import import_module
from typing import Annotated

import typer

from shoal import __version__
from shoal.base.address import hide, take_passwords
from shoal.base.errors import ShoalError
from shoal.base.system import peak_memory
from shoal.catalog.extensions import require
from shoal.cli import console
from shoal.cli.help import CommandGroup, GroupedCommand, with_common_options
from shoal.cli.progress import BAR

# Every command is the function ``command`` (or the group ``app``) of the module of its name; its
# help opens with the sentence given here, which is all that ``shoal --help`` needs to load.
GROUPS = {
    "Make a release": {
        "start": "Make a first release of a table: a few questions, then plan, release and report.",
        "anonymize": "Anonymize a table and check the release before it is written.",
        "compare": "Compare methods and settings side by side, and recommend one of them.",
        "serve": "Anonymize tables in the browser, on this machine.",
    },
    "Check a release": {
        "audit": "Check whether a published table keeps its privacy rules.",
        "risk": "Measure the re-identification risk of a table, before and after.",
        "attack": "Simulate attacks on a release, and show how often they succeed.",
    },
    "Prepare": {
        "inspect": (
            "Show columns, missing values, uniqueness, and a suggested role for each column."
        ),
        "init": "Write a commented plan with a suggested role for every column.",
        "hierarchy": "Make, show and check generalization hierarchies.",
    },
    "Other": {
        "demo": "Anonymize a table of synthetic patients, and show it before and after.",
        "estimate": "Estimate counts of sensitive values from a release, with intervals.",
        "methods": "List all methods with their options, and all rules.",
        "warmup": "Compile Shoal's kernels so that later runs start faster.",
    },
}
COMMANDS = {name: text for members in GROUPS.values() for name, text in members.items()}
EXTENSIONS = {"serve": "web"}  # commands that come with an extension, in its module ``command``
NESTED = ("hierarchy",)  # commands that have commands
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
    placed = [(group, *each) for group, members in GROUPS.items() for each in members.items()]
    for group, name, sentence in placed:
        if name != wanted:
            app.command(name, help=sentence, cls=GroupedCommand, rich_help_panel=group)(_unloaded)
            continue
        if name in EXTENSIONS:
            require(EXTENSIONS[name])
            module = import_module(f"shoal.ext.{EXTENSIONS[name]}.command")
        else:
            module = import_module(f"shoal.cli.{name}")
        if name in NESTED:
            app.add_typer(
                module.app,
                name=name,
                help=sentence,
                no_args_is_help=True,
                cls=CommandGroup,
                rich_help_panel=group,
            )
        else:
            app.command(name, cls=GroupedCommand, rich_help_panel=group)(
                with_common_options(module.command)
            )
    return app


def _unloaded() -> None:
    """Stand in for a command in the list of commands."""


def _version(asked: bool) -> None:
    if asked:
        console.print_line(f"shoal {__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", "-V", callback=_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Anonymize tables of personal data: everyone looks like at least k - 1 other people.

    Example: shoal demo

    Example: shoal start patients.csv

    Options of a command: shoal COMMAND --help. To complete commands in your shell:
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
    console.reset()
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_where, **_more: console.warning(str(message))
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
    console.print_detail(f"{text}.")


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

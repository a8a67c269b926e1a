"""The help of commands: examples first, options in groups, rare options in --help-all only."""

from __future__ import annotations

import inspect
import re
import shutil
import textwrap
from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from shoal.catalog import RULES
from shoal.cli import console
from shoal.cli.progress import BAR

# Which options belong together, in the order in which they are shown. An option that is not listed
# belongs to one command and comes right after its input. A colon marks a rare option, which only
# --help-all shows; a star is the place of the settings that the plan declares for the group.
GROUPS = {
    "Input": "DATA ORIGINAL RELEASED FILE COLUMN PATH --plan --original --population --control "
    "--against: --table: --query: --query-file: --original-table: --st: * "
    "--notation: --max-unpacked: --trust-plan:",
    "This command": "--target: --queries:",
    "Columns": "--quasi --known --sensitive --identifier --person --keep --drop * --pseudonym-key:",
    "Rules": "--history: --history-key:",
    "Method": "--method --methods --option: * --effort --time-limit: --prove: --repeats: "
    "--seed: --seed-file:",
    "Output": "--out * --report --audience: --json --csv --plot --dictionary: --into: "
    "--force --strict:",
    "Engine": "--threads: --engine: --master: --driver-tuples:",
    "Help": "--quiet --verbose --version --help --help-all",
}
OWN = "This command"
_LEFT = 23  # where the explanation of an option starts
_WIDEST = 100


def _placed(*, settings: bool) -> dict[str, tuple[str, bool]]:
    """Return the group of every option that has one, and whether few people need it.

    ``settings``: the options may be those of settings of a plan, which take a moment to load.
    """
    declared: dict[str, list[str]] = {}
    if settings:
        from shoal.plan.apply_changes import arguments
    for tables in arguments().values() if settings else ():
        setting = next(iter(tables.values()))
        flag = str(setting.flag).partition("/")[0]
        declared.setdefault(setting.group, []).append(f"{flag}{':' * setting.rare}")
    if lost := [group for group in declared if "*" not in GROUPS.get(group, "").split()]:
        raise ValueError(f"No group of the help has a place (*) for the settings of {lost[0]!r}.")
    places = {
        word.rstrip(":"): (group, word.endswith(":"))
        for group, words in GROUPS.items()
        for listed in words.split()
        for word in (declared.get(group, []) if listed == "*" else [listed])
    }
    for rule in RULES.values():
        # The first flag of a rule calls for it, the others refine it.
        for at, (flag, _) in enumerate(rule.flags):
            places.setdefault(f"--{flag}", ("Rules", at > 0))
        if rule.family:
            places.setdefault(f"--{rule.family[0]}", ("Rules", True))
    for rule in RULES.values():
        for flag, _ in rule.flags[:1]:
            places[f"--{flag}"] = ("Rules", rule.lasting)
    return places


class GroupedCommand(TyperCommand):
    """A command whose help has groups."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words; the message about a wrong one has the terminal alone."""
        return _parsed(super().parse_args, ctx, args)

    def get_help(self, ctx: Any) -> str:
        """Return what most people need of the help."""
        return text(self, ctx, rare=False)

    def get_usage(self, ctx: Any) -> str:
        """Return the line that errors begin with: the same as in the help."""
        return f"Usage: {_usage(self, ctx)}"


class CommandGroup(TyperGroup):
    """A group of commands; its help names them."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words as a command does."""
        return _parsed(super().parse_args, ctx, args)

    def get_help(self, ctx: Any) -> str:
        """Return the help of the group."""
        return text(self, ctx, rare=False)


def _parsed(parse: Callable[..., list[str]], ctx: Any, args: list[str]) -> list[str]:
    try:
        return parse(ctx, args)
    except BaseException:
        BAR.stop()
        raise


def _quiet(asked: bool | None) -> None:
    console.set_verbosity(quiet=bool(asked))
    if asked:
        BAR.stop()


def _verbose(asked: bool | None) -> None:
    console.set_verbosity(verbose=bool(asked))


def _all(ctx: typer.Context, asked: bool | None) -> None:
    if asked and not ctx.resilient_parsing:
        typer.echo(text(ctx.command, ctx, rare=True))
        ctx.exit()


# What every command also takes: names, meaning, what is done then.
_COMMON: dict[str, tuple[tuple[str, ...], str, Callable[..., None]]] = {
    "quiet": (("--quiet", "-q"), "Show warnings and errors only.", _quiet),
    "verbose": (("--verbose", "-v"), "Also show each step with its time and memory.", _verbose),
    "help_all": (("--help-all",), "Show all options.", _all),
}


def with_common_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that every command has."""
    from shoal.cli.options import with_options

    common = {
        key: Annotated[
            bool | None, typer.Option(*names, help=meaning, callback=call, is_eager=True)
        ]
        for key, (names, meaning, call) in _COMMON.items()
    }
    return with_options(command, common)


def text(command: Any, ctx: Any, *, rare: bool) -> str:
    """Return the help of a command; ``rare``: with all options and all of their explanations."""
    BAR.stop()
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    paragraphs = [
        " ".join(paragraph.split())
        for paragraph in re.split(r"\n\s*\n", inspect.cleandoc(command.help or ""))
    ]
    examples = [
        paragraph.partition(": ")[2]
        for paragraph in paragraphs
        if paragraph.startswith("Example: ")
    ]
    prose = [
        paragraph for paragraph in paragraphs if paragraph and not paragraph.startswith("Example: ")
    ]
    lines = [f"Usage: {_usage(command, ctx)}", ""]
    for example in examples:
        lines += [f"  {row}" for row in _commanded(example, width - 2)]
    lines += [""] * bool(examples)
    for paragraph in prose:
        lines += [*textwrap.wrap(paragraph, width, break_on_hyphens=False), ""]
    members = getattr(command, "commands", {})
    groups: dict[str, list[tuple[str, str]]] = {}
    for name, member in members.items():
        group = member.rich_help_panel or "Commands"
        groups.setdefault(group, []).append((name, member.get_short_help_str(limit=999)))
    for group, pairs in groups.items():
        lines += [group, *_pairs(pairs, width, 4 + max(map(len, members))), ""]
    hidden = 0
    for group, params in _grouped(command.get_params(ctx), settings=not members).items():
        shown = [param for param, seldom in params if rare or not seldom]
        hidden += len(params) - len(shown)
        if shown:
            lines += [group, *_pairs((_words(param, rare=rare) for param in shown), width), ""]
    if hidden:
        more = "1 more option" if hidden == 1 else f"{hidden} more options"
        lines.append(f"{more}: {ctx.command_path} --help-all")
    return "\n".join(lines).rstrip()


def _usage(command: Any, ctx: Any) -> str:
    """Return what cannot be left out of a command, and what may stand beside."""
    if hasattr(command, "commands"):
        return f"{ctx.command_path} COMMAND ..."
    params = [param for param in command.get_params(ctx) if not getattr(param, "hidden", False)]
    words = [
        _key(param) if param.required else f"[{_key(param)}]"
        for param in params
        if param.param_type_name == "argument"
    ]
    words += [
        f"{min(param.opts, key=len)} {param.metavar or param.name.upper()}"
        for param in params
        if param.param_type_name == "option" and param.required
    ]
    return " ".join([ctx.command_path, *words, "[OPTIONS]"])


def _grouped(params: Iterable[Any], *, settings: bool) -> dict[str, list[tuple[Any, bool]]]:
    """Return every parameter in its group, each with whether few people need it."""
    places = _placed(settings=settings)
    order = {word: at for at, word in enumerate(places)}
    by_group: dict[str, list[tuple[Any, bool]]] = {group: [] for group in GROUPS}
    rest = len(order)
    for param in sorted(params, key=lambda one: order.get(_key(one), rest)):
        if getattr(param, "hidden", False):
            continue
        group, rare = places.get(_key(param), (OWN, False))
        by_group[group].append((param, rare))
    return {group: members for group, members in by_group.items() if members}


def _key(param: Any) -> str:
    if param.param_type_name == "argument":
        return str(param.metavar or param.name).strip("[]").upper()
    return str(next((word for word in param.opts if word.startswith("--")), param.opts[0]))


def _words(param: Any, *, rare: bool) -> tuple[str, str]:
    """Return how a parameter is written and what it means; in short its first sentence."""
    meaning = " ".join((param.help or "").split())
    if not rare:
        meaning = re.split(r"(?<=[a-z)\]'])\. (?=[A-Z])", meaning)[0].rstrip(".")
    if param.param_type_name == "argument":
        return _key(param), meaning
    takes = "" if getattr(param, "is_flag", False) else f" {param.metavar or param.name.upper()}"
    short = [word for word in param.opts if not word.startswith("--")]
    long = [word for word in (*param.opts, *param.secondary_opts) if word.startswith("--")]
    names = ", ".join([*short, "/".join(long)])
    needed = " (required)" if param.required else ""
    return f"{names}{takes}", f"{meaning}{needed}"


def _pairs(pairs: Iterable[tuple[str, str]], width: int, left: int = _LEFT) -> Iterator[str]:
    """Yield words and their explanations in two columns; ``left``: where the second starts."""
    for words, meaning in pairs:
        rows = textwrap.wrap(meaning, max(width - left, 20), break_on_hyphens=False) or [""]
        if len(words) + 4 > left:
            yield f"  {words}"
        else:
            yield f"  {words:<{left - 2}}{rows.pop(0)}"
        yield from (f"{' ' * left}{row}" for row in rows)


def _commanded(example: str, width: int) -> list[str]:
    """Break a command so that it can be copied: lines end in a backslash."""
    if len(example) <= width:
        return [example]
    rows = textwrap.wrap(
        example, width - 2, subsequent_indent="    ", break_on_hyphens=False, break_long_words=False
    )
    return [f"{row} \\" for row in rows[:-1]] + rows[-1:]

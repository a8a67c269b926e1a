"""Write docs/cli.md, and the tables of README.md and docs/reference/plan.md, from declarations.

Run `make docs` after a change of a command; a test fails while the files are out of date.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from shoal.base.roles import Role
from shoal.catalog import DEFAULT_METHOD, METHODS, RULES
from shoal.cli.app import COMMANDS, build
from shoal.plan.parts import TABLES
from shoal.plan.setting import declared_settings

ROOT = Path(__file__).parent.parent
HEAD = """\
# The command line

This page lists every command with all its options. It is made from the commands themselves, so it
says what `shoal COMMAND --help-all` says; `--help` shows the usual options only.

`--quiet` (`-q`) shows warnings and errors only, `--verbose` (`-v`) what is done when and how long
it took. `-` in place of a table reads standard input; in place of an output it writes to standard
output, and messages go to standard error. `shoal --install-completion` lets your shell complete
commands and options.

Exit codes: 0 success; 1 `audit` or `hierarchy check` found a fault; 2 wrong use, wrong input or a
rule that cannot be met (nothing was written); 3 `audit` cannot tell from the file; 130 stopped
by ctrl-C.
"""
COMMON = ("help", "help_all", "quiet", "verbose")
PLAN_PAGE = ROOT / "docs" / "reference" / "plan.md"
START, END = "<!-- methods -->", "<!-- /methods -->"


def commands() -> Iterator[tuple[str, Any]]:
    """Yield every command with its full name, members of groups included."""
    for name in COMMANDS:
        command = typer.main.get_command(build(name)).commands[name]  # type: ignore[attr-defined]
        members = getattr(command, "commands", None)
        if members:
            yield from ((f"shoal {name} {member}", members[member]) for member in members)
        else:
            yield f"shoal {name}", command


def page() -> str:
    """Return docs/cli.md."""
    return HEAD + "".join(_section(name, command) for name, command in commands())


def _section(name: str, command: Any) -> str:
    paragraphs = re.split(r"\n\s*\n", (command.help or "").strip())
    text = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    text = re.sub(r"^Example: (.*)$", r"Example: `\1`", text, flags=re.MULTILINE)
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option" and p.name not in COMMON]
    usage = " ".join([name, *(_metavar(p) for p in arguments), *(["[OPTIONS]"] if options else [])])
    lines = [f"\n## {name}\n", f"    {usage}\n", f"{text}\n"]
    if arguments or options:
        lines += ["| | |", "|---|---|"]
        lines += [f"| `{_metavar(p)}` | {p.help} |" for p in arguments]
        lines += [f"| {_flags(p)} | {p.help}{' Required.' * bool(p.required)} |" for p in options]
        lines.append("")
    return "\n".join(lines)


def _metavar(param: Any) -> str:
    return str(param.metavar or param.name.upper())


def _flags(param: Any) -> str:
    # A bare stroke would start the next cell of the table.
    takes = "" if getattr(param, "is_flag", False) else f" {_metavar(param)}".replace("|", "\\|")
    words = ", ".join(f"`{opt}{takes}`" for opt in param.opts)
    off = ", ".join(f"`{opt}`" for opt in param.secondary_opts)
    return f"{words} / {off}" if off else words


def methods_table() -> str:
    """Return the table of methods for the README."""
    lines = ["| Name | What it does | Options | From |", "|---|---|---|---|"]
    for method in METHODS.values():
        name = f"`{method.name}`" + (" (default)" if method.name == DEFAULT_METHOD else "")
        options = "; ".join(
            f"`{p.name}`: {', '.join(p.choices) or p.allowed()}" for p in method.params
        )
        lines.append(f"| {name} | {method.story} | {options} | {method.citation} |")
    rules = ", ".join(
        f"`{rule.name}` ({', '.join(f'`--{flag}`' for flag, _ in rule.flags)})"
        for rule in RULES.values()
    )
    return "\n".join([*lines, "", f"Rules: {rules}."])


def settings_table() -> str:
    """Return the table of all keys of a plan, each with its flag."""
    lines = ["| table | key | flag | means |", "|---|---|---|---|"]
    lines.append("| | `seed` | `--seed` | repeats a run byte for byte; keep it to yourself |")
    for table, part in TABLES.items():
        name = f"`[{table}{'.NAME' * (table == 'columns')}]`"
        if table == "columns":
            roles = ", ".join(f"`{role}`" for role in Role)
            lines.append(f"| {name} | `role` | `--quasi`, ... | {roles} |")
        for key, setting in declared_settings(part).items():
            # A bare stroke would start the next cell of the table, a star the next cell's weight.
            meaning = setting.meaning.replace("|", "\\|").replace("*", "\\*").replace("<", "\\<")
            flag = f"`{setting.flag.partition('/')[0]}`" if setting.flag else ""
            lines.append(f"| {name} | `{key}` | {flag} | {meaning} |")
    lines += [
        "| `[method]` | `name` | `--method` | see `shoal methods`; options stand beside it |",
        "| `[[rules]]` | `name`, `column` | `--k`, ... | a promise, its parameters beside it; "
        "repeat the table for more |",
    ]
    return "\n".join(lines)


def renewed(text: str, table: str, start: str = START, end: str = END) -> str:
    """Return a page with the table between two marks renewed."""
    before, _, rest = text.partition(start)
    _, _, after = rest.partition(end)
    return f"{before}{start}\n{table}\n{end}{after}"


def readme(text: str) -> str:
    """Return the README with its table of methods renewed."""
    return renewed(text, methods_table())


def plan_page(text: str) -> str:
    """Return the reference of plans with its table of keys renewed."""
    return renewed(text, settings_table(), "<!-- settings -->", "<!-- /settings -->")


def main() -> None:
    """Write the files."""
    (ROOT / "docs" / "cli.md").write_text(page())
    for path, made in ((ROOT / "README.md", readme), (PLAN_PAGE, plan_page)):
        path.write_text(made(path.read_text()))


if __name__ == "__main__":
    main()

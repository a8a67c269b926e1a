"""``shoal start``: make a first release of a table with a few questions."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from shoal.base.errors import ParameterError
from shoal.base.roles import Role
from shoal.cli import console
from shoal.cli import options as opt
from shoal.cli.progress import BAR
from shoal.cli.settings import Given, with_settings

if TYPE_CHECKING:
    from shoal.verbs.inspect import Inspection

T = TypeVar("T")

K, L = 10, 3
_SHARE = 0.8  # a value that more have leaves too few others for every class
NONE = "-"


@with_settings("place", "Input", "hierarchies")
def command(
    data: opt.Data,
    out: Annotated[
        Path, opt.flag("--out -o", "DIR", "Folder for plan, release and report.")
    ] = Path(),
    yes: Annotated[
        bool,
        typer.Option("--yes", "-y", help="Run without questions; unclear columns are left out."),
    ] = False,
    k: Annotated[
        int | None,
        opt.flag("--k", "INT", f"Smallest number of people in a class. [default: {K}]", min=2),
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Do not open the report in a browser.")
    ] = False,
    force: opt.Force = False,
    *,
    given: Given,
) -> None:
    """Make a first release of a table: a few questions, then plan, release and report.

    Example: shoal start patients.csv

    Example: shoal start patients.csv --yes -o first

    Asks which columns identify a person, which ones other people may know, which ones are
    sensitive, and how many people must look alike. Every question comes with a suggestion.

    Writes NAME.plan.toml with suggested hierarchies, NAME.release.csv and NAME.report.html. The
    report is for you, not for the public. Columns with an unclear role are not published; give them
    a role in the plan and run it again.
    """
    from shoal.api.opening import read
    from shoal.cli import anonymize, init
    from shoal.tables.open_table import planned

    if not yes and not sys.stdin.isatty():
        raise ParameterError(
            "start asks a few questions, but the input is not a terminal. Give --yes to run "
            "without "
            "questions, or write a plan: shoal init"
        )
    plan = planned(None, sets="never", **given.early)
    where = given.located(data, plan)
    stem = where.stem.partition(".")[0] if isinstance(where, Path) else where.table or "table"
    files = {word: out / f"{stem}.{word}" for word in ("plan.toml", "release.csv", "report.html")}
    check_writable(files.values(), where, force)
    opened = read(where, plan)
    profile = opened.inspect()
    suggested = suggest_roles(profile)
    BAR.stop()
    named = getattr(where, "again", where)
    console.line(f"{named}: {profile.rows:,} rows, {len(profile.columns)} columns")
    roles, people = (suggested, k or K) if yes else ask(profile, suggested, k)
    BAR.start()
    rules = chosen_rules(profile, roles, people)
    columns = {name: {"role": role.value} for name, role in roles.items()}
    decided = replace(opened, plan=plan.replaced(columns=columns))
    why = {
        column.name: column.reason
        if roles[column.name] is suggested[column.name]
        else f"your answer; suggested: {suggested[column.name].label}"
        for column in profile.schema.columns
    }
    goal = files["plan.toml"]
    hierarchies = given.values.get("hierarchies")
    made = init.write_plan(decided, where, goal, rules, hierarchies, force=force, why=why)
    show_roles(roles, why, rules)
    console.line(f"Wrote {goal}{f' and {len(made)} hierarchies' if made else ''}.\n")
    anonymize.command(
        out=str(files["release.csv"]),
        data=where,
        plan=goal,
        trust_plan=True,
        report=files["report.html"],
        force=force,
    )
    console.line(f"\nRead the report and check the plan {goal}. To run it again:")
    words = init.again(where, hierarchies, goal)
    console.line(f"  shoal anonymize {words} -o {files['release.csv']} --force")
    if not no_browser and not yes:
        typer.launch(files["report.html"].absolute().as_uri())


def check_writable(files: Any, where: Any, force: bool) -> None:
    """Refuse what cannot be written before anything is asked."""
    from shoal.base.atomic import check_output

    for file in files:
        check_output(file, force=force, inputs=[where])


def suggest_roles(profile: Inspection) -> dict[str, Role]:
    """Return the role of every column that names and values speak for; others stay undecided.

    A column that repeats and seems to number people says whose row it is. A sensitive column that
    cannot be told apart in every class, because nearly all have one value, is left undecided.
    """
    roles = {column.name: column.role for column in profile.schema.columns}
    for name, role in roles.items():
        if role is Role.SENSITIVE and not count_values(profile, name):
            roles[name] = Role.UNDECIDED
    if (whose := profile.whose) is not None:
        roles[whose] = Role.PERSON
    return roles


def count_values(profile: Inspection, name: str) -> int:
    """Return how many different values every class can have in a column; 0 if hardly two."""
    counts = profile.frame[name].drop_nulls().value_counts()["count"]
    if len(counts) < 2 or counts.max() > _SHARE * profile.rows:  # type: ignore[operator]
        return 0
    return min(L, len(counts))


def chosen_rules(profile: Inspection, roles: Mapping[str, Role], k: int) -> list[dict[str, Any]]:
    """Return the rules of the plan: k, and different values of every sensitive column."""
    rules: list[dict[str, Any]] = [{"name": "k-anonymity", "k": k}]
    for name, role in roles.items():
        if role is Role.SENSITIVE and (values := count_values(profile, name)):
            rules.append({"name": "l-diversity", "l": values, "column": name})
    return rules


def ask(
    profile: Inspection, suggested: Mapping[str, Role], k: int | None
) -> tuple[dict[str, Role], int]:
    """Ask for the roles and for k; what is not named is not released."""
    names = [column.name for column in profile.schema.columns]
    console.line(
        "Press Enter to accept the suggestion in brackets. Type - for none. Separate names with "
        "commas.\n"
    )
    console.line(f"Columns: {', '.join(names)}\n")
    questions = (
        (
            Role.PERSON,
            "If people have several rows, which column says which person a row belongs to?",
        ),
        (
            Role.QUASI,
            "Which columns may other people know about a person (age, place, dates, job)?",
        ),
        (Role.SENSITIVE, "Which columns are sensitive: nobody should learn them about a person?"),
    )
    roles = {
        name: Role.IDENTIFIER if suggested[name] is Role.IDENTIFIER else Role.UNDECIDED
        for name in names
    }
    taken: dict[str, str] = {}
    for role, question in questions:
        guess = [name for name in names if suggested[name] is role and name not in taken]

        def read(words: str, role: Role = role) -> list[str]:
            chosen = opt.parse_names([words], names)
            fault = find_fault(chosen, names, taken, one=role is Role.PERSON)
            if fault:
                raise ParameterError(fault)
            return chosen

        for name in ask_until_valid(question, ",".join(guess) or NONE, read):
            roles[name], taken[name] = role, question
    if k is None:
        k = ask_until_valid(
            "How many people must share the same published values, at least (k)?", str(K), read_k
        )
    return roles, k


def find_fault(
    chosen: Sequence[str], names: Sequence[str], taken: Mapping[str, str], *, one: bool
) -> str:
    """Say what is wrong with the columns of an answer, if anything."""
    from shoal.tables.schema import unknown_column

    if one and len(chosen) > 1:
        return f"Name one column, or - for none. Got {', '.join(chosen)}."
    for name in chosen:
        if name not in names:
            return unknown_column(name, names)
        if name in taken:
            return f"{name!r} was already the answer to another question: {taken[name]}"
    return ""


def read_k(words: str) -> int:
    """Read k."""
    if not words.isdecimal() or int(words) < 2:
        raise ParameterError(f"Give a whole number, 2 or more (usually 5 to 20). Got {words!r}.")
    return int(words)


def ask_until_valid(question: str, suggestion: str, read: Callable[[str], T]) -> T:
    """Ask until the answer can be read."""
    while True:
        words = typer.prompt(question, default=suggestion, err=True).strip()
        try:
            return read("" if words == NONE else words)
        except ParameterError as fault:
            console.error(str(fault))


def show_roles(
    roles: Mapping[str, Role], why: Mapping[str, str], rules: Sequence[Mapping[str, Any]]
) -> None:
    """Say what is released how, and what is not, with the reason."""
    console.table(
        ("column", "role", "in the release", "why"),
        [(name, role.label, role.outcome, why[name]) for name, role in roles.items()],
    )
    promised = ", ".join(
        f"{rule['name']} ({', '.join(f'{key} = {rule[key]}' for key in rule if key in 'kl')})"
        for rule in rules
    )
    console.line(f"Rules: {promised}.")

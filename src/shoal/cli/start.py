"""``shoal start``: make a first release of a table with a few questions."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from shoal.base.errors import ParameterError
from shoal.base.roles import Role
from shoal.cli import console
from shoal.cli import options as opt
from shoal.cli.progress import BAR
from shoal.cli.settings import GivenOptions, with_settings

if TYPE_CHECKING:
    import polars as pl

    from shoal.verbs.inspect import Inspection

T = TypeVar("T")

NONE, BACK = "-", "<"
_SHOWN = 5  # values of a column that are shown


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
        opt.flag("--k", "INT", "Smallest number of people in a class. [default: 10]", min=2),
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Do not open the report in a browser.")
    ] = False,
    force: opt.Force = False,
    *,
    given: GivenOptions,
) -> None:
    """Make a first release of a table: a few questions, then plan, release and report.

    Example: shoal start patients.csv

    Example: shoal start patients.csv --yes -o first

    Asks which columns identify a person, which ones other people may know, which ones are
    sensitive, what to do with each column whose role is not clear, and how many people must look
    alike. Every question comes with a suggestion, and you can go back. With --yes, columns with an
    unclear role are not published.

    Writes NAME.plan.toml with suggested hierarchies, NAME.release.csv and NAME.report.html. The
    report is for you, not for the public. 'shoal init' writes the same plan; the page and
    shoal.start() in Python begin with it.
    """
    from shoal.api.opening import read
    from shoal.cli import anonymize, init
    from shoal.tables.open_table import merge_plan
    from shoal.verbs.first_plan import first_plan

    if not yes and not sys.stdin.isatty():
        raise ParameterError(
            "start asks a few questions, but the input is not a terminal. Give --yes to run "
            "without questions, or write a plan: shoal init"
        )
    plan = merge_plan(None, **given.early)
    where = given.located(data, plan)
    stem = where.stem.partition(".")[0] if isinstance(where, Path) else where.table or "table"
    if not out.exists():
        out.mkdir(parents=True)
    files = {word: out / f"{stem}.{word}" for word in ("plan.toml", "release.csv", "report.html")}
    check_writable(files.values(), where, force)
    opened = read(where, plan)
    profile = opened.inspect()
    BAR.stop()
    named = getattr(where, "again", where)
    console.print_line(f"{named}: {profile.rows:,} rows, {len(profile.columns)} columns")
    for note in profile.look_alike_notes:
        console.warning(note)
    answers = Answers(k=k) if yes else ask(profile, k)
    BAR.start()
    first = first_plan(
        profile, opened.plan, k=answers.k, roles=answers.roles, protect=answers.protect
    )
    goal = files["plan.toml"]
    hierarchies = given.values.get("hierarchies")
    made = init.write_plan(first, where, goal, hierarchies, force=force)
    console.table(
        ("column", "role", "in the release", "why"),
        [(n, role.label, role.outcome, first.reasons[n]) for n, role in first.roles.items()],
    )
    console.print_line(init.describe_promise(first.plan))
    hierarchy = "hierarchy" if len(made) == 1 else "hierarchies"
    console.print_line(f"Wrote {goal}{f' and {len(made)} {hierarchy}' if made else ''}.\n")
    anonymize.command(
        out=str(files["release.csv"]),
        data=where,
        plan=goal,
        trust_plan=True,
        report=files["report.html"],
        force=force,
    )
    console.print_line(f"\nRead the report and check the plan {goal}. To run it again:")
    words = init.command_words(where, hierarchies, goal)
    console.print_line(f"  shoal anonymize {words} -o {files['release.csv']} --force")
    if not no_browser and not yes:
        typer.launch(files["report.html"].absolute().as_uri())


def check_writable(files: Any, where: Any, force: bool) -> None:
    """Refuse what cannot be written before anything is asked."""
    from shoal.base.atomic import check_output

    for file in files:
        check_output(file, force=force, inputs=[where])


@dataclass
class Answers:
    """What a person answered: roles, how sensitive columns are protected, and k."""

    roles: dict[str, Role] = field(default_factory=dict)
    protect: dict[str, dict[str, Any]] = field(default_factory=dict)
    k: int | None = None


Take = Callable[[str, Answers], None]
Question = tuple[str, str, Take]  # the text, the suggestion, and what takes the answer in

_LISTS = (
    (
        Role.PERSON,
        "If people have several rows, which column says which person a row belongs to?",
    ),
    (Role.QUASI, "Which columns may other people know about a person (age, place, dates, job)?"),
    (Role.SENSITIVE, "Which columns are sensitive: nobody should learn them about a person?"),
)
_WORDS = {
    "generalize": Role.QUASI,
    "protect": Role.SENSITIVE,
    "keep": Role.KEEP,
    "drop": Role.DROP,
}


def ask(profile: Inspection, k: int | None) -> Answers:
    """Ask for the roles, for the protection where it is not plain, and for k."""
    names = [column.name for column in profile.schema.columns]
    console.print_line(
        f"Press Enter to accept the suggestion in brackets. Type {NONE} for none, {BACK} to go "
        f"back. Separate names with commas.\n\nColumns: {', '.join(names)}\n"
    )
    done: list[Answers] = [Answers(k=k)]
    while (question := next_question(profile, done)) is not None:
        text, suggestion, take = question

        def read(words: str, take: Take = take) -> Answers | None:
            if words == BACK:
                return None
            now = deepcopy(done[-1])
            take(words, now)
            return now

        answered = ask_until_valid(text, suggestion, read)
        if answered is not None:
            done.append(answered)
        elif len(done) > 1:
            done.pop()
    return done[-1]


def next_question(profile: Inspection, done: Sequence[Answers]) -> Question | None:
    """Return the next question after some answers, or None when all is answered."""
    from shoal.verbs.first_plan import OFFERED, suggested_answer, suggested_roles, suggested_rule

    suggested = suggested_roles(profile)
    now, names = done[-1], list(suggested)
    if len(done) <= len(_LISTS):
        return _list_question(len(done) - 1, now, suggested)
    for name in names:
        if name not in now.roles and suggested[name] is Role.IDENTIFIER:
            now.roles[name] = Role.IDENTIFIER
    open_names = [name for name in names if name not in now.roles]
    if open_names:
        name = open_names[0]
        column, series = profile.schema[name], profile.frame[name]
        text = (
            f"\n{name}: {', '.join(example_values(series)) or 'no values'}\n  {column.reason}.\n"
            f"What happens to {name}: {', '.join(_WORDS)}?"
        )
        role = suggested_answer(series, column)
        word = next(word for word, own in _WORDS.items() if own is role)
        return text, word, partial(_give_role, name)
    for name, role in now.roles.items():
        if role is not Role.SENSITIVE or name in now.protect:
            continue
        spec, why = suggested_rule(profile.frame[name])
        if spec not in (OFFERED["l"], None):
            text = (
                f"\n{name}: {why}.\nHow is {name} protected: t (the shares of each class stay "
                "near those of the table), beta (no value gets much more frequent in a class), l "
                "(two values in every class, which get large), none (released with a warning)?"
            )
            return text, "t", partial(_protect, name)
    if now.k is None:
        text = "How many people must share the same published values, at least (k)?"
        return text, "10", _give_k
    return None


def _list_question(number: int, now: Answers, suggested: Mapping[str, Role]) -> Question:
    role, text = _LISTS[number]
    names = list(suggested)
    guess = [name for name in names if suggested[name] is role and name not in now.roles]
    asked_before = dict(_LISTS[:number])
    earlier = {name: asked_before[own] for name, own in now.roles.items() if own in asked_before}

    def take(words: str, new: Answers) -> None:
        chosen = opt.parse_names([words], names)
        if fault := find_fault(chosen, names, earlier, one=role is Role.PERSON):
            raise ParameterError(fault)
        new.roles.update(dict.fromkeys(chosen, role))

    return text, ",".join(guess) or NONE, take


def _give_role(name: str, words: str, new: Answers) -> None:
    new.roles[name] = _WORDS[read_word(words, _WORDS)]


def _protect(name: str, words: str, new: Answers) -> None:
    from shoal.verbs.first_plan import OFFERED

    new.protect[name] = OFFERED[read_word(words or "none", OFFERED)]


def _give_k(words: str, new: Answers) -> None:
    new.k = read_k(words)


def example_values(series: pl.Series) -> list[str]:
    """Return the most frequent values of a column with their shares, or its range."""
    from shoal.tables.cells import as_text
    from shoal.tables.schema import plain

    known = series.drop_nulls()
    if not plain(known.dtype):
        return []
    if known.dtype.is_numeric() and known.n_unique() > _SHOWN:
        ends = as_text(known.sort().gather([0, -1])).to_list()
        return [f"{known.n_unique():,} numbers from {ends[0]} to {ends[1]}"]
    counted = as_text(known).rename("value").value_counts(sort=True, name="rows")
    told = [f"{v[:40]} ({n / len(series):.0%})" for v, n in counted.head(_SHOWN).iter_rows()]
    more = counted.height - _SHOWN
    return [*told, f"{more:,} more"] if more > 0 else told


def read_word(words: str, offered: Collection[str]) -> str:
    """Read one of some words; its beginning is enough."""
    fitting = [word for word in offered if words and word.startswith(words.lower())]
    if words.lower() in offered:
        return words.lower()
    if len(fitting) != 1:
        raise ParameterError(
            f"Give one of {', '.join(offered)}, or {BACK} to go back. Got {words!r}."
        )
    return fitting[0]


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

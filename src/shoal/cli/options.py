"""Options that several commands share; the options of rules come from the catalog."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from shoal.base.errors import ParameterError
from shoal.base.memory import limit_unpacked
from shoal.base.params import Param
from shoal.base.seeds import read_seed, read_seed_file
from shoal.catalog import METHODS, find_method
from shoal.cli import streams
from shoal.plan.rule_specs import rule_flags, rules_asked
from shoal.plan.setting import split_texts
from shoal.tables.source import Place, Source

if TYPE_CHECKING:
    from shoal.plan.plan import Plan


def flag(names: str, word: str, meaning: str, **settings: Any) -> Any:
    """Declare an option: its names, the word for its value, what it means."""
    return typer.Option(*names.split(), metavar=word, help=meaning, **settings)


# A path would lose a slash of postgresql://; so every table is taken as a place.
_TABLE_HELP = (
    "The table: a CSV (also .gz), Parquet, Arrow, Excel, Stata, SPSS or SAS file, a database "
    "address "
    "(postgresql://host/db#table, duckdb:FILE#table, sqlite:FILE#table), or - for standard input."
)
Data = Annotated[
    Place, typer.Argument(metavar="DATA", help=_TABLE_HELP, parser=streams.parse_input)
]
PlannedData = Annotated[
    Place | None,
    typer.Argument(
        metavar="DATA",
        help=f"{_TABLE_HELP} Not needed if the plan names it.",
        parser=streams.parse_input,
        show_default=False,
    ),
]
Table = Annotated[
    str | None, flag("--table", "NAME", "Table of the database: table or schema.table.")
]
Query = Annotated[str | None, flag("--query", "SQL", "Query of the database instead of a table.")]
QueryFile = Annotated[Path | None, flag("--query-file", "FILE", "File with the query.")]
Released = Annotated[
    Place,
    typer.Argument(
        metavar="RELEASED",
        help="The published file or database table.",
        parser=streams.parse_input,
    ),
]
SecondTable = Annotated[
    Place | None,
    flag(
        "--st",
        "DATA",
        "Anatomy's second table, unless it is next to RELEASED (x.st.csv or x_st).",
        parser=streams.parse_input,
    ),
]
PlanFile = Annotated[
    Path | None, flag("--plan", "FILE", "A plan.toml; options given here override it.")
]
TrustPlan = Annotated[
    bool,
    typer.Option(
        "--trust-plan",
        help="Let the plan name files outside its own folder and servers. Use it only for a plan "
        "that you wrote or read.",
    ),
]
Seed = Annotated[
    int | None,
    flag(
        "--seed",
        "INT",
        "Make the run repeatable, byte for byte. A seed reveals the order of the rows: keep it "
        "secret and long, since short ones can be guessed.",
        parser=read_seed,
    ),
]
SeedFile = Annotated[
    Path | None,
    flag(
        "--seed-file",
        "FILE",
        "File with the seed (a number or any text), readable by you only (chmod 600). Unlike "
        "--seed, it does not appear in the list of processes.",
    ),
]
Notation = Annotated[
    list[str] | None,
    flag(
        "--notation",
        "COLUMN=FORM",
        "How another tool wrote a column: 'age=LO to HI' or exact; may be repeated.",
    ),
]


def _unpacked(text: str | None) -> str | None:
    limit_unpacked(text)
    return text


MaxUnpacked = Annotated[
    str | None,
    flag(
        "--max-unpacked",
        "SIZE",
        "Largest unpacked size of a gzip file (default: SHOAL_MAX_UNPACKED or 16GB); never more "
        "than the free memory.",
        callback=_unpacked,
    ),
]
ReportFile = Annotated[
    Path | None,
    flag(
        "--report",
        "FILE.html",
        "Write a report: one HTML file that needs no network.",
    ),
]
Audience = Annotated[
    str | None,
    flag(
        "--audience",
        "steward|public",
        "Reader of the report: steward (all figures) or public (no figures computed from the "
        "original). [default: steward]",
    ),
]
JsonFile = Annotated[
    Path | None,
    flag(
        "--json",
        "FILE",
        "Write all figures as JSON; - for standard output.",
        callback=streams.output_path,
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace existing output files.")]


def with_rules(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the flags of every rule in the catalog, handed over as ``rules``.

    The command takes ``rules: list[dict]``, one plan entry for each rule that was asked for.
    """
    kinds = {
        flag: (list[str] if param.type is tuple else param.type, _help(param), _word(param))
        for flag, param in rule_flags().items()
    }
    return with_flags(command, kinds, "rules", rules_asked)


def with_rule_values(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the flags of every rule with several values each, as ``rule_values``.

    The command takes ``rule_values: dict[str, list]``: per flag that was given its values.
    """
    kinds = {
        flag: (
            (list[str], _help(param), _word(param))
            if param.type is tuple
            else (bool, _help(param), None)
            if param.type is bool
            else (str, f"{param.meaning}.", f"{_word(param)},...")
        )
        for flag, param in rule_flags().items()
    }
    return with_flags(command, kinds, "rule_values", read_rule_values)


def read_rule_values(values: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Read the values of flags (None: not given): a text holds one value or more."""
    flags = rule_flags()
    tried: dict[str, list[Any]] = {}
    for flag, value in values.items():
        if value is None or value is False:
            continue
        if not isinstance(value, str):
            tried[flag] = [value]
            continue
        words = [word.strip() for word in value.split(",") if word.strip()]
        if not words:
            raise _empty_list(flag, [value])
        tried[flag] = [flags[flag].check(flags[flag].read(word), f"--{flag}") for word in words]
    return tried


def with_flags(
    command: Callable[..., Any],
    kinds: Mapping[str, tuple[Any, str, str | None]],
    name: str,
    read: Callable[[dict[str, Any]], Any],
) -> Callable[..., Any]:
    """Add flags to a command (type, help, metavar) and hand what is read from them over."""
    options = {
        flag: Annotated[kind | None, typer.Option(f"--{flag}", help=meaning, metavar=word)]
        for flag, (kind, meaning, word) in kinds.items()
    }
    return with_options(command, options, name, read)


def with_options(
    command: Callable[..., Any],
    options: Mapping[str, Any],
    name: str = "",
    read: Callable[[dict[str, Any]], Any] = dict,
) -> Callable[..., Any]:
    """Add options to a command, by the keys that ``read`` has their values under.

    ``name``: the parameter that is given what is read; empty: their callbacks do all there is.
    """
    keys = {key.replace("-", "_"): key for key in options}
    hints = get_type_hints(command, include_extras=True)
    kept = [
        parameter.replace(annotation=hints[parameter.name])
        for parameter in inspect.signature(command).parameters.values()
        if parameter.name != name
    ]
    added = [
        inspect.Parameter(
            key, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=options[own]
        )
        for key, own in keys.items()
    ]

    def wrapper(**arguments: Any) -> Any:
        values = {own: arguments.pop(key, None) for key, own in keys.items()}
        return command(**{name: read(values)} if name else {}, **arguments)

    parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in kept] + added
    wrapper.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    wrapper.__annotations__ = {p.name: p.annotation for p in parameters}
    wrapper.__doc__ = command.__doc__
    wrapper.__name__ = command.__name__
    return wrapper


def _help(param: Param) -> str:
    plain = param.default is None or param.type is bool
    meaning = param.meaning + ("; may be repeated" if param.type is tuple else "")
    return meaning + ("." if plain else f". [default: {param.default}]")


def _word(param: Param) -> str | None:
    if param.type is bool:
        return None  # a flag without a value
    if param.type is tuple:
        return "COLUMN=VALUE[:SHARE]"
    return "|".join(param.choices) or param.type.__name__.upper()


def split_names(words: Sequence[str] | None, columns: Iterable[str], flag: str) -> list[str] | None:
    """Split the words of a flag into names, and refuse words without a name; None: not given."""
    if words is None:
        return None
    names = parse_names(words, columns)
    if not names:
        raise _empty_list(flag, words)
    return names


def _empty_list(flag: str, words: Sequence[str]) -> ParameterError:
    return ParameterError(
        f"--{flag} takes a list with commas. Got {', '.join(map(repr, words))} instead, a list "
        f"with nothing in it. Give at least one entry, or leave --{flag} out."
    )


def parse_names(words: Sequence[str], columns: Iterable[str]) -> list[str]:
    """Split ``a,b`` into names; a name that itself holds a comma may be given whole or quoted."""
    known = set(columns)
    names = [n for text in words for n in ([text] if text in known else split_texts(text, known))]
    return list(dict.fromkeys(filter(None, names)))


def parse_options(words: Sequence[str] | None, method: str) -> dict[str, Any]:
    """Read ``NAME=VALUE`` options of a method, typed as the catalog declares them."""
    entry = find_method(method)
    declared = {param.name: param for param in entry.params}
    options: dict[str, Any] = {}
    for text in words or ():
        name, equals, value = text.partition("=")
        if not equals:
            raise ParameterError(
                f"--option takes NAME=VALUE. Got {text!r} instead; the options of "
                f"{method!r} are {', '.join(map(repr, declared)) or 'none'}."
            )
        param = declared.get(name)
        # An unknown name is kept as it is: the plan names it together with all other faults.
        options[name] = param.read(value) if param else value
    return options


def named_pairs(words: Sequence[str] | None, flag: str, meant: str) -> dict[str, str]:
    """Read ``COLUMN=VALUE``; a name may itself hold the sign, a value hardly."""
    pairs: dict[str, str] = {}
    for text in words or ():
        name, _, value = text.rpartition("=")
        if not name or not value or name in pairs:
            raise ParameterError(f"--{flag} takes {meant}. Got {text!r} instead.")
        pairs[name] = value
    return pairs


def located(
    data: Place | None,
    plan: Plan,
    table: str | None = None,
    query: str | None = None,
    query_file: Path | None = None,
) -> Path | Source:
    """Return the table that the words of a command and the plan mean together."""
    from shoal.tables.open_table import locate_table

    if query_file is not None:
        if query is not None:
            raise ParameterError("Both --query and --query-file were given. Keep one of them.")
        try:
            query = query_file.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as fault:
            raise ParameterError(
                f"The query file {query_file} cannot be read: {fault}. Check its name."
            ) from None
    where: Path | Source = locate_table(data, plan, table, query)
    return where


def methods_help() -> str:
    """Return the names of all methods for ``--method``."""
    return f"How classes are formed (see: shoal methods): {', '.join(METHODS)}."


def chosen_seed(seed: int | None, seed_file: Path | None) -> int | None:
    """Return the seed that one of the two flags gives."""
    if seed_file is None:
        return seed
    if seed is not None:
        raise ParameterError("Both --seed and --seed-file were given. Keep one of them.")
    return read_seed_file(seed_file)

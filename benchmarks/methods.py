"""The loss of every method of the catalog, side by side on the same rows and rules.

``python -m benchmarks.methods [adult] [fars] [diabetes130] [acs_occ] [--plain] [--rules k l t ...]
[--k 5 10] [--rows 30000]``
prints one table per data set, at default effort, and `shoal` at effort fast besides; ``wages``
(generated, k alone) has a column of thousands of values. ``--plain``: without hierarchies, as in a
first use. Methods that lose less than `shoal` are named, and the exit code is 1.

``--save FILE`` keeps losses and processor times; ``--against FILE``, with the same data sets, rules
and rows, compares them with this run: the exit code is 1 if a run loses more than before or is
refused now. ``--repeat 3`` takes the least processor time of three: without it compiling a changed
kernel counts too, and a busy machine says little.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from itertools import permutations
from pathlib import Path

import numpy as np

from benchmarks.before import Figure, compare, load, save
from benchmarks.tables import ADULT, wages
from shoal.api.opening import read_table
from shoal.base.errors import ShoalError
from shoal.catalog import METHODS
from shoal.coding.encode import Encoded, encode
from shoal.measures.losses.ncp import iloss
from shoal.privacy import (
    All,
    BetaLikeness,
    EntropyLDiversity,
    KAnonymity,
    LDiversity,
    RecursiveLDiversity,
    Rule,
    TCloseness,
    flatten,
)
from shoal.tables.domain import Nominal, flat
from shoal.tables.hierarchy import read_directory
from shoal.tables.schema import declare

FILES = {
    "adult": "adult.csv.gz",
    "fars": "fars.csv.gz",
    "diabetes130": "diabetes130.parquet",
    "acs_occ": "acs_occ_300k.parquet",
}
SENSITIVE = {
    "adult": "occupation",
    "fars": "iinjury",
    "diabetes130": "diag_1",
    "acs_occ": "education",
}


def table(name: str, plain: bool = False, rows: int = 0) -> Encoded:
    """Return a data set with its suggested quasi-identifiers, hierarchies and sensitive column.

    ``rows``: how many of them, drawn at random; 0 for all.
    """
    if name == "wages":
        return wages()
    frame = read_table(ADULT / FILES[name])
    if 0 < rows < frame.height:
        frame = frame.sample(rows, seed=1)
    hidden = SENSITIVE[name]
    suggested = ADULT / "schema" / f"{FILES[name].split('.')[0]}.json"
    quasi = json.loads(suggested.read_text())["qi"]
    quasi = [column for column in quasi if column != hidden]
    taxonomies = {} if plain else read_directory(ADULT / "hierarchies" / name, quasi)
    schema = declare(frame, quasi=quasi, sensitive=[hidden], taxonomies=taxonomies)
    return encode(frame, schema, taxonomies)


def serves(name: str, rule: Rule) -> bool:
    """Say whether a method of the catalog takes a rule and releases generalized rows."""
    entry = METHODS[name]
    names = [part.name for part in (rule.rules if isinstance(rule, All) else (rule,))]
    able = entry.rules is None or all(part in entry.rules for part in names)
    asked = not entry.needs or any(part in entry.needs for part in names)
    return entry.release == "generalized" and able and asked


def measured(name: str, data: Encoded, rule: Rule, repeat: int, **options: str) -> Figure:
    """Return the loss of one method and its least processor time of ``repeat`` runs."""
    entry = METHODS[name]
    if entry.flat_sets:
        domains = tuple(
            flat(domain.values, "") if isinstance(domain, Nominal) else domain
            for domain in data.domains
        )
        data = Encoded(data.names, data.codes, domains, data.sensitive, data.sensitive_names)
    passed = np.inf
    for _ in range(repeat):
        begun = time.process_time()
        try:
            part = entry.load()(data, rule, np.random.default_rng(1), **options)
        except ShoalError as error:
            return Figure(None, time.process_time() - begun, type(error).__name__)
        passed = min(passed, time.process_time() - begun)
    assert rule.holds(data.stats(part)).all()
    return Figure(iloss(data, part).rate, passed)


def rules_of(hidden: str, asked: list[str], sizes: list[int]) -> dict[str, Rule]:
    """Return the rules to compare under, by name; those whose name begins with one asked for."""
    extra: dict[str, Rule | None] = {
        "k": None,
        "l=3": LDiversity(3, hidden),
        "t=0.3": TCloseness(0.3, hidden),
        "t=0.2": TCloseness(0.2, hidden),
        "t=0.1": TCloseness(0.1, hidden),
        "beta=2": BetaLikeness(2.0, hidden),
        "beta=1": BetaLikeness(1.0, hidden),
        "entropy l=2": EntropyLDiversity(2.0, hidden),
        "recursive c=4 l=2": RecursiveLDiversity(2, 4.0, hidden),
    }
    return {
        f"k={k}" if part is None else f"k={k}, {name}": KAnonymity(k)
        if part is None
        else All((KAnonymity(k), part))
        for name, part in extra.items()
        if name.split("=")[0].split()[0] in asked
        for k in sizes
    }


def compared(name: str, asked: argparse.Namespace) -> tuple[dict[str, Figure], list[str]]:
    """Print the table of one data set; return its figures, and what loses less than shoal.

    So does the default itself where it loses less under a stricter rule: that release keeps the
    other rule too.
    """
    data, hidden = table(name, asked.plain, asked.rows), SENSITIVE.get(name, "")
    rules = rules_of(hidden, asked.rules, asked.k)
    about = ", ".join(filter(None, (f"{len(data.domains)} quasi-identifiers", hidden)))
    print(f"\n{name}: {data.rows:,} rows, {about}\n")
    methods = [m for m in METHODS if any(serves(m, rule) for rule in rules.values())]
    others = [method for method in methods if method != "shoal"]
    columns: dict[str, tuple[str, dict[str, str]]] = {
        "shoal": ("shoal", {}),
        "shoal, fast": ("shoal", {"effort": "fast"}),
        **{method: (method, {}) for method in others},
    }
    print("| rule | " + " | ".join(columns) + " |")
    print("|---" * (len(columns) + 1) + "|", flush=True)
    figures: dict[str, Figure] = {}
    beaten: list[str] = []
    for words, rule in rules.items():
        row = {
            column: measured(method, data, rule, asked.repeat, **options)
            for column, (method, options) in columns.items()
            if serves(method, rule)
        }
        figures |= {f"{name}, {words}, {column}": figure for column, figure in row.items()}
        print(f"| {words} | " + " | ".join(str(row.get(c, "")) for c in columns) + " |", flush=True)
        beaten += [
            f"{name}, {words}: {method} loses less than shoal"
            for method in others
            if method in row and _loss(row[method]) < _loss(row["shoal"]) - 1e-9
        ]
    best = {words: _loss(figures[f"{name}, {words}, shoal"]) for words in rules}
    for a, b in permutations(rules, 2):
        if best[b] < best[a] - 1e-9 and implies(rules[b], rules[a]):
            less = f"{best[b]:.4f} < {best[a]:.4f}"
            beaten.append(f"{name}, {a}: shoal loses less under {b} ({less})")
    return figures, beaten


def _loss(figure: Figure) -> float:
    return np.inf if figure.loss is None else figure.loss


def implies(tight: Rule, loose: Rule) -> bool:
    """Say whether whoever keeps the one rule keeps the other: same parts, none of them looser."""
    pairs = list(zip(flatten([tight]), flatten([loose]), strict=False))
    return len(flatten([tight])) == len(flatten([loose])) and all(_tighter(a, b) for a, b in pairs)


def _tighter(tight: Rule, loose: Rule) -> bool:
    if tight.name != loose.name:
        return False
    for param in tight.params:
        a, b = getattr(tight, param.name), getattr(loose, param.name)
        if a != b and (param.safer is None or (a > b) != (param.safer == "more")):
            return False
    return True


def main(args: list[str]) -> int:
    """Print the tables, then which methods beat the default, and what lost less before."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(FILES)[:3])
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--rules", nargs="+", default=["k", "l"])
    parser.add_argument("--rows", type=int, default=0)
    parser.add_argument("--k", type=int, nargs="+", default=[5, 10, 50])
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--save", type=Path)
    parser.add_argument("--against", type=Path)
    asked = parser.parse_args(args)
    settings: dict[str, object] = {"plain": asked.plain, "rows": asked.rows}
    try:
        before = load(asked.against, settings) if asked.against else {}
    except (OSError, ValueError) as error:
        parser.error(str(error))
    figures: dict[str, Figure] = {}
    beaten: list[str] = []
    for name in asked.names:
        of_one, better = compared(name, asked)
        figures |= of_one
        beaten += better
    if asked.save:
        save(asked.save, settings, figures)
    worse: list[str] = []
    if asked.against:
        lines, worse = compare(before, figures)
        print("\n".join(["", *lines, *(f"Worse than before: {line}" for line in worse)]))
    print("\n".join(["", *beaten]) if beaten else "\nNo method loses less than shoal.")
    return 1 if worse or (beaten and not asked.against) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

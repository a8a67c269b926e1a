"""The loss of every method of the catalog, side by side on the same rows and rules.

``python -m benchmarks.methods [adult] [fars] [diabetes130] [--plain] [--rules k l t ...]
[--k 5 10]``
prints one table per data set, at default effort, and `shoal` at effort fast besides; ``wages``
(generated, k alone) has a column of thousands of values. ``--plain``: without hierarchies, as in a
first use. Whoever loses less than `shoal` is named, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import json
import sys
import time

import numpy as np

from benchmarks.tables import ADULT, wages
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
)
from shoal.tables.domain import Nominal, flat
from shoal.tables.files import read_table
from shoal.tables.hierarchy import read_directory
from shoal.tables.schema import declare

FILES = {"adult": "adult.csv.gz", "fars": "fars.csv.gz", "diabetes130": "diabetes130.parquet"}
SENSITIVE = {"adult": "occupation", "fars": "iinjury", "diabetes130": "diag_1"}


def table(name: str, plain: bool = False) -> Encoded:
    """Return a data set with its suggested quasi-identifiers, hierarchies and sensitive column."""
    if name == "wages":
        return wages()
    frame = read_table(ADULT / FILES[name])
    hidden = SENSITIVE[name]
    quasi = json.loads((ADULT / "schema" / f"{name}.json").read_text())["qi"]
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


def measured(name: str, data: Encoded, rule: Rule, **options: str) -> tuple[float, str]:
    """Return the loss of one method, and it in words with the processor time."""
    entry = METHODS[name]
    if entry.flat_sets:
        domains = tuple(
            flat(domain.values, "") if isinstance(domain, Nominal) else domain
            for domain in data.domains
        )
        data = Encoded(data.names, data.codes, domains, data.sensitive, data.sensitive_names)
    begun = time.process_time()
    try:
        part = entry.load()(data, rule, np.random.default_rng(1), **options)
    except ShoalError as error:
        return np.inf, f"refused ({type(error).__name__})"
    passed = time.process_time() - begun
    assert rule.holds(data.stats(part)).all()
    rate = iloss(data, part).rate
    return rate, f"{rate:.4f} ({passed:.1f} s)"


def rules_of(hidden: str, asked: list[str], sizes: list[int]) -> dict[str, Rule]:
    """Return the rules to compare under, by name; those whose name begins with one asked for."""
    extra: dict[str, Rule | None] = {
        "k": None,
        "l=3": LDiversity(3, hidden),
        "t=0.3": TCloseness(0.3, hidden),
        "t=0.2": TCloseness(0.2, hidden),
        "beta=2": BetaLikeness(2.0, hidden),
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


def compared(name: str, plain: bool, asked: list[str], sizes: list[int]) -> list[str]:
    """Print the table of one data set; return who loses less than the default."""
    data, hidden = table(name, plain), SENSITIVE.get(name, "")
    rules = rules_of(hidden, asked, sizes)
    told = ", ".join(filter(None, (f"{len(data.domains)} quasi-identifiers", hidden)))
    print(f"\n{name}: {data.rows:,} rows, {told}\n")
    print("| method | " + " | ".join(rules) + " |")
    print("|---" * (len(rules) + 1) + "|", flush=True)
    lines: list[tuple[str, str, dict[str, str]]] = [("shoal", "shoal", {})]
    lines.append(("shoal, fast", "shoal", {"effort": "fast"}))
    lines += [(method, method, {}) for method in METHODS if method != "shoal"]
    beaten, best = [], dict.fromkeys(rules, np.inf)
    for title, method, options in lines:
        cells = []
        for words, rule in rules.items():
            if not serves(method, rule):
                cells.append("")
                continue
            loss, told = measured(method, data, rule, **options)
            cells.append(told)
            if loss < best[words] - 1e-9 and method != "shoal":
                beaten.append(f"{name}, {words}: {title} loses less than shoal")
            if title == "shoal":
                best[words] = loss
        if any(cells):
            print(f"| {title} | " + " | ".join(cells) + " |", flush=True)
    return beaten


def main(args: list[str]) -> int:
    """Print the tables, then who beats the default: 1 if anybody does."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(FILES))
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--rules", nargs="+", default=["k", "l"])
    parser.add_argument("--k", type=int, nargs="+", default=[5, 10, 50])
    asked = parser.parse_args(args)
    beaten: list[str] = []
    for name in asked.names or FILES:
        beaten += compared(name, asked.plain, asked.rules, asked.k)
    print("\n".join(["", *beaten]) if beaten else "\nNobody loses less than shoal.")
    return 1 if beaten else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

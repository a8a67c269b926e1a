"""The loss of every method of the catalog, side by side on the same rows and rules.

``python -m benchmarks.methods [adult] [fars] [diabetes130]`` prints one table per data set.
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np

from benchmarks.tables import ADULT
from shoal.base.errors import ShoalError
from shoal.catalog import METHODS
from shoal.coding.encode import Encoded, encode
from shoal.measures.losses.ncp import iloss
from shoal.privacy import All, KAnonymity, LDiversity, Rule
from shoal.tables.domain import Nominal, flat
from shoal.tables.files import read_table
from shoal.tables.hierarchy import read_directory
from shoal.tables.schema import declare

FILES = {"adult": "adult.csv.gz", "fars": "fars.csv.gz", "diabetes130": "diabetes130.parquet"}
SENSITIVE = {"adult": "occupation", "fars": "iinjury", "diabetes130": "diag_1"}


def table(name: str) -> Encoded:
    """Return a data set with its suggested quasi-identifiers, hierarchies and sensitive column."""
    frame = read_table(ADULT / FILES[name])
    hidden = SENSITIVE[name]
    quasi = json.loads((ADULT / "schema" / f"{name}.json").read_text())["qi"]
    quasi = [column for column in quasi if column != hidden]
    taxonomies = read_directory(ADULT / "hierarchies" / name, quasi)
    schema = declare(frame, quasi=quasi, sensitive=[hidden], taxonomies=taxonomies)
    return encode(frame, schema, taxonomies)


def serves(name: str, rule: Rule) -> bool:
    """Say whether a method of the catalog takes a rule and releases generalized rows."""
    entry = METHODS[name]
    names = [part.name for part in (rule.rules if isinstance(rule, All) else (rule,))]
    able = entry.rules is None or all(part in entry.rules for part in names)
    asked = not entry.needs or any(part in entry.needs for part in names)
    return entry.release == "generalized" and able and asked


def measured(name: str, data: Encoded, rule: Rule) -> str:
    """Return the loss and the processor time of one method."""
    entry = METHODS[name]
    if entry.flat_sets:
        domains = tuple(
            flat(domain.values, "") if isinstance(domain, Nominal) else domain
            for domain in data.domains
        )
        data = Encoded(data.names, data.codes, domains, data.sensitive, data.sensitive_names)
    begun = time.process_time()
    try:
        part = entry.load()(data, rule, np.random.default_rng(1))
    except ShoalError as error:
        return f"refused ({type(error).__name__})"
    passed = time.process_time() - begun
    assert rule.holds(data.stats(part)).all()
    return f"{iloss(data, part).rate:.4f} ({passed:.1f} s)"


def main(names: list[str]) -> None:
    """Print the tables."""
    for name in names or list(FILES):
        data = table(name)
        hidden = SENSITIVE[name]
        rules: dict[str, Rule] = {f"k={k}": KAnonymity(k) for k in (5, 10, 50)}
        rules |= {f"k={k}, l=3": All((KAnonymity(k), LDiversity(3, hidden))) for k in (5, 10, 50)}
        print(f"\n{name}: {data.rows:,} rows, {len(data.domains)} quasi-identifiers, {hidden}\n")
        print("| method | " + " | ".join(rules) + " |")
        print("|---" * (len(rules) + 1) + "|", flush=True)
        for method in METHODS:
            cells = [
                measured(method, data, rule) if serves(method, rule) else ""
                for rule in rules.values()
            ]
            if any(cells):
                print(f"| {method} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])

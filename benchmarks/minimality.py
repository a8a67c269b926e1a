"""Attack releases by minimality: what the method's choices tell about sensitive values.

Wong, Fu, Wang and Pei (VLDB 2007): whoever knows everybody's quasi-identifiers, the method and its
parameters can run the method on every table that is possible, and keep those whose release is the
published one. A method that generalizes only because a smaller class would break the rule tells
that it would have. Here this attacker is carried out on small tables, by enumeration:

    SHOAL_THREADS=1 POLARS_MAX_THREADS=1 python -m benchmarks.minimality

A *world* is an order in which the known sensitive values may belong to the people; all are equally
likely beforehand. A method that draws is run often in every world, so that a release has a
likelihood in each; people with equal quasi-identifiers are counted together. Shown is the largest
belief in any value of anybody, in the worst release, and the share of the runs after which
somebody's value is believed more than the rule promises. Of methods that draw, releases that came
up too rarely to judge are left out, and a belief counts as too large when it is so by three
standard errors.
"""

from __future__ import annotations

import argparse
import itertools
import math
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

import shoal
from shoal.base.errors import Infeasible, ShoalWarning
from shoal.catalog import METHODS
from shoal.tables.domain import Taxonomy

RUNS = 1000  # of a method that draws, over all worlds
FEWEST = 20  # runs with one release, below which its beliefs are mostly chance
SURE = 3.0  # standard errors that a belief must lie above the promise to count
ROOM = 1e-9
World = tuple[str, ...]


@dataclass(frozen=True)
class Case:
    """A table without its sensitive values, those values, and a rule that promises a belief."""

    name: str
    quasi: dict[str, list[Any]]
    values: tuple[str, ...]
    rule: Any
    promised: float
    hierarchies: dict[str, Taxonomy] = field(default_factory=dict)
    guarded: tuple[str, ...] = ()

    def worlds(self) -> list[World]:
        """Return every order of the values, each once."""
        return sorted(set(itertools.permutations(self.values)))


def _tree(*leaves: str) -> Taxonomy:
    return Taxonomy.from_rows([(leaf, "*") for leaf in leaves], "zip")


CASES = (
    Case(
        "two villages: 2 + 5 people, 2 of 7 have HIV; (0.5, 2)-anonymity of HIV",
        {"zip": ["A"] * 2 + ["B"] * 5},
        ("HIV",) * 2 + ("none",) * 5,
        shoal.AlphaK(0.5, 2, column="ill", values=("HIV",)),
        0.5,
        {"zip": _tree("A", "B")},
        ("HIV",),
    ),
    Case(
        "two villages: 2 + 3 people, HIV twice, three other illnesses; frequency l = 2",
        {"zip": ["A"] * 2 + ["B"] * 3},
        ("HIV", "HIV", "ache", "cold", "flu"),
        shoal.FrequencyLDiversity(2, column="ill"),
        0.5,
        {"zip": _tree("A", "B")},
    ),
    Case(
        "six ages, three illnesses twice each; frequency l = 2",
        {"age": [21, 22, 23, 24, 25, 26]},
        ("HIV", "HIV", "cold", "cold", "flu", "flu"),
        shoal.FrequencyLDiversity(2, column="ill"),
        0.5,
        {"age": Taxonomy.from_rows([(str(21 + i), "ABC"[i // 2], "*") for i in range(6)], "age")},
    ),
    Case(
        "two villages: 2 + 4 people, HIV twice, four other illnesses; frequency l = 2",
        {"zip": ["A"] * 2 + ["B"] * 4},
        ("HIV", "HIV", "ache", "burn", "cold", "flu"),
        shoal.FrequencyLDiversity(2, column="ill"),
        0.5,
        {"zip": _tree("A", "B")},
    ),
)


@dataclass(frozen=True)
class Way:
    """How a release is made; with a ``k``, by k-anonymity alone, blind to sensitive values."""

    label: str
    method: str
    k: int = 0


WAYS = (
    *(Way(name, name) for name in METHODS),
    # M-confidentiality's idea: the choice of the classes must not depend on sensitive values.
    Way("mondrian, k = 2 alone, published if the rule holds", "mondrian", k=2),
    Way("shoal, k = 3 alone, published if the rule holds", "shoal", k=3),
)


def release_of(case: Case, way: Way, world: World) -> Hashable:
    """Make a release and return it as what a reader can tell apart; None when there is none."""
    frame = pl.DataFrame({**case.quasi, "ill": world})
    if case.hierarchies:
        frame = frame.with_columns(pl.col(name).cast(pl.String) for name in case.hierarchies)
    rule = shoal.LDiversity(2, column="ill") if way.method == "dummies" else case.rule
    rules = [shoal.KAnonymity(way.k)] if way.k else [rule]
    try:
        made = shoal.anonymize(
            frame,
            quasi=list(case.quasi),
            sensitive=["ill"],
            hierarchies=case.hierarchies,
            rules=rules,
            method=way.method,
        )
    except Infeasible:
        return None
    if way.k and not _holds(case, made):
        return None
    return _told(made.tables)


def _holds(case: Case, made: shoal.Release[pl.DataFrame]) -> bool:
    return shoal.audit(
        made.frame, quasi=list(case.quasi), sensitive=["ill"], rules=[case.rule]
    ).holds


def _told(tables: Any) -> Hashable:
    """Return tables without the order of their rows and the numbers of their groups."""
    if "st" not in tables:
        return tuple(sorted(Counter(map(_hashable, tables["release"].rows())).items()))
    people, values = defaultdict(list), defaultdict(list)
    group = next(name for name in tables["st"].columns if name in tables["release"].columns)
    for row in tables["release"].iter_rows(named=True):
        people[row.pop(group)].append(_hashable(row.values()))
    for row in tables["st"].iter_rows(named=True):
        values[row.pop(group)].append(_hashable(row.values()))
    return tuple(sorted((tuple(sorted(people[g])), tuple(sorted(values[g]))) for g in people))


def _hashable(row: Any) -> tuple[str, ...]:
    return tuple(str(sorted(cell) if isinstance(cell, list) else cell) for cell in row)


@dataclass(frozen=True)
class Finding:
    """What the attacker gets out of one way on one case."""

    drawn: bool
    worst: float
    broken: float
    judged: float
    published: float


def attack(case: Case, way: Way, runs: int) -> Finding | None:
    """Run a way in every world and look at what each release leaves possible."""
    worlds = case.worlds()
    drawn = _draws(case, way, worlds)
    rounds = -(-runs // len(worlds)) if drawn else 1
    seen: dict[Hashable, Counter[World]] = defaultdict(Counter)
    for world in worlds:
        for _ in range(rounds):
            if (release := release_of(case, way, world)) is not None:
                seen[release][world] += 1
    published = sum(counts.total() for counts in seen.values())
    often = [counts for counts in seen.values() if not drawn or counts.total() >= FEWEST]
    if not often:
        return None
    beliefs = [_belief(case, counts) for counts in often]
    judged = sum(counts.total() for counts in often)
    broken = 0
    for counts, belief in zip(often, beliefs, strict=True):
        room = SURE * math.sqrt(belief * (1 - belief) / counts.total()) if drawn else ROOM
        broken += counts.total() if belief - room > case.promised else 0
    return Finding(
        drawn,
        max(beliefs),
        broken / judged,
        judged / published,
        published / (len(worlds) * rounds),
    )


def _draws(case: Case, way: Way, worlds: Sequence[World]) -> bool:
    """Tell whether a way answers the same world differently."""
    some = worlds[:: max(1, len(worlds) // 4)]
    return any(len({release_of(case, way, world) for _ in range(6)}) > 1 for world in some)


def _belief(case: Case, counts: Counter[World]) -> float:
    """Return the largest belief in a value of a person, given one release."""
    people = list(zip(*case.quasi.values(), strict=True))
    alike = Counter(people)
    held: Counter[tuple[Any, str]] = Counter()
    for world, count in counts.items():
        for person, value in zip(people, world, strict=True):
            if not case.guarded or value in case.guarded:
                held[person, value] += count
    return max(count / alike[person] for (person, _), count in held.items()) / counts.total()


def findings(cases: Sequence[Case], runs: int, only: Sequence[str]) -> Iterator[str]:
    """Yield the table of results, line by line."""
    for case in cases:
        yield f"\n{case.name} ({len(case.worlds())} worlds, {case.promised:g} promised)\n"
        yield "| method | draws | worst belief | promise broken | runs judged | published |"
        yield "|---|---|---|---|---|---|"
        for way in WAYS:
            if only and way.method not in only:
                continue
            try:
                found = attack(case, way, runs)
            except shoal.ParameterError:
                continue  # the method does not keep this rule
            if found is None:
                yield f"| {way.label} | | | | 0% | |"
                continue
            yield (
                f"| {way.label} | {'yes' if found.drawn else 'no'} | {found.worst:.2f} | "
                f"{found.broken:.0%} | {found.judged:.0%} | {found.published:.0%} |"
            )


def main() -> None:
    """Print the table."""
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    words.add_argument("--runs", type=int, default=RUNS)
    words.add_argument("--case", type=int, choices=range(1, len(CASES) + 1))
    words.add_argument("--only", nargs="*", default=())
    given = words.parse_args()
    cases = CASES if given.case is None else CASES[given.case - 1 : given.case]
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ShoalWarning)
        for line in findings(cases, given.runs, given.only):
            print(line, flush=True)
    print(f"\n{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()

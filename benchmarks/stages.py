"""What every stage of the method `shoal` is worth: the loss with it and without it.

``python -m benchmarks.stages [NAME ...]`` switches each stage off on the cases that it was made for
and prints what is lost without it; the exit code is 1 if a stage is worth less than 0.3 % on all of
them, or less than 0.5 % in a module of more than 250 lines: such a stage goes. ``--write`` puts the
figures beside the stages and the table into docs/methods/shoal.md. ``--loss CASE`` prints the loss
of one case, all stages on.
"""

from __future__ import annotations

import argparse
import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from benchmarks.methods import table
from benchmarks.tables import QUASI, adult, numeric
from shoal.base.partition import Ints
from shoal.coding.encode import Encoded
from shoal.groupers.shoal import search
from shoal.groupers.shoal.task import Measured, Stage
from shoal.measures.losses.ncp import iloss
from shoal.privacy import (
    All,
    BetaLikeness,
    EntropyLDiversity,
    KAnonymity,
    LDiversity,
    Rule,
    TCloseness,
)

PACKAGE = Path(search.__file__).parent
PAGE = Path(__file__).parents[1] / "docs" / "methods" / "shoal.md"
COMPLETE = 32_561
"""Rows of adult.data, of which 30,162 have no gap in the quasi-identifiers."""
SEEDS = (1, 2, 3)
LEAST, LEAST_OF_MANY, MANY = 0.003, 0.005, 250
PARTS = ("STARTS", "IMPROVEMENTS", "OMISSIONS")
"""Where :mod:`shoal.groupers.shoal.search` lists stages."""
RULES = {"l": LDiversity, "t": TCloseness, "beta": BetaLikeness, "entropy": EntropyLDiversity}


def complete(data: Encoded) -> Ints:
    """Return the rows of adult.data without a gap."""
    return np.flatnonzero(~data.missing[:COMPLETE].any(axis=1))


def task_of(case: str) -> tuple[Encoded, Rule, dict[str, Any]]:
    """Return the table, the rule and the options of a case, like ``adult k=10 t=0.2 rows=1000``.

    ``adult30``: the complete rows of adult.data, no sensitive column; ``adult48``: all rows;
    ``occupation30``: these complete rows, with occupation sensitive; ``numeric``: drawn numbers;
    others are those of `benchmarks.methods`.
    """
    name, *words = case.split()
    asked = dict(word.split("=") for word in words)
    rows = int(asked.pop("rows", 0))
    if name == "numeric":
        data, rows = numeric(rows, 4), 0
    elif name in ("adult30", "adult48"):
        data = adult()
        if name == "adult30":
            data = data.take(complete(data))
    elif name == "occupation30":
        quasi = [column for column in QUASI if column != "occupation"]
        data = adult(quasi, ("occupation",)).take(complete(adult()))
    else:
        data = table(name.removesuffix("-plain"), plain=name.endswith("-plain"))
    if rows:
        data = data.take(np.sort(np.random.default_rng(5).choice(data.rows, rows, replace=False)))
    spare = int(float(asked.pop("suppress", 0)) * data.rows)
    options = {"effort": asked.pop("effort", "normal"), "spare": spare}
    parts = [KAnonymity(int(asked.pop("k")))]
    hidden = next(iter(data.sensitive), None)
    for name_, value in asked.items():
        parts.append(RULES[name_](int(value) if name_ == "l" else float(value), column=hidden))
    return data, parts[0] if len(parts) == 1 else All(tuple(parts)), options


def loss(case: str, *, without: str = "") -> float:
    """Return the mean loss of three seeds, with all stages or without the one of this name."""
    data, rule, options = task_of(case)
    kept = {part: tuple(s for s in getattr(search, part) if s.name != without) for part in PARTS}
    with mock.patch.multiple(search, **kept):
        made = [search.group(data, rule, np.random.default_rng(seed), **options) for seed in SEEDS]
    return float(np.mean([iloss(data, part).rate for part in made]))


def stages() -> list[Stage]:
    """Return every stage once."""
    return list(dict.fromkeys(stage for part in PARTS for stage in getattr(search, part)))


def module_of(stage: Stage) -> Path:
    """Return the module that a stage is declared in."""
    asked = f'Stage(\n    "{stage.name}",\n'
    return next(path for path in sorted(PACKAGE.glob("*.py")) if asked in path.read_text())


def worth(stage: Stage, found: list[Measured]) -> str:
    """Return why a stage should go; nothing if it should stay."""
    lines = len(module_of(stage).read_text().splitlines())
    least = LEAST_OF_MANY if lines > MANY else LEAST
    gains = [each.without / each.loss - 1.0 for each in found]
    if max(gains, default=0.0) >= least:
        return ""
    return f"{stage.name}: worth less than {least:.1%} on all its cases ({lines} lines)"


def write(stage: Stage, found: list[Measured]) -> None:
    """Put the figures beside a stage."""
    path = module_of(stage)
    before, own = path.read_text().split(f'Stage(\n    "{stage.name}",\n')
    for each in found:
        line = f'Measured("{each.case}", {each.loss:.5f}, {each.without:.5f}, "{each.day}")'
        own = re.sub(rf'Measured\("{re.escape(each.case)}", [^)]*\)', line, own, count=1)
    path.write_text(f'{before}Stage(\n    "{stage.name}",\n{own}')


def drawing() -> str:
    """Return the order of the stages as text."""
    starts, then = ([stage.name for stage in part] for part in (search.STARTS, search.IMPROVEMENTS))
    wide = max(map(len, starts))
    marks = ["┐", *"┤" * (len(starts) - 2), "┴"]
    lines = [f"    {name:<{wide}} ─{mark}" for name, mark in zip(starts, marks, strict=True)]
    lines[-1] += f"─► the cheapest ─► {' ─► '.join(then[:3])} ─►"
    lines.append(f"    {'':<{wide}}    {' ─► '.join(then[3:])} ─► joined until the rule holds")
    omitted = " ─► ".join(stage.name for stage in search.OMISSIONS)
    lines.append(f"    with suppress, then the same again without some rows: {omitted}")
    return "\n".join(lines)


def figures() -> str:
    """Return the table of what every stage is worth."""
    rows = ["| stage | work | measured on | loss with it | without it | |", "|---" * 6 + "|"]
    for stage in stages():
        for each in stage.evidence:
            more = f"{each.without / each.loss - 1.0:+.1%}"
            losses = f"{each.loss:.4f} | {each.without:.4f} | {more}"
            rows.append(f"| {stage.name} | {stage.work} | {each.case} | {losses} |")
    return "\n".join(rows)


def renewed(page: str) -> str:
    """Return the page with the drawing and the table as they are now."""
    for name, made in (("drawing", drawing()), ("figures", figures())):
        begin, end = f"<!-- {name} -->\n\n", f"\n\n<!-- end of {name} -->"
        before, rest = page.split(begin)
        page = before + begin + made + end + rest.split(end)[1]
    return page


def main(words: list[str] | None = None) -> int:
    """Measure the stages; 1 if one of them should go."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="stages; all of them by default")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--page", action="store_true", help="only renew the page")
    parser.add_argument("--loss", metavar="CASE", help="only print the mean loss of this case")
    asked = parser.parse_args(words)
    if asked.loss:
        print(f"{asked.loss}: {loss(asked.loss):.5f}")
        return 0
    if asked.page:
        PAGE.write_text(renewed(PAGE.read_text()))
        return 0
    known, fallen, whole = stages(), list[str](), dict[str, float]()
    for stage in known:
        if asked.names and stage.name not in asked.names:
            continue
        found = []
        for case in [each.case for each in stage.evidence]:
            whole[case] = whole.get(case) or loss(case)
            day = datetime.now(UTC).date().isoformat()
            found.append(Measured(case, whole[case], loss(case, without=stage.name), day))
            more = f"{found[-1].without / found[-1].loss - 1.0:+.2%}"
            print(f"{stage.name}: {case}: {whole[case]:.5f}, without it {more}", flush=True)
        fallen += filter(None, [worth(stage, found)])
        if asked.write:
            write(stage, found)
    print("\n".join(fallen) or "Every stage is worth its lines.")
    return 1 if fallen else 0


if __name__ == "__main__":
    sys.exit(main())

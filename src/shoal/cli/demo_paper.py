"""``shoal demo --paper``: show the worked example of a paper next to our release."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.base.errors import ParameterError
from shoal.cli import console

if TYPE_CHECKING:
    import polars as pl

    from shoal.api.release import Release
    from shoal.api.table import Table
    from shoal.tables.papers import Example

PAPERS = ("kaim", "l-clustering", "alpha-k", "dummies")
SEED = 1


def show(name: str, out: Path | None, *, force: bool) -> None:
    """Print the worked examples of a paper; keep the first one's table as files if asked."""
    from shoal.tables.papers import EXAMPLES

    if name not in EXAMPLES:
        raise ParameterError(
            f"--paper takes {', '.join(PAPERS[:-1])} or {PAPERS[-1]}. Got {name!r} instead."
        )
    examples = EXAMPLES[name]
    console.print_line(f"{examples[0].citation}: {examples[0].title}\n")
    _print_rows(examples[0].shown, examples[0].original, ordered=False)
    files = _keep(examples[0], out, force=force)
    for example in examples:
        _show(example, files)
    if out is None:
        console.print_line(f"Keep the table as files with: shoal demo --paper {name} --out {name}")
    else:
        console.print_line(f"Wrote {', '.join(path.name for path in files)} to {out}.")


def _show(example: Example, files: Sequence[Path]) -> None:
    from shoal.catalog import METHODS

    table = _opened(example)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the table is printed in a paper: there is no secret
        release = table.anonymize(seed=SEED)
    names = (*example.quasi, example.sensitive)
    ours = release.frame.select(names)
    _print_rows(example.made, example.published.select(names))
    _print_rows(f"Ours, method {example.method}", ours)
    paper = METHODS[example.method].paper
    assert paper is not None
    if example.groups:
        console.print_line(
            f"Information loss, measured the same way: the paper {_loss(example, table):.4f}, "
            f"ours {release.loss.rate:.4f}"
        )
    else:
        console.print_line("Information loss: 0 for both, the quasi-identifiers are as they were")
        _estimates(example, table, release)
    console.print_line(f"As in the paper: {paper.describe()}")
    console.print_line(f"The command: {_command(example, files)}\n")


def _opened(example: Example) -> Table[Any]:
    """Open the table of a paper, with the plan that anonymizes it as the paper does."""
    from shoal.api.opening import open  # noqa: A004 -- shoal.open
    from shoal.plan.parts import MethodPart, ReleasePart, RulePart
    from shoal.plan.plan import Plan
    from shoal.plan.rule_specs import rules_asked

    plan = Plan(
        method=MethodPart(name=example.method),
        rules=tuple(RulePart(**rule) for rule in rules_asked(example.flags)),
        release=ReleasePart(as_in_paper=True),
    )
    return open(
        example.original,
        plan=plan,
        quasi=example.quasi,
        sensitive=example.sensitive,
        hierarchies=example.trees,
        domain={example.sensitive: example.domain} if example.domain else None,
    )


def _loss(example: Example, table: Table[Any]) -> float:
    """Return the information loss of the paper's groups."""
    import numpy as np

    from shoal.base.partition import Partition
    from shoal.catalog import METHODS
    from shoal.coding.encode import encode
    from shoal.measures.losses.ncp import iloss

    labels = np.empty(table.rows, np.int64)
    for number, rows in enumerate(example.groups):
        labels[[row - 1 for row in rows]] = number
    taken, flat = table.settled, METHODS[example.method].flat_sets
    data = encode(taken.frame, taken.schema, taken.taxonomies, flat_sets=flat)
    return iloss(data, Partition.from_labels(labels)).rate


def _estimates(example: Example, table: Table[Any], ours: Release[Any]) -> None:
    """Count two values by gender: as they are, and as the paper estimates from both releases."""
    from shoal.api.opening import open_release

    theirs = open_release(
        example.published, original=table, domain={example.sensitive: example.domain}
    )
    rows = []
    for value, gender in (("HIV", "F"), ("Cut", "M")):
        have = {example.sensitive: value, "gender": gender}
        estimated = [
            release.estimate(f"{example.sensitive}={value}", f"gender={gender}", as_in_paper=True)
            for release in (theirs, ours)
        ]
        counts = [f"{each.counts.count[0, 0]:.4f}" for each in estimated]
        rows.append((value, gender, example.original.filter(**have).height, *counts))
    console.table(
        ("value", "gender", "true", "from the paper's", "from ours"), rows, "Estimated rows"
    )


def _print_rows(title: str, frame: pl.DataFrame, *, ordered: bool = True) -> None:
    listed = [name for name, kind in frame.schema.items() if kind.is_nested()]
    if ordered:
        frame = frame.sort([name for name in frame.columns if name not in listed])
    console.print_line(title)
    console.table(frame.columns, [[_cell(cell) for cell in row] for row in frame.rows()])


def _cell(cell: Any) -> str:
    if isinstance(cell, list):
        return f"{{{', '.join(cell)}}}"
    return "*" if cell is None else str(cell)


def _keep(example: Example, out: Path | None, *, force: bool) -> list[Path]:
    """Write the table, its hierarchies and its domain, if a folder was named."""
    from shoal.base.atomic import atomic_file, check_output
    from shoal.tables.hierarchy import write_hierarchy
    from shoal.tables.write_files import write_table

    if out is None:
        return []
    files = [out / "table.csv", *(out / "hierarchies" / f"{name}.csv" for name in example.trees)]
    files += [out / "domain.txt"] if example.domain else []
    for path in files:
        path.parent.mkdir(parents=True, exist_ok=True)
        check_output(path, force=force)
    write_table(example.original, files[0], force=force)
    for name, tree in example.trees.items():
        write_hierarchy(tree, out / "hierarchies" / f"{name}.csv", force=force)
    if example.domain:
        with atomic_file(out / "domain.txt", force=force) as stream:
            stream.write("".join(f"{value}\n" for value in example.domain).encode())
    return files


def _command(example: Example, files: Sequence[Path]) -> str:
    """Return the command that does the same on the files."""
    folder = files[0].parent if files else Path("FOLDER")
    words = [f"shoal anonymize {folder / 'table.csv'} --quasi {','.join(example.quasi)}"]
    words += [f"--sensitive {example.sensitive} --method {example.method} --as-in-paper"]
    words += [f"--hierarchies {folder / 'hierarchies'}"] if example.trees else []
    words += [f"--domain {example.sensitive}={folder / 'domain.txt'}"] if example.domain else []
    for flag, value in example.flags.items():
        words += [f"--{flag} {each}" for each in (value if isinstance(value, tuple) else [value])]
    return " ".join([*words, "-o release.csv"])

"""Options of how cells are published: grids, sets, slack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from shoal.base.errors import ParameterError
from shoal.cli.options import named_pairs

Grid = Annotated[
    list[str] | None,
    typer.Option(
        "--grid",
        metavar="COLUMN=STEP",
        help="What the ends of an ordered column's intervals are multiples of: a number, for dates "
        "and times hour, day, week, month, quarter or year, or auto, or off; may be repeated.",
    ),
]
Sets = Annotated[
    list[str] | None,
    typer.Option(
        "--sets",
        metavar="[COLUMN=]WORD",
        help="Whether names without a hierarchy may be published as a set of values, which all "
        "occur: allowed, or never (one value or *); of all columns, or of one, repeated.",
    ),
]
Slack = Annotated[
    float | None,
    typer.Option(
        "--slack",
        metavar="P",
        help="How likely a cell is published wider than it need be, so that it does not prove "
        "its ends: 0 (never, the default) to 1.",
    ),
]


def named(
    grid: Sequence[str] | None, sets: Sequence[str] | None, limits: Mapping[str, Mapping[str, Any]]
) -> tuple[str | None, dict[str, Mapping[str, Any]]]:
    """Return whether sets are allowed at all, and grid, sets and limits of single columns."""
    words = [text for text in sets or () if "=" not in text]
    if len(words) > 1:
        raise ParameterError(
            f"--sets takes one word for all columns, allowed or never. Got {', '.join(words)}. "
            "Say of one column: COLUMN=never."
        )
    pairs = [text for text in sets or () if "=" in text]
    return next(iter(words), None), {
        "grid": named_pairs(grid, "grid", "COLUMN=STEP, each column once"),
        "sets": named_pairs(pairs, "sets", "COLUMN=WORD, each column once"),
        **limits,
    }
